"""HAVING: from the tree to conditions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.plans.formulas import Formula, Keyed
from adomnia.sql.lower import lower
from sql.hospital import HOSPITAL

PLAN = lower("SELECT sex, active, COUNT(*) AS n FROM people GROUP BY sex, active", HOSPITAL)
SEX, ACTIVE = PLAN.keys
(COUNT,) = PLAN.statistics


def having(text):
    return lower(f"SELECT COUNT(*) AS n FROM people GROUP BY sex, active HAVING {text}", HOSPITAL).having


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n > 3", Formula(">", (COUNT, Fraction(3)))),
        ("3 < COUNT(*)", Formula("<", (Fraction(3), COUNT))),
        ("(n) = (-1.5)", Formula("=", (COUNT, Fraction(-3, 2)))),
        ("sex = 'F'", Keyed(SEX, "F")),
        ("'F' = sex", Keyed(SEX, "F")),
        ("people.sex <> 'F'", Formula("not", (Keyed(SEX, "F"),))),
        ("active", Keyed(ACTIVE, True)),
        ("active = FALSE", Keyed(ACTIVE, False)),
        ("sex IN ('F', 'M')", Formula("or", (Keyed(SEX, "F"), Keyed(SEX, "M")))),
        (
            "n BETWEEN 1 AND 2",
            Formula("and", (Formula(">=", (COUNT, Fraction(1))), Formula("<=", (COUNT, Fraction(2))))),
        ),
        (
            "n > 3 AND active AND sex = 'F'",
            Formula("and", (Formula(">", (COUNT, 3)), Keyed(ACTIVE, True), Keyed(SEX, "F"))),
        ),
        ("NOT (active OR sex IS NULL)", Formula("not", (Formula("or", (Keyed(ACTIVE, True), Formula("or", ()))),))),
    ],
)
def test_a_condition_means_what_it_says(text, expected):
    assert having(text) == expected


def test_a_question_without_having_keeps_every_row():
    assert PLAN.having is None


def test_a_long_chain_is_one_level():
    assert len(having(" OR ".join(["n = 1"] * 1000)).terms) == 1000
