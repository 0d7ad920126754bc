"""The schema that the fixtures and the adversarial corpus ask about."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from pathlib import Path

from adomnia.catalog.model import Catalog, Link, Table, View
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.filters import Budget
from adomnia.privacy.kinds import Boolean, Day, Identity, Quantity, Text
from adomnia.privacy.units import Unit


def number(name, lower, upper, step=None):
    domain = Numbers.bounded(lower, upper, step)
    return Column(name, Quantity(domain.lower, domain.upper), domain)


def whole(name, lower, upper):
    return Column(name, Quantity(Fraction(lower), Fraction(upper), whole=True), Numbers.integers(lower, upper))


CITIES = tuple(f"C{place:02}" for place in range(40))
PERSON = Column("person_id", Identity(person=True))

PEOPLE = Table(
    "people",
    "people.parquet",
    (
        PERSON,
        Column("name", Text()),
        whole("age", 0, 120),
        Column("sex", Text(("F", "M", "X"))),
        Column("city", Text(CITIES)),
        number("salary", 0, 500_000),
        Column("eye_color", Text()),
        Column("active", Boolean()),
        number("score", -1, 1, Fraction(1, 10)),
        Column("weight", Quantity()),
        Column("children", Quantity(whole=True)),
        Column("born", Day(date(1900, 1, 1), date(2030, 12, 31))),
    ),
)
VISITS = Table(
    "visits",
    "visits.parquet",
    (
        Column("visit_id", Identity(linked="visits.visit_id")),
        PERSON,
        Column("hospital", Text(("H1", "H2", "H3", "H4", "H5"))),
        Column("day", Day(date(2022, 1, 1), date(2024, 12, 31))),
        Column("diagnosis", Text()),
        number("cost", 0, 100_000),
    ),
    link=Link("person_id", "people", "person_id"),
    rows_per_person=10,
)
WIDE = Table("wide", "wide.csv", tuple(Column(f"c{place}", Text(CITIES)) for place in range(4)), rows_per_person=3)
ITEMS = Table(
    "items",
    "items.parquet",
    (
        Column("item_id", Identity()),
        Column("visit_id", Identity(linked="visits.visit_id")),
        Column("kind", Text(("bed", "drug", "test"))),
        number("price", -100, 1000, 1),
        whole("amount", 0, 50),
        Column("bought", Day()),
    ),
    link=Link("visit_id", "visits", "visit_id"),
    rows_per_person=20,
)
CITY_TABLE = Table(
    "cities",
    "cities.csv",
    (Column("city", Text(CITIES)), Column("region", Text(("East", "North", "West"))), whole("population", 0, 10**6)),
    public=True,
    repeats=(1, 16, 2),
)
ZONES = Table(
    "zones",
    "zones.csv",
    (Column("city", Text(CITIES)), Column("zone", Text(("inner", "outer"))), number("area", 0, 500)),
    public=True,
    repeats=(3, 70, 1),
)
VIEWS = (
    View("adults", "SELECT * FROM people WHERE age >= 18"),
    View("spending", "SELECT person_id, SUM(cost) AS spent, COUNT(*) AS visits FROM visits GROUP BY person_id"),
    View("rich_adults", "SELECT person_id, city, salary / 12 AS monthly FROM adults WHERE salary > 90000"),
    View(
        "northern",
        "WITH n AS (SELECT city FROM cities WHERE region = 'North') SELECT p.* FROM people p JOIN n USING (city)",
    ),
    View("northern_cities", "SELECT city, population FROM cities WHERE region = 'North'"),
    View("events", "SELECT person_id, day FROM visits UNION ALL SELECT person_id, born FROM people"),
)

HOSPITAL = Catalog(
    "hospital",
    1,
    Unit("people", "person_id"),
    Budget(10),
    (),
    (PEOPLE, VISITS, ITEMS, WIDE, CITY_TABLE, ZONES),
    Path("hospital"),
    VIEWS,
)
