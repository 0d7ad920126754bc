"""Whatever tables are called, each is read in its own place: ours have names that no catalog has."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.catalog.model import EngineChoice, Link, Table
from adomnia.engines.limits import Limits
from adomnia.engines.spark.engine import Spark
from adomnia.engines.spark.lake_tables import fingerprint, read_elsewhere
from adomnia.engines.spark.session import open_session
from adomnia.engines.spark.sources import file_source
from adomnia.errors import Refusal
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Rows, Total
from engines.databases import PERSON, answer, catalog, category, people, relation, whole
from kit import spark

AGE = whole("age", 0, 120)
MANY = category("many", *(f"c{place}" for place in range(60)))  # looked up in a view
# Words of SQL, names of files and folders of the index, and what views were or could be called.
NAMES = ["order", "place", "_used", "_people", "source_of_order"]


def test_tables_may_have_any_name(tmp_path):
    spark.classic()
    tables = [people(AGE, MANY)]
    tables += [
        Table(
            name, f"of{name}.parquet", (PERSON, AGE), link=Link("person_id", "people", "person_id"), rows_per_person=9
        )
        for name in NAMES
    ]
    pq.write_table(pa.table({"person_id": range(3), "age": range(3), "many": ["c1"] * 3}), tmp_path / "people.parquet")
    for number, name in enumerate(NAMES, start=1):
        rows = pa.table({"person_id": [1] * number, "age": [number] * number})
        pq.write_table(rows, tmp_path / f"of{name}.parquet")
    declared = replace(catalog(*tables, folder=tmp_path), engine=EngineChoice("spark"))
    for _ in range(2):  # when it is built, and when it is found
        made = Spark.open(declared, tmp_path / "state")
        try:
            for number, table in enumerate(tables[1:], start=1):
                counted, summed = Query(relation(table), (), Rows()), Query(relation(table), (), Total(AGE, AGE.domain))
                assert answer(made, counted, summed) == [number, number * number], table.name
            assert sum(answer(made, Query(relation(tables[0]), (MANY,), Rows()))[0]) == 3
        finally:
            made.close()


@pytest.fixture(scope="module")
def own():
    """Tables in the schema that is asked where a name has one part."""
    head = spark.classic()
    names = ["looked_at", "source_of_people", "written", "kept", "people"]
    for number, name in enumerate(names):
        head.sql(f"CREATE TABLE {name} USING parquet AS SELECT INT(id) AS person_id, {number} AS age FROM RANGE(2)")
    yield names
    for name in names:
        head.sql(f"DROP TABLE {name}")


@pytest.mark.parametrize("where", ["classic", "connect"])
def test_a_table_of_the_catalog_is_not_mistaken_for_one_that_was_looked_at(own, where):
    session = open_session(spark.connect() if where == "connect" else None, Limits())
    table = replace(people(AGE), source="spark://")
    for _ in range(2):  # the second time all of our views are there
        for number, name in enumerate(own):
            fingerprint(session.session, "spark://", name)
            file_source(session.session, "spark://", replace(table, source_table=name))
            read = read_elsewhere(session.session, "spark://", name).toArrow()
            assert read.column("age").to_pylist() == [number, number], name
    session.close()


@pytest.mark.parametrize("name", [" looked at", " source of people", "ward. people", "people "])
def test_no_name_of_a_table_begins_or_ends_with_a_space(name):
    with pytest.raises(Refusal, match="is no name of a table in Spark"):
        read_elsewhere(None, "spark://", name)
