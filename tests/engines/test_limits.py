from __future__ import annotations

from math import inf, nan

import pytest

from adomnia.engines.contract import Statement
from adomnia.engines.duckdb import DuckDB
from adomnia.engines.limits import USUAL, Limits
from adomnia.errors import Failure, Unavailable
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Rows
from engines.databases import answer, catalog, frame, loaded, number, people, relation

FARE = number("fare", 0, 100)
TRIPS = people(FARE)
ROWS = [{"person_id": place, "fare": place * 0.7 % 130} for place in range(500)]
SAME = Query(relation(TRIPS), (), Rows())
# As many different texts as there are triples of rows: more than any memory here.
MUCH = Statement(
    "SELECT COUNT(DISTINCT a.fare || '.' || b.fare || '.' || c.fare) AS m0 FROM people a, people b, people c", ()
)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"threads": 0}, "threads must be >= 1, got 0"),
        ({"memory": "much"}, "memory must be a size such as 1200MB, got much"),
        ({"memory": "100"}, "memory must be a size such as 1200MB, got 100"),
        ({"seconds": 0}, "seconds must be > 0 and finite, got 0"),
        ({"seconds": -1.5}, "seconds must be > 0 and finite, got -1.5"),
        ({"seconds": inf}, "seconds must be > 0 and finite, got inf"),
        ({"seconds": nan}, "seconds must be > 0 and finite, got nan"),
    ],
)
def test_limits_that_cannot_be_kept_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        Limits(**wrong)


@pytest.mark.parametrize("memory", ["1200MB", "1.5 GB", "512MiB", "2TB"])
def test_sizes_are_written_as_people_write_them(memory):
    assert Limits(memory=memory).memory == memory


def settings(engine):
    with engine._connection.cursor() as cursor:
        return dict(cursor.execute("SELECT name, value FROM duckdb_settings()").fetchall())


def test_an_engine_keeps_to_its_threads_and_its_memory(tmp_path):
    limits = Limits(threads=1, memory="100MiB")
    with loaded(catalog(TRIPS), limits, people=ROWS) as engine:
        assert (settings(engine)["threads"], settings(engine)["memory_limit"]) == ("1", "100.0 MiB")
    (tmp_path / "people.csv").write_text("person_id,fare\n1,2\n")
    files = catalog(people(FARE, source="people.csv"), folder=tmp_path)
    opened = DuckDB.open(files, tmp_path / "state", limits=limits)
    assert (settings(opened)["threads"], settings(opened)["memory_limit"]) == ("1", "100.0 MiB")
    opened.close()


def test_usually_there_is_no_limit_of_time():
    assert Limits(None, "1200MB", None) == USUAL


@pytest.mark.no_cover
def test_a_question_beyond_the_memory_fails_and_the_next_one_does_not():
    with loaded(catalog(TRIPS), Limits(memory="50MB"), people=ROWS) as engine:
        for _ in range(2):
            with pytest.raises(Failure, match=r"^The request failed\.$") as failed:
                engine.run(MUCH, (SAME,))
            assert failed.value.__context__ is None
            assert answer(engine, SAME) == [500]


def test_an_index_beyond_the_memory_says_what_helps_and_nothing_of_the_rows():
    rows = [{"person_id": place, "fare": 1.0} for place in range(300_000)]
    with pytest.raises(Unavailable, match=r"^The index fits neither into memory nor into the room on disk") as failed:
        DuckDB.load(catalog(TRIPS), {"people": frame(rows, TRIPS.columns)}, limits=Limits(memory="4MB"))
    assert failed.value.__context__ is None
