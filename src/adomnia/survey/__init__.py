"""Randomized response: answers that are randomised where they are given, so that nobody has to be trusted with them.

What is here is about one respondent and one answer; it never touches a ledger or a dataset. docs/local.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adomnia.survey.estimates import Estimates
    from adomnia.survey.hadamard import HadamardResponse
    from adomnia.survey.kary import KaryResponse
    from adomnia.survey.planning import SurveyPlan, expect_error, plan
    from adomnia.survey.responding import respond
    from adomnia.survey.simulation import Simulation, simulate
    from adomnia.survey.subset import SubsetSelection
    from adomnia.survey.unrelated import UnrelatedQuestion
    from adomnia.survey.warner import Warner

__all__ = [
    "Estimates",
    "HadamardResponse",
    "KaryResponse",
    "Simulation",
    "SubsetSelection",
    "SurveyPlan",
    "UnrelatedQuestion",
    "Warner",
    "expect_error",
    "plan",
    "respond",
    "simulate",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    # Loaded when first used: who only answers a survey does without SciPy.
    if name not in __all__:
        raise AttributeError(f"module 'adomnia.survey' has no attribute {name!r}")
    from adomnia.survey import public

    return getattr(public, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
