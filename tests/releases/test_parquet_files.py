"""Tables and numbers go through Parquet unchanged; what is too large or no table of a release is refused."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pyarrow as pa
import pytest

from adomnia.releases import parquet_files
from adomnia.releases.parquet_files import FAULTS, read_numbers, read_table, write_csv, write_numbers, write_table

TABLE = pa.table(
    {
        "text": ["a", None, "a"],
        "flag": [True, False, None],
        "whole": [1, 2**60, None],
        "number": [0.5, None, 2.0],
        "day": [date(2024, 1, 1), None, date(1, 1, 1)],
        "moment": pa.array([datetime.fromisoformat("2024-01-01"), None, None], pa.timestamp("ms")),
        "nothing": pa.nulls(3),
    }
)


def test_a_table_comes_back_as_it_was():
    assert read_table(write_table(TABLE)).equals(TABLE)
    empty = TABLE.slice(0, 0)
    assert read_table(write_table(empty)).equals(empty)


def test_what_columns_say_of_themselves_is_kept():
    field = pa.field("n", pa.int64(), metadata={"kind": "value"})
    table = pa.table([[1]], schema=pa.schema([field]))
    assert read_table(write_table(table)).schema.field("n").metadata[b"kind"] == b"value"


def test_csv_has_names_and_rows():
    assert write_csv(pa.table({"a": ['x"y', None], "n": [1, 2]})).decode() == '"a","n"\n"x""y",1\n,2\n'


@pytest.mark.parametrize("numbers", [np.array([1, -(2**63)]), np.array([0.5, np.nan, np.inf]), np.zeros(0)])
def test_numbers_come_back_as_they_were(numbers):
    assert np.array_equal(read_numbers(write_numbers(numbers), numbers.dtype.type), numbers, equal_nan=True)


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"value": [1.5]}),
        pa.table({"other": [1]}),
        pa.table({"value": [1], "more": [2]}),
        pa.table({"value": [1, None]}),
    ],
)
def test_other_columns_are_no_numbers(table):
    with pytest.raises(ValueError, match="Parquet"):
        read_numbers(write_table(table), np.int64)


@pytest.mark.parametrize("values", [[[1, 2]], [{"a": 1}], [b"bytes"]])
def test_values_that_are_not_plain_are_refused(values):
    with pytest.raises(ValueError, match="plain values"):
        read_table(write_table(pa.table({"a": values})))


def test_a_short_file_that_holds_a_long_text_very_often_is_refused_before_it_is_spelled_out(monkeypatch):
    monkeypatch.setattr(parquet_files, "MOST_BYTES", 1_000_000)
    table = pa.table({"a": ["x" * 10_000] * 1000})
    content = write_table(table)
    assert len(content) < 20_000
    with pytest.raises(ValueError, match="texts"):
        read_table(content)


def test_more_rows_or_columns_than_a_release_has_are_refused(monkeypatch):
    content = write_table(pa.table({f"c{k}": [1, 1] for k in range(3)}))
    monkeypatch.setattr(parquet_files, "_MOST_COLUMNS", 2)
    with pytest.raises(ValueError, match="at most"):
        read_table(content)
    monkeypatch.setattr(parquet_files, "_MOST_COLUMNS", 3)
    monkeypatch.setattr(parquet_files, "MOST_BYTES", 40)
    with pytest.raises(ValueError, match="bytes"):
        read_table(content)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\xff" * 100 + b"PAR1", b"not parquet at all"])
def test_what_is_no_parquet_is_a_fault_that_readers_know(content):
    with pytest.raises(FAULTS):
        read_table(content)
