"""Names of columns mean nothing: whatever a column is called, it is stored, proved and read like any other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adomnia.catalog.model import Table
from adomnia.engines.check import check_statement
from adomnia.engines.contract import grid_name, index_name
from adomnia.engines.duckdb import DuckDB
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.errors import Failure
from adomnia.privacy.expressions import call, number
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Where
from adomnia.privacy.scans import NonNull, People, Rows, Total
from engines.databases import PERSON, answer, catalog, category, frame, relation
from engines.databases import number as bounded

PLAIN = ("pay", "city", "weight")
ODD = [
    ("rank", "person", "rowid"),
    ("pay", "pay grid", "PAY GRID GRID"),
    ('"', '""', "'"),
    ('a" FROM people; DROP TABLE people; --', "*/ x", "/* x"),
    ("k0", "m0", "v0 grid"),
    ("rows", "RANK", "Person"),
    ("select", "from where", "1"),
    ("Größe", "größe grid", "\N{SNOWMAN}"),
    ("a.b", "people.person", "-"),
    ("x" * 128, "x" * 127 + "y", "{0}"),
    (index_name("a b").strip(), "a b", index_name("a b").strip() + " grid"),
]
ROWS = [
    {"person_id": who, "pay": float(who * 7 % 11), "city": "ab"[who % 2], "weight": who / 8}
    for who in [1, 1, 2, 3, 4, 4]
]


def named(names):
    """A table whose columns have these names, and what is asked of it."""
    pay, city, weight = bounded(names[0], 0, 10, 0.5), category(names[1], "a", "b"), bounded(names[2], 0, 1)
    table = Table("people", "people.parquet", (PERSON, pay, city, weight), rows_per_person=2)
    some = Where(relation(table), call(">", pay, number(2)))
    queries = [Query(rows, (city,), Rows()) for rows in (relation(table), some)]
    queries += [Query(some, (), Total(weight, weight.domain)), Query(some, (), NonNull(pay))]
    return table, [*queries, Query(relation(table), (city,), People())]


def ask(names):
    table, queries = named(names)
    rows = [
        {called: row[plain] for plain, called in zip(("person_id", *PLAIN), ("person_id", *names), strict=True)}
        for row in ROWS
    ]
    known = catalog(table)
    engine = DuckDB.load(known, {"people": frame(rows, table.columns)})
    statements = [engine.render((query,)) for query in queries]
    proved = [check_statement(statement, known, DUCKDB) for statement in statements]
    found = [answer(engine, query) for query in queries]
    engine.close()
    return found, proved, statements


@pytest.mark.parametrize("names", ODD, ids=repr)
@pytest.mark.no_cover
def test_whatever_a_column_is_called_it_is_read_and_proved_alike(names):
    found, proved, statements = ask(names)
    assert (found, proved) == ask(PLAIN)[:2]
    for statement in statements:
        assert statement.text.isascii()
        assert set(statement.text) <= set(
            'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_ "(),.<>=*-$+'
        )


@pytest.mark.parametrize("names", ODD, ids=repr)
def test_no_two_columns_share_a_place_of_the_index(names):
    columns = named(names)[0].columns[1:]
    kept = [index_name(column.name).lower() for column in columns] + [
        grid_name(columns[0]).lower(),
        grid_name(columns[2]).lower(),
    ]
    assert len({*kept, "rank", "person", "rowid"}) == len(kept) + 3


def test_a_statement_that_reads_an_odd_column_by_its_own_name_is_not_believed():
    """The index has no such column: what a text of a catalog says is no part of any statement."""
    table, queries = named(("rank", "city", "weight"))
    engine = DuckDB.load(catalog(table), {"people": frame([{**ROWS[0], "rank": 1.0}], table.columns)})
    statement = engine.render((queries[2],))
    engine.close()
    wrong = replace(statement, text=statement.text.replace(f'"{index_name("rank")}"', '"rank"'))
    assert wrong != statement
    with pytest.raises(Failure):
        check_statement(wrong, catalog(table), DUCKDB)
