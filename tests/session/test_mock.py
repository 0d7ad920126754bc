"""Made-up rows: they say nothing about the data, and meet every part of what was declared."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity, Text
from adomnia.session import mock
from adomnia.session.curator import open_mock
from engines.databases import contents
from kit.hospital import CATALOG, curated, declare

GROUPED = "SELECT sex, COUNT(*) AS n, AVG(salary) AS pay FROM people GROUP BY sex"


def test_a_mock_costs_nothing_and_reads_nothing(alice):
    ledger, engine = alice._curator.ledger, alice._curator.engine
    before = ledger.verify()
    answer = alice.mock().sql(GROUPED, epsilon=0.5)
    assert answer["sex"] == ["F", "M", "X"]
    assert ledger.verify() == before
    assert engine.ran == []


def test_a_mock_is_the_same_whatever_the_data(catalog, alice):
    with curated(catalog, [], []) as empty:
        assert mock.frames(empty.catalog) == mock.frames(alice.catalog())


def test_a_mock_has_the_budget_of_the_analyst(carol):
    session = carol.mock()
    session.sql("SELECT COUNT(*) FROM people", epsilon=1)
    assert session.budget().personal.left().epsilon == 0
    assert carol.budget().personal.left().epsilon == 1


def test_a_thousand_people_with_up_to_three_rows_each(alice):
    session = alice.mock()
    counts = [
        session.sql(f"SELECT {asked} AS n FROM {table}", epsilon=100)["n"][0]
        for table in ("people", "visits")
        for asked in ("COUNT(*)", "COUNT(DISTINCT person_id)")
    ]
    assert counts == [1000, 1000, 3000, 1000]


def test_public_tables_are_not_made_up(catalog):
    assert set(mock.frames(catalog)) == {"people", "visits"}


def test_rows_of_a_linked_table_find_their_parents_and_so_their_people(tmp_path):
    text = (
        CATALOG.replace("rows_per_person = 3", "rows_per_person = 2")
        + """
[tables.items]
source = "items.parquet"
person = "visit_id -> visits.visit_id"
rows_per_person = 3
columns = { visit_id = { type = "id" }, price = { type = "number" } }
"""
    )
    made = mock.frames(declare(tmp_path / "hospital", text))
    visits, items = made["visits"].to_pydict(), made["items"].to_pydict()
    assert len(set(visits["visit_id"])) == len(visits["visit_id"]) == 2000
    assert len(items["visit_id"]) == 3000
    assert set(items["visit_id"]) == set(visits["visit_id"])


def test_public_tables_are_the_real_ones(catalog):
    with open_mock(catalog) as curator:
        cities = contents(curator.engine, "cities")
    assert [row["region"] for row in cities] == [0] * 4
    assert sorted(row["city"] for row in cities) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("kind", "first", "last"),
    [
        (Identity(), 0, 999),
        (Boolean(), False, True),
        (Text(), "c 0", "c 9"),
        (Text(("x", "y")), "x", "y"),
        (Day(), date(2020, 1, 1), date(2022, 9, 26)),
        (Moment(zone="UTC"), datetime.fromisoformat("2020-01-01"), datetime.fromisoformat("2022-09-26T23:59:59")),
        (Day(date(2000, 1, 1), date(2000, 1, 3)), date(2000, 1, 1), date(2000, 1, 2)),
        (Quantity(), 0, 100),
        (Quantity(Numbers(-5, 5, 1).lower, Numbers(-5, 5, 1).upper, whole=True), -5, 4),
    ],
)
def test_values_are_of_their_kind_and_all_over_its_range(kind, first, last):
    parts = [row * 0.6180339887498949 % 1 for row in range(1000)]
    values = [mock._value(Column("c", kind), row, part) for row, part in enumerate(parts)]
    assert min(values) >= first
    assert max(values) <= last
    assert len(set(values)) >= 2
