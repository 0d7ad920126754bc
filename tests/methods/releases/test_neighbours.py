"""Every round of every release on a database and on the same without one person, told the same noisy values.

Whatever a release asks for next follows from what was released before, so that both databases are asked the same. One
person may then move the exact numbers of each measure by its declared sensitivity at most, in every norm.
"""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from itertools import cycle

import pytest

from adomnia.curator.executor import Executor, Statements, drive
from adomnia.pricing.parts import split_price
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.losses import covers
from adomnia.privacy.transforms.distances import Distances
from adomnia.sql.lower import lower
from kit.gate import moved_within
from kit.hospital import CATALOG, CountedBits, curated, declare, person, visit

BOUNDED = CATALOG.replace('day = { type = "date" }', 'day = { type = "date", lower = 2024-01-01, upper = 2024-01-08 }')
PEOPLE = [
    person(1, age=30.0, sex="F", city="Oslo", member=True, salary=0.0),
    person(2, age=30.0, sex="F", city="Oslo", member=True, salary=500_000.0),
    person(3, age=120.0, sex="X", city=None, member=None),
    person(4, age=None, sex=None, city="Hamar", member=False, salary=float("nan")),
    person(5, age=1e300, sex="nobody declared this", city="Bergen", member=True, salary=float("inf")),
    person(6),
]
VISITS = [
    *(visit(1, visit_id=k, hospital="H1", urgent=True, day=date(2024, 1, 1), cost=5.0) for k in range(7)),
    visit(2, visit_id=10, hospital="H1", urgent=False, day=date(2024, 1, 8)),
    visit(2, visit_id=11, hospital="H2", urgent=None, day=None),
    visit(2, visit_id=12, hospital=None, urgent=True, day=date(1900, 1, 1)),
    visit(3, visit_id=13, hospital="H5", urgent=True, day=date(2024, 1, 2)),
    visit(None, visit_id=14, hospital="H5", urgent=True),
]
ROWS = {
    "people": "(SELECT sex, city, member, age FROM people WHERE age > 20 OR age IS NULL), bins => 2",
    "visits": "(SELECT hospital, urgent, day FROM visits), bins => 3",
    "joined": "(SELECT hospital, sex, member FROM visits JOIN people ON visits.person_id = people.person_id)",
    "blocks": "(SELECT a > 60 AS old, CLAMP(a, 0, 120) AS mean FROM "
    "(SELECT AVG(age) AS a FROM people GROUP BY BLOCK(3))), bins => 4",
    "groups": "(SELECT hospital, n > 1 AS often FROM "
    "(SELECT person_id, hospital, COUNT(*) AS n FROM visits GROUP BY person_id, hospital)), missing => 'left_out'",
}
METHODS = {
    "mwem": ("rounds => 2, size => 5", "people visits joined blocks groups"),
    "mwem(cells)": ("rounds => 2, queries => 'cells', size => 5", "visits blocks"),
    "boosting": ("rounds => 3, draws => 1, size => 5", "people visits blocks"),
    "small_database": ("small => 1, size => 5", "joined blocks"),
    "aim": ("size => 5", "visits blocks"),
    "mst": ("size => 5", "people joined"),
    "marginals": ("ways => 2", "people joined blocks groups"),
}
TEXTS = {
    **{
        f"{method} {name}": f"SELECT * FROM {method.split('(')[0]}({ROWS[name]}, {arguments})"
        for method, (arguments, names) in METHODS.items()
        for name in names.split()
    },
    "ranges of people": "SELECT * FROM range_counts(people, column => age, bins => 8)",
    "ranges of visits": "SELECT * FROM range_counts(visits, column => cost, bins => 4)",
    "places of visits": "SELECT * FROM top_down(visits, levels => (hospital, urgent))",
    "places of people": "SELECT * FROM top_down(people, levels => (city, member), columns => (sex), total => 6)",
}
PRICES = (Pure(Fraction(400, 3)), Concentrated(Fraction(20000, 7)), Pure(Fraction(100)))
LINEAR = ("marginals", "ranges", "places")  # that choose nothing


class Told(Executor):
    """Keeps the exact answers that it opens, and says what it is told; without that, its own noise."""

    def __init__(self, curator, reserved, told=None):
        super().__init__(curator.engine, Statements(curator.engine, curator.catalog), reserved, CountedBits(3))
        self.told, self.opened, self.said = told, [], []

    def _release(self, measure, exact):
        self.opened.append((measure, exact[measure.query].tolist()))
        self.said.append(super()._release(measure, exact))
        return self.said[-1] if self.told is None else self.told[len(self.said) - 1]


def watch(catalog, gone, text, price, told=None):
    """The executor of a whole question after it, where one person is gone."""
    people, visits = ([row for row in rows if row["person_id"] != gone] for rows in (PEOPLE, VISITS))
    plan = lower(text, catalog)
    with curated(catalog, people, visits) as curator:
        running = Told(curator, price, told)
        drive(split_price(plan, price), running)
    return running


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return declare(tmp_path_factory.mktemp("neighbours") / "hospital", BOUNDED)


@pytest.mark.parametrize(("name", "price"), list(zip(TEXTS, cycle(PRICES), strict=False)), ids=list(TEXTS))
def test_no_person_moves_what_any_round_opens_further_than_it_says(catalog, name, price):
    all_of_them = watch(catalog, 0, TEXTS[name], price)
    events = Composed([measure.mechanism.event(measure.query.sensitivity()) for measure, _ in all_of_them.opened])
    assert covers(price, events)
    moved = 0
    for gone in (1, 2):
        others = watch(catalog, gone, TEXTS[name], price, all_of_them.said)
        assert [measure.query.keys for measure, _ in others.opened] == [
            measure.query.keys for measure, _ in all_of_them.opened
        ]
        for (measure, one), (_, other) in zip(all_of_them.opened, others.opened, strict=True):
            moved_within(measure.query, one, other)
            moved += one != other and isinstance(measure.query.aggregate, Distances)
    assert moved or name.startswith(LINEAR)  # else nothing was tried
