"""Conditions over the cells of an answer."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.plans.formulas import Formula, Keyed, count_nodes, list_compared
from adomnia.plans.plan import Plan
from adomnia.plans.windows import WindowedCells
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Text
from adomnia.sql.lower import lower
from adomnia.statistics.contract import Estimate
from sql.hospital import HOSPITAL

SEX, ACTIVE = Column("sex", Text(("F", "M", "X"))), Column("active", Boolean())
(COUNT,) = lower("SELECT COUNT(*) FROM people", HOSPITAL).statistics
VALUES = {COUNT: Estimate(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), None, "")}
ABOVE_TWO = Formula(">", (COUNT, Fraction(2)))


def cells(condition):
    found = WindowedCells(Plan(None, (SEX, ACTIVE), ()), VALUES)
    return np.flatnonzero(found.values_of(condition) == 1).tolist()


@pytest.mark.parametrize(
    ("sign", "expected"),
    [("=", [1]), ("<>", [0, 2, 3, 4, 5]), ("<", [0]), ("<=", [0, 1]), (">", [2, 3, 4, 5]), (">=", [1, 2, 3, 4, 5])],
)
def test_values_are_compared_as_the_sign_says(sign, expected):
    assert cells(Formula(sign, (COUNT, Fraction(2)))) == expected
    assert cells(Formula("not", (Formula(sign, (COUNT, Fraction(2))),))) == [
        cell for cell in range(6) if cell not in expected
    ]


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [(SEX, "M", [2, 3]), (ACTIVE, True, [1, 3, 5]), (ACTIVE, False, [0, 2, 4]), (SEX, "nobody", [])],
)
def test_a_key_has_a_value_in_the_cells_of_that_value(key, value, expected):
    assert cells(Keyed(key, value)) == expected


def test_chains_hold_where_all_or_any_part_does():
    parts = (ABOVE_TWO, Keyed(ACTIVE, True), Keyed(SEX, "X"))
    assert cells(Formula("and", parts)) == [5]
    assert cells(Formula("or", parts)) == [1, 2, 3, 4, 5]
    assert cells(Formula("and", ())) == [0, 1, 2, 3, 4, 5]
    assert cells(Formula("or", ())) == []


def test_every_term_that_is_compared_is_found():
    formula = Formula("negative", (COUNT,))
    condition = Formula("not", (Formula("and", (ABOVE_TWO, Keyed(SEX, "F"), Formula("<", (formula, COUNT)))),))
    assert list(list_compared(condition)) == [COUNT, Fraction(2), formula, COUNT]
    assert count_nodes(condition) == 1 + 1 + 3 + 1 + 4
