from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.catalog.model import Link, Table
from adomnia.engines.duckdb import DuckDB
from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Identity
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import People, Rows
from engines.databases import KEY, PERSON, answer, catalog, contents, loaded, people, ranked, relation, whole
from kit.searches import examples

PEOPLE = people(whole("age", 0, 120))
VISITS = Table(
    "visits",
    "visits.csv",
    (Column("visit_id", Identity(linked="visits.visit_id")), PERSON, whole("mark", 0, 1000)),
    link=Link("person_id", "people", "person_id"),
    rows_per_person=3,
)
ITEMS = Table(
    "items",
    "items.csv",
    (
        Column("item_id", Identity(linked="items.item_id")),
        Column("visit_id", Identity(linked="visits.visit_id")),
        whole("mark", 0, 1000),
    ),
    link=Link("visit_id", "visits", "visit_id"),
    rows_per_person=2,
)
PARTS = Table(
    "parts",
    "parts.csv",
    (Column("item_id", Identity(linked="items.item_id")), whole("mark", 0, 1000)),
    link=Link("item_id", "items", "item_id"),
    rows_per_person=2,
)
WORLD = catalog(PEOPLE, VISITS, ITEMS, PARTS)


def rows(names, *values):
    return [dict(zip(names.split(), row, strict=True)) for row in values]


def owners(engine, table):
    """The marks of a table, grouped by whose they are."""
    groups = defaultdict(set)
    for row in contents(engine, table):
        groups[row["person"]].add(int(row["mark"]))
    return {frozenset(group) for group in groups.values()}


def test_the_person_of_a_row_is_found_along_the_links():
    with loaded(
        WORLD,
        people=rows("person_id age", (1, 30.0), (2, 40.0)),
        visits=rows("visit_id person_id mark", (10, 1, 10.0), (11, 1, 11.0), (12, 2, 12.0)),
        items=rows("item_id visit_id mark", (100, 10, 1.0), (101, 11, 2.0), (102, 12, 3.0)),
        parts=rows("item_id mark", (100, 5.0), (101, 6.0), (102, 7.0)),
    ) as engine:
        assert owners(engine, "visits") == {frozenset({10, 11}), frozenset({12})}
        assert owners(engine, "items") == {frozenset({1, 2}), frozenset({3})}
        assert owners(engine, "parts") == {frozenset({5, 6}), frozenset({7})}
        numbers = {
            name: {row["person"] for row in contents(engine, name)} for name in ("people", "visits", "items", "parts")
        }
        assert len({frozenset(found) for found in numbers.values()}) == 1


def test_a_row_whose_chain_breaks_belongs_to_a_person_of_its_own():
    with loaded(
        WORLD,
        people=rows("person_id age", (1, 30.0)),
        visits=rows("visit_id person_id mark", (10, 1, 10.0), (11, 77, 11.0), (12, None, 12.0)),
        items=rows(
            "item_id visit_id mark", (100, 10, 1.0), (101, 1, 2.0), (102, 1, 3.0), (103, 12, 4.0), (104, None, 5.0)
        ),
        parts=rows("item_id mark", (100, 5.0), (1, 6.0), (103, 7.0)),
    ) as engine:
        assert owners(engine, "visits") == {frozenset({10}), frozenset({11})}  # 77 is somebody, NULL is nobody
        assert owners(engine, "items") == {frozenset({1}), frozenset({2, 3})}  # visit 1 is not person 1
        assert owners(engine, "parts") == {frozenset({5}), frozenset({6})}  # nor is item 1
        everybody = {row["person"] for name in ("people", "visits", "items", "parts") for row in contents(engine, name)}
        assert len(everybody) == 4
        assert answer(engine, Query(relation(ITEMS), (), Rows())) == [3]
        assert answer(engine, Query(relation(ITEMS), (), People())) == [2]


