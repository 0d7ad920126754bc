"""DuckDB knows the least and the greatest value of every column. What it concludes from them must not change a result.

A slow evaluator in Python says what a question means; files and memory are read alike.
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import date
from itertools import product
from unittest.mock import patch

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from adomnia.engines.duckdb import DuckDB, engine
from adomnia.engines.limits import Limits
from adomnia.errors import Refusal
from adomnia.pricing.quotes import list_measures
from adomnia.privacy.events import Pure
from adomnia.sql.lower import lower
from kit.gate import meaning
from kit.grammar import questions
from kit.hospital import KEY, LINKED, PUBLIC, declare, frame, person, visit
from kit.searches import examples
from kit.tables import Database
from kit.tempting import tempting_databases, tempting_questions

pytestmark = pytest.mark.no_cover  # other tests have one example of each branch

EXAMPLES, TEMPTING, GRAMMATICAL = examples(5), 40, 10  # databases, and what is asked of each
FEW = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return declare(tmp_path_factory.mktemp("optimizers") / "hospital", LINKED)


@contextmanager
def in_memory(catalog, files, _):
    frames = {table.name: frame(files[table.name], table) for table in catalog.tables if not table.public}
    with patch("adomnia.engines.duckdb.engine.fresh_key", lambda: KEY):
        loaded = DuckDB.load(catalog, frames, limits=Limits(threads=1))
    yield loaded
    loaded.close()


@contextmanager
def in_files(catalog, files, folders):
    state = folders.mktemp("state")
    (state / "index.key").write_bytes(KEY)
    for table in catalog.tables:
        if not table.public:
            pq.write_table(frame(files[table.name], table), catalog.folder / table.source)
    with patch("adomnia.engines.duckdb.engine.refuse_unreadable"):  # these values are odd on purpose
        opened = DuckDB.open(catalog, state, limits=Limits(threads=1))
    yield opened
    opened.close()


PLACES = pytest.mark.parametrize("placed", [in_memory, in_files])


def wrong(catalog, engine, database, asked):
    """The questions to which the engine gives another answer than the evaluator."""
    found = []
    for text in asked:
        try:
            queries = {each.query for each in list_measures(lower(text, catalog), Pure(1))}
        except Refusal:
            continue
        for query in queries:
            (exact,) = engine.run(engine.render((query,)), (query,))
            if exact.tolist() != meaning(query, database):
                found.append(text)
    return found


NAMES = ["H1", "H1", "H2", "H1"]
WEIGHTS = [1.0, 1.0, 2.0, 1.0]
DAYS = [date(2020, 1, 1), date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 1)]
ALIKE = {
    "people": [
        person(number, name=name, weight=weight, age=weight)
        for number, (name, weight) in enumerate(zip(NAMES, WEIGHTS, strict=True))
    ],
    "visits": [visit(number, visit_id=number, day=day) for number, day in enumerate(DAYS)],
    "items": [],
}
FEWER = ["{0}", "NULLIF({0}, {1})", "CASE WHEN {0} = {1} THEN NULL ELSE {0} END", "CASE WHEN {0} <> {1} THEN {0} END"]
TRUE_OF_ALL = {
    "people": {
        ("name", "'H1'"): [
            "STARTS_WITH({0}, 'H')",
            "STARTS_WITH({0}, '')",
            "ENDS_WITH({0}, '')",
            "CONTAINS({0}, 'H')",
            "{0} LIKE 'H%'",
            "{0} >= 'H'",
            "{0} IN ('H1', 'H2')",
            "LENGTH({0}) = 2",
            "STARTS_WITH(LOWER({0}), 'h')",
            "{0} ~ '^H'",
            "{0} ~ 'H'",
            "{0} ~ '^H[12]$'",
            "REGEXP_FULL_MATCH({0}, 'H.')",
            "{0} LIKE 'H%' ESCAPE '!'",
            "{0} LIKE '%!%%' ESCAPE '!' OR {0} > ''",
            "STRPOS({0}, 'H') = 1",
            "REPLACE({0}, 'H', 'h') < 'i'",
            "{0} BETWEEN 'H' AND 'I'",
        ],
        ("weight", "1"): [
            "{0} > 0",
            "{0} + 1 > 0",
            "ABS({0}) < 9",
            "{0} / 2 < 9",
            "LN({0}) >= 0",
            "{0} BETWEEN 0 AND 9",
        ],
        ("age", "1"): ["{0} > 0", "- {0} < 0", "{0} IN (1, 2)", "TRY_CAST({0} AS TINYINT) > 0", "{0} - {0} = 0"],
    },
    "visits": {
        ("day", "DATE '2020-01-01'"): [
            "{0} > DATE '2019-01-01'",
            "YEAR({0}) = 2020",
            "DATE_TRUNC('year', {0}) = {1}",
            "{0} + INTERVAL 1 MONTH > {0}",
            "STRFTIME({0}, '%Y') = '2020'",
            "STRFTIME({0}, '%Y-%m') < '2021'",
        ],
    },
}
CONDITIONS = [
    (table, test.format(made.format(*column), column[1]))
    for table, columns in TRUE_OF_ALL.items()
    for column, tests in columns.items()
    for test, made in product(tests, FEWER)
]
FORMS = ["{}", "NOT ({})", "({}) IS NULL", "({}) IS NOT TRUE"]
ASKED = [
    f"SELECT COUNT(*) FROM {table} WHERE {form.format(test)}" for (table, test), form in product(CONDITIONS, FORMS)
]


@PLACES
def test_conditions_that_hold_for_all_values_hold_for_no_row_that_has_none(catalog, tmp_path_factory, placed):
    database = Database(catalog, ALIKE | PUBLIC)
    with placed(catalog, ALIKE, tmp_path_factory) as engine:
        assert wrong(catalog, engine, database, ASKED) == []


def test_an_engine_that_concludes_from_values_would_be_found(catalog, tmp_path_factory, monkeypatch):
    credulous = [lock if "disabled_optimizers" not in lock else "RESET disabled_optimizers" for lock in engine._LOCKS]
    monkeypatch.setattr(engine, "_LOCKS", tuple(credulous))
    database = Database(catalog, ALIKE | PUBLIC)
    with in_memory(catalog, ALIKE, tmp_path_factory) as loaded:
        assert wrong(catalog, loaded, database, ASKED)


@PLACES
@pytest.mark.drawn
def test_no_mood_of_a_column_changes_what_a_question_means(catalog, tmp_path_factory, placed):
    @FEW
    @given(data=st.data())
    def ask(data):
        files = data.draw(tempting_databases())
        tempting = data.draw(st.lists(tempting_questions(files), min_size=TEMPTING, max_size=TEMPTING))
        asked = [*tempting, *data.draw(st.lists(questions(), min_size=GRAMMATICAL, max_size=GRAMMATICAL))]
        with placed(catalog, files, tmp_path_factory) as engine:
            assert wrong(catalog, engine, Database(catalog, files | PUBLIC), asked) == []

    ask()
