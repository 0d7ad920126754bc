"""Public tables lie in the index as they are declared, whoever reads them, and repeat no value more often than said."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pyarrow as pa
import pytest

from adomnia.catalog.facts import apply_facts
from adomnia.catalog.model import Table
from adomnia.engines.duckdb import DuckDB
from adomnia.errors import Failure, Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Day, Identity, Quantity, Text
from adomnia.privacy.units import ROW
from engines.databases import catalog, category, contents, number, people, whole

PEOPLE = people(category("city", "Bergen", "Oslo"))
FRAMES = {"people": pa.table({"person_id": [1], "city": ["Oslo"]})}
CITIES = Table(
    "cities",
    "cities.csv",
    (
        Column("city", Text(("Bergen", "Oslo"))),
        Column("code", Identity()),
        number("height", 0, 100, 0.5),
        whole("wards", 1, 9),
        Column("founded", Day(date(1000, 1, 1), date(2000, 1, 1))),
        Column("coast", Boolean()),
        Column("area", Quantity()),
        Column("note", Text()),
    ),
    public=True,
    repeats=(1, 3, 2, 1, 2, 1, 1, 1),
)
TEXT = """city,code,height,wards,founded,coast,area,note
Oslo,1,12.25,15,1048-01-01,true,454.1,capital
Bergen,2,-3,4,990-06-01,false,inf,
Rome,3,,,,,,"far, far"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "cities.csv").write_text(TEXT)
    return tmp_path


def stored(engine, name="cities"):
    found = contents(engine, name)
    engine.close()
    return found


EXPECTED = [
    {"city": 1, "height": 12.25, "height grid": 25, "wards": 9, "founded": date(1048, 1, 1)}
    | {"coast": True, "area": 454.1, "note": "capital"},
    {"city": 0, "height": 0.0, "height grid": 0, "wards": 4, "founded": date(1000, 1, 1)}
    | {"coast": False, "area": None, "note": None},
    {"city": None, "height": None, "height grid": None, "wards": None, "founded": None}
    | {"coast": None, "area": None, "note": "far, far"},
]


def test_a_public_table_is_stored_as_declared_without_rank_person_and_ids(folder):
    assert stored(DuckDB.load(catalog(PEOPLE, CITIES, folder=folder), FRAMES)) == EXPECTED


def test_it_is_the_same_from_a_file_and_from_memory(folder):
    world = catalog(replace(PEOPLE, source="people.csv"), CITIES, folder=folder)
    (folder / "people.csv").write_text("person_id,city\n1,Oslo\n")
    assert stored(DuckDB.open(world, folder / "state")) == EXPECTED
    frame = pa.table(
        {
            "city": ["Oslo"],
            "code": [1],
            "height": [7.0],
            "wards": [2],
            "founded": [date(1500, 1, 1)],
            "coast": [True],
            "area": [1.0],
            "note": ["x"],
        }
    )
    (row,) = stored(DuckDB.load(world, {**FRAMES, "cities": frame}))
    assert (row["city"], row["height grid"], row["note"]) == (1, 14, "x")


def test_it_lies_beside_tables_in_which_every_row_is_a_person(folder):
    world = catalog(Table("data", "data", (whole("age", 0, 9),)), CITIES, folder=folder, unit=ROW)
    assert stored(DuckDB.load(world, {"data": pa.table({"age": [1]})})) == EXPECTED


@pytest.mark.parametrize("columns", [(), (Column("code", Identity()),)], ids=["no columns", "ids alone"])
def test_a_public_table_without_a_column_to_keep_is_left_out(folder, columns):
    plain = replace(CITIES, columns=columns, repeats=(9,) * len(columns))
    engine = DuckDB.load(catalog(PEOPLE, plain, folder=folder), FRAMES)
    with engine._connection.cursor() as cursor:
        assert cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("people",)]
    engine.close()


@pytest.mark.parametrize("repeats", [(1, 3, 1, 1, 1, 1, 1, 1), (0, 3, 1, 1, 1, 1, 1, 1)])
def test_a_table_that_repeats_values_more_often_than_was_said_is_not_built(folder, repeats):
    (folder / "cities.csv").write_text(TEXT + "Oslo,4,12.25,,,,,\n")
    with pytest.raises(Failure):
        DuckDB.load(catalog(PEOPLE, replace(CITIES, repeats=repeats), folder=folder), FRAMES)


def test_a_table_of_which_nobody_said_how_often_values_repeat_is_not_built(folder):
    with pytest.raises(ValueError, match="zip"):
        DuckDB.load(catalog(PEOPLE, replace(CITIES, repeats=()), folder=folder), FRAMES)


def test_what_the_facts_say_is_what_the_index_finds(folder):
    (folder / "cities.csv").write_text(TEXT + "Oslo,4,inf,9.4,1048-01-01,true,-inf,capital\n" + "Moss,,,3,,,454.1,\n")
    open_columns = tuple(
        replace(column, kind=type(column.kind)(), domain=None) if column.name != "wards" else column
        for column in CITIES.columns
    )
    for columns in (CITIES.columns, open_columns):
        table = replace(CITIES, columns=columns, repeats=())
        known = apply_facts(table, DuckDB.find_facts(folder / "cities.csv", table))
        assert known.repeats == (2, 5, 1, 2, 2, 2, 2, 2)
        assert len(stored(DuckDB.load(catalog(PEOPLE, known, folder=folder), FRAMES))) == 5


def test_a_public_file_that_is_not_what_was_declared_is_refused(folder):
    (folder / "cities.csv").write_text("city,code\nOslo,1\n")
    with pytest.raises(Refusal, match=r"Column cities\.height is declared, and cities\.csv has none of that name"):
        DuckDB.load(catalog(PEOPLE, CITIES, folder=folder), FRAMES)
    (folder / "cities.csv").write_text(TEXT + "too,few\n")
    with pytest.raises(Refusal, match=r"Source cities\.csv cannot be read"):
        DuckDB.load(catalog(PEOPLE, CITIES, folder=folder), FRAMES)
