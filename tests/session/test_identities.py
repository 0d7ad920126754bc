"""What answers are stored under stays as it is: a stored answer that is not found again would be paid for twice."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from adomnia.asking.batch import Batch
from adomnia.errors import Refusal
from adomnia.pricing.questions import Question
from adomnia.pricing.rules import CURRENT, THIRD
from sql.hospital import HOSPITAL

FIXTURES = Path(__file__).parents[1] / "fixtures"
IDENTITIES = json.loads((FIXTURES / "identities.json").read_text())
BEFORE = json.loads((FIXTURES / "identities_of_whole_keys.json").read_text())
CATALOG = replace(HOSPITAL, budget=replace(HOSPITAL.budget, approximate=True))
PAYMENTS = {
    "epsilon": {"epsilon": Fraction(1, 2)},
    "rho with high effort": {"rho": Fraction(1, 10), "effort": "high"},
    "delta": {"epsilon": Fraction(1, 2), "delta": Fraction(1, 10**6)},
}


def identity(text, payment, rules):
    asked = Batch((Question(text, **payment),), 0.95, 1)
    return asked.identity(asked.price(asked.plans(CATALOG), CATALOG, rules=rules), "any").hex()


def identity_under_a_policy(text, rules):
    asked = Batch((Question(text),), 0.95, 1)
    return asked.unpriced_identity(asked.plans(CATALOG), CATALOG, "any", rules).hex()


def identities(text, rules=CURRENT):
    found = {}
    for name, payment in PAYMENTS.items():
        try:
            found[name] = identity(text, payment, rules)
        except Refusal:
            continue
    if "epsilon" in found:
        found["set by a policy"] = identity_under_a_policy(text, rules)
    return found


@pytest.mark.parametrize("text", IDENTITIES)
def test_a_question_keeps_the_identity_that_its_answers_are_stored_under(text):
    assert identities(text) == IDENTITIES[text]


def test_the_identities_differ_from_each_other_where_the_questions_do():
    by_epsilon = [each["epsilon"] for each in IDENTITIES.values() if "epsilon" in each]
    assert len(by_epsilon) > 400
    assert len(set(by_epsilon)) > len(by_epsilon) / 2


@pytest.mark.parametrize("text", BEFORE)
def test_what_was_measured_with_all_values_of_its_keys_is_found_by_the_rules_of_then(text):
    assert identities(text, THIRD) == BEFORE[text]
    assert not set(identities(text).values()) & set(BEFORE[text].values())
