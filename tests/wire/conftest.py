"""A hospital with a few people in it, whose answers are written and read again."""

from __future__ import annotations

from datetime import date

import pytest

from kit.hospital import CATALOG, curated, declare, person, visit

TEXT = CATALOG.replace("rows_per_person = 3", "rows_per_person = { max = 3, epsilon = 5 }") + (
    '\n[analysts.dave]\nepsilon = 1\npolicy = "geometric"\nspend = 0.3\nceiling = 0.25\n'
    '\n[views.adults]\nsql = "SELECT * FROM people WHERE age >= 18"\n'
)
PEOPLE = [person(k, age=20.0 + k % 60, sex="FM"[k % 2], city="Oslo", salary=1000.0 * k) for k in range(50)]
VISITS = [visit(k % 50, hospital="H1", cost=10.0 * k, day=date(2020, 1, 1 + k % 2)) for k in range(80)]


@pytest.fixture(scope="session")
def curator(tmp_path_factory):
    catalog = declare(tmp_path_factory.mktemp("wire") / "hospital", TEXT)
    with curated(catalog, PEOPLE, VISITS, seed="wire") as curator:
        yield curator


@pytest.fixture
def bob(curator):
    """He may pay in every currency."""
    return curator.session("bob")
