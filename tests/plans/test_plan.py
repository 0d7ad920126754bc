"""A plan's identity is what its measurements depend on: nothing less, and nothing that costs nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from importlib import import_module
from inspect import getmembers, isclass
from pkgutil import walk_packages
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import adomnia
from adomnia.plans.plan import canonical
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Text
from adomnia.privacy.scans import NonNull
from adomnia.sql.lower import lower
from sql.hospital import HOSPITAL, PEOPLE, number

HALF = Pure(Fraction(1, 2))


def identity(text, price=HALF, version=1, catalog=HOSPITAL):
    return lower(text, catalog).identity(price, version)


def changed(**columns):
    """The catalog with some columns of people declared otherwise."""
    kept = tuple(columns.get(column.name, column) for column in PEOPLE.columns)
    return replace(HOSPITAL, tables=(replace(PEOPLE, columns=kept), *HOSPITAL.tables[1:]))


BASE = "SELECT sex, COUNT(*), AVG(salary) FROM people WHERE age >= 18 AND active GROUP BY sex"


@pytest.mark.parametrize(
    "same",
    [
        "select SEX, count( * ), avg(Salary) from People where active and age>=18 group by 1",
        "SELECT AVG(salary) AS pay, COUNT(*) AS n, sex AS s FROM people p WHERE p.active AND 18 <= p.age GROUP BY s",
        BASE + " ORDER BY 2 DESC LIMIT 1",
        BASE + " HAVING sex <> 'F' AND COUNT(*) > 10 ORDER BY 2 DESC LIMIT 1 OFFSET 1",
        BASE.replace("COUNT(*)", "COUNT(*) / 2 AS half, ROUND(100 * COUNT(*) / AVG(salary), 1)"),
        "SELECT sex FROM people WHERE age >= 18 AND active GROUP BY sex HAVING COUNT(*) > AVG(salary)",
        BASE.replace("age >= 18", "NOT age < 18.0"),
        BASE.replace("active", "active AND active AND age >= 18"),
        "SELECT sex, COUNT(*), AVG(salary), COUNT(*) AS again FROM people WHERE active AND age >= 18 GROUP BY sex",
    ],
)
def test_the_same_question_in_other_words_has_the_same_identity_and_measures_the_same(same):
    assert identity(same) == identity(BASE)
    assert lower(same, HOSPITAL).statistics == lower(BASE, HOSPITAL).statistics


@pytest.mark.parametrize(
    "other",
    [
        BASE.replace("18", "19"),
        BASE.replace(">=", ">"),
        BASE.replace("AND active", "OR active"),
        BASE.replace("AVG", "SUM"),
        BASE.replace("salary", "age"),
        BASE.replace("COUNT(*)", "COUNT(age)"),
        BASE.replace("sex", "city"),
        BASE.replace(", AVG(salary)", ""),
        BASE + " ORDER BY SUM(age)",
        BASE + " HAVING SUM(age) > 3",
        BASE + " ORDER BY COUNT(*) - SUM(age)",
        "SELECT COUNT(*), AVG(salary) FROM people WHERE age >= 18 AND active",
    ],
)
def test_another_question_has_another_identity(other):
    assert identity(other) != identity(BASE)


@pytest.mark.parametrize(
    ("price", "version"), [(Pure(Fraction(1, 3)), 1), (Concentrated(Fraction(1, 2)), 1), (HALF, 2)]
)
def test_price_and_version_of_the_data_are_part_of_the_identity(price, version):
    assert identity(BASE, price, version) != identity(BASE)


@pytest.mark.parametrize(
    "catalog",
    [
        changed(salary=number("salary", 0, 400_000)),
        changed(salary=number("salary", 0, 500_000, step=1)),
        changed(sex=Column("sex", Text(("F", "M")))),
        changed(sex=Column("sex", Text(("M", "F", "X")))),
        replace(HOSPITAL, tables=(replace(PEOPLE, rows_per_person=2), *HOSPITAL.tables[1:])),
    ],
    ids=["bounds", "step", "categories", "order of categories", "cap"],
)
def test_bounds_steps_categories_and_caps_are_part_of_the_identity(catalog):
    assert identity(BASE, catalog=catalog) != identity(BASE)


def test_statistics_are_measured_once_and_in_one_order():
    one = lower("SELECT COUNT(*), SUM(age), AVG(age), COUNT(*) FROM people", HOSPITAL)
    other = lower("SELECT AVG(age), COUNT(*), SUM(age) FROM people ORDER BY SUM(age)", HOSPITAL)
    assert len(one.statistics) == 3
    assert one.statistics == other.statistics


@dataclass(frozen=True)
class Pair:
    tag: ClassVar[str] = "Pair"
    left: object
    right: object


values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.text(max_size=3),
        st.fractions(),
        st.dates(date(2000, 1, 1), date(2001, 1, 1)),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3).map(tuple), st.builds(Pair, inner, inner)),
    max_leaves=6,
)


def typed(value):
    """What tells values apart: True is not 1, and a Fraction of 1 is neither."""
    match value:
        case tuple():
            return ("tuple", *map(typed, value))
        case Pair():
            return ("Pair", typed(value.left), typed(value.right))
    return type(value).__name__, value


@given(values, values)
def test_two_values_have_one_encoding_only_if_they_are_equal(one, other):
    assert (canonical(one) == canonical(other)) == (typed(one) == typed(other))


def test_doubles_are_told_apart_to_their_last_bit_and_from_all_other_numbers():
    values = (1.0, 1, Fraction(1), True, 1.0 + 2**-52, 0.1, Fraction(1, 10), "1.0")
    assert len(set(map(canonical, values))) == len(values)


@pytest.mark.parametrize("value", [[1], {1: 2}, object(), Pair])
def test_only_plain_data_has_an_encoding(value):
    with pytest.raises(TypeError, match="canonical value must be plain data"):
        canonical(value)


PACKAGES = ("privacy", "catalog", "statistics", "plans")


def tagged_classes():
    names = [
        module.name for module in walk_packages(adomnia.__path__, "adomnia.") if module.name.split(".")[1] in PACKAGES
    ]
    found = {each for name in names for _, each in getmembers(import_module(name), isclass)}
    return {each for each in found if isinstance(vars(each).get("tag"), str)}


def test_a_class_that_is_renamed_is_encoded_as_before():
    @dataclass(frozen=True)
    class Renamed:
        tag: ClassVar[str] = "Present"
        value: Column

    column = Column("member", Boolean())
    assert canonical(Renamed(column)) == canonical(NonNull(column))


def test_a_class_without_a_tag_of_its_own_has_no_encoding():
    @dataclass(frozen=True)
    class Untagged:
        value: int

    class Inherited(NonNull):
        pass

    for value in (Untagged(1), Inherited(Column("member", Boolean()))):
        with pytest.raises(TypeError, match="must have a tag of its own"):
            canonical(value)


def test_no_tag_stands_for_two_classes_that_can_stand_in_the_same_place():
    counts = Counter((each.tag, getattr(each, "rules", 1)) for each in tagged_classes())
    assert len(counts) > 40
    # One is an aggregate of a query and the other a statistic: their places in a plan tell them apart.
    assert {tag for (tag, _), count in counts.items() if count > 1} == {"Extreme"}


def test_rules_tell_classes_of_one_tag_apart():
    """A way to measure that is only read keeps its tag; what is measured now has other rules."""

    @dataclass(frozen=True)
    class Then:
        tag: ClassVar[str] = "Way"

    @dataclass(frozen=True)
    class Now:
        tag: ClassVar[str] = "Way"
        rules: ClassVar[int] = 2

    assert canonical((Then(),)) != canonical((Now(),))


def test_a_field_that_came_later_changes_nothing_as_long_as_nobody_uses_it():
    """Answers are stored under the hashes of categories that had no others yet."""

    @dataclass(frozen=True)
    class Before:
        tag: ClassVar[str] = "Text"
        values: tuple[str, ...] | None = None

    assert canonical((Before(("a", "b")),)) == canonical((Text(("a", "b")),))
    assert canonical(Text(("a", "b"), others=True)) != canonical(Text(("a", "b")))