KEYS = st.sampled_from([None, 1, 2, 3])
WORLDS = st.fixed_dictionaries(
    {
        "people": st.lists(st.tuples(KEYS, st.just(30.0)), max_size=3),
        "visits": st.dictionaries(st.integers(10, 14), KEYS, max_size=4),
        "items": st.dictionaries(st.integers(20, 26), st.sampled_from([None, 10, 11, 12, 13, 14]), max_size=6),
    }
)


def as_rows(world):
    return {
        "people": [{"person_id": person, "age": age} for person, age in world["people"]],
        "visits": [
            {"visit_id": visit, "person_id": person, "mark": float(visit)} for visit, person in world["visits"].items()
        ],
        "items": [{"item_id": item, "visit_id": visit, "mark": float(item)} for item, visit in world["items"].items()],
    }


def kept_marks(world):
    with loaded(catalog(PEOPLE, VISITS, ITEMS), **as_rows(world)) as engine:
        return {name: {(row["mark"], row["rank"]) for row in contents(engine, name)} for name in ("visits", "items")}


@settings(max_examples=examples(12), deadline=None)
@given(world=WORLDS, leaving=st.integers(1, 3))
def test_removing_one_person_with_all_their_rows_moves_nobody_elses_rank(world, leaving):
    theirs = {visit for visit, person in world["visits"].items() if person == leaving}
    left = {
        "people": [(person, age) for person, age in world["people"] if person != leaving],
        "visits": {visit: person for visit, person in world["visits"].items() if person != leaving},
        "items": {item: visit for item, visit in world["items"].items() if visit not in theirs},
    }
    whole_world, without = kept_marks(world), kept_marks(left)
    assert without["visits"] == {(mark, rank) for mark, rank in whole_world["visits"] if mark not in theirs}
    items = {item for item, visit in world["items"].items() if visit in theirs}
    assert without["items"] == {(mark, rank) for mark, rank in whole_world["items"] if mark not in items}


def test_parent_keys_that_occur_twice_are_refused_without_naming_one():
    with (
        pytest.raises(Refusal, match=r"Column visits\.visit_id links rows to people") as refused,
        loaded(
            catalog(PEOPLE, VISITS, ITEMS),
            people=rows("person_id age", (1, 30.0)),
            visits=rows("visit_id person_id mark", (4711, 1, 1.0), (4711, 2, 2.0)),
            items=[],
        ),
    ):
        pass
    assert "4711" not in str(refused.value)


TWICE = {
    "visits": rows("visit_id person_id mark", (4711, 1, 1.0), (4711, 2, 2.0)),
    "items": rows("item_id visit_id mark", (4711, 1, 1.0), (4711, 2, 2.0)),
}
SPELLED = {
    "people": "person_id,age\n1,30\n",
    "visits": "visit_id,person_id,mark\n",
    "items": "item_id,visit_id,mark\n",
    "parts": "item_id,mark\n",
}


def keys_that_are_unique(world):
    return [(table.name, key) for table in world.tables for key in world.unique_keys(table.name)]


@pytest.mark.parametrize(("table", "key"), keys_that_are_unique(WORLD))
def test_every_key_that_is_said_to_be_unique_is_checked_in_memory_even_if_nothing_links_to_it(table, key):
    empty = {"people": [], "visits": [], "items": [], "parts": []}
    with pytest.raises(Refusal, match=rf"Column {table}\.{key} links rows to people, and some"):  # noqa: SIM117
        with loaded(WORLD, **{**empty, table: TWICE[table]}):
            pass


@pytest.mark.parametrize("repeated", ["4711,1,1\n4711,2,2\n", "4711,1,1\n4711.0,,2\n"])
@pytest.mark.parametrize(("table", "key"), keys_that_are_unique(WORLD))
def test_every_key_that_is_said_to_be_unique_is_checked_in_files(tmp_path, table, key, repeated):
    for name, text in SPELLED.items():
        (tmp_path / f"{name}.csv").write_text(text + repeated * (name == table))
    world = catalog(replace(PEOPLE, source="people.csv"), VISITS, ITEMS, PARTS, folder=tmp_path)
    with pytest.raises(Refusal, match=rf"Column {table}\.{key} links rows to people, and some"):
        DuckDB.open(world, tmp_path / "state")


