"""Answers as tables: a stream of Arrow, whose schema has the facts beside the rows, and CSV."""

from __future__ import annotations

import json
from io import RawIOBase
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from adomnia.spreadsheets import defuse_table
from adomnia.wire.answers import answer_facts

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from adomnia.session.answer import Answer

ARROW, CSV = "application/vnd.apache.arrow.stream", "text/csv"
PARQUET = "application/vnd.apache.parquet"
FACTS = "adomnia"  # the key of the schema's metadata
HEADER = "Adomnia-Answer"
_LONGEST_HEADER = 4000  # characters; what stands between may take no more than 8,000 for all headers
_ROWS = 2**16  # at a time


class _Sink(RawIOBase):
    """A file that keeps what is written to it in parts."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, part: Buffer, /) -> int:
        self.parts.append(bytes(part))
        return len(self.parts[-1])


def encode_arrow(answer: Answer, *, simultaneous: bool = False) -> list[bytes]:
    """The answer as a stream of Arrow; the metadata `adomnia` is what the JSON has beside its columns."""
    facts = json.dumps(answer_facts(answer, simultaneous=simultaneous), allow_nan=False)
    table = answer.to_arrow(simultaneous=simultaneous).replace_schema_metadata({FACTS: facts})
    sink = _Sink()
    with pa.PythonFile(sink, "w") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table, max_chunksize=_ROWS)
    return sink.parts


def encode_csv(answer: Answer, *, simultaneous: bool = False) -> list[bytes]:
    """Rows and intervals with a heading; what has no value, and an end that an interval has not, is empty.

    No text of it is a formula to a spreadsheet.
    """
    return _write_csv(defuse_table(answer.to_arrow(simultaneous=simultaneous)))


def encode_parquet(answer: Answer, *, simultaneous: bool = False) -> list[bytes]:
    """The answer as a file of Parquet, with the metadata that a stream of Arrow has."""
    from pyarrow import parquet

    facts = json.dumps(answer_facts(answer, simultaneous=simultaneous), allow_nan=False)
    table = answer.to_arrow(simultaneous=simultaneous).replace_schema_metadata({FACTS: facts})
    sink = _Sink()
    with pa.PythonFile(sink, "w") as file:
        parquet.write_table(table, file, row_group_size=_ROWS)
    return sink.parts


def _write_csv(table: pa.Table) -> list[bytes]:
    """A table as CSV, in parts."""
    sink = _Sink()
    options = csv.WriteOptions(quoting_style="needed")
    with pa.PythonFile(sink, "w") as file, csv.CSVWriter(file, table.schema, write_options=options) as writer:
        for batch in table.to_batches(max_chunksize=_ROWS):
            columns = [_without_infinity(column) for column in batch.columns]
            writer.write_batch(pa.record_batch(columns, schema=table.schema))
    return sink.parts


def facts_header(answer: Answer, *, simultaneous: bool = False) -> str:
    """What the JSON has beside its columns, in the ASCII of a header; without sentences if those are too long."""
    facts = answer_facts(answer, simultaneous=simultaneous)
    for left_out in ((), ("texts",), ("texts", "caps", "notes")):
        written = _write({name: told for name, told in facts.items() if name not in left_out})
        if len(written) <= _LONGEST_HEADER:
            break
    return written


def _write(facts: dict[str, Any]) -> str:
    return json.dumps(facts, allow_nan=False, separators=(",", ":"))


def _without_infinity(column: pa.Array) -> pa.Array:
    return pc.if_else(pc.is_finite(column), column, None) if pa.types.is_floating(column.type) else column
