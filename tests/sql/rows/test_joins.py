"""Joins keep to one person, or to public rows that are known to repeat so often."""

from __future__ import annotations

import pytest

from adomnia.errors import Refusal
from adomnia.privacy.relations import Join, Named, Where
from adomnia.sql.lower import lower
from adomnia.sql.reading.parse import parse_expression
from adomnia.sql.rows.joins import MOST_PAIRS
from adomnia.sql.values.scope import conjuncts
from sql.hospital import HOSPITAL


def relation(text):
    return lower(f"SELECT COUNT(*) FROM {text}", HOSPITAL).relation


def labels(joined):
    """The sides in the order in which they are joined."""
    match joined:
        case Where(source=source):
            return labels(source)
        case Join(left=left, right=right):
            return [*labels(left), right.name]
        case Named(name=name):
            return [name]


def refused(text):
    with pytest.raises(Refusal) as refusal:
        relation(text)
    return refusal.value


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a AND b AND (c AND (d OR e))", ["a", "b", "c", "d OR e"]),
        ("(a)", ["a"]),
        ("((a AND b))", ["a", "b"]),
        ("NOT (a AND b)", ["NOT (a AND b)"]),
    ],
)
def test_conditions_that_must_all_hold_are_taken_apart(text, parts):
    assert [node.sql() for node in conjuncts(parse_expression(text))] == parts


def test_no_condition_is_no_condition():
    assert conjuncts(None) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cities c JOIN people p ON p.city = c.city", ["people", "cities"]),
        ("cities c, zones z, people p WHERE z.city = c.city AND c.city = p.city", ["people", "cities", "zones"]),
        ("people p, items i, visits v WHERE p.person_id = v.person_id AND i.visit_id = v.visit_id",
         ["people", "visits", "items"]),
        ("people p JOIN people q USING (person_id) JOIN people r USING (person_id)",
         ["people", "people_2", "people_3"]),
        ("(SELECT * FROM people UNION ALL SELECT * FROM people) u JOIN visits v USING (person_id)",
         ["union", "visits"]),
        ("(SELECT v.person_id FROM people JOIN visits v USING (person_id)) a JOIN people p USING (person_id)",
         ["joined", "people"]),
        ("(SELECT person_id FROM visits GROUP BY person_id) a JOIN visits v USING (person_id)", ["own", "visits"]),
    ],
)  # fmt: skip
def test_sides_are_joined_from_the_first_private_one_as_they_meet(text, expected):
    assert labels(relation(text)) == expected


def test_what_stands_in_on_or_in_where_makes_no_difference_between_inner_joins():
    texts = [
        "people p JOIN visits v ON p.person_id = v.person_id AND v.cost > 3",
        "people p JOIN visits v ON v.person_id = p.person_id WHERE v.cost > 3",
        "people p, visits v WHERE v.cost > 3 AND p.person_id = v.person_id",
        "people p JOIN visits v USING (person_id) WHERE cost > 3",
        "people x INNER JOIN (SELECT person_id AS who, cost AS c FROM visits) AS y ON who = person_id AND c > 3",
    ]
    assert len(set(map(relation, texts))) == 1


def test_what_stands_in_on_or_in_where_makes_a_difference_below_a_left_join():
    on = relation("people p LEFT JOIN visits v ON p.person_id = v.person_id AND v.cost > 3")
    where = relation("people p LEFT JOIN visits v ON p.person_id = v.person_id WHERE v.cost > 3")
    assert isinstance(on, Join)
    assert isinstance(where, Where)


def test_a_left_join_is_not_moved_past_what_stands_before_it():
    text = "cities c LEFT JOIN zones z ON c.city = z.city JOIN people p ON p.city = z.city"
    assert refused(text).code == "fanout_join_with_public"


@pytest.mark.parametrize(
    ("text", "code", "name"),
    [
        ("people, visits", "private_join", "visits"),
        ("people p JOIN visits v ON p.age = v.cost", "private_join", "v"),
        ("people p JOIN items i ON p.person_id = i.visit_id", "private_join", "i"),
        ("people p JOIN people q ON p.city = q.city", "private_self_join", "q"),
        ("people p, cities c", "fanout_join_with_public", "c"),
        ("people p LEFT JOIN cities c ON c.region = 'North'", "fanout_join_with_public", "c"),
        ("cities c LEFT JOIN people p ON p.city = c.city", "public_left_join", "LEFT JOIN"),
    ],
)
def test_what_pairs_people_with_each_other_is_refused_by_name(text, code, name):
    refusal = refused(text)
    assert refusal.code == code
    assert name in refusal.what


def test_rows_that_repeat_beyond_measure_are_refused():
    text = "visits v0" + "".join(f" JOIN visits v{n} USING (person_id)" for n in range(1, 3))
    assert relation(text).rows_per_person == 10**3 < MOST_PAIRS
    assert refused(f"{text} JOIN visits v3 USING (person_id)").code == "too_complex"


@pytest.mark.parametrize("never", ["1 = 2", "DATE '2019-12-31' = DATE '2020-01-01'", "TRUE = FALSE", "'a' = 'b'"])
def test_a_constant_condition_of_a_left_join_is_not_taken_for_the_equality_of_people(never):
    joined = relation(f"people p LEFT JOIN visits v ON v.person_id = p.person_id AND {never}")
    assert len(joined.on) == 1