def test_the_keys_that_are_said_to_be_unique_are_those_of_linked_tables():
    assert keys_that_are_unique(WORLD) == [("visits", "visit_id"), ("items", "item_id")]


def test_ids_that_link_tables_are_kept_as_the_keys_that_links_compare():
    with loaded(
        WORLD,
        people=rows("person_id age", (1, 30.0)),
        visits=rows("visit_id person_id mark", (10, 1, 10.0), (None, 1, 11.0)),
        items=rows("item_id visit_id mark", (100, 10, 1.0), (None, 77, 2.0)),
        parts=rows("item_id mark", (100, 5.0)),
    ) as engine:
        visits, items, parts = (contents(engine, name) for name in ("visits", "items", "parts"))
    assert {(row["mark"], row["visit_id"]) for row in visits} == {(10, 10), (11, None)}
    assert {(row["mark"], row["item_id"], row["visit_id"]) for row in items} == {(1, 100, 10), (2, None, 77)}
    assert [row["item_id"] for row in parts] == [100]
    assert set(visits[0]) == {"rank", "person", "visit_id", "mark"}


@settings(max_examples=examples(10), deadline=None)
@given(visits=st.lists(st.tuples(st.none() | st.integers(-3, 120), st.sampled_from([1.0, 2.0])), max_size=6))
def test_ids_that_link_tables_take_part_in_the_order_of_rows(visits):
    unique = {visit: mark for visit, mark in visits if visit is not None}
    nameless = [(None, mark) for visit, mark in visits if visit is None]
    own = rows("visit_id person_id mark", *((visit, 1, mark) for visit, mark in [*unique.items(), *nameless]))
    with loaded(catalog(PEOPLE, VISITS, ITEMS), people=[], visits=own, items=[]) as engine:
        found = sorted(contents(engine, "visits"), key=lambda row: row["rank"])
    expected = ranked(KEY, (VISITS.columns[0], VISITS.columns[2]), own, "0:1")
    assert [(row["visit_id"], row["mark"]) for row in found] == [(row["visit_id"], row["mark"]) for row in expected]


def test_an_id_that_links_nothing_is_not_kept():
    plain = replace(VISITS, columns=(Column("visit_id", Identity()), *VISITS.columns[1:]))
    with loaded(catalog(PEOPLE, plain), people=[], visits=rows("visit_id person_id mark", (10, 1, 10.0))) as engine:
        assert set(contents(engine, "visits")[0]) == {"rank", "person", "mark"}


def test_missing_parent_keys_may_occur_often():
    with loaded(
        catalog(PEOPLE, VISITS, ITEMS),
        people=[],
        visits=rows("visit_id person_id mark", (None, 1, 1.0), (None, 2, 2.0)),
        items=rows("item_id visit_id mark", (1, None, 1.0)),
    ) as engine:
        assert contents(engine, "items") == []


def test_a_person_who_occurs_twice_in_the_units_table_counts_once():
    with loaded(catalog(PEOPLE), people=rows("person_id age", (1, 30.0), (1, 31.0), (1, 31.0), (2, 40.0))) as engine:
        assert answer(engine, Query(relation(PEOPLE), (), Rows())) == [2]


def test_a_link_to_the_column_that_links_the_parent_goes_straight_on():
    notes = Table(
        "notes",
        "notes.csv",
        (PERSON, whole("mark", 0, 9)),
        link=Link("person_id", "visits", "person_id"),
        rows_per_person=2,
    )
    with loaded(
        catalog(PEOPLE, VISITS, notes),
        people=rows("person_id age", (1, 30.0)),
        visits=rows("visit_id person_id mark", (10, 1, 10.0), (11, 1, 11.0)),
        notes=rows("person_id mark", (1, 1.0), (2, 2.0)),
    ) as engine:
        numbers = {row["mark"]: row["person"] for row in contents(engine, "notes")}
        assert numbers[1] == contents(engine, "people")[0]["person"] != numbers[2]


