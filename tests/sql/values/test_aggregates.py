"""Aggregates become statistics, by the names that SQL gives them."""

from __future__ import annotations

import pytest

from adomnia.errors import Refusal
from adomnia.privacy.expressions import call, number
from adomnia.privacy.relations import MOST_ROWS
from adomnia.privacy.scans import DistinctValues, NonNull, People, Rows
from adomnia.sql.lower import lower
from adomnia.statistics.correlation import Correlation
from adomnia.statistics.count import Count
from adomnia.statistics.covariance import Covariance
from adomnia.statistics.quantile import Quantile
from adomnia.statistics.registry import STATISTICS
from sql.hospital import HOSPITAL, PEOPLE

ARGUMENTS = dict.fromkeys((Covariance, Correlation), "age, salary") | {Count: "*", Quantile: "age, 0.5"}


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
        ("COUNT(age)", Count, NonNull(PEOPLE.column("age"))),
        ("COUNT(DISTINCT city)", Count, DistinctValues(PEOPLE.column("city"))),
        ("COUNT(DISTINCT age + 1)", Count, DistinctValues(call("+", PEOPLE.column("age"), number(1)))),
    ],
)
def test_what_is_counted(aggregate, kind, counted):
    found = statistic(aggregate)
    assert isinstance(found, kind)
    assert found.query.aggregate == counted


@pytest.mark.parametrize(("name", "kind"), STATISTICS.items())
def test_every_statistic_is_asked_for_by_its_name(name, kind):
    found = statistic(f"{name}({ARGUMENTS.get(kind, 'age')})")
    assert isinstance(found, kind)
    assert found.name == name


@pytest.mark.parametrize(
    ("aggregate", "inner"),
    [("SUM(AVG(age))", "AVG"), ("CORR(age, SUM(salary))", "SUM"), ("COUNT(DISTINCT COUNT(*))", "COUNT")],
)
def test_an_aggregate_of_aggregates_is_refused_where_the_inner_one_stands(aggregate, inner):
    with pytest.raises(Refusal, match=rf"^{inner}\(.*stands inside") as refused:
        statistic(aggregate)
    assert refused.value.code == "nested_aggregate"
    assert refused.value.position == (1, 8 + aggregate.index(inner, 1))


def test_the_rows_of_a_person_are_those_the_catalog_allows():
    assert statistic("COUNT(*)", "visits").query.read.rows_per_person == 10
    assert statistic("COUNT(DISTINCT person_id)", "visits").query.read.rows_per_person == MOST_ROWS
