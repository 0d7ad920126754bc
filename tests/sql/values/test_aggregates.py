"""Aggregates become statistics, by the names that SQL gives them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.errors import Refusal
from adomnia.pricing.parts import bill
from adomnia.pricing.quotes import list_measures
from adomnia.privacy.events import Pure
from adomnia.privacy.expressions import call, number
from adomnia.privacy.relations import MOST_ROWS
from adomnia.privacy.scans import DistinctValues, NonNull, People, Rows, Total
from adomnia.sql.lower import lower
from adomnia.statistics.correlation import Correlation
from adomnia.statistics.count import Count
from adomnia.statistics.covariance import Covariance
from adomnia.statistics.quantile import Quantile
from adomnia.statistics.registry import STATISTICS
from adomnia.statistics.variance import Variance
from sql.hospital import HOSPITAL, PEOPLE

ARGUMENTS = dict.fromkeys((Covariance, Correlation), "age, salary") | {Count: "*", Quantile: "age, 0.5"}
AGE, SALARY = (Total(PEOPLE.column(name), PEOPLE.column(name).domain) for name in ("age", "salary"))


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


def plan(outputs):
    return lower(f"SELECT {outputs} FROM people", HOSPITAL)


def find_moment(aggregate):
    (found,) = plan(aggregate).statistics
    return found


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("VAR_POP", "VAR_POP"),
        ("VARIANCE_POP", "VAR_POP"),
        ("VAR_SAMP", "VAR_SAMP"),
        ("VARIANCE", "VAR_SAMP"),
        ("var", "VAR_SAMP"),
        ("STDDEV_POP", "STDDEV_POP"),
        ("STDDEV_SAMP", "STDDEV_SAMP"),
        ("STDDEV", "STDDEV_SAMP"),
    ],
)
def test_every_spelling_of_a_variance(written, name):
    found = find_moment(f"{written}(age)")
    assert isinstance(found, Variance)
    assert (found.query.aggregate, found.name) == (AGE, name)


@pytest.mark.parametrize(
    ("written", "kind"), [("COVAR_POP", Covariance), ("COVAR_SAMP", Covariance), ("CORR", Correlation)]
)
def test_a_pair_is_one_statistic_in_whichever_order_it_is_written(written, kind):
    found = find_moment(f"{written}(age, salary)")
    assert isinstance(found, kind)
    assert (found.query.aggregate, found.other) == (AGE, SALARY)
    assert find_moment(f"{written}(salary, age)") == found


def test_the_covariance_of_a_value_with_itself_is_its_variance():
    assert find_moment("COVAR_SAMP(age, age)") == find_moment("VAR_SAMP(age)")
    assert find_moment("COVAR_POP(age, age)") == find_moment("VAR_POP(age)")


@pytest.mark.parametrize(
    ("outputs", "count"),
    [
        ("AVG(age), VAR_POP(age), STDDEV(age), COUNT(age)", 3),
        ("COVAR_POP(age, salary), COVAR_SAMP(age, salary), CORR(salary, age)", 6),
        ("AVG(age), CORR(age, salary)", 8),
    ],
)
def test_what_several_of_them_need_is_measured_and_paid_once(outputs, count):
    asked = list_measures(plan(outputs), Pure(1))
    assert [measure.price for measure in asked] == [Pure(Fraction(1, count))] * count
    assert sum(part.epsilon for part in bill((plan(outputs), Pure(1))).events) == 1


@pytest.mark.parametrize(
    ("aggregate", "code", "said"),
    [
        ("CORR(age, age)", "aggregate_not_allowed", "CORR is 1 whatever the data"),
        ("VAR_POP(DISTINCT age)", "aggregate_not_allowed", "VAR_POP has DISTINCT inside"),
        ("CORR(age, name)", "type_error", "CORR takes a number"),
        ("COVAR_POP(weight, age)", "unbounded_expression", "no declared bounds"),
        ("STDDEV(salary * 1e140)", "scale_out_of_range", "multiplies values that can be too large"),
        ("CORR(age, salary * 1e140)", "scale_out_of_range", "multiplies values that can be too large"),
        ("VAR(age, salary)", "function_not_allowed", "VAR is not a function"),
    ],
)
def test_what_has_no_moments_is_refused(aggregate, code, said):
    with pytest.raises(Refusal, match=said) as refused:
        plan(aggregate)
    assert refused.value.code == code


def test_a_filter_takes_rows_away_from_either_value():
    for name in ("VAR_POP", "CORR"):
        other = ", salary" if name == "CORR" else ""
        short = find_moment(f"{name}(age{other}) FILTER (WHERE sex = 'F')")
        assert short == find_moment(f"{name}(CASE WHEN sex = 'F' THEN age END{other})")
