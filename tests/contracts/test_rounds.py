"""What every statistic measures, round after round, stays what it was: stored answers are computed from it.

A round that changes makes another answer of it, which has to be stored under another identity. So whoever changes one
raises `rules` of the class by one, and then writes the fixture anew: python tests/contracts/test_rounds.py.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import pytest

from adomnia.methods.analysis import Analysis
from adomnia.methods.registry import METHODS
from adomnia.plans.plan import _shape, canonical
from adomnia.pricing.payment import with_delta
from adomnia.privacy.events import Concentrated, Pure
from adomnia.sql.lower import lower
from kit import methods
from kit.hospital import declare
from kit.methods import executed, hospital_catalog

__all__ = ["hospital_catalog"]

FIXTURE = Path(__file__).parents[1] / "fixtures" / "rounds.json"
PRICES = {"epsilon": Pure(Fraction(1, 3)), "rho": Concentrated(Fraction(1, 7))}
_STATISTICS = (
    "COUNT(*)",
    "COUNT(DISTINCT city)",
    "SUM(salary)",
    "AVG(salary)",
    "VARIANCE(salary)",
    "CORR(age, salary)",
    "COVAR_SAMP(age, salary)",
    "MEDIAN(salary)",
    "QUANTILE(salary, 0.9)",
    "MIN(age)",
    "MAX(age)",
)
TEXTS = {name: method.example for name, method in METHODS.items()} | {
    each: f"SELECT {each} FROM people" for each in _STATISTICS
}
_DIGITS = 16
CHANGED = "its rounds changed: raise `rules` of its class by one, then run python tests/contracts/test_rounds.py"


def list_rounds(name, catalog):
    """The digests of all rounds of a statistic, and its rules."""
    plan = with_delta(lower(TEXTS[name], catalog), Fraction(1, 10**6))
    (statistic,) = plan.statistics
    rounds = {kind: _digest(plan, price) for kind, price in PRICES.items()}
    return {"rules": getattr(statistic, "rules", 1), **rounds, **_list_suited(plan)}


def _list_suited(plan):
    """The same of the analysis that suits each price, where that is another one."""
    (statistic,) = plan.statistics
    if not isinstance(statistic, Analysis):
        return {}
    suited = {
        kind: plan.with_statistics(lambda each, price=price: each.specialize_for(price))
        for kind, price in PRICES.items()
    }
    return {f"suited {kind}": _digest(each, PRICES[kind]) for kind, each in suited.items() if each != plan}


def _digest(plan, price):
    return [each[:_DIGITS] for each in executed(plan, price).rounds]


@pytest.mark.parametrize("name", TEXTS)
def test_its_rounds_are_those_of_its_rules(name, hospital_catalog):
    kept, found = json.loads(FIXTURE.read_text())[name], list_rounds(name, hospital_catalog)
    assert found == kept, CHANGED


@pytest.mark.parametrize("name", TEXTS)
def test_other_rules_are_another_identity(name, hospital_catalog, monkeypatch):
    """Which is not the one of today, under which answers are stored."""
    (statistic,) = lower(TEXTS[name], hospital_catalog).statistics
    before = canonical(statistic)
    monkeypatch.setattr(type(statistic), "rules", getattr(statistic, "rules", 1) + 1, raising=False)
    _shape.cache_clear()
    after = canonical(replace(statistic))
    monkeypatch.undo()
    _shape.cache_clear()
    assert (after != before, canonical(replace(statistic))) == (True, before)


def write_fixture():
    with TemporaryDirectory() as folder:
        catalog = methods._KNOWN["catalog"] = declare(Path(folder) / "hospital")
        found = {name: list_rounds(name, catalog) for name in TEXTS}
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(rounds)}" for name, rounds in found.items())
    FIXTURE.write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    write_fixture()
