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
from sql.hospital import HOSPITAL

IDENTITIES = json.loads((Path(__file__).parents[1] / "fixtures" / "identities.json").read_text())
CATALOG = replace(HOSPITAL, budget=replace(HOSPITAL.budget, approximate=True))
PAYMENTS = {
    "epsilon": {"epsilon": Fraction(1, 2)},
    "rho with high effort": {"rho": Fraction(1, 10), "effort": "high"},
    "delta": {"epsilon": Fraction(1, 2), "delta": Fraction(1, 10**6)},
}


def identity(text, payment):
    asked = Batch((Question(text, **payment),), 0.95, 1)
    return asked.identity(asked.price(asked.plans(CATALOG), CATALOG), "any").hex()


def identity_under_a_policy(text):
    asked = Batch((Question(text),), 0.95, 1)
    return asked.unpriced_identity(asked.plans(CATALOG), CATALOG, "any").hex()


def identities(text):
    found = {}
    for name, payment in PAYMENTS.items():
        try:
            found[name] = identity(text, payment)
        except Refusal:
            continue
    if "epsilon" in found:
        found["set by a policy"] = identity_under_a_policy(text)
    return found


@pytest.mark.parametrize("text", IDENTITIES)
def test_a_question_keeps_the_identity_that_its_answers_are_stored_under(text):
    assert identities(text) == IDENTITIES[text]


def test_the_identities_differ_from_each_other_where_the_questions_do():
    by_epsilon = [each["epsilon"] for each in IDENTITIES.values() if "epsilon" in each]
    assert len(by_epsilon) > 400
    assert len(set(by_epsilon)) > len(by_epsilon) / 2
