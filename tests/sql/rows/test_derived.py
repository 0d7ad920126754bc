"""Rows under a name: what is computed where, and what they are called."""

from __future__ import annotations

import pytest
from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column, Literal, call, number
from adomnia.privacy.kinds import Boolean, Identity, Quantity
from adomnia.privacy.relations import Join, Named, PerPerson, Private, Public, Select, Selected, Union, Where
from adomnia.sql.rows.derived import (
    Derived,
    compute_columns,
    filter_rows,
    free_label,
    is_person,
    label_of,
    make_side,
    qualify,
    unite,
)
from sql.hospital import CITY_TABLE, PEOPLE, VISITS

NODE = exp.Table(this=exp.to_identifier("t"))
AGE, ACTIVE, PERSON = (PEOPLE.column(name) for name in ("age", "active", "person_id"))
COST = VISITS.column("cost")
ONE, TEN = Private("people", 1, PEOPLE.columns), Private("visits", 10, VISITS.columns)
CITIES = Public("cities", CITY_TABLE.columns, CITY_TABLE.repeats)
TWICE = call("*", AGE, number(2))
PAIRS = Join(Named(ONE, "p"), Named(TEN, "v"), ())


def code(step, *arguments):
    with pytest.raises(Refusal) as refusal:
        step(*arguments)
    return refusal.value.code


@pytest.mark.parametrize(
    ("relation", "label"),
    [
        (ONE, "people"),
        (CITIES, "cities"),
        (Where(TEN, ACTIVE), "visits"),
        (Select(Where(TEN, ACTIVE), ()), "visits"),
        (PerPerson(TEN, (), ()), "own"),
        (Union((Select(ONE, (Selected("a", AGE),)),)), "union"),
        (PAIRS, "joined"),
        (Where(PAIRS, ACTIVE), "joined"),
    ],
)
def test_rows_are_called_after_what_they_are_made_of(relation, label):
    assert label_of(relation) == label


def test_labels_differ_in_more_than_upper_and_lower_case():
    taken = set()
    assert [free_label(stem, taken) for stem in ("a", "A", "a", "b")] == ["a", "A_2", "a_3", "b"]


def test_columns_of_a_side_carry_its_label_and_are_optional_above_a_left_join():
    joined = make_side(NODE, "x", Derived(ONE, {"years": AGE, "twice": TWICE}), "people", outer=False)
    assert joined.relation == Named(ONE, "people")
    assert joined.source.columns["twice"] == qualify(TWICE, "people")
    assert not joined.public
    missing = joined.optional().source.columns["years"]
    assert (missing.source, missing.optional) == ("people", True)


def test_what_is_computed_before_a_left_join_is_computed_there():
    joined = make_side(NODE, "x", Derived(ONE, {"twice": TWICE}), "people", outer=True)
    assert joined.relation.source == Select(ONE, (Selected("c0", TWICE),))
    assert joined.source.columns["twice"] == Column("c0", TWICE.kind, source="people")
    plain = make_side(NODE, "x", Derived(ONE, {"years": AGE}), "people", outer=True)
    assert plain.relation.source == ONE


def test_the_sides_of_a_join_become_one_side():
    age = qualify(AGE, "p")
    joined = make_side(NODE, "x", Derived(Where(PAIRS, qualify(ACTIVE, "p")), {"age": age}), "joined", outer=False)
    assert isinstance(joined.relation.source, Select)
    assert joined.source.columns["age"].name == "c0"


def test_ids_that_are_not_kept_are_names_without_values():
    found = compute_columns(NODE, Derived(ONE, {"who": PERSON, "other": Column("other", Identity())}))
    assert [output.value for output in found.relation.outputs] == [PERSON]
    assert found.columns["other"] == Column("other", Identity())


def test_an_id_that_may_be_missing_is_not_selected():
    missing = Column("person_id", Identity(person=True), source="v", optional=True)
    assert code(compute_columns, NODE, Derived(PAIRS, {"who": missing})) == "identifier_column"
    assert not is_person(missing)
    assert is_person(PERSON)
    assert not is_person(number(1))


def test_columns_of_one_form_are_united_as_they_are_stored_and_others_as_numbers():
    alike = unite(NODE, [Derived(ONE, {"a": AGE}), Derived(ONE, {"b": AGE})])
    assert [part.outputs[0].stored for part in alike.relation.parts] == [True, True]
    assert alike.columns["a"].domain == AGE.domain
    mixed = unite(NODE, [Derived(ONE, {"a": AGE}), Derived(TEN, {"b": COST})])
    assert [part.outputs[0].stored for part in mixed.relation.parts] == [False, False]
    assert mixed.columns["a"] == Column("c0", Quantity(AGE.kind.lower, COST.kind.upper))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (Derived(ONE, {"a": AGE}), Derived(ONE, {"a": AGE, "b": AGE}), "type_error"),
        (Derived(ONE, {"a": AGE}), Derived(ONE, {"a": ACTIVE}), "type_error"),
        (
            Derived(ONE, {"a": PEOPLE.column("city")}),
            Derived(CITIES, {"a": CITY_TABLE.column("city")}),
            "set_operation",
        ),
        (Derived(ONE, {"a": PERSON}), Derived(ONE, {"a": AGE}), "type_error"),
    ],
)
def test_what_does_not_fit_is_not_united(one, other, expected):
    assert code(unite, NODE, [one, other]) == expected


def test_conditions_are_put_together_in_one_filter():
    once = filter_rows(ONE, [ACTIVE], [NODE])
    twice = filter_rows(once, [call(">", AGE, number(3))], [NODE])
    assert once == Where(ONE, ACTIVE)
    assert isinstance(twice, Where)
    assert twice.source == ONE
    assert filter_rows(ONE, [], []) == ONE


def test_a_filter_takes_conditions_only_and_not_too_many():
    assert code(filter_rows, ONE, [AGE], [NODE]) == "type_error"
    long = [call("=", AGE, number(place)) for place in range(4000)]
    assert code(filter_rows, ONE, long, [NODE]) == "too_complex"


def test_a_constant_is_the_same_under_every_label():
    assert qualify(Literal(True, Boolean()), "x") == Literal(True, Boolean())
