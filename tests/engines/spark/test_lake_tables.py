"""Tables that only Spark reads: of its catalog and in storage; what they were like, and an index that it alone sees."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.catalog.model import EngineChoice, SourceColumn
from adomnia.engines.limits import Limits
from adomnia.engines.sources.state import find_place
from adomnia.engines.spark import lake_tables
from adomnia.engines.spark.engine import BuildSession, Spark
from adomnia.engines.spark.lake_tables import describe, fingerprint, read_elsewhere
from adomnia.engines.spark.session import open_session
from adomnia.engines.spark.sources import check_header, file_source
from adomnia.errors import Refusal, Unavailable
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Rows, Total
from engines.databases import answer, catalog, category, people, relation, whole
from kit import spark

AGE, CITY = whole("age", 0, 120), category("city", "a", "b")
TABLE = replace(people(AGE, CITY, rows_per_person=2), source="spark://", source_table="ward.people")
COLUMNS = "INT(id DIV 3) AS person_id, INT(id) AS Age, IF(id % 2 = 0, 'a', 'b') AS city, ARRAY(1) AS other"


@pytest.fixture(scope="module")
def head():
    found = spark.classic()
    found.sql("CREATE DATABASE IF NOT EXISTS ward")
    found.sql(f"CREATE TABLE ward.people USING parquet AS SELECT {COLUMNS} FROM RANGE(9)")
    yield found
    found.sql("DROP DATABASE ward CASCADE")


@pytest.fixture(scope="module", params=["classic", "connect"])
def session(request, head):
    own = open_session(spark.connect() if request.param == "connect" else None, Limits())
    yield own.session
    own.close()


def declare(folder, **choice):
    return replace(catalog(TABLE, folder=folder), engine=EngineChoice("spark", **choice))


def test_a_table_of_the_catalog_is_read_by_the_types_that_it_has(session):
    types = describe(read_elsewhere(session, "spark://", "ward.people"))
    assert types == {"person_id": "INTEGER", "Age": "INTEGER", "city": "STRING", "other": "ARRAY<INT>"}
    source = file_source(session, "spark://", TABLE)
    assert source.types == {"person_id": "INTEGER", "age": "INTEGER", "city": "STRING"}
    with pytest.raises(Refusal, match=r"ward\.people has none"):
        file_source(session, "spark://", replace(TABLE, source_columns=(("age", SourceColumn("ages")),)))


@pytest.mark.parametrize(
    ("name", "why"), [("ward.nobody", "is not there"), ("a.b.c.d", "no name"), ("a..b", "no name")]
)
def test_what_is_not_there_is_refused_in_words_of_ours(session, name, why):
    with pytest.raises(Refusal, match=why) as refused:
        read_elsewhere(session, "spark://", name)
    assert refused.value.__cause__ is None


def test_folders_in_storage_are_read_with_the_names_of_their_folders_as_texts(session, tmp_path):
    for day in (1, 2):
        (tmp_path / f"day={day}").mkdir()
        pq.write_table(pa.table({"x": [1.5]}), tmp_path / f"day={day}" / "a.parquet")
    place = f"file:{tmp_path}"
    assert describe(read_elsewhere(session, place, None)) == {"x": "DOUBLE", "day": "STRING"}
    before = fingerprint(session, place, None)
    pq.write_table(pa.table({"x": [2.5]}), tmp_path / "day=2" / "a.parquet")
    assert fingerprint(session, place, None).split()[0] == before.split()[0] == "2"
    assert fingerprint(session, place, None) != before
    with pytest.raises(Refusal, match="is not there for Spark"):
        read_elsewhere(session, f"{place}/nothing", None)


def test_a_value_that_moves_to_the_next_column_is_another_row(session, tmp_path):
    one, other = {"x": [1, None], "y": [None, 1]}, {"x": [1, 1], "y": [None, None]}
    prints = []
    for place, rows in enumerate((one, other)):
        (tmp_path / str(place)).mkdir()
        columns = {name: pa.array(values, pa.int64()) for name, values in rows.items()}
        pq.write_table(pa.table(columns), tmp_path / str(place) / "a.parquet")
        prints.append(fingerprint(session, f"file:{tmp_path}/{place}", None))
    assert prints[0] != prints[1]


def test_a_folder_of_delta_is_not_read_as_plain_files(session, tmp_path):
    pq.write_table(pa.table({"x": [1.5]}), tmp_path / "a.parquet")
    (tmp_path / "_delta_log").mkdir()
    (tmp_path / "_delta_log" / f"{0:020}.json").write_text("{}")
    with pytest.raises(Refusal, match="is a Delta table, which this Spark cannot read"):
        read_elsewhere(session, f"file:{tmp_path}", None)


def test_a_folder_of_delta_is_read_by_a_spark_that_can():
    class Delta:
        """A Spark that has Delta; what it is not asked for, it does not do."""

        schema, read = None, property(lambda self: self)

        def text(self, _path):
            return self

        def format(self, name):
            assert name == "delta"
            return self

        def load(self, place):
            self.loaded = place
            return self

    found = read_elsewhere(Delta(), "s3a://bucket/visits", None)
    assert found.loaded == "s3a://bucket/visits"


def test_storage_that_does_not_answer_is_not_taken_for_a_folder_without_a_log():
    class Away:
        read = property(lambda self: self)

        def text(self, _path):
            raise ConnectionError("secret words")

    with pytest.raises(Unavailable, match="cannot be read by Spark now") as unavailable:
        read_elsewhere(Away(), "s3a://bucket/visits", None)
    assert unavailable.value.__cause__ is None


def test_files_that_break_while_they_are_looked_at_are_told_in_words_of_ours(session, tmp_path):
    pq.write_table(pa.table({"x": [1.5]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": ["text"]}), tmp_path / "b.parquet")
    with pytest.raises(Unavailable, match="cannot be read by Spark now") as unavailable:
        fingerprint(session, f"file:{tmp_path}", None)
    assert unavailable.value.__cause__ is None


def test_an_index_lies_where_it_is_told_to_and_stands_for_one_version(head, tmp_path):
    place = tmp_path / "shared [1]"
    made = Spark.open(declare(tmp_path, index=str(place)), tmp_path / "state")
    queries = Query(relation(TABLE), (CITY,), Rows()), Query(relation(TABLE), (CITY,), Total(AGE, AGE.domain))
    try:
        (written,) = place.glob("test-*")
        (index,) = (tmp_path / "state").glob("index-*.spark")
        assert find_place(index) == f"file:{written}"
        assert written.stat().st_mode & 0o777 == 0o700  # whatever the folder above it is like
        assert sorted(each.name for each in index.iterdir()) == ["place.txt", "used.lock"]
        assert sum(answer(made, *queries)[0]) == 6
        numbers = list((written / "people-of-all-tables").glob("part-*.parquet"))
        assert [pq.read_table(part).num_rows for part in numbers] == [0] * len(numbers)
    finally:
        made.close()
    head.sql("INSERT INTO ward.people SELECT 7, 7, 'a', ARRAY(1)")
    again = Spark.open(declare(tmp_path, index=str(place)), tmp_path / "state")
    assert sum(answer(again, *queries)[0]) == 6  # what was there when the version was opened
    again.close()
    (index / "place.txt").unlink()
    (index / "used.lock").unlink()
    index.rmdir()
    with pytest.raises(Refusal, match="changed, and version 1 stands for what it was"):
        Spark.open(declare(tmp_path, index=str(place)), tmp_path / "state")


def test_rows_that_change_while_the_index_is_built_are_noticed(head, tmp_path, monkeypatch):
    with BuildSession(declare(tmp_path), Limits()) as looking:
        looking.fingerprint("spark://", "ward.people")
        looking.check_again()
        monkeypatch.setattr("adomnia.engines.spark.engine.fingerprint", lambda *_: "other")
        with pytest.raises(Unavailable, match="changed while the index was built"):
            looking.check_again()
    with BuildSession(declare(tmp_path), Limits()):
        pass  # nothing was looked at, and no session opened


def test_headers_are_checked_without_a_value(head, monkeypatch):
    monkeypatch.delattr(lake_tables, "fingerprint")
    check_header(EngineChoice("spark"), TABLE)
    with pytest.raises(Refusal, match="is not there for Spark"):
        check_header(EngineChoice("spark"), replace(TABLE, source_table="ward.nobody"))
