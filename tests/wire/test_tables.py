"""Answers as streams of Arrow and as CSV."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from io import StringIO
from math import inf

import pyarrow as pa
import pytest

from adomnia.messages.texts import Note, write
from adomnia.plans.columns import KeyColumn
from adomnia.wire.answers import answer_facts
from adomnia.wire.tables import encode_arrow, encode_csv, facts_header
from asking.test_arrow import answer, measured


@pytest.fixture
def found():
    return answer(KeyColumn("city", ('O"slo, x', None)), measured("n", [1, 2], reach=inf, whole=True))


def test_a_stream_has_the_table_and_the_facts_beside_it(found):
    reader = pa.ipc.open_stream(b"".join(encode_arrow(found)))
    assert json.loads(reader.schema.metadata[b"adomnia"]) == answer_facts(found)
    table = reader.read_all()
    assert table.equals(found.to_arrow())
    assert table.schema.field("n").metadata[b"kind"] == b"value"


def test_a_large_stream_has_several_batches():
    large = answer(measured("n", range(200_000), whole=True), rows=range(200_000))
    batches = list(pa.ipc.open_stream(b"".join(encode_arrow(large))))
    assert len(batches) > 2
    assert sum(batch.num_rows for batch in batches) == 200_000
    assert max(map(len, encode_csv(large))) < 10**6


def test_intervals_of_all_cells_at_once_are_said_to_be(found):
    reader = pa.ipc.open_stream(b"".join(encode_arrow(found, simultaneous=True)))
    assert json.loads(reader.schema.metadata[b"adomnia"])["simultaneous"] is True


def test_csv_has_a_heading_and_nothing_where_nothing_is_known(found):
    text = b"".join(encode_csv(found)).decode()
    assert list(csv.reader(StringIO(text))) == [
        ["city", "n", "n_lower", "n_upper"],
        ["", "", "", ""],
        ['O"slo, x', "", "", ""],
    ]


def test_an_answer_without_rows_is_a_heading():
    empty = answer(measured("n", [1, 2], whole=True), rows=())
    assert b"".join(encode_csv(empty)) == b'"n","n_lower","n_upper"\n'
    assert pa.ipc.open_stream(b"".join(encode_arrow(empty))).read_all().num_rows == 0


def test_a_column_of_nothing_and_columns_of_every_type_are_written():
    kinds = (("nothing", (None, None)), ("truth", (True, None)), ("number", (1.5, 2)), ("large", (2**70, 1)))
    found = answer(*(KeyColumn(name, values) for name, values in kinds))
    assert b"".join(encode_csv(found)).decode().splitlines()[1:] == [',,2,"1"', f',true,1.5,"{2**70}"']
    table = pa.ipc.open_stream(b"".join(encode_arrow(found))).read_all()
    assert [str(kind) for kind in table.schema.types] == ["null", "bool", "double", "string"]


def test_a_header_has_the_facts_unless_they_are_too_long(found):
    noted = replace(found, notes=(Note(write("Zürich\r\nSet-Cookie: says {with rows=} how many")),))
    header = facts_header(noted, simultaneous=True)
    assert header.isascii()
    assert header.isprintable()
    assert json.loads(header) == answer_facts(noted, simultaneous=True)
    assert json.loads(header)["notes"] == ["Zürich\r\nSet-Cookie: says with `rows` how many"]
    long = json.loads(facts_header(replace(found, notes=(Note("x" * 5000),))))
    assert {*answer_facts(found)} - {*long} == {"caps", "notes"}
