"""Spark skips files and rewrites conditions by the least and the greatest value of a column: no result may change.

A slow evaluator in Python says what a question means. Files are as another program writes them, with NaN, -0.0 and
columns in which all values are alike; the index is as Spark writes it.
"""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from adomnia.catalog.model import EngineChoice
from adomnia.engines.spark.engine import Spark, read_column
from adomnia.errors import Refusal
from adomnia.pricing.quotes import list_measures
from adomnia.privacy.events import Pure
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Where
from adomnia.privacy.scans import Rows
from adomnia.sql.lower import lower
from engines import databases
from engines.databases import answer, applied, constant, number, people, relation
from kit import spark
from kit.gate import meaning
from kit.hospital import KEY, LINKED, PUBLIC, declare, frame
from kit.tables import Database
from kit.tempting import tempting_databases, tempting_questions

pytestmark = pytest.mark.no_cover  # other tests have one example of each branch


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    spark.classic()
    return declare(tmp_path_factory.mktemp("optimizers") / "hospital", LINKED)


def open_files(catalog, files, folders):
    state = folders.mktemp("state")
    (state / "index.key").write_bytes(KEY)
    for table in catalog.tables:
        if not table.public:
            pq.write_table(frame(files[table.name], table), catalog.folder / table.source)
    with patch("adomnia.engines.spark.building.refuse_unreadable"):  # these values are odd on purpose
        return Spark.open(catalog, state)


def wrong(catalog, engine, database, asked):
    """The questions to which the engine gives another answer than the evaluator."""
    found = []
    for text in asked:
        try:
            queries = tuple({each.query for each in list_measures(lower(text, catalog), Pure(1))})
            statements = [engine.render((query,)) for query in queries]
        except Refusal:
            continue
        for query, statement in zip(queries, statements, strict=True):
            (exact,) = engine.run(statement, (query,))
            if exact.tolist() != meaning(query, database):
                found.append(text)
    return found


def ask(catalog, folders, databases, questions):
    @settings(max_examples=databases, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    # The first example that is drawn is the simplest one: without rows it would tempt nobody.
    @given(files=tempting_databases().filter(lambda files: min(map(len, files.values())) > 3), data=st.data())
    def tempt(files, data):
        engine = open_files(catalog, files, folders)
        try:
            asked = [data.draw(tempting_questions(files)) for _ in range(questions)]
            assert wrong(catalog, engine, Database(catalog, {**files, **PUBLIC}), asked) == []
        finally:
            engine.close()

    tempt()


def test_what_columns_happen_to_hold_changes_no_answer(catalog, tmp_path_factory):
    ask(catalog, tmp_path_factory, databases=1, questions=8)


@pytest.mark.soak
def test_what_many_more_columns_happen_to_hold_changes_no_answer(catalog, tmp_path_factory):
    ask(catalog, tmp_path_factory, databases=40, questions=40)


def test_conditions_on_doubles_are_not_handed_to_the_reader_of_files():
    """Which takes conditions on bare columns alone."""
    types = pytest.importorskip("pyspark.sql.types")
    kinds = [types.DoubleType(), types.IntegerType(), types.StringType(), types.DateType(), types.FloatType()]
    fields = [types.StructField("a b", kind) for kind in kinds]
    assert [read_column(field) for field in fields] == [
        "`a b` + 0e0 AS `a b`",
        *["`a b`"] * 3,
        "`a b` + 0e0 AS `a b`",
    ]


def test_zero_has_no_sign_for_whoever_reads_the_files():
    """A file that holds nothing but 0.0 would be skipped by whoever looks for -0.0 in it."""
    spark.classic()
    pay = number("pay", 0, 100)
    house = replace(databases.catalog(people(pay)), engine=EngineChoice("spark"))
    made = Spark.load(house, {"people": pa.table({"person_id": [1, 2, 3], "pay": [0.0, -0.0, 0.0]})})
    try:
        minus_zero = applied("*", constant(0), constant(-1))
        found = Where(relation(people(pay)), applied("=", pay, minus_zero))
        assert answer(made, Query(found, (), Rows())) == [3]
    finally:
        made.close()
