"""Values of groups, read from the tree: constants are folded, sizes bounded, divisors kept from zero."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.errors import Refusal
from adomnia.plans.formulas import Formula
from adomnia.sql.lower import MOST_COMPUTED, lower
from adomnia.sql.values.computed import MOST_TERMS
from sql.hospital import HOSPITAL


def source(text):
    return lower(f"SELECT {text} AS x FROM people", HOSPITAL).outputs[0].source


def code(text):
    with pytest.raises(Refusal) as refusal:
        source(text)
    return refusal.value.code


COUNT = source("COUNT(*)")


def test_brackets_alone_make_no_formula():
    assert source("((COUNT(*)))") == COUNT


def test_constants_are_computed_exactly():
    assert source("COUNT(*) + 0.1 + 0.2") == Formula("+", (Formula("+", (COUNT, Fraction(1, 10))), Fraction(1, 5)))
    assert source("COUNT(*) + (0.1 + 0.2)") == Formula("+", (COUNT, Fraction(3, 10)))
    assert source("-(2 - 3) / 4 * COUNT(*)") == Formula("*", (Fraction(1, 4), COUNT))


def test_a_count_that_divides_is_at_least_one():
    assert source("1 / COUNT(*)") == Formula("/", (Fraction(1), Formula("at least 1", (COUNT,))))
    assert source("COUNT(*) / SUM(age)") == Formula("/", (COUNT, source("SUM(age)")))


def test_a_formula_has_so_many_parts_at_most():
    inside = " + ".join(["COUNT(*)"] * (MOST_TERMS // 2))
    assert isinstance(source(inside), Formula)
    assert code(f"{inside} + 1") == "too_complex"
    assert code("SUM(age) + " * 1000 + "1") == "too_complex"


def test_operations_on_noisy_values_are_bounded_over_all_groups():
    text = "SELECT COUNT(*) AS n FROM wide GROUP BY c0, c1, c2 HAVING "
    within = MOST_COMPUTED // 40**3 // 3 - 2  # each comparison is one operation of two values
    lower(text + " OR ".join(["n > 0"] * within), HOSPITAL)
    with pytest.raises(Refusal) as refusal:
        lower(text + " OR ".join(["n > 0"] * (within + 3)), HOSPITAL)
    assert refusal.value.code == "too_complex"