@pytest.mark.parametrize(
    "keys",
    [
        pa.array([1, 2, None], pa.int32()),
        pa.array([1.0, 2.0, float("nan")]),
        pa.array([1.0, 2.0, None], pa.float32()),
        pa.array([1, 2, None], pa.uint64()),
        pa.array([Decimal(1), Decimal(2), None], pa.decimal128(38, 9)),
        pa.array([Decimal(1), Decimal(2), None], pa.decimal128(20, 0)),
        pa.nulls(3),
    ],
    ids=lambda keys: str(keys.type)[:10],
)
@pytest.mark.no_cover
def test_equal_keys_are_equal_whatever_type_a_file_stores_them_in(keys):
    frames = {
        "people": pa.table({"person_id": [1, 2, 3], "age": [1.0, 2.0, 3.0]}),
        "visits": pa.table({"visit_id": [1, 2, 3], "person_id": keys, "mark": [1.0, 2.0, 3.0]}),
    }
    engine = DuckDB.load(catalog(PEOPLE, VISITS), frames)
    persons = {int(row["age"]): row["person"] for row in contents(engine, "people")}
    found = {int(row["mark"]): row["person"] for row in contents(engine, "visits")}
    assert found == {mark: persons[mark] for mark, key in enumerate(keys.to_pylist(), 1) if key in (1, 2)}
    engine.close()


@pytest.mark.parametrize(
    ("child", "held"),
    [(pa.array(["1", "2", "3"]), "text"), (pa.array([date(2020, 1, 1)] * 3), "DATE")],
    ids=["text", "day"],
)
def test_keys_that_could_never_meet_are_refused(child, held):
    frames = {
        "people": pa.table({"person_id": [1, 2, 3], "age": [1.0, 2.0, 3.0]}),
        "visits": pa.table({"visit_id": [1, 2, 3], "person_id": child, "mark": [1.0, 2.0, 3.0]}),
    }
    why = rf"visits\.person_id holds {held}, and people\.person_id, which it is linked to, holds a number"
    with pytest.raises(Refusal, match=why):
        DuckDB.load(catalog(PEOPLE, VISITS), frames)


@pytest.mark.no_cover
@pytest.mark.parametrize("spelling", ["7", "7.0", " 7", "7.000"])
def test_a_key_is_the_same_however_a_file_spells_it(tmp_path, spelling):
    (tmp_path / "people.csv").write_text("person_id,age\n7,30\n8,40\n")
    (tmp_path / "visits.csv").write_text("visit_id,person_id,mark\n1,7,5\n2,8,6\n")
    (tmp_path / "items.csv").write_text(f"item_id,visit_id,mark\n1,{spelling.replace('7', '1')},1\n2, ,2\n")
    world = catalog(replace(PEOPLE, source="people.csv"), VISITS, ITEMS, folder=tmp_path)
    engine = DuckDB.open(world, tmp_path / "state")
    persons = {int(row["mark"]): row["person"] for row in contents(engine, "visits")}
    assert [row["person"] for row in contents(engine, "items")] == [persons[5]]
    assert [row["visit_id"] for row in contents(engine, "items")] == ["1"]  # as in visits
    engine.close()


def test_keys_that_are_not_whole_are_still_keys():
    frames = {"people": pa.table({"person_id": [0.5, 0.5, 1e30, float("inf")], "age": [1.0, 2.0, 3.0, 4.0]})}
    engine = DuckDB.load(catalog(PEOPLE), frames)
    assert answer(engine, Query(relation(PEOPLE), (), People())) == [3]
    engine.close()
