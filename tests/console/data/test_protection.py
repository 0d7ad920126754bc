from __future__ import annotations

from adomnia.console.data.protection import describe_protection, describe_row
from kit.catalogs import Table, belongings, gather, people, plain, public


def test_one_person_is_drawn_with_all_that_is_theirs():
    items = belongings("items", "visits", rows=30)
    told = describe_protection(gather([items, public("cities", plain("x")), belongings("visits"), people()]))
    assert (told.unit, told.person, told.hidden) == ("people.person_id", True, 0)
    assert [(heap.name, len(heap.bars), heap.says) for heap in told.heaps] == [
        ("people", 1, "1 row"),
        ("items", 12, "… at most 30 rows"),
        ("visits", 10, "at most 10 rows"),
    ]
    assert all(heap.end < told.width for heap in told.heaps)


def test_of_many_tables_some_are_drawn():
    told = describe_protection(gather([people(), *(belongings(f"t{number}") for number in range(9))]))
    assert (len(told.heaps), told.hidden) == (5, 5)


def test_where_all_is_public_nobody_is_drawn():
    assert describe_protection(gather([public("cities", plain("x"))], unit="row")).heaps == ()


def test_a_row_is_a_person_or_belongs_to_one():
    catalog = gather([people(), belongings("visits"), belongings("items", "visits"), public("cities", plain("x"))])
    assert [describe_row(table, catalog) for table in catalog.tables] == [
        "is one person",
        "belongs to one person",
        "belongs to one person, through visits",
        "is about nobody",
    ]
    assert describe_row(people(rows=3), catalog) == "belongs to one person"
    alone = Table("notes", "", (plain("x"),))
    assert describe_row(alone, gather([alone], unit="row")) == "is protected by itself"
