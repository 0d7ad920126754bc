"""What Spark reads of the owner's files, and what it refuses before a row is read."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.catalog.model import SourceColumn
from adomnia.engines.spark.sources import file_source, frame_source, spark_type, storable
from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Day, Moment, Quantity, Text
from engines.databases import people, whole

AGE, NAME = whole("age", 0, 120), Column("name", Text())
TABLE = people(AGE)


class Reading:
    """A session that remembers what it was asked to read."""

    def __init__(self):
        self.read, self.views, self.frames = self, [], []

    def schema(self, ddl):
        self.ddl = ddl
        return self

    def parquet(self, *paths):
        self.paths = paths
        return self

    def createOrReplaceTempView(self, name):  # noqa: N802 - as Spark has it
        self.views.append(name)

    def createDataFrame(self, rows):  # noqa: N802 - as Spark has it
        self.frames.append(rows)
        return self


def test_files_of_a_folder_are_read_by_name_whatever_signs_they_have(tmp_path):
    for name in ("a [1].parquet", "b{*}.parquet"):
        rows = {"person_id": [1], "AGE": [2.5], "at": pa.array([0], pa.timestamp("ns"))}
        pq.write_table(pa.table(rows), tmp_path / name)
    session = Reading()
    source = file_source(session, tmp_path, TABLE)
    assert [path.rsplit("/", 1)[1] for path in session.paths] == [r"a \[1\].parquet", r"b\{\*\}.parquet"]
    assert session.ddl == "`person_id` BIGINT, `AGE` DOUBLE"
    assert source.types == {"person_id": "BIGINT", "age": "DOUBLE"}
    assert "`AGE` AS `age`" in source.relation


def test_of_texts_only_those_whose_bytes_are_characters_are_read(tmp_path):
    """That none other gets into an index is shown by Spark itself, in test_texts."""
    table = people(NAME)
    rows = pa.table({"person_id": ["one"], "name": pa.array(["Ann"], pa.large_string())})
    pq.write_table(rows, tmp_path / "people.parquet")
    for source in (file_source(Reading(), tmp_path / "people.parquet", table), frame_source(Reading(), table, rows)):
        assert "TRY_VALIDATE_UTF8(`person_id`) AS `person_id`" in source.relation
        assert "TRY_VALIDATE_UTF8(`name`) AS `name`" in source.relation


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"person_id": [1]}, "has none of that name"),
        ({"person_id": [1], "age": ["x"]}, "holds STRING"),
        ({"person_id": [1], "age": pa.array([0], pa.timestamp("ns"))}, "holds timestamp"),
        ({"person_id": [1], "Age": [1], "AGE": [1]}, "could be any of the columns"),
    ],
)
def test_files_that_are_not_as_declared_are_refused(tmp_path, columns, why):
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    with pytest.raises(Refusal, match=why):
        file_source(Reading(), tmp_path / "people.parquet", TABLE)


@pytest.mark.parametrize("name", ["_people.parquet", ".people.parquet"])
def test_files_that_spark_passes_over_are_refused_and_not_taken_for_empty(tmp_path, name):
    pq.write_table(pa.table({"person_id": [1], "age": [1]}), tmp_path / name)
    (tmp_path / "link.parquet").symlink_to(tmp_path / name)
    for file in (name, "link.parquet"):
        with pytest.raises(Refusal, match=f"is called {name}, and Spark passes over"):
            file_source(Reading(), tmp_path / file, TABLE)


def test_only_parquet_is_read(tmp_path):
    (tmp_path / "people.csv").write_text("person_id,age\n1,2\n")
    for place in (tmp_path / "people.csv", "postgresql:///hospital"):
        with pytest.raises(Refusal, match="is not in files of Parquet"):
            file_source(Reading(), place, TABLE)


def test_days_that_are_spelled_are_refused(tmp_path):
    spelled = replace(people(Column("day", Day())), source_columns=(("day", SourceColumn("day", "%d.%m.%Y")),))
    pq.write_table(pa.table({"person_id": [1], "day": ["1.2.2020"]}), tmp_path / "people.parquet")
    with pytest.raises(Refusal, match="on Spark days are stored as such"):
        file_source(Reading(), tmp_path / "people.parquet", spelled)


@pytest.mark.parametrize(
    ("held", "kept", "called"),
    [
        (pa.uint8(), pa.int16(), "SMALLINT"),
        (pa.uint64(), pa.decimal128(20, 0), "DECIMAL(20, 0)"),
        (pa.dictionary(pa.int8(), pa.string()), pa.string(), "STRING"),
        (pa.decimal128(9, 2), pa.decimal128(9, 2), "DECIMAL(9, 2)"),
        (pa.timestamp("ms"), pa.timestamp("us"), "TIMESTAMP_NTZ"),
        (pa.timestamp("ns", "UTC"), pa.timestamp("us", "UTC"), "TIMESTAMP"),
        (pa.float16(), pa.float32(), "FLOAT"),
        (pa.null(), pa.null(), "VOID"),
        (pa.dictionary(pa.int8(), pa.int64()), pa.int64(), "BIGINT"),
        (pa.binary(), pa.binary(), "binary"),
    ],
)
def test_columns_in_memory_are_sent_in_types_that_spark_has(held, kept, called):
    sent = storable(pa.chunked_array([pa.nulls(2, held)]))
    assert (sent.type, spark_type(kept)) == (kept, called)


def test_a_table_in_memory_that_is_none_is_refused():
    with pytest.raises(Refusal, match="cannot be read as a table") as refused:
        frame_source(SimpleNamespace(), TABLE, object())
    assert refused.value.__cause__ is refused.value.__context__ is None


def test_kinds_of_time_and_numbers_are_checked_by_type():
    table = people(Column("at", Moment("UTC")), Column("x", Quantity()), Column("day", Day()))
    rows = {"person_id": ["a"], "at": ["2020-01-01"], "x": [1.5], "day": [date(2020, 1, 1)]}
    assert frame_source(Reading(), table, pa.table(rows)).types["x"] == "DOUBLE"
    with pytest.raises(Refusal, match="holds STRING"):
        frame_source(Reading(), table, pa.table({**rows, "day": ["2020-01-01"]}))
