"""What is looked up for a row, and what it is looked up in: rows stay as many as they are."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Call, Column, Literal, number
from adomnia.privacy.kinds import Boolean, Day, Identity, Quantity, Text
from adomnia.privacy.relations import (
    MOST_ROWS,
    Join,
    Lookup,
    Named,
    OwnValue,
    PerPerson,
    Private,
    Public,
    PublicGroups,
    PublicValue,
    Selected,
    Where,
    recap,
)
from adomnia.privacy.scans import OwnChoice, OwnExtreme, OwnMedian, OwnSpread, Rows

SIZE = Column("size", Quantity(Fraction(0), Fraction(3), whole=True), Numbers.integers(0, 3))
COST = Column("cost", Quantity(Fraction(-2), Fraction(6)), Numbers.bounded(-2, 6, Fraction(1, 4)))
WARD = Column("ward", Text(("x", "y")))
DAY = Column("day", Day())
WHO = Column("person_id", Identity(person=True))
VISITS = Private("visits", 10, (WHO, SIZE, COST, WARD, DAY))
PLACES = Public("places", (SIZE, WARD), (4, 3))
TRUE = Literal(True, Boolean())


def by(source, *columns, outputs=()):
    keys = tuple(Selected(f"g{place}", column, stored=False) for place, column in enumerate(columns))
    return (PublicGroups if source.is_public else PerPerson)(source, keys, outputs)


def test_rows_are_as_many_as_before_whatever_is_looked_up():
    left = Named(VISITS, "v")
    for groups, keys in ((by(VISITS, WARD), 1), (by(PLACES, WARD, SIZE), 2), (by(PLACES), 0), (by(VISITS), 0)):
        found = Lookup(left, Named(groups, "found"), (left.columns[3], left.columns[1])[:keys])
        assert found.rows_per_person == 10
        assert found.repeats(left.columns[1]) == 10
        assert [column.optional for column in found.columns] == [False] * 5 + [True] * len(groups.columns)
        assert {found.repeats(column) for column in found.columns[5:]} == ({10} if groups.columns else set())
        assert len(found.on) == keys
        assert found.is_public is False


def test_a_public_row_looks_up_public_rows_only():
    left = Named(PLACES, "p")
    found = Lookup(left, Named(Where(by(PLACES, WARD), TRUE), "found"), (left.columns[1],))
    assert found.rows_per_person == 0
    assert found.repeats(left.columns[0]) == 4
    assert found.repeats(found.columns[-1]) is None
    assert found.is_public
    with pytest.raises(ValueError, match="Lookup must begin with a private side, got a public one before own"):
        Lookup(left, Named(by(VISITS, WARD), "own"), (left.columns[1],))


def test_all_keys_are_compared_and_there_are_groups_to_look_into():
    left = Named(VISITS, "v")
    with pytest.raises(ValueError, match="Lookup in own must compare all of its keys, got 1"):
        Lookup(left, Named(by(VISITS, WARD, SIZE), "own"), (left.columns[3],))
    with pytest.raises(ValueError, match="Lookup in own must be in groups, got Private"):
        Lookup(left, Named(VISITS, "own"))


def test_other_caps_reach_both_sides():
    found = recap(Lookup(Named(VISITS, "v"), Named(by(VISITS), "own")), {"visits": 3})
    assert found.rows_per_person == 3
    assert found.right.source.source.rows_per_person == 3


def test_public_groups_are_nobodys_and_a_key_alone_is_unique():
    groups = by(PLACES, WARD, outputs=(PublicValue("v0", "count"),))
    assert (groups.rows_per_person, groups.repeats(groups.columns[0]), groups.repeats(groups.columns[1])) == (
        0,
        1,
        None,
    )
    assert by(PLACES, WARD, SIZE).repeats(Column("g0", Text())) is None
    assert by(PLACES, outputs=(PublicValue("v0", "count"),)).repeats(Column("v0", Quantity())) == 1
    with pytest.raises(ValueError, match="PublicGroups source must be public, got rows of people"):
        PublicGroups(VISITS, (), ())
    joined = Join(
        Named(VISITS, "v"),
        Named(groups, "g"),
        (Call("=", (Named(VISITS, "v").columns[3], Named(groups, "g").columns[0]), Boolean()),),
    )
    assert joined.rows_per_person == 10


def test_values_of_public_rows_have_the_bounds_that_follow():
    def kind(function, value=None):
        return PublicValue("v", function, value).column.kind

    assert kind("count") == kind("count distinct", WARD) == Quantity(Fraction(0), Fraction(MOST_ROWS), whole=True)
    assert kind("avg", COST) == kind("median", COST) == Quantity(Fraction(-2), Fraction(6))
    assert kind("sum", SIZE) == Quantity(whole=True)
    assert kind("sum", COST) == kind("var_pop", SIZE) == Quantity()
    assert kind("min", SIZE) == SIZE.kind
    assert kind("max", DAY) == Day()
    assert kind("bool_or", Literal(True, Boolean())) == Boolean()
    with pytest.raises(ValueError, match=r"PublicValue function must be one of count, .*, got mode"):
        PublicValue("v", "mode", SIZE)


def test_values_of_one_person_have_the_bounds_that_follow():
    def column(aggregate):
        return OwnValue("v", aggregate).column

    assert column(OwnMedian(COST)) == Column("v", Quantity(Fraction(-2), Fraction(6)))
    assert column(OwnSpread(COST, COST.domain, root=True, sample=True)).kind == Quantity(Fraction(0), Fraction(8))
    assert column(OwnSpread(COST, COST.domain, root=False, sample=True)).kind == Quantity(Fraction(0), Fraction(64))
    assert column(OwnChoice(COST, DAY, greatest=True)) == Column("v", COST.kind, COST.domain)
    assert column(OwnChoice(number(3), DAY, greatest=True)).kind == number(3).kind
    assert column(OwnExtreme(Literal(True, Boolean()), greatest=True)) == Column("v", Boolean())


def test_what_is_remembered_is_read_of_capped_rows():
    median, first = OwnValue("v", OwnMedian(COST)), OwnValue("v", OwnChoice(COST, DAY, greatest=False))
    assert PerPerson(VISITS, (), (median,)).read == VISITS
    assert PerPerson(VISITS, (), (first, OwnValue("n", Rows()))).read.rows_per_person == MOST_ROWS
