from __future__ import annotations

from datetime import date
from unittest.mock import patch

import pyarrow as pa
import pytest

from adomnia.catalog.model import Table
from adomnia.engines.duckdb import DuckDB
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Day, Quantity, Text
from adomnia.privacy.units import ROW
from engines.databases import catalog, category, contents, number, people, whole

FARE = number("c", 0, 100, 0.5)
AGE = whole("c", 0, 120)


def spelled(folder, column, *cells):
    """A column read from a CSV file that holds these cells."""
    lines = [f'{person},"{cell}"' if cell is not None else f"{person}," for person, cell in enumerate(cells)]
    (folder / "people.csv").write_text("\n".join(["person_id,c", *lines]) + "\n")
    with patch("adomnia.engines.duckdb.engine.refuse_unreadable"):  # most of them may be odd
        engine = DuckDB.open(catalog(people(column, source="people.csv"), folder=folder), folder / "state")
    found = contents(engine, "people")
    engine.close()
    return found


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("column", "cells"),
    [
        (FARE, {"12.25": (12.25, 25), "-3": (0.0, 0), "1e9": (100.0, 200), "inf": (100.0, 200), "-inf": (0.0, 0)}),
        (
            FARE,
            {
                "nan": (None, None),
                "twelve": (None, None),
                "0x10": (None, None),
                "1,5": (None, None),
                None: (None, None),
            },
        ),
        (AGE, {"30": 30, "30.5": 31, "29.4999": 29, "-7": 0, "500": 120, "1e400": 120, "thirty": None, None: None}),
        (
            Column("c", Quantity()),
            {"-12.5": -12.5, "inf": None, "-inf": None, "1e308": 1e308, "-0": 0.0, "nan": None, "x": None},
        ),
        (Column("c", Quantity(whole=True)), {"-12.5": -12.0, "3": 3.0, "nan": None, "x": None}),
        (Column("c", Boolean()), {"true": True, "F": False, "1": True, "maybe": None, None: None}),
        (category("c", "Oslo", "Bergen"), {"Oslo": 0, "Bergen": 1, "oslo": None, "Nowhere": None, None: None}),
        (
            Column("c", Text(("Oslo", "Bergen", "Else"), others=True)),
            {"Oslo": 0, "Bergen": 1, "Else": 2, "oslo": 2, "Nowhere": 2, " ": 2, None: None},
        ),
        (Column("c", Text()), {"Oslo": "Oslo", " ": " ", "o'clock": "o'clock", None: None}),
        (Column("c", Day()), {"2020-02-29": date(2020, 2, 29), "2021-02-29": None, "soon": None, None: None}),
        (
            Column("c", Day(date(2020, 1, 1), date(2020, 12, 31))),
            {
                "2020-02-29": date(2020, 2, 29),
                "1999-01-01": date(2020, 1, 1),
                "2030-01-01": date(2020, 12, 31),
                "x": None,
            },
        ),
        (Column("c", Day(date(2020, 1, 1))), {"1999-01-01": date(2020, 1, 1), "2030-01-01": date(2030, 1, 1)}),
        (Column("c", Day(upper=date(2020, 1, 1))), {"1999-01-01": date(1999, 1, 1), "infinity": date(2020, 1, 1)}),
    ],
)
def test_text_is_read_as_declared_and_what_cannot_be_read_is_null(tmp_path, column, cells):
    found = [(row["c"], row["c grid"]) if "c grid" in row else row["c"] for row in spelled(tmp_path, column, *cells)]
    assert sorted(map(repr, found)) == sorted(map(repr, cells.values()))


def test_text_that_cannot_be_read_is_null_even_where_nothing_else_is_read(tmp_path):
    (tmp_path / "data.csv").write_text("c\n30\nthirty\n")
    table = Table("data", "data.csv", (Column("c", Quantity()),))
    engine = DuckDB.open(catalog(table, folder=tmp_path, unit=ROW), tmp_path / "state")
    assert [row["c"] for row in contents(engine, "data")] == [30.0, None]
    engine.close()


@pytest.mark.parametrize(("listed", "kind"), [(3, "TINYINT"), (127, "TINYINT"), (128, "SMALLINT"), (40_000, "INTEGER")])
def test_the_code_of_others_fits_however_many_values_are_listed(listed, kind):
    column = Column("c", Text((*(f"v{place}" for place in range(listed)), "o'thers"), others=True))
    rows = pa.table({"person_id": [1, 2, 3, 4], "c": ["nothing", None, "v0", "o'thers"]})
    engine = DuckDB.load(catalog(people(column)), {"people": rows})
    with engine._connection.cursor() as cursor:
        found = cursor.execute('SELECT "c", typeof("c") FROM "people" ORDER BY 1').fetchall()
    assert found == [(0, kind), (listed, kind), (listed, kind), (None, kind)]
    engine.close()


@pytest.mark.parametrize(
    ("lower", "upper", "kind"),
    [
        (-128, 127, "TINYINT"),
        (-129, 127, "SMALLINT"),
        (0, 2**15 - 1, "SMALLINT"),
        (0, 2**15, "INTEGER"),
        (-(2**31), 2**31 - 1, "INTEGER"),
        (0, 2**31, "BIGINT"),
        (-(2**63), 2**63 - 1, "BIGINT"),
        (0, 2**63, "HUGEINT"),
    ],
)
@pytest.mark.no_cover
def test_integers_are_kept_in_the_narrowest_type_that_holds_their_bounds(lower, upper, kind):
    domain = Numbers.integers(lower, upper)
    column = Column("c", Quantity(domain.lower, domain.upper, whole=True), domain)
    engine = DuckDB.load(catalog(people(column)), {"people": pa.table({"person_id": [1, 2], "c": [-1e300, 1e300]})})
    with engine._connection.cursor() as cursor:
        rows = cursor.execute('SELECT "c", typeof("c") FROM "people" ORDER BY 1').fetchall()
    assert rows == [(lower, kind), (upper, kind)]
    engine.close()


def test_minus_zero_is_zero():
    engine = DuckDB.load(catalog(people(number("c", -1, 1))), {"people": pa.table({"person_id": [1], "c": [-0.0]})})
    assert str(contents(engine, "people")[0]["c"]) == "0.0"
    engine.close()
