"""The reference itself, by hand: what it says of a database small enough to count on one's fingers."""

from __future__ import annotations

import pytest

from adomnia.pricing.quotes import measures
from adomnia.privacy.events import Pure
from adomnia.sql.lower import lower
from kit.gate import meaning
from kit.hospital import LINKED, PUBLIC, declare, item, person, visit
from kit.tables import Database

FILES = {
    "people": [person(1, age=30.0, city="Oslo", sex="F"), person(2, age=50.0, city="Hamar"), person(3), person(None)],
    "visits": [
        *(visit(1, visit_id=number, cost=float(number), hospital="H1") for number in range(1, 6)),
        visit(2, visit_id=6, cost=10.0, hospital="H2"),
        visit(9, visit_id=7, cost=99.0),
        visit(None, visit_id=8),
    ],
    "items": [
        *(item(6, price=float(price), kind="drug") for price in (1, 2, 2, 3, 4)),
        item(7, price=7.0),
        item(8, price=8.0),  # at a visit of nobody
        item(44, price=20.0, kind="bed"),  # at no visit, hence a person of its own
        item(None),
    ],
}

BY_HAND = {
    "SELECT COUNT(*) FROM people": 3,
    "SELECT COUNT(*) FROM visits": 5,  # of the five of person 1 three count
    "SELECT COUNT(DISTINCT person_id) FROM visits WHERE cost < 2": 1,  # and all of them where a person counts once
    "SELECT COUNT(*) FROM items": 6,
    "SELECT COUNT(*) FROM people p JOIN visits v ON p.person_id = v.person_id": 4,
    "SELECT COUNT(*) FROM people p LEFT JOIN visits v ON p.person_id = v.person_id": 5,
    "SELECT COUNT(v.person_id) FROM people p LEFT JOIN visits v ON p.person_id = v.person_id": 4,
    "SELECT COUNT(DISTINCT v.person_id) FROM people p LEFT JOIN visits v USING (person_id)": 2,
    "SELECT COUNT(*) FROM items i JOIN visits v ON i.visit_id = v.visit_id": 5,
    "SELECT COUNT(*) FROM people p JOIN zones z ON p.city = z.city": 2,
    "SELECT COUNT(*) FROM people p LEFT JOIN zones z ON p.city = z.city": 4,
    "SELECT sex, COUNT(*) FROM people GROUP BY sex": [1, 0, 0],
    "SELECT COUNT(*) FROM (SELECT person_id FROM people UNION ALL SELECT person_id FROM visits) t": 8,
    "SELECT COUNT(*) FROM (SELECT person_id FROM visits GROUP BY person_id HAVING SUM(cost) >= 15) t": 2,
    "SELECT SUM(n) FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id) t": 5,  # 5 is clamped to 3
    "SELECT COUNT(*) FROM (SELECT DISTINCT person_id, hospital FROM visits) t": 3,
    "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.person_id = p.person_id)": 2,
    "SELECT COUNT(*) FROM people WHERE person_id NOT IN (SELECT person_id FROM visits)": 1,
    "SELECT COUNT(*) FROM people p WHERE (SELECT MAX(cost) FROM visits v WHERE v.person_id = p.person_id) = 5": 1,
    "SELECT COUNT(*) FROM people p WHERE (SELECT COUNT(*) FROM visits v WHERE v.person_id = p.person_id) = 0": 1,
}


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    return Database(declare(tmp_path_factory.mktemp("tables") / "hospital", LINKED), FILES | PUBLIC)


@pytest.mark.parametrize("text", BY_HAND)
def test_a_question_means_what_counting_on_fingers_gives(database, text):
    (query,) = (each.query for each in measures(lower(text, database.catalog), Pure(1)))
    assert meaning(query, database) == BY_HAND[text]


def test_a_person_goes_with_all_their_rows_and_nobody_else_does(database):
    smaller = database.without((0, 2))
    left = {name: len(rows) for name, rows in smaller.files.items()}
    assert left == {"people": 3, "visits": 7, "items": 4, "cities": 4, "zones": 5}
    assert len(database.without((1, 44)).files["items"]) == len(FILES["items"]) - 1


def test_an_average_is_computed_in_the_order_of_the_engine(database):
    text = "SELECT SUM(a) FROM (SELECT person_id, AVG(cost) AS a FROM visits GROUP BY person_id) t"
    (query,) = (each.query for each in measures(lower(text, database.catalog), Pure(1)))
    assert meaning(query, database) == (3 + 10 + 99) * 16  # in steps of 1/16
