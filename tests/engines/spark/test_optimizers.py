"""Spark skips files and rewrites conditions by the least and the greatest value of a column: no result may change.

A slow evaluator in Python says what a question means. Files are as another program writes them, with NaN, -0.0 and
columns in which all values are alike; the index is as Spark writes it.
"""

from __future__ import annotations

from unittest.mock import patch

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from adomnia.engines.spark.engine import Spark
from adomnia.errors import Refusal
from adomnia.pricing.quotes import list_measures
from adomnia.privacy.events import Pure
from adomnia.sql.lower import lower
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
    ask(catalog, tmp_path_factory, databases=1, questions=15)


@pytest.mark.soak
def test_what_many_more_columns_happen_to_hold_changes_no_answer(catalog, tmp_path_factory):
    ask(catalog, tmp_path_factory, databases=40, questions=40)
