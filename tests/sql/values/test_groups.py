"""What is added up has bounds: declared for a column, derived for an expression."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.errors import Refusal
from adomnia.privacy.domains import Numbers
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Rows
from adomnia.sql.lower import lower
from adomnia.sql.values.groups import Groups
from adomnia.sql.values.scope import Scope
from adomnia.statistics.mean import Mean
from adomnia.statistics.sum import Sum
from sql.hospital import HOSPITAL, PEOPLE


def statistic(aggregate):
    (found,) = lower(f"SELECT {aggregate} FROM people", HOSPITAL).statistics
    return found


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


def test_a_query_is_over_the_rows_and_the_keys_of_the_groups():
    groups = Groups(PEOPLE, (PEOPLE.column("sex"),), Scope(()))
    assert groups.query(Rows()) == Query(PEOPLE, (PEOPLE.column("sex"),), Rows())


@pytest.mark.parametrize(
    ("aggregate", "code", "said"),
    [
        ("SUM(name)", "type_error", "SUM takes a number and name is of type text"),
        ("AVG(DISTINCT age)", "aggregate_not_allowed", "AVG has DISTINCT inside"),
        ("SUM(age ORDER BY age)", "aggregate_not_allowed", "SUM has ORDER BY inside"),
        ("VAR_POP(person_id)", "identifier_column", "person_id is an id"),
        ("SUM(weight)", "unbounded_expression", "adds up weight, which has no declared bounds"),
        ("SUM(1 / salary)", "unbounded_expression", "has no bounds to add up within"),
        ("SUM(salary * 1e300)", "scale_out_of_range", "can be too large to add up exactly"),
    ],
)
def test_what_cannot_be_added_up_is_refused(aggregate, code, said):
    with pytest.raises(Refusal, match=said) as refused:
        statistic(aggregate)
    assert refused.value.code == code
