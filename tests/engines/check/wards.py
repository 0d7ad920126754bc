"""A catalog of linked and public tables, its relations, and neighbouring indexes of it in DuckDB."""

from __future__ import annotations

from pathlib import Path

import duckdb

from adomnia.catalog import model
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.filters import Budget
from adomnia.privacy.kinds import Boolean, Day, Identity, Quantity, Text
from adomnia.privacy.relations import Private, Public
from adomnia.privacy.units import Unit
from sql.hospital import number, whole

CITIES = ("Bergen", "Molde", "Oslo")
REGIONS = ("east", "west")
PERSON = Column("person_id", Identity(person=True))
VISIT = Column("visit_id", Identity(linked="visits.visit_id"))
HUGE = Column("code", Quantity(whole=True), Numbers.integers(0, 2**60))

PEOPLE = model.Table(
    "people",
    "",
    (PERSON, whole("age", 0, 120), Column("city", Text(CITIES)), Column("town", Text())),
    rows_per_person=1,
)
VISITS = model.Table(
    "visits",
    "",
    (
        VISIT,
        PERSON,
        Column("hospital", Text(("H1", "H2"))),
        Column("day", Day()),
        Column("urgent", Boolean()),
        number("cost", 0, 100, 0.25),
        whole("ward", 1, 9),
    ),
    link=model.Link("person_id", "people", "person_id"),
    rows_per_person=4,
)
ITEMS = model.Table(
    "items",
    "",
    (
        Column("item_id", Identity()),
        VISIT,
        Column("kind", Text(("drug", "test"))),
        whole("price", -5, 50),
        Column("day", Day()),
        whole("ward", 1, 9),
    ),
    link=model.Link("visit_id", "visits", "visit_id"),
    rows_per_person=6,
)
PLACES = model.Table(
    "places",
    "",
    (
        Column("city", Text(CITIES)),
        Column("region", Text(REGIONS)),
        Column("name", Text()),
        whole("ward", 1, 9),
        HUGE,
        Column("area", Quantity()),
    ),
    public=True,
    repeats=(1, 2, 1, 3, 1, 1),
)
WARDS = model.Catalog("wards", 1, Unit("people", "person_id"), Budget(1), (), (PEOPLE, VISITS, ITEMS, PLACES), Path())

people = Private("people", 1, PEOPLE.columns)
visits = Private("visits", 4, VISITS.columns, keys=("visit_id",))
items = Private("items", 6, ITEMS.columns)
places = Public("places", PLACES.columns, PLACES.repeats)

_INDEX = """
CREATE TABLE people (rank INT, person INT, age INT, city UTINYINT, town VARCHAR);
CREATE TABLE visits (rank INT, person INT, visit_id BIGINT, hospital UTINYINT, day DATE, urgent BOOLEAN, cost DOUBLE,
                     "cost grid" INT, ward INT);
CREATE TABLE items (rank INT, person INT, visit_id BIGINT, kind UTINYINT, price INT, day DATE, ward INT);
CREATE TABLE places (city UTINYINT, region UTINYINT, name VARCHAR, ward INT, code BIGINT, area DOUBLE);
INSERT INTO places VALUES (0, 1, 'Bergen', 2, 1152921504606846975, 1), (1, 1, 'Molde', 2, 1152921504606846974, 2),
                          (2, 0, 'Oslo', 2, 5, NULL);
"""


def neighbours(variant):
    """Two connections: the second lacks person 7, who has far more rows than are declared."""
    return [_connection(variant, absent) for absent in (None, 7)]


def _connection(variant, absent):
    connection = duckdb.connect()
    connection.execute(_INDEX)
    for person in range(9):
        if person != absent:
            _insert(connection, person, variant)
    return connection


def _insert(connection, person, variant):
    connection.execute("INSERT INTO people VALUES (1, ?, ?, ?, ?)", [person, 20 + person, person % 3, CITIES[variant]])
    for rank in range(1, 9 if person == 7 else 1 + (person + variant) % 5):
        cost = [100.0, None, rank / 4][(rank + variant) % 3]
        visit = 100 * person + rank
        row = [rank, person, visit, rank % 2 if variant else None, "2024-01-01", rank % 3 == 0, cost]
        row += [None if cost is None else int(4 * cost), 2]
        connection.execute("INSERT INTO visits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    for rank in range(1, 13 if person == 7 else 1 + (person + variant) % 7):
        row = [rank, person, 100 * person + (1 if variant == 2 else 1 + rank % 3), rank % 2, [50, -5][variant % 2]]
        connection.execute("INSERT INTO items VALUES (?, ?, ?, ?, ?, '2024-01-01', 2)", row)
