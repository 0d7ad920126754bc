"""The tree of reasons says of every step how many rows of a person reach it, and why."""

from __future__ import annotations

from adomnia.explaining.reasons import render_reasons
from adomnia.sql.lower import lower
from sql.hospital import HOSPITAL


def why(text):
    return render_reasons(lower(text, HOSPITAL).relation).splitlines()


def test_a_table_counts_as_declared():
    assert why("SELECT COUNT(*) FROM visits") == ["visits: at most 10 rows of a person, as declared"]
    assert why("SELECT COUNT(*) FROM people WHERE active") == [
        "where active: at most 1 row of a person, those of what it is made of",
        "  people: at most 1 row of a person, as declared",
    ]


def test_a_join_multiplies():
    assert why("SELECT COUNT(*) FROM visits a JOIN visits b USING (person_id)") == [
        "join with visits_2: at most 100 rows of a person, because each of 10 rows before meets at most 10 of visits_2",
        "  visits: at most 10 rows of a person, as declared",
        "  visits_2: at most 10 rows of a person, as declared",
    ]


def test_a_join_along_a_link_does_not():
    lines = why("SELECT COUNT(*) FROM visits v JOIN items i USING (visit_id)")
    assert lines[0] == (
        "join with items: at most 20 rows of a person, because each of 20 rows of items meets at most 1 before it"
    )


def test_a_left_join_keeps_rows_that_meet_none():
    lines = why("SELECT COUNT(*) FROM people p LEFT JOIN visits v USING (person_id)")
    assert lines[0] == (
        "left join with visits: at most 10 rows of a person, because the one row before meets at most 10 of visits"
    )
    lines = why("SELECT COUNT(*) FROM visits v LEFT JOIN items i USING (visit_id)")
    assert lines[0].startswith("left join with items: at most 30 rows of a person, because each of 20 rows of items")


def test_public_rows_are_about_nobody():
    assert why("SELECT COUNT(*) FROM people JOIN (SELECT * FROM zones WHERE zone = 'inner') z USING (city)") == [
        "join with zones: at most 3 rows of a person, because the one row before meets at most 3 of zones",
        "  people: at most 1 row of a person, as declared",
        "  zones: public, those of what it is made of",
        "    where (zone = 'inner'): public, those of what it is made of",
        "      zones: public, about nobody",
    ]


def test_a_union_adds_up():
    lines = why("SELECT COUNT(*) FROM (SELECT person_id FROM people UNION ALL SELECT person_id FROM visits)")
    assert lines[0] == "union all: at most 11 rows of a person, 1 + 10"
    assert lines[1] == "  select c0: at most 1 row of a person, those of what it is made of"


def test_all_rows_of_a_person_become_one():
    lines = why("SELECT AVG(n) FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id)")
    assert lines == [
        "COUNT(*) by person: at most 1 row of a person, because all their rows become one",
        "  visits: at most 10 rows of a person, as declared",
    ]
    lines = why("SELECT COUNT(*) FROM (SELECT DISTINCT person_id, hospital FROM visits)")
    assert lines[0] == "one row by person, hospital: at most 10 rows of a person, no more than rows of theirs"
    assert why("SELECT COUNT(*) FROM (SELECT DISTINCT person_id FROM visits)")[0].startswith("one row by person: ")


def test_the_row_of_a_block_becomes_another():
    assert why("SELECT AVG(z) FROM (SELECT AVG(cost) AS z FROM visits GROUP BY BLOCK(2000))") == [
        (
            "AVG(cost in 0..100000 by 1/16) by block, of 2,000: at most 2 rows of a person, because the row of "
            "their block is taken away and another put in its place"
        ),
        "  visits: at most 10 rows of a person, as declared",
    ]
