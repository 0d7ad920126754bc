from __future__ import annotations

import gzip
import json

import pytest

from adomnia.catalog.model import SourceColumn, Table
from adomnia.engines.duckdb import DuckDB
from adomnia.engines.sources.headers import read_header
from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Text
from adomnia.privacy.units import ROW
from engines.databases import catalog, contents, number, whole

COLUMNS = (Column("name", Text()), whole("age", 0, 120), number("pay", 0, 100, 0.25), Column("member", Boolean()))
LINES = [
    {"name": "Ada", "age": 40, "pay": 1.5, "member": True},
    {"age": "50", "name": 'B"o', "extra": [1]},
    {"name": None, "age": 1e400, "pay": "x", "member": 0},
]
ROWS = [["Ada", 40, 1.5, True], ['B"o', 50, None, None], [None, 120, None, False]]


def rows(folder, source, text, table=None):
    (folder / source).write_bytes(text)
    table = table or Table("data", source, COLUMNS)
    engine = DuckDB.open(catalog(table, folder=folder, unit=ROW), folder / f"state of {source}")
    found = [[row[column.name] for column in table.columns] for row in contents(engine, "data")]
    engine.close()
    return found


TEXT = "\n".join(json.dumps(line).replace("Infinity", "1e400") for line in LINES).encode()


@pytest.mark.parametrize("source", ["a.jsonl", "a.NDJSON", "a.jsonl.gz"])
def test_json_lines_are_read_by_their_keys(tmp_path, source):
    assert rows(tmp_path, source, gzip.compress(TEXT) if source.endswith("gz") else TEXT) == ROWS


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"nonsense",
        b'{"age": 7',
        b"[1]",
        b"7",
        b'{"name": "\xff"}',
        b'{"age":\x017}',
        b'"' + b"x" * 20_000_000,
    ],
    ids=lambda line: repr(line[:12]),
)
@pytest.mark.no_cover
def test_a_line_that_is_no_object_is_no_row_and_changes_no_other(tmp_path, line):
    first, *others = TEXT.split(b"\n")
    assert rows(tmp_path, "a.jsonl", b"\r\n".join([first, line, *others])) == ROWS


def test_keys_may_be_anything(tmp_path):
    key = "a/b~c'\".d"
    column = Column("odd", Text())
    table = Table("data", "a.jsonl", (column,), source_columns=(("odd", SourceColumn(key)),))
    assert rows(tmp_path, "a.jsonl", json.dumps({key: "x", "a": {"b~c": "y"}}).encode(), table) == [["x"]]
    assert read_header(tmp_path / "a.jsonl") == {"a": "", key: ""}


def test_a_key_that_no_line_has_is_refused(tmp_path):
    with pytest.raises(Refusal, match=r"data\.name is declared, and a.jsonl has none of that name"):
        rows(tmp_path, "a.jsonl", b'{"names": 1}\n')


def test_a_key_of_one_line_does_not_take_the_place_of_another_in_all_lines(tmp_path):
    """Names that differ in case alone are one name in a header; here somebody else's line could have the exact one."""
    table = Table("data", "a.jsonl", (whole("age", 0, 120),))
    with pytest.raises(Refusal, match=r"data\.age is declared, and a.jsonl has none of that name"):
        rows(tmp_path, "a.jsonl", b'{"Age": 1}\n{"Age": 2}\n', table)
    table = Table("data", "a.jsonl", (whole("age", 0, 120),), source_columns=(("age", SourceColumn("Age")),))
    assert rows(tmp_path, "a.jsonl", b'{"Age": 1}\n{"Age": 2}\n{"age": 9}\n', table) == [[1], [2], [None]]
