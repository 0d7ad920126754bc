"""VAR, STDDEV, COVAR and CORR as they are written."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.errors import Refusal
from adomnia.pricing.parts import bill
from adomnia.pricing.quotes import list_measures
from adomnia.privacy.events import Pure
from adomnia.privacy.scans import Total
from adomnia.sql.lower import lower
from adomnia.statistics.correlation import Correlation
from adomnia.statistics.covariance import Covariance
from adomnia.statistics.variance import Variance
from sql.hospital import HOSPITAL, PEOPLE

AGE, SALARY = (Total(PEOPLE.column(name), PEOPLE.column(name).domain) for name in ("age", "salary"))


def plan(outputs):
    return lower(f"SELECT {outputs} FROM people", HOSPITAL)


def statistic(aggregate):
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
    found = statistic(f"{written}(age)")
    assert isinstance(found, Variance)
    assert (found.query.aggregate, found.name) == (AGE, name)


@pytest.mark.parametrize(
    ("written", "kind"), [("COVAR_POP", Covariance), ("COVAR_SAMP", Covariance), ("CORR", Correlation)]
)
def test_a_pair_is_one_statistic_in_whichever_order_it_is_written(written, kind):
    found = statistic(f"{written}(age, salary)")
    assert isinstance(found, kind)
    assert (found.query.aggregate, found.other) == (AGE, SALARY)
    assert statistic(f"{written}(salary, age)") == found


def test_the_covariance_of_a_value_with_itself_is_its_variance():
    assert statistic("COVAR_SAMP(age, age)") == statistic("VAR_SAMP(age)")
    assert statistic("COVAR_POP(age, age)") == statistic("VAR_POP(age)")


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
        short = statistic(f"{name}(age{other}) FILTER (WHERE sex = 'F')")
        assert short == statistic(f"{name}(CASE WHEN sex = 'F' THEN age END{other})")
