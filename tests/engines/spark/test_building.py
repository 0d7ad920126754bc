"""The index that Spark writes: of rows that are people, of times, and never with a row too many."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.catalog.model import EngineChoice
from adomnia.engines.index import list_indexed
from adomnia.engines.spark import building
from adomnia.engines.spark.building import ParquetBuilder, quote_names
from adomnia.engines.spark.engine import Spark
from adomnia.engines.spark.sources import spark_type
from adomnia.errors import Failure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Moment, Text
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Where
from adomnia.privacy.scans import People, Rows, Total
from adomnia.privacy.units import ROW
from engines.databases import answer, applied, catalog, constant, people, relation, whole
from kit import spark
from kit.engines import KEY

AGE = whole("age", 0, 120)
AT = Column("at", Moment(None, None, "Europe/Vienna"))
TOWN = Column("town", Text())


def test_every_row_is_a_person_where_the_unit_is_the_row():
    spark.classic()
    table = replace(people(AGE, AT), columns=(AGE, AT))
    moments = [datetime(2020, 1, 1, 12, tzinfo=UTC), None, datetime(2020, 7, 1, 12, tzinfo=UTC), None]
    frame = pa.table({"age": [5, 7, 7, None], "at": pa.array(moments, pa.timestamp("us", "UTC"))})
    towns = replace(people(TOWN, public=True), name="towns", columns=(TOWN,), repeats=(1,))
    house = replace(catalog(table, towns, unit=ROW), engine=EngineChoice("spark"))
    made = Spark.load(house, {"people": frame, "towns": pa.table({"town": ["a"]})})
    try:
        rows = relation(table)
        summer = Where(rows, applied("=", applied("hour", AT), constant(14)))  # two hours later there
        queries = Query(rows, (), Rows()), Query(rows, (), People()), Query(rows, (), Total(AGE, AGE.domain))
        assert [answer(made, query) for query in queries] == [[4], [4], [19]]
        assert answer(made, Query(summer, (), Rows())) == [1]
    finally:
        made.close()


def test_the_files_of_a_bucket_are_in_the_order_of_the_source(tmp_path):
    place = whole("place", 0, 10_000)
    table = replace(people(place), name="people")
    rows = pa.table({"person_id": [at % 97 for at in range(1000)], "place": list(range(1000))})
    ParquetBuilder(spark.classic().newSession(), catalog(table), f"file:{tmp_path}", KEY, lambda *_: None).build(
        {"people": rows}
    )
    buckets = sorted((tmp_path / "people").glob("bucket=*"))
    assert len(buckets) == 5  # ranks 1, 2, to 4, to 8, to 11
    for file in (file for bucket in buckets for file in bucket.glob("*.parquet")):
        places = pq.read_table(file)["place"].to_pylist()
        assert places == sorted(places)


def test_a_row_that_was_written_twice_ends_the_build(monkeypatch, tmp_path):
    own = spark.classic().newSession()
    table = people(AGE)
    builder = ParquetBuilder(own, catalog(table), f"file:{tmp_path}", bytes(32), lambda *_: None)
    rank = ParquetBuilder._rank

    def twice(self, table):
        rows = rank(self, table)
        return f"{rows} UNION ALL {rows}"

    monkeypatch.setattr(ParquetBuilder, "_rank", twice)
    with pytest.raises(Failure):
        builder.build({"people": pa.table({"person_id": [1, 2], "age": [3, 4]})})


def test_the_key_of_the_order_is_in_no_statement_and_no_plan(monkeypatch, tmp_path):
    """An event history keeps the constants of plans, whatever is redacted."""
    own, key, seen = spark.classic().newSession(), bytes(range(32)), []
    sql = ParquetBuilder._sql

    def note(self, text):
        frame = sql(self, text)
        seen.extend([text, frame._jdf.queryExecution().optimizedPlan().toString()])
        return frame

    monkeypatch.setattr(ParquetBuilder, "_sql", note)
    builder = ParquetBuilder(own, catalog(people(AGE)), f"file:{tmp_path}", key, lambda *_: None)
    builder.build({"people": pa.table({"person_id": [1, 1, 2], "age": [3, 3, 4]})})
    assert any("md5" in text for text in seen)
    assert not [text for text in seen if key.hex() in text]


def test_public_tables_without_a_column_to_keep_are_left_out():
    bare = replace(people(public=True), name="bare")
    assert list_indexed(catalog(people(AGE), bare)) == [people(AGE)]
    assert building.BUCKET == "bucket"


def test_names_are_quoted_as_every_server_reads_them_and_texts_are_left_alone():
    text = """SELECT " key", `a"b`, 'it\\'s "so"', "x y" FROM t"""
    assert quote_names(text) == """SELECT ` key`, `a"b`, 'it\\'s "so"', `x y` FROM t"""


def test_a_type_of_a_dictionary_is_that_of_its_values():
    assert spark_type(pa.dictionary(pa.int8(), pa.string())) == "STRING"
