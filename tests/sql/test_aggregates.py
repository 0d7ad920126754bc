"""Aggregates become statistics over bounded grids."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.privacy.aggregates import People, Present, Rows
from adomnia.privacy.domains import Numbers
from adomnia.privacy.relations import MOST_ROWS
from adomnia.sql.lower import lower
from adomnia.statistics.count import Count
from adomnia.statistics.mean import Mean
from adomnia.statistics.sum import Sum
from sql.hospital import HOSPITAL, PEOPLE


def statistic(aggregate, table="people"):
    (found,) = lower(f"SELECT {aggregate} FROM {table}", HOSPITAL).statistics
    return found


@pytest.mark.parametrize(
    ("aggregate", "kind", "counted"),
    [
        ("COUNT(*)", Count, Rows()),
        ("COUNT(3)", Count, Rows()),
        ("COUNT(person_id)", Count, Rows()),
        ("COUNT(DISTINCT person_id)", Count, People()),
        ("COUNT(age)", Count, Present(PEOPLE.column("age"))),
    ],
)
def test_what_is_counted(aggregate, kind, counted):
    found = statistic(aggregate)
    assert isinstance(found, kind)
    assert found.query.aggregate == counted


@pytest.mark.parametrize(
    ("expression", "domain"),
    [
        ("age", Numbers.integers(0, 120)),
        ("salary", Numbers.bounded(0, 500_000)),
        ("score", Numbers(-1, 1, Fraction(1, 10))),
        ("age - 200", Numbers.integers(-200, -80)),
        ("salary / 3", Numbers.bounded(0, Fraction(500_000, 3))),
        ("2.5", Numbers(Fraction(5, 2), Fraction(5, 2), Fraction(5, 2))),
        ("-2.5", Numbers(Fraction(-5, 2), Fraction(-5, 2), Fraction(5, 2))),
        ("age * 1e20", Numbers.bounded(0, 120 * 10**20)),
    ],
)
@pytest.mark.parametrize(("name", "kind"), [("SUM", Sum), ("AVG", Mean)])
def test_a_column_is_summed_on_its_own_grid_and_an_expression_on_a_derived_one(expression, domain, name, kind):
    found = statistic(f"{name}({expression})")
    assert isinstance(found, kind)
    assert found.query.aggregate.domain == domain


def test_the_rows_of_a_person_are_those_the_catalog_allows():
    assert statistic("COUNT(*)", "visits").query.read.rows_per_person == 10
    assert statistic("COUNT(DISTINCT person_id)", "visits").query.read.rows_per_person == MOST_ROWS
