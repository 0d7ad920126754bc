from __future__ import annotations

from datetime import date, datetime
from math import nan

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.catalog.model import CsvFormat, SourceColumn, Table
from adomnia.engines.contract import ColumnReading
from adomnia.engines.duckdb import DuckDB
from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity, Text
from adomnia.privacy.units import ROW
from engines.databases import catalog, category, number, people, whole

TIME = Column("c", Moment(*map(datetime.fromisoformat, ("2020-02-29T12:00:00", "2020-02-29T12:00:00")), "Europe/Oslo"))
DAY = Column("c", Day(date(2020, 1, 1), date(2020, 12, 31)))
CITY = category("c", "Oslo", "Bergen")


def spell(folder, cells):
    (folder / "a.csv").write_text("c\n" + "".join(f'"{cell}"\n' for cell in cells))


def reading(folder, column, csv=CsvFormat()):  # noqa: B008 - a frozen value
    (found,) = DuckDB.count_readings(folder / "a.csv", Table("data", "a.csv", (column,), csv=csv))
    assert (found.table, found.column) == ("data", "c")
    return (found.rows, found.missing, found.unreadable, found.clamped, found.undeclared)


@pytest.mark.parametrize(
    ("column", "cells", "counts"),
    [
        (number("c", 0, 10), ["1", "2", "", "x", "11", "-1", "nan", "1e999"], (8, 2, 1, 3, 0)),
        (whole("c", 0, 10), ["1", "10.4", "NA", " "], (4, 1, 1, 1, 0)),
        (Column("c", Quantity()), ["1", "x"], (2, 0, 1, 0, 0)),
        (DAY, ["2020-02-29", "2019-12-31", "31.12.2020", ""], (4, 1, 1, 1, 0)),
        (Column("c", Day()), ["2020-02-29", "1.1.2020"], (2, 0, 1, 0, 0)),
        (Column("c", Moment(zone="UTC")), ["2020-02-29 12:00:00", "1.1.2020 12:00", ""], (3, 1, 1, 0, 0)),
        (TIME, ["2020-02-29 12:00:00.5", "2020-02-29 23:00:00+00", "2021-01-01"], (3, 0, 0, 2, 0)),
        (Column("c", Boolean()), ["true", "maybe", ""], (3, 1, 1, 0, 0)),
        (CITY, ["Oslo", "oslo", "Paris", ""], (4, 1, 2, 0, 2)),
        (Column("c", Text()), ["a", "", "J\N{REPLACEMENT CHARACTER}rg"], (3, 1, 1, 0, 0)),
        (Column("c", Identity()), ["1", "x", ""], (3, 1, 0, 0, 0)),
    ],
)
def test_every_value_is_missing_unreadable_clamped_or_fine(tmp_path, column, cells, counts):
    spell(tmp_path, cells)
    assert reading(tmp_path, column) == counts


def test_what_is_declared_to_be_missing_is_not_unreadable(tmp_path):
    spell(tmp_path, ["1", "NA", "-9"])
    assert reading(tmp_path, whole("c", 0, 10), CsvFormat(null=("NA", "-9"))) == (3, 2, 0, 0, 0)


def test_nan_is_missing_where_numbers_are_stored(tmp_path):
    pq.write_table(pa.table({"c": [1.0, nan, None, 99.0]}), tmp_path / "a.parquet")
    (found,) = DuckDB.count_readings(tmp_path / "a.parquet", Table("data", "a.parquet", (number("c", 0, 10),)))
    assert found == ColumnReading("data", "c", 4, 2, 0, 1, 0)


def test_a_file_that_cannot_be_read_is_refused_without_quoting_it(tmp_path):
    (tmp_path / "a.csv").write_text('c\n"CANARY\n')
    with pytest.raises(Refusal, match=r"Source a\.csv cannot be read") as refused:
        reading(tmp_path, CITY)
    assert refused.value.__context__ is None


def opened(folder, table):
    DuckDB.open(catalog(table, folder=folder, unit=ROW), folder / "state").close()


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("column", "fine", "lost"),
    [
        (number("c", 0, 10), ["1", "x", ""], ["1", "$2", "$3", ""]),
        (DAY, ["2020-01-01", "1/1/2020"], ["2020-01-01", "1/1/2020", "1/2/2020"]),
        (CITY, ["Oslo", "a", "b", "c"], ["oslo", "a", "CANARY"]),
        (Column("c", Text()), ["", "", "x"], ["x", "\N{REPLACEMENT CHARACTER}", "J\N{REPLACEMENT CHARACTER}rg"]),
        (number("c", 0, 10), ["", ""], ["CANARY"]),
        (number("c", 0, 10), [], ["nan", "0x10"]),
    ],
)
def test_a_column_that_is_mostly_unreadable_is_refused_when_the_index_is_built(tmp_path, column, fine, lost):
    spell(tmp_path, fine)
    opened(tmp_path, Table("data", "a.csv", (column,)))
    spell(tmp_path, lost)
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "a.csv").rename(other / "a.csv")
    with pytest.raises(Refusal) as refused:
        opened(other, Table("data", "a.csv", (column,)))
    assert str(refused.value) == (
        f"Column data.c is declared as {column.kind}, and most of what a.csv holds there cannot be read as such. "
        "Fix: run `adomnia check DIR --data`, which counts what is lost, and declare what the file holds."
    )
    assert refused.value.code == "unreadable_column"
    assert not list((other / "state").glob("index-*"))


def test_categories_and_days_of_parquet_files_are_looked_at_too(tmp_path):
    pq.write_table(pa.table({"c": ["A", "B"], "d": ["31.12.2020", "2020-12-31"]}), tmp_path / "a.parquet")
    with pytest.raises(Refusal, match=r"Column data\.c is declared as category"):
        opened(tmp_path, Table("data", "a.parquet", (CITY,)))
    day = Column("d", Day())
    for form, kept in (("%d.%m.%Y", True), ("%d/%m/%Y", False)):
        table = Table("data", "a.parquet", (day,), source_columns=(("d", SourceColumn("d", form)),))
        if kept:
            opened(
                tmp_path / "..", Table("data", str(tmp_path / "a.parquet"), (day,), source_columns=table.source_columns)
            )
            continue
        with pytest.raises(Refusal, match=r"Column data\.d is declared as date"):
            opened(tmp_path, table)
    with pytest.raises(Refusal, match=r"Column data\.d is declared as date, and a.parquet holds VARCHAR"):
        opened(tmp_path, Table("data", "a.parquet", (day,)))


def test_a_table_of_ids_alone_has_nothing_to_lose(tmp_path):
    pq.write_table(pa.table({"person_id": [1, 2]}), tmp_path / "people.parquet")
    engine = DuckDB.open(catalog(people(), folder=tmp_path), tmp_path / "state")
    engine.close()
