"""Subqueries about the person of each row become LEFT JOINs with one row a person."""

from __future__ import annotations

import pytest

from adomnia.errors import Refusal
from adomnia.privacy.relations import Join, PerPerson, Where
from adomnia.sql.lower import lower
from adomnia.sql.reading.parse import parse
from adomnia.sql.values.scope import subqueries
from sql.hospital import HOSPITAL

HIS = "v.person_id = p.person_id"


def relation(condition):
    return lower(f"SELECT COUNT(*) FROM people p WHERE {condition}", HOSPITAL).relation


def looked_up(relation):
    """The rows of one person that are joined, first to last."""
    match relation:
        case Where(source=source):
            return looked_up(source)
        case Join(left=left, right=right):
            assert relation.outer
            assert relation.on == ()
            assert isinstance(right.source, PerPerson)
            return [*looked_up(left), right.source]
    return []


def refused(condition):
    with pytest.raises(Refusal) as refusal:
        relation(condition)
    return refusal.value


@pytest.mark.parametrize(
    "condition",
    [
        f"EXISTS (SELECT 1 FROM visits v WHERE {HIS})",
        "NOT EXISTS (SELECT 1 FROM visits v WHERE p.person_id = v.person_id)",
        "person_id IN (SELECT person_id FROM visits)",
        "NOT person_id IN (SELECT v.person_id FROM visits v)",
        f"(SELECT COUNT(*) FROM visits v WHERE {HIS}) > 3",
        f"(SELECT SUM(cost) FROM visits v WHERE {HIS}) > 3 OR age > 3",
        f"CASE WHEN EXISTS (SELECT 1 FROM visits v WHERE {HIS}) THEN active ELSE FALSE END",
    ],
)
def test_a_lookup_changes_no_number_of_rows_and_reads_all_rows_of_the_person(condition):
    found = relation(condition)
    (own,) = looked_up(found)
    assert found.rows_per_person == 1
    assert own.rows_per_person == 1
    assert own.keys == ()
    assert own.read != own.source


def test_the_same_lookup_twice_is_joined_once():
    exists = f"EXISTS (SELECT 1 FROM visits v WHERE {HIS})"
    assert len(looked_up(relation(f"{exists} OR age > 3 OR NOT {exists}"))) == 1
    assert len(looked_up(relation(f"{exists} AND person_id IN (SELECT person_id FROM visits)"))) == 1
    assert (
        len(
            looked_up(
                relation(f"{exists} AND EXISTS (SELECT 1 FROM items i JOIN visits v USING (visit_id) WHERE {HIS})")
            )
        )
        == 2
    )


def test_in_a_condition_an_aggregate_is_exact_and_in_a_sum_it_is_clamped():
    (exact,) = looked_up(relation(f"(SELECT COUNT(*) FROM visits v WHERE {HIS}) > 3"))
    summed = lower(f"SELECT SUM((SELECT COUNT(*) FROM visits v WHERE {HIS})) FROM people p", HOSPITAL)
    (clamped,) = looked_up(summed.relation)
    assert exact.outputs[0].domain is None
    assert (clamped.outputs[0].domain.lower, clamped.outputs[0].domain.upper) == (1, 10)
    assert summed.statistics[0].query.aggregate.domain.lower == 0  # whoever has no rows has none


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("EXISTS (SELECT 1 FROM visits v)", "private_subquery"),
        ("EXISTS (SELECT 1 FROM visits v WHERE v.cost > 3)", "private_subquery"),
        (f"EXISTS (SELECT 1 FROM visits v WHERE {HIS} OR v.cost > 3)", "private_subquery"),
        (f"EXISTS (SELECT 1 FROM visits v WHERE NOT {HIS})", "private_subquery"),
        ("EXISTS (SELECT 1 FROM visits v WHERE v.hospital = p.city)", "private_subquery"),
        ("EXISTS (SELECT 1 FROM visits v WHERE v.visit_id = p.person_id)", "private_subquery"),
        (f"EXISTS (SELECT COUNT(*) FROM visits v WHERE {HIS})", "private_subquery"),
        (f"EXISTS (SELECT 1 FROM visits v WHERE {HIS} GROUP BY hospital)", "private_subquery"),
        (f"EXISTS (SELECT 1 FROM visits v WHERE {HIS} LIMIT 1)", "limit_below_aggregate"),
        (f"EXISTS (SELECT 1 FROM visits v WHERE {HIS} UNION ALL SELECT 1)", "private_subquery"),
        ("age IN (SELECT age FROM people)", "private_subquery"),
        ("person_id IN (SELECT age FROM people)", "private_subquery"),
        ("age IN (SELECT person_id FROM people)", "private_subquery"),
        ("person_id IN (SELECT person_id, age FROM people)", "private_subquery"),
        ("person_id + 0 IN (SELECT person_id FROM people)", "private_subquery"),
        ("age > (SELECT AVG(age) FROM people)", "private_subquery"),
        ("age > (SELECT age FROM people q WHERE q.person_id = p.person_id)", "private_scalar_subquery"),
        (f"age > (SELECT COUNT(*), 1 FROM visits v WHERE {HIS})", "private_subquery"),
        (f"age > (SELECT COUNT(*) FROM visits v WHERE {HIS} GROUP BY hospital)", "private_subquery"),
        (f"age > (SELECT COUNT(*) FROM visits v WHERE {HIS} HAVING COUNT(*) > 3)", "private_subquery"),
        (f"age > (SELECT COUNT(*) FROM visits v WHERE {HIS} UNION ALL SELECT 1)", "private_subquery"),
    ],
)
def test_what_is_not_about_one_person_is_refused(condition, code):
    assert refused(condition).code == code


def test_a_person_whom_a_left_join_may_leave_out_is_not_looked_up():
    text = "SELECT COUNT(*) FROM people p LEFT JOIN visits v ON {} WHERE v.person_id IN (SELECT person_id FROM people)"
    with pytest.raises(Refusal) as refusal:
        lower(text.format(HIS), HOSPITAL)
    assert refusal.value.code == "private_subquery"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT city FROM cities c WHERE EXISTS (SELECT 1 FROM people p WHERE p.city = c.city)",
        "SELECT city FROM cities WHERE city IN (SELECT city FROM people)",
        "SELECT city FROM cities WHERE population > (SELECT COUNT(*) FROM people)",
        "SELECT (SELECT COUNT(*) FROM people) AS n FROM cities",
    ],
)
def test_people_decide_about_no_public_row(text):
    with pytest.raises(Refusal) as refusal:
        lower(text, HOSPITAL)
    assert refusal.value.code == "private_subquery"


def test_the_subqueries_of_a_select_are_its_own_and_not_those_inside_of_them():
    text = (
        "SELECT SUM((SELECT 1)) FROM people p WHERE age IN (1, 2) "
        "AND person_id IN (SELECT a FROM b WHERE c IN (SELECT d)) "
        "AND EXISTS (SELECT 1 FROM (SELECT 2)) AND (SELECT 3) > 1"
    )
    assert sorted(node.sql()[:20] for node in subqueries(parse(text))) == [
        "(SELECT 1)",
        "(SELECT 3)",
        "EXISTS(SELECT 1 FROM",
        "person_id IN (SELECT",
    ]
