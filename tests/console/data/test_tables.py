from __future__ import annotations

from adomnia.catalog.model import View
from adomnia.console.data.tables import find_tables, list_tables
from kit.catalogs import belongings, gather, people, plain, public, whole

CATALOG = gather(
    [public("cities", plain("Region")), people(whole("age", 0, 120)), belongings("visits")],
    [View("grown", "SELECT person_id, age FROM people WHERE age > 17")],
)


def test_tables_about_people_come_first_then_views_then_public_ones():
    lines = list_tables(CATALOG)
    assert [(line.name, line.kind, line.row, line.cap) for line in lines] == [
        ("people", "private", "is one person", "1 row"),
        ("visits", "private", "belongs to one person", "at most 10 rows"),
        ("grown", "view", "made of people", "1 row"),
        ("cities", "public", "is about nobody", ""),
    ]


def test_a_search_finds_names_of_tables_and_of_columns():
    lines = list_tables(CATALOG)
    assert [(line.name, line.shown) for line in find_tables(lines, " REG ")] == [("cities", ("Region",))]
    assert [line.name for line in find_tables(lines, "age")] == ["people", "grown"]
    assert [(line.name, line.found) for line in find_tables(lines, "cit")] == [("cities", ())]
    assert find_tables(lines, "%") == ()


def test_of_wide_tables_some_columns_are_named():
    (line,) = list_tables(gather([people(*(plain(f"c{number}") for number in range(20)))]))
    assert (line.shown[-1], line.hidden) == ("c6", 13)
    (found,) = find_tables((line,), "c19")
    assert (found.shown, found.hidden) == (("c19",), 20)
