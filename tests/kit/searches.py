"""How far tests search: a little in every run, ten times as far and elsewhere each time in `make soak`."""

from __future__ import annotations

import os

from hypothesis import Phase, settings

USUAL = 40
_PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "repeatable")


def examples(count: int) -> int:
    """So many examples in every run, and more where they are fresh."""
    return 10 * count if _PROFILE == "fresh" else count


def load_profile() -> None:
    """The same examples every time, on machines of any speed; fresh ones for the long forms; one failure to mutants."""
    settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=examples(USUAL))
    settings.register_profile("fresh", deadline=None, max_examples=examples(USUAL))
    first = (Phase.explicit, Phase.generate)
    settings.register_profile("first_failure", derandomize=True, deadline=None, max_examples=USUAL, phases=first)
    settings.load_profile(_PROFILE)
