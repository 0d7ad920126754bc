"""Rows of a real PostgreSQL, type by type: each value means what it means in a Parquet file, and none makes it fail."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from sys import float_info
from unittest.mock import Mock

import duckdb
import pyarrow as pa
import pytest

from adomnia.engines.duckdb import DuckDB
from adomnia.engines.sources import streams
from adomnia.engines.sources.snapshots import Snapshots
from adomnia.engines.sources.streams import stream_table
from adomnia.errors import Unavailable
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Day, Moment, Quantity, Text
from engines.databases import catalog, category, contents, number, people, whole
from kit.filled_postgres import filled

LAST = int(float_info.max)
BEFORE, AFTER = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59)  # noqa: DTZ001 - wall time
NOON = datetime(2024, 2, 29, 12, 30, 15)  # noqa: DTZ001 - wall time


def seconds(moment):
    return (moment - datetime(1970, 1, 1)) // timedelta(seconds=1)  # noqa: DTZ001 - wall time


def read_values(tmp_path, declaration, column, *written):
    """What the index keeps of values of a type, in their order; of a category, codes."""
    rows = ", ".join(f"({place}, {value})" for place, value in enumerate([*written, "NULL"]))
    create = declaration if ";" in declaration else f"CREATE TABLE people (person_id int, x {declaration})"
    with filled(*create.split(";"), f"INSERT INTO people VALUES {rows}") as url:
        *values, missing = read_column(tmp_path, url, column)
    assert missing is None
    return values


def read_column(tmp_path, url, column, **options):
    """A column of the index of a table in PostgreSQL, in the order of its rows there."""
    table = people(column, source=url, source_table="people", **options)
    engine = DuckDB.open(catalog(table, folder=tmp_path), tmp_path / "state")
    found = [row[column.name] for row in contents(engine, "people")]
    engine.close()
    return found


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("declaration", "column", "cases"),
    [
        ("smallint", whole("x", -40_000, 40_000), {"-32768": -32768, "32767": 32767}),
        ("integer", whole("x", 0, 120), {"-1": 0, "7": 7, "2147483647": 120}),
        ("bigint", whole("x", 0, 2**53), {"9223372036854775807": 2**53, "-9223372036854775808": 0}),
        ("oid", whole("x", 0, 2**40), {"4294967295": 2**32 - 1}),
        ("real", number("x", -1, 1, 2**-20), {"0.25": 0.25, "'NaN'": None, "'Infinity'": 1.0, "'-Infinity'": -1.0}),
        (
            "double precision",
            number("x", -10, 10, 2**-20),
            {"1e300": 10.0, "-0.0": 0.0, "5e-324": 5e-324, "'NaN'": None, "'-Infinity'": -10.0},
        ),
        (
            "numeric",
            number("x", -(10**6), 10**6, 0.25),
            {"1e300": 10**6, "-1e400": -(10**6), "1e-1000": 0.0, "2.50": 2.5, "'NaN'": None, "'Infinity'": 10**6},
        ),
        (
            "numeric",
            Column("x", Quantity()),
            {
                f"{LAST}": float_info.max,
                f"{LAST + 2**969}": float_info.max,  # the last double is the nearest
                f"{LAST + 2**970}": None,
                f"-{LAST + 2**970}": None,
                "2.4703282292062327209e-324": 5e-324,
                "2.4703282292062327208e-324": 0.0,
                "1.5e-310": 1.5e-310,
            },
        ),
        ("numeric(12, 3)", number("x", 0, 10**6, 0.25), {"1.500": 1.5, "'NaN'": None}),
        ("boolean", Column("x", Boolean()), {"true": True, "false": False}),
        ("text", Column("x", Text()), {"''": "", "'a,\"b\"\n\r\\.'": 'a,"b"\n\r\\.', "'\\N'": "\\N", "' é '": " é "}),
        ("varchar(9)", category("x", "F", "M"), {"'F'": 0, "'X'": None, "'F '": None}),
        ("char(9)", category("x", "F", "M"), {"'F'": 0, "'M '": 1, "' F'": None}),
        ("name", Column("x", Text()), {"'a b'": "a b"}),
        (
            "uuid",
            Column("x", Text()),
            {"'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
        ),
        (
            "date",
            Column("x", Day()),
            {
                "'2024-02-29'": date(2024, 2, 29),
                "'0044-03-15 BC'": date.min,
                "'5874897-12-31'": date.max,
                "'infinity'": date.max,
                "'-infinity'": date.min,
            },
        ),
        (
            "timestamp",
            Column("x", Moment(zone="Europe/Vienna")),
            {
                "'2024-02-29 12:30:15.999999'": seconds(NOON),
                "'0044-03-15 10:00 BC'": seconds(BEFORE),
                "'294276-12-31 23:59:59.999999'": seconds(AFTER),
                "'289999-12-31'": seconds(AFTER),
                "'infinity'": seconds(AFTER),
                "'-infinity'": seconds(BEFORE),
                "'1969-12-31 23:59:59.5'": -1,
            },
        ),
        (
            "timestamptz(6)",
            Column("x", Moment(zone="Europe/Vienna")),
            {
                "'2024-02-29 11:30:15.5+00'": seconds(NOON),
                "'4713-01-01 10:00+00 BC'": seconds(BEFORE),
                "'294276-12-31 23:59:59+00'": seconds(AFTER),
                "'infinity'": seconds(AFTER),
                "'-infinity'": seconds(BEFORE),
            },
        ),
        (
            "date",
            Column("x", Moment(zone="Europe/Vienna")),
            {
                "'2024-02-29'": seconds(NOON.replace(hour=0, minute=0, second=0)),
                "'4714-11-24 BC'": seconds(BEFORE),
                "'-infinity'": seconds(BEFORE),
                "'infinity'": seconds(AFTER),
                "'294247-01-10'": seconds(AFTER),
                "'294247-01-11'": None,  # microseconds since 1970 do not reach
                "'5874897-12-31'": None,
            },
        ),
        ("timestamp", Column("x", Day()), {"'2024-02-29 23:59:59.9'": date(2024, 2, 29), "'infinity'": date.max}),
        (
            "CREATE TYPE mood AS ENUM ('sad', 'it''s \"ok\"');CREATE TABLE people (person_id int, x mood)",
            category("x", "sad", 'it\'s "ok"'),
            {"'sad'": 0, "'it''s \"ok\"'": 1},
        ),
        (
            (
                "CREATE DOMAIN years AS integer CHECK (VALUE >= 0);CREATE DOMAIN age AS years;"
                "CREATE TABLE people (person_id int, x age)"
            ),
            whole("x", 0, 120),
            {"7": 7},
        ),
        (
            (
                "CREATE TYPE mood AS ENUM ('sad', 'glad');CREATE DOMAIN today AS mood;"
                "CREATE TABLE people (person_id int, x today)"
            ),
            Column("x", Text()),
            {"'sad'": "sad"},
        ),
        (
            "CREATE DOMAIN code AS char(5);CREATE TABLE people (person_id int, x code)",
            category("x", "F", "M"),
            {"'F'": 0},
        ),
    ],
)
def test_values_of_every_type_mean_what_they_mean_in_a_file(tmp_path, declaration, column, cases):
    assert read_values(tmp_path, declaration, column, *cases) == list(cases.values())


ROWS = "CREATE TABLE people (person_id int, x text)"


@pytest.mark.no_cover
def test_rows_arrive_in_blocks_whatever_they_hold(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "_BLOCK", 1000)
    monkeypatch.setattr(streams, "_MOST_BYTES", 1000)
    insert = "INSERT INTO people SELECT i, repeat(chr(10) || '\"', i % 100) || i FROM generate_series(1, 5000) AS i"
    shares = []
    with filled(ROWS, insert, "ANALYZE people") as url:
        table = people(Column("x", Text()), source=url, source_table="people")
        engine = DuckDB.open(catalog(table, folder=tmp_path), tmp_path / "state", lambda *told: shares.append(told))
    found = [row["x"] for row in contents(engine, "people")]
    engine.close()
    assert sorted(found) == sorted('\n"' * (i % 100) + str(i) for i in range(1, 5001))
    arriving = [share for step, share in shares if step == "people: arriving"]
    assert len(arriving) > 100
    assert arriving == sorted(arriving)
    assert arriving[-1] == 1


def test_long_texts_are_cut_and_long_keys_stay_apart(tmp_path):
    create = "CREATE TABLE people (person_id text, x text)"
    insert = (
        "INSERT INTO people SELECT repeat('é', 50000) || (i % 2), repeat('\"', 20000) || i FROM generate_series(1, 4) i"
    )
    with filled(create, insert) as url:
        table = people(Column("x", Text()), source=url, source_table="people", rows_per_person=2)
        engine = DuckDB.open(catalog(table, folder=tmp_path), tmp_path / "state")
    rows = contents(engine, "people")
    engine.close()
    assert {row["x"] for row in rows} == {'"' * 1024}
    assert sorted(row["rank"] for row in rows) == [1, 1, 2, 2]
    assert len({row["person"] for row in rows}) == 2


@pytest.mark.parametrize(("rows", "count"), [("NULL, NULL", 0), ("1, NULL", 1)])
def test_a_table_of_one_column_keeps_its_empty_rows(tmp_path, rows, count):
    values = ", ".join(f"({value})" for value in rows.split(", "))
    with (
        filled("CREATE TABLE people (person_id int)", f"INSERT INTO people VALUES {values}") as url,
        Snapshots() as now,
    ):
        connection = duckdb.connect()
        name = stream_table(connection, now, now.find_table(url, "people"), [0], lambda _: None)
        assert connection.execute(f"SELECT COUNT(*), COUNT(c0) FROM {name}").fetchall() == [(2, count)]


def test_a_table_without_rows_has_an_empty_index(tmp_path):
    with filled(ROWS) as url:
        assert read_column(tmp_path, url, Column("x", Text())) == []


@pytest.mark.parametrize(
    ("declaration", "keys"),
    [
        ("numeric", ["7", "7.000", "7.00000000000000000001", "8"]),
        ("numeric", ["1e40", "10000000000000000000000000000000000000000.0", "1e40 + 1", "'Infinity'"]),
        ("char(5)", ["'a'", "'a  '", "'b'", "'A'"]),
        ("timestamp", ["'2024-01-01'", "'2024-01-01 00:00:00.000000'", "'2024-01-01 00:00:00.000001'", "'infinity'"]),
    ],
)
@pytest.mark.no_cover
def test_equal_keys_are_one_person_and_different_ones_are_not(tmp_path, declaration, keys):
    create = f"CREATE TABLE people (person_id {declaration}, x text)"
    rows = ", ".join(f"({key}, 'x')" for key in keys)
    with filled(create, f"INSERT INTO people VALUES {rows}") as url:
        table = people(Column("x", Text()), source=url, source_table="people", rows_per_person=2)
        engine = DuckDB.open(catalog(table, folder=tmp_path), tmp_path / "state")
    people_of = [row["person"] for row in sorted(contents(engine, "people"), key=lambda row: row["rank"])]
    engine.close()
    assert len(people_of) == 4
    assert len(set(people_of)) == 3


def test_a_key_that_is_no_number_is_nobody(tmp_path):
    with filled("CREATE TABLE people (person_id numeric, x text)", "INSERT INTO people VALUES ('NaN', 'x')") as url:
        assert read_column(tmp_path, url, Column("x", Text())) == []


@pytest.mark.parametrize("size", [-1, 1, 3, 7, 100])
def test_messages_are_a_file_of_any_block_size(size):
    stream = streams._Stream([b"abc", memoryview(b"defg"), b"", bytearray(b"h")])
    read = [stream.read(size)]
    while read[-1]:
        read.append(stream.read(size))
    assert b"".join(read) == b"abcdefgh"
    assert size < 0 or all(len(part) <= size for part in read)
    assert pa.PythonFile(stream, mode="r").readable()


def test_a_row_of_the_longest_values_fits_into_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "_BLOCK", 1)
    longest = f"'{'9' * 131_072}.{'9' * 16_383}'"
    columns = ", ".join(f"x{place} numeric" for place in range(8))
    create = f"CREATE TABLE people (person_id int, {columns}, y text)"
    row = f"INSERT INTO people VALUES (1, {', '.join([longest] * 8)}, repeat(U&'\\+01F600', 20000))"
    with filled(create, row) as url:
        table = people(number("x0", 0, 10), number("x7", 0, 10), Column("y", Text()), source=url, source_table="people")
        engine = DuckDB.open(catalog(table, folder=tmp_path), tmp_path / "state")
    ((first, last, text),) = [(row["x0"], row["x7"], row["y"]) for row in contents(engine, "people")]
    engine.close()
    assert (first, last, text) == (10, 10, "\N{GRINNING FACE}" * 1024)


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (duckdb.OutOfMemoryException("CANARY"), "fits neither into memory nor into the room on disk"),
        (duckdb.IOException("CANARY"), "cannot be written to the disk of its folder"),
    ],
)
def test_rows_that_find_no_room_say_so(fault, says):
    connection = Mock()
    connection.execute.side_effect = [None, fault]
    with filled(ROWS, "INSERT INTO people VALUES (1, 'x')") as url, Snapshots() as now:
        table = now.find_table(url, "people")
        with pytest.raises(Unavailable, match=says) as caught:
            stream_table(connection, now, table, [0, 1], lambda _: None)
    assert caught.value.__context__ is None
