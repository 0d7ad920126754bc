"""Queries derive how far one person moves them; a person's rows added by hand never move one further."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.keys import key_values
from adomnia.privacy.kinds import Boolean, Identity, Quantity, Text
from adomnia.privacy.queries import Clip, Query
from adomnia.privacy.relations import (
    MOST_PEOPLE,
    MOST_ROWS,
    Join,
    Named,
    PerPerson,
    Private,
    Select,
    Selected,
    Union,
    Where,
)
from adomnia.privacy.scans import DistinctValues, Histogram, NonNull, People, Proposal, Rows, Total
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.privacy.vectors import Variable, Vector, variable

SEX = Column("sex", Text(("F", "M", "X")))
ACTIVE = Column("active", Boolean())
AGE = Column("age", Quantity(Fraction(0), Fraction(120), whole=True), Numbers.integers(0, 120))
VISITS = Private("visits", 10, (SEX, ACTIVE, AGE))
ALL = Total(AGE, Numbers.integers(0, 120))
MEDIAN = Histogram(AGE, Numbers.integers(0, 120), (Fraction(1, 2),), Fraction(95, 100))
PROPOSED = Proposal(AGE, Numbers.integers(0, 120), (Fraction(1, 2),), Fraction(95, 100), bound=3)
SQUARES = Vector((Variable(AGE, Numbers.integers(0, 120)),), (variable(0, 1),))


def test_cells_are_all_combinations_of_declared_values():
    assert Query(VISITS, (), Rows()).shape == ()
    assert Query(VISITS, (SEX, ACTIVE), Rows()).shape == (3, 2)
    assert key_values(SEX) == ("F", "M", "X")
    assert key_values(ACTIVE) == (False, True)


@pytest.mark.parametrize("key", [AGE, Column("name", Text()), Column("id", Identity())])
def test_a_key_without_declared_values_is_no_key(key):
    with pytest.raises(ValueError, match=f"Query key must have declared values, got {key.name}"):
        key_values(key)


@pytest.mark.parametrize(
    ("keys", "aggregate", "sensitivity"),
    [
        ((), Rows(), Sensitivity(l1=10, l2_squared=100, linf=10, monotone=True)),
        ((SEX,), Rows(), Sensitivity(l1=10, l2_squared=100, linf=10, monotone=True)),
        ((SEX,), NonNull(AGE), Sensitivity(l1=10, l2_squared=100, linf=10, monotone=True)),
        ((), ALL, Sensitivity(l1=1200, monotone=True)),
        ((), Total(AGE, Numbers.integers(0, 120), centre=60), Sensitivity(l1=600)),
        ((SEX,), Total(AGE, Numbers.integers(-5, 3)), Sensitivity(l1=50)),
        ((), People(), Sensitivity(l1=1, monotone=True)),
        ((SEX,), People(), Sensitivity(l1=3, l2_squared=3, linf=1, monotone=True)),
        ((SEX, ACTIVE), People(), Sensitivity(l1=6, l2_squared=6, linf=1, monotone=True)),
        ((), DistinctValues(AGE), Sensitivity(l1=10, l2_squared=100, linf=10, monotone=True)),
        ((SEX, ACTIVE), DistinctValues(AGE), Sensitivity(l1=10, l2_squared=100, linf=10, monotone=True)),
        ((), DistinctValues(SEX), Sensitivity(l1=3, l2_squared=9, linf=3, monotone=True)),
        ((ACTIVE,), DistinctValues(SEX), Sensitivity(l1=6, l2_squared=18, linf=3, monotone=True)),
        ((SEX, ACTIVE), DistinctValues(ACTIVE), Sensitivity(l1=10, l2_squared=20, linf=2, monotone=True)),
    ],
)
def test_sensitivities_are_known_by_hand(keys, aggregate, sensitivity):
    assert Query(VISITS, keys, aggregate).sensitivity() == sensitivity


@pytest.mark.parametrize(
    ("keys", "aggregate", "clip", "sensitivity"),
    [
        ((), Rows(), Clip(3), Sensitivity(l1=3072, monotone=True)),
        ((SEX,), Rows(), Clip(3), Sensitivity(5321, 3072**2, 3072, monotone=True)),
        ((SEX, ACTIVE), NonNull(AGE), Clip(3), Sensitivity(7525, 3072**2, 3072, monotone=True)),
        ((SEX,), ALL, Clip(500), Sensitivity(886811, 512_000**2, 512_000, monotone=True)),
        ((SEX,), Total(AGE, Numbers.integers(0, 120), centre=40), Clip(2), Sensitivity(3548, 2048**2, 2048)),
        ((), Total(AGE, Numbers.integers(0, 120), centre=40), Clip(2, counted=True), Sensitivity(2 * 1024 * 80)),
    ],
)
def test_shortened_vectors_move_by_their_bound(keys, aggregate, clip, sensitivity):
    assert Query(VISITS, keys, aggregate, clip).sensitivity() == sensitivity


def test_a_person_with_few_rows_is_in_few_cells():
    wide = Column("city", Text(tuple(map(str, range(50)))))
    assert Query(VISITS, (wide,), Rows(), Clip(1)).sensitivity().l1 == 3239  # 1,024 times the root of 10, rounded up


@pytest.mark.parametrize(
    ("aggregate", "bound"),
    [(Rows(), 0), (Rows(), 11), (ALL, 1201), (People(), 1), (Total(AGE, Numbers.integers(0, 2**52)), 5)],
)
def test_only_counts_and_sums_are_shortened_and_to_a_length_that_they_can_have(aggregate, bound):
    with pytest.raises(ValueError, match="Query clip must be of 1 to"):
        Query(VISITS, (), aggregate, Clip(bound))


def test_shortened_sums_need_room_for_parts():
    assert Query(VISITS, (), ALL, Clip(3)).largest == 1024 * Query(VISITS, (), ALL).largest


def test_people_in_many_cells_are_bounded_by_their_rows():
    wide = Column("city", Text(tuple(map(str, range(50)))))
    assert Query(VISITS, (wide,), People()).sensitivity() == Sensitivity(l1=10, l2_squared=10, linf=1, monotone=True)


def test_all_rows_are_read_only_where_a_person_counts_once_in_all():
    everything = Private("visits", MOST_ROWS, VISITS.columns)
    assert Query(VISITS, (), People()).read == everything
    assert Query(Where(VISITS, ACTIVE), (), People()).read == Where(everything, ACTIVE)
    assert Query(VISITS, (SEX,), People()).read == VISITS
    assert Query(Where(VISITS, ACTIVE), (), Rows()).read == Where(VISITS, ACTIVE)


def test_reading_all_rows_changes_no_sensitivity():
    assert Query(VISITS, (), People()).sensitivity().l1 == 1


def test_people_of_a_join_count_once_in_all():
    pairs = Join(Named(VISITS, "a"), Named(VISITS, "b"), ())
    assert Query(pairs, (), People()).sensitivity() == Sensitivity(l1=1, monotone=True)
    assert Query(pairs, (), Rows()).sensitivity() == Sensitivity(l1=100, monotone=True)


def test_a_person_counts_as_often_as_the_relation_says():
    twice = Union((Select(VISITS, (Selected("age", AGE),)),) * 2)
    (age,) = twice.columns
    assert Query(twice, (), Total(age, Numbers.integers(0, 120))).sensitivity().l1 == 2 * 10 * 120
    assert Query(PerPerson(VISITS, (), ()), (), Rows()).sensitivity().l1 == 1


def test_the_largest_cell_follows_from_public_facts():
    assert Query(VISITS, (), Rows()).largest == MOST_ROWS
    assert Query(VISITS, (), ALL).largest == 120 * MOST_ROWS
    many = Private("many", 2**20, (AGE,))
    assert Query(many, (), ALL).largest == 120 * 2**20 * MOST_PEOPLE


rows_of_a_person = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 1), st.one_of(st.none(), st.integers(0, 120))), max_size=10
)
aggregates = st.one_of(
    st.just(Rows()),
    st.just(People()),
    st.just(NonNull(AGE)),
    st.sampled_from([DistinctValues(AGE), DistinctValues(SEX), DistinctValues(ACTIVE)]),
    st.integers(-200, 200).map(lambda centre: Total(AGE, Numbers.integers(0, 120), centre)),
)
some_keys = st.sampled_from([(), (SEX,), (ACTIVE,), (SEX, ACTIVE)])


@given(rows_of_a_person, some_keys, aggregates)
def test_one_person_moves_a_query_by_at_most_its_sensitivity(rows, keys, aggregate):
    query = Query(VISITS, keys, aggregate)
    moved = [0] * max(1, prod(query.shape))
    seen = set()
    for sex, active, age in rows:
        place = {(): 0, (SEX,): sex, (ACTIVE,): active, (SEX, ACTIVE): 2 * sex + active}[keys]
        value = {AGE: age, SEX: sex, ACTIVE: active}[getattr(aggregate, "value", AGE)]
        moved[place] += amount(aggregate, place, value, seen)
        seen |= {place, (place, value)}
    allowed = query.sensitivity()
    assert sum(map(abs, moved)) <= allowed.l1
    assert sum(change**2 for change in moved) <= allowed.l2_squared
    assert max(map(abs, moved)) <= allowed.linf
    assert not allowed.monotone or min(moved) >= 0


def amount(aggregate, place, value, seen):
    """What one row adds to its cell."""
    match aggregate:
        case Rows():
            return 1
        case People():
            return int(place not in seen)
        case DistinctValues():
            return int(value is not None and (place, value) not in seen)
        case NonNull():
            return int(value is not None)
        case Total(centre=centre):
            return 0 if value is None else value - centre


@pytest.mark.parametrize(
    ("narrowing", "aggregate"),
    [("total", ALL), ("histogram", MEDIAN), ("histogram", PROPOSED), ("proposal", PROPOSED), ("vector", SQUARES)],
)
def test_a_query_is_narrowed_to_what_it_is_of(narrowing, aggregate):
    assert getattr(Query(VISITS, (), aggregate), narrowing) == aggregate


@pytest.mark.parametrize(
    ("narrowing", "aggregate"), [("total", SQUARES), ("histogram", ALL), ("proposal", MEDIAN), ("vector", Rows())]
)
def test_a_query_of_something_else_is_not_narrowed(narrowing, aggregate):
    with pytest.raises(TypeError, match=f"Query must be of a {narrowing.title()}, got"):
        getattr(Query(VISITS, (), aggregate), narrowing)


def test_people_with_one_row_each_are_counted_by_their_rows():
    once = Private("patients", 1, VISITS.columns)
    assert Query(once, (), People()).additive == Rows()
    assert Query(VISITS, (), People()).additive is None
    assert Query(once, (), People(Column("person_id", Identity(person=True), optional=True))).additive is None


@pytest.mark.parametrize("aggregate", [Rows(), NonNull(AGE), ALL])
def test_every_row_adds_something_to_counts_and_sums(aggregate):
    assert Query(VISITS, (), aggregate).additive == aggregate


@pytest.mark.parametrize("aggregate", [DistinctValues(AGE), MEDIAN, SQUARES])
def test_rows_do_not_simply_add_up_in_others(aggregate):
    assert Query(VISITS, (), aggregate).additive is None
