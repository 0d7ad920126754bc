"""A public table takes from its file what its catalog leaves open, and nothing that the catalog says."""

from __future__ import annotations

from datetime import date, datetime
from math import inf

import pytest

from adomnia.catalog.facts import Facts, apply_facts, sort_values
from adomnia.catalog.model import Table
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity, Text

WHOLE, NUMBER = Column("c", Quantity(whole=True)), Column("c", Quantity())


def known(column, facts):
    return apply_facts(Table("t", "t.csv", (column,), public=True), [facts]).columns[0]


def bounded(domain, whole=False):
    return Column("c", Quantity(domain.lower, domain.upper, whole), domain)


NOON = datetime.fromisoformat("2020-01-01T12:00:00")


@pytest.mark.parametrize(
    ("column", "facts", "expected"),
    [
        (WHOLE, Facts(1, 1.0, 7.0), bounded(Numbers.integers(1, 7), whole=True)),
        (WHOLE, Facts(1, -1.5, 2.5), bounded(Numbers.integers(-1, 3), whole=True)),
        (WHOLE, Facts(1, -(2.0**53), 2.0**53), bounded(Numbers.integers(-(2**53), 2**53), whole=True)),
        (NUMBER, Facts(1, 0.1, 7.5), bounded(Numbers.bounded(0.1, 7.5))),
        (Column("c", Day()), Facts(1, date(2020, 1, 1), date(2020, 1, 1)), Column("c", Day(*[date(2020, 1, 1)] * 2))),
        (Column("c", Moment(zone="UTC")), Facts(1, NOON, NOON), Column("c", Moment(NOON, NOON, "UTC"))),
        (Column("c", Text()), Facts(1, values=("b", "a")), Column("c", Text(("a", "b")))),
    ],
)
def test_what_the_catalog_leaves_open_is_taken_from_the_file(column, facts, expected):
    assert known(column, facts) == expected


@pytest.mark.parametrize(
    ("column", "facts"),
    [
        (WHOLE, Facts(1)),
        (WHOLE, Facts(1, 3.0, 3.0)),
        (WHOLE, Facts(1, 0.0, 2.0**53 + 2)),
        (WHOLE, Facts(1, -(2.0**53) - 2, 0.0)),
        (WHOLE, Facts(1, 0.0, inf)),
        (NUMBER, Facts(1, -inf, 0.0)),
        (NUMBER, Facts(1, 0.0, 1e-310)),
        (NUMBER, Facts(1, 3.5, 3.5)),
        (bounded(Numbers.integers(0, 9), whole=True), Facts(1, -5.0, 50.0)),
        (Column("c", Day()), Facts(1)),
        (Column("c", Moment(zone="UTC")), Facts(1)),
        (Column("c", Day(date(2020, 1, 1), date(2021, 1, 1))), Facts(1, date(1999, 1, 1), date(2020, 1, 5))),
        (Column("c", Text(("z", "a"))), Facts(1, values=("a", "b"))),
        (Column("c", Text()), Facts(0)),
        (Column("c", Boolean()), Facts(1)),
        (Column("c", Identity()), Facts(1)),
    ],
)
def test_what_is_declared_or_cannot_be_used_stays_as_it_is(column, facts):
    assert known(column, facts) == column


def test_a_hundred_thousand_texts_are_a_category_and_more_are_not():
    values = tuple(f"v{place:06}" for place in range(100_001))
    assert known(Column("c", Text()), Facts(1, values=values[:-1])) == Column("c", Text(values[:-1]))
    assert known(Column("c", Text()), Facts(1, values=values)) == Column("c", Text())


def test_values_are_sorted_by_their_letters_and_listed_once():
    assert sort_values(Facts(1, values=("b", "A", "a", "b", "10", "9"))) == ("10", "9", "A", "a", "b")


def test_every_column_says_how_often_its_values_repeat_and_an_empty_table_says_once():
    table = Table("t", "t.csv", (WHOLE, Column("d", Text())), public=True)
    assert apply_facts(table, [Facts(3), Facts(0)]).repeats == (3, 1)


def test_facts_of_other_columns_are_not_taken_for_these():
    with pytest.raises(ValueError, match="shorter"):
        apply_facts(Table("t", "t.csv", (WHOLE, Column("d", Text())), public=True), [Facts(1)])
