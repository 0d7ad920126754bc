from __future__ import annotations

from dataclasses import replace

import duckdb
import pytest

from adomnia.catalog.model import CsvFormat
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.index.columns import render_reading
from adomnia.engines.sources.spellings import render_spelled
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Day, Identity, Quantity, Text

GERMAN = CsvFormat(decimal=",", thousands=".", currency="€")
DOLLARS = CsvFormat(thousands=",", currency="$")
NUMBER, DAY = Column("x", Quantity()), Column("x", Day())


def read(cell, column, csv, days=None):
    """A cell as the index reads it."""
    spelled = render_spelled("cell", column, csv, days)
    sql = f'SELECT {render_reading(column, DUCKDB)} FROM (SELECT {spelled} AS "x" FROM (SELECT $1::VARCHAR AS cell))'
    with duckdb.connect() as connection:
        return connection.execute(sql, [cell]).fetchone()[0]


@pytest.mark.parametrize(
    ("csv", "cells"),
    [
        (
            CsvFormat(),
            {"1.5": 1.5, " 7 ": 7, "\t7\u00a0": 7, "1,5": None, "$1": None, "": None, "  ": None, "1e5": 1e5},
        ),
        (GERMAN, {"1.234,50 €": 1234.5, "€1,5": 1.5, "-1.234.567": -1234567, "+2,": 2, "7": 7, "1234,5": 1234.5}),
        (GERMAN, {"1.5": None, "1.2345": None, "1234.567": None, ".123": None, "1,234.5": None, "?": None, "€": None}),
        (
            DOLLARS,
            {"$1,234.50": 1234.5, "-$5": -5, "$ -5": -5, "1,23,456": 123456, "1,5": None, "$1,2345": None, ",": None},
        ),
        (CsvFormat(decimal=","), {"1,5": 1.5, "1.5": None, "1,5,5": None, "1,5e2": 150}),
        (CsvFormat(thousands="\u202f"), {"1\u202f234.5": 1234.5, "1 234": None}),
        (CsvFormat(thousands="'"), {"1'234": 1234}),
        (CsvFormat(null=("-9", "it's NA", "")), {"-9": None, " -9 ": None, "it's NA": None, "9": 9, "-9.0": -9}),
    ],
)
@pytest.mark.no_cover
def test_a_number_is_read_as_it_is_spelled_and_anything_else_is_null(csv, cells):
    assert {cell: read(cell, NUMBER, csv) for cell in cells} == cells
    assert read(None, NUMBER, csv) is None


@pytest.mark.parametrize(
    ("days", "cells"),
    [
        ("%d.%m.%Y", {"31.12.2024": "2024-12-31", " 1.2.2024 ": "2024-02-01", "2024-12-31": None, "30.2.2024": None}),
        ("%Y-%d-%m", {"2024-31-12": "2024-12-31", "2024-01-31": None}),
        ("%m/%d/%y", {"12/31/99": "1999-12-31", "infinity": None, "epoch": None, "": None, "12/31/1999": None}),
        ("%b %d, %Y %I:%M %p", {"Dec 31, 2024 1:05 PM": "2024-12-31", "Dec 31, 2024": None}),
        (None, {"2024-12-31": "2024-12-31", "31.12.2024": None}),
    ],
)
def test_a_day_is_read_in_its_format_and_in_no_other(days, cells):
    found = {cell: read(cell, DAY, CsvFormat(), days) for cell in cells}
    assert {cell: day and day.isoformat() for cell, day in found.items()} == cells


def test_what_is_missing_is_so_in_every_column():
    csv = CsvFormat(null=("NA",))
    for kind in (Quantity(), Day(), Boolean(), Text(), Identity()):
        assert read("NA", Column("x", kind), csv) is None
    assert read(" ", Column("x", Text()), csv) == " "
    assert read("no", Column("x", Boolean()), csv) is False


@pytest.mark.parametrize("csv", [CsvFormat(null=("NA",), thousands=","), replace(GERMAN, null=("NA",))])
def test_what_is_missing_is_not_taken_for_unreadable(csv):
    spelled = render_spelled("cell", NUMBER, csv, None)
    with duckdb.connect() as connection:
        (found,) = connection.execute(f"SELECT {spelled} FROM (SELECT 'NA' AS cell)").fetchone()
    assert found is None
