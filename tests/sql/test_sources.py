"""A question is about one private table."""

from __future__ import annotations

import pytest

from adomnia.errors import Refusal
from adomnia.sql.parse import parsed
from adomnia.sql.sources import scope_of
from sql.hospital import HOSPITAL, PEOPLE


def scope(text):
    return scope_of(parsed(text), HOSPITAL)


def code(text):
    with pytest.raises(Refusal) as refusal:
        scope(text)
    return refusal.value.code


@pytest.mark.parametrize("name", ["people", "People", '"PEOPLE"'])
def test_a_table_is_found_in_upper_and_lower_case(name):
    assert scope(f"SELECT COUNT(*) FROM {name}").table == PEOPLE


def test_a_table_goes_by_its_alias():
    assert scope("SELECT COUNT(*) FROM people AS p").name == "p"
    assert scope("SELECT COUNT(*) FROM people").name == "people"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("people JOIN people p ON TRUE", "private_self_join"),
        ("people, visits", "join"),
        ("people LEFT JOIN cities ON people.city = cities.city", "join"),
        ("people CROSS JOIN cities", "fanout_join_with_public"),
        ("people JOIN cities ON people.age > cities.population", "fanout_join_with_public"),
        ("cities JOIN people ON TRUE", "join"),
        ("people NATURAL JOIN visits", "join"),
        ("people JOIN read_csv('x') ON TRUE", "function_not_allowed"),
        ("(SELECT COUNT(*) AS n FROM people GROUP BY sex) t", "private_subquery"),
        ("(people)", "private_subquery"),
        ("(SELECT * FROM people OFFSET 3) t", "limit_below_aggregate"),
        ("people PIVOT (COUNT(*) FOR sex IN ('F'))", "syntax_not_allowed"),
        ("UNNEST([1, 2])", "syntax_not_allowed"),
        ("people AT (VERSION => 3)", "syntax_not_allowed"),
    ],
)
def test_anything_else_is_refused(source, expected):
    assert code(f"SELECT COUNT(*) FROM {source}") == expected
