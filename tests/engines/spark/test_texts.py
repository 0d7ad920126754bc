"""Texts whose bytes are no characters are nobody's: no row may make a question fail, or hold bytes of another row."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.catalog.model import EngineChoice
from adomnia.engines.spark.engine import Spark
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Text
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Rows
from engines.databases import catalog, category, people, relation
from kit import spark

NAME, CITY = Column("name", Text()), category("city", "Oslo", "${spark.app.name}", "it's \\")
TABLE = people(NAME, CITY, rows_per_person=3)
VALID = [b"Oslo", "日本".encode(), b"", b"a\0b", "\U0010ffff".encode()]
BROKEN = [b"\xff", b"a\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xe6\x97", b"\x80"]


def texts(values):
    """Bytes that are said to be texts."""
    held = pa.array(values, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(held), held.buffers(), held.null_count)


@pytest.fixture(params=["files", "memory"], scope="module")
def opened(request, tmp_path_factory):
    spark.classic()
    folder = tmp_path_factory.mktemp("texts")
    names = [*VALID, *BROKEN, None]
    cities = ["Oslo", "${spark.app.name}", "it's \\", "pyspark-shell", "pyspark-shell"]
    rows = {
        "person_id": texts([b"p%d" % place for place in range(len(names))] + [b"\xff"]),
        "name": texts([*names, b"nobody's"]),
        "city": [cities[place % len(cities)] for place in range(len(names) + 1)],
    }
    table, declared = pa.table(rows), replace(catalog(TABLE, folder=folder), engine=EngineChoice("spark"))
    pq.write_table(table, folder / "people.parquet")
    if request.param == "files":
        made = Spark.open(declared, folder / "state")
    else:
        made = Spark.load(declared, {"people": table})
    yield made
    made.close()


def test_bytes_that_are_no_characters_are_no_value_and_no_person(opened):
    rows = opened._running._own.session.sql("SELECT HEX(name) AS bytes FROM people").toArrow().to_pylist()
    assert sorted(row["bytes"] for row in rows if row["bytes"] is not None) == sorted(
        text.hex().upper() for text in VALID
    )
    assert len(rows) == len(VALID) + len(BROKEN) + 1


def test_a_category_is_what_is_declared_and_no_variable_of_spark(opened):
    query = Query(relation(TABLE), (CITY,), Rows())
    assert opened.run(opened.render((query,)), (query,))[0].tolist() == [3, 3, 3]
