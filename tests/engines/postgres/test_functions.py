"""Every scalar function gives what DuckDB gives on PostgreSQL, on every edge; none fails, and each is proved."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from sqlglot import parse_one

from adomnia.engines.check.columns import ProvedColumn
from adomnia.engines.check.nodes import read_phrases
from adomnia.engines.check.scalars import Row
from adomnia.engines.postgres.dialect import POSTGRES
from adomnia.engines.postgres.functions import AGGREGATE_READINGS, AGGREGATES, BY_LIBRARY, FUNCTIONS, REASONS
from adomnia.engines.postgres.library import list_own, render_library
from adomnia.engines.render.scalars import double
from adomnia.errors import Failure
from adomnia.privacy.functions import registry
from adomnia.privacy.kinds import Boolean, Day, Moment, Quantity, Text
from kit.own_rows import BY_GROUP, CASES, CHOSEN, COLUMNS, from_duckdb, listed, wide_integers
from kit.postgres import database
from kit.scalars import by_kinds, differences, from_python, rows, same, table_of, write
from privacy.functions.samples import constant

TYPES = {Quantity: "float8", Text: 'text COLLATE "C"', Day: "date", Moment: "float8", Boolean: "boolean"}
PROVED = {Quantity: "number", Text: "text", Day: "day", Moment: "number", Boolean: "boolean"}
GIVEN = {Quantity: "double", Text: "text", Day: "day", Moment: "double", Boolean: "boolean"}
APPLICATIONS = [each for listed in by_kinds().values() for each in listed if each.function in FUNCTIONS]
TYPES_OF_AGGREGATES = dict(zip(COLUMNS, ("float8", "float8", 'text COLLATE "C"', "date", "boolean"), strict=True))


@pytest.fixture(scope="module")
def connection():
    """A database that sorts texts in another way than by the numbers of their characters, if the server has one."""
    with database() as url, psycopg.connect(url, autocommit=True) as head:
        name, address = f"sorted_{uuid4().hex}", url
        with suppress(psycopg.Error):
            head.execute(f"CREATE DATABASE {name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'")
            address = make_conninfo(url, dbname=name)
        with psycopg.connect(address, autocommit=True, cursor_factory=psycopg.RawCursor) as made:
            yield from _prepared(made)


def _prepared(made):
    made.execute("CREATE SCHEMA ix")
    made.execute("SET search_path = ix, pg_catalog; SET extra_float_digits = 1")
    for statement in render_library("ix"):
        made.execute(statement)
    for kinds in by_kinds():
        columns = ", ".join(f"a{place} {TYPES[kind]}" for place, kind in enumerate(kinds))
        made.execute(f"CREATE TABLE {table_of(kinds)} (place int, {columns})")
        with made.cursor().copy(f"COPY {table_of(kinds)} FROM STDIN") as copy:
            for place, row in enumerate(rows(kinds)):
                copy.write_row((place, *row))
    yield made


def computed(connection, application, dialect=POSTGRES):
    """What the server gives in every row."""
    parameters = {}
    text = f"SELECT {write(application, dialect, parameters)} FROM {table_of(application.kinds)} ORDER BY place"
    return [value for (value,) in connection.execute(text, list(parameters)).fetchall()]


def test_every_function_is_there_or_has_a_reason_not_to_be():
    assert FUNCTIONS.keys() | REASONS.keys() == registry.FUNCTIONS.keys()
    assert not FUNCTIONS.keys() & REASONS.keys()
    assert FUNCTIONS.keys() >= BY_LIBRARY


@pytest.mark.parametrize("application", APPLICATIONS, ids=str)
def test_a_function_gives_what_duckdb_and_python_give_in_every_row(connection, application):
    found = computed(connection, application)
    assert differences(application, found) == []
    for row, value in zip(rows(application.kinds), found, strict=True):
        meant = from_python(application, row)
        assert meant is ... or same(meant, value) or application.function in BY_LIBRARY, (row, meant, value)


@pytest.mark.parametrize("factor", [1.0, -1.0, 1.2, -3e7, 2.0**500, 2.0**501, 1e308, 0.0, 1 - 2.0**-53, 5e-324])
def test_a_product_with_a_constant_is_that_of_doubles(connection, factor):
    number, written = 'CAST("a0" AS DOUBLE PRECISION)', double(factor, POSTGRES)
    for spelled in (FUNCTIONS["*"](number, written), FUNCTIONS["*"](written, number)):
        scaled = "ao_scale" in spelled
        assert scaled is (abs(factor) >= 1)
        plain = spelled.replace("ao_scale", "ao_scale_once")
        for sql in (spelled, plain):
            found = connection.execute(f"SELECT {sql} FROM {table_of((Quantity,))} ORDER BY place").fetchall()
            for (value,), (given,) in zip(found, rows((Quantity,)), strict=True):
                meant = None if given is None else given * factor
                assert same(meant, value), (given, factor, value)
        assert type_of(spelled, (), (Quantity,)) == "double"


# Spellings that mean something else, or fail: each must be noticed.
PLANTED = {
    "an overflow fails": ("*", "({0} * {1})"),
    "a sum fails": ("+", "({0} + {1})"),
    "a quotient fails": ("/", "({0} / NULLIF({1}, 0))"),
    "halves to the even number": ("round", "ROUND({0})"),
    "a backslash escapes": ("like", "({0} LIKE {1})"),
    "case of ASCII letters alone": ("upper", "UPPER({0})"),
    "dates are read as they come": ("text as date", "CAST({0} AS DATE)"),
    "a remainder that is rounded": ("mod", "({0} - {1} * TRUNC(ao_divide({0}, {1})))"),
    "months that lead out of the calendar": (
        "shift months",
        "CAST({0} + MAKE_INTERVAL(months => CAST({1} AS INTEGER)) AS DATE)",
    ),
    "years without zeros": ("date as text", "CONCAT(ao_year({0}), TO_CHAR({0}, '-MM-DD'))"),
    "patterns as PostgreSQL reads them": ("matches", "({0} ~ {1})"),
    "subnormal products are 0": (
        "*",
        "CASE WHEN ABS(ao_multiply({0}, {1})) < 1e-307 THEN CAST(0 AS FLOAT8) ELSE ao_multiply({0}, {1}) END",
    ),
}


@pytest.mark.parametrize("plant", PLANTED)
def test_a_wrong_spelling_is_noticed(connection, plant):
    function, wrong = PLANTED[plant]
    planted = replace(POSTGRES, functions={**FUNCTIONS, function: wrong.format})

    def is_noticed(application):
        try:
            return differences(application, computed(connection, application, planted)) != []
        except psycopg.errors.DataError:
            return True

    assert any(is_noticed(each) for each in APPLICATIONS if each.function == function)


# The second look.


def type_of(sql, parameters=(), kinds=()):
    columns = {("", f"a{place}"): ProvedColumn(PROVED[kind]) for place, kind in enumerate(kinds)}
    row = Row(columns, tuple(parameters), POSTGRES)
    return row.type(read_phrases(parse_one(sql, dialect="postgres"), POSTGRES))


@pytest.mark.parametrize("application", APPLICATIONS, ids=str)
def test_a_function_is_proved_to_be_of_its_type(application):
    parameters = {}
    sql = write(application, POSTGRES, parameters)
    kinds = [kind(whole=True) if kind is Quantity else kind() for kind in application.kinds]
    result = registry.FUNCTIONS[application.function].result(*kinds, *map(constant, application.constants))
    assert type_of(sql, parameters, application.kinds) == GIVEN[type(result)]


NUMBER, OTHER = 'CAST("a0" AS DOUBLE PRECISION)', 'CAST("a1" AS DOUBLE PRECISION)'
NEAR_MISSES = [
    f"({NUMBER} * {OTHER})",
    f"({NUMBER} + {OTHER})",
    f"({NUMBER} - {OTHER})",
    f"({NUMBER} / NULLIF({OTHER}, CAST(0e0 AS DOUBLE PRECISION)))",
    f"EXP({NUMBER})",
    f"LN({NUMBER})",
    f"POWER({NUMBER}, {OTHER})",
    f"ROUND({NUMBER})",
    f"ao_multiply({NUMBER})",
    f"ao_multiply({NUMBER}, {OTHER}, {OTHER})",
    f"ao_multiply({NUMBER}, {OTHER} * {NUMBER})",
    f"ao_multiply(DISTINCT {NUMBER}, {OTHER})",
    f"public.ao_multiply({NUMBER}, {OTHER})",
    f'"AO_multiply"({NUMBER}, {OTHER})',
    f"ao_far_product({NUMBER}, {OTHER})",
    f"ao_unknown({NUMBER})",
    f"pg_sleep({NUMBER})",
    f"ao_ln({NUMBER}) OVER ()",
    f"ao_ln({NUMBER}) FILTER (WHERE TRUE)",
    '("a2" LIKE "a2")',
    '("a2" ~ CAST($1 AS TEXT) COLLATE "C")',
    'ao_matches("a2", "a2")',
    'ao_matches("a2", CAST($1 AS TEXT))',
    'ao_matches("a2", CAST($1 AS TEXT) COLLATE "en_US")',
    'ao_matches("a2", CAST($2 AS TEXT) COLLATE "C")',
    'ao_format("a3", CAST($1 AS TEXT) COLLATE "C")',
    '(ao_format("a3", "a2") COLLATE "C")',
    '(ao_write_date("a3") COLLATE "en_US")',
    'LENGTH(REPLACE("a2", CAST($1 AS TEXT) COLLATE "C", CAST($1 AS TEXT) COLLATE "C"))',
    'LENGTH("a2" || "a2")',
    'ao_substring("a2", CAST(-1e0 AS DOUBLE PRECISION), CAST(1e0 AS DOUBLE PRECISION))',
    f'ao_substring("a2", {NUMBER}, CAST(1e0 AS DOUBLE PRECISION))',
    'ao_right("a2", CAST(1.5e0 AS DOUBLE PRECISION))',
    f'ao_shift("a3", {NUMBER})',
    'ao_shift("a3", CAST(1e9 AS DOUBLE PRECISION))',
    'ao_shift_months("a3", CAST(1e6 AS DOUBLE PRECISION))',
    'CAST("a2" AS DOUBLE PRECISION)',
    'CAST("a2" AS DATE)',
    'CAST(CAST("a0" AS DOUBLE PRECISION) AS BIGINT)',
]


@pytest.mark.parametrize("sql", NEAR_MISSES)
def test_what_only_resembles_a_function_is_not_proved(sql):
    with pytest.raises(Failure):
        type_of(sql, ("\\z", "\\q"), (Quantity, Quantity, Text, Day))


# Speed: a function in plain SQL that is not inlined costs microseconds a row.
COLUMN, CONSTANT = 'CAST("a0" AS DOUBLE PRECISION)', "CAST(1.2e0 AS DOUBLE PRECISION)"


def nested(depth):
    """A sum of products of sums, each argument computed."""
    found = COLUMN
    for place in range(depth):
        found = FUNCTIONS["*+-/"[place % 4]](found, (COLUMN, CONSTANT)[place % 2])
    return found


def chained(depth):
    found = COLUMN
    for place in range(depth):
        found = FUNCTIONS[("round", "exp", "hour", "sqrt", "finite", "negative")[place % 6]](found)
    return found


@pytest.mark.parametrize("sql", [nested(depth) for depth in range(1, 9)] + [chained(depth) for depth in range(1, 13)])
def test_what_is_written_in_sql_is_inlined(connection, sql):
    in_sql = [own.called for own in list_own() if not own.block]
    plan = " ".join(
        line for (line,) in connection.execute(f"EXPLAIN VERBOSE SELECT {sql} FROM edges_Quantity").fetchall()
    )
    assert not re.search(rf"\b({'|'.join(in_sql)})\(", plan)
    assert len(plan) < 20_000


@pytest.fixture(scope="module")
def groups(connection):
    connection.execute(
        f"CREATE TABLE own (g int, {', '.join(f'{name} {kind}' for name, kind in TYPES_OF_AGGREGATES.items())})"
    )
    with connection.cursor().copy("COPY own FROM STDIN") as copy:
        for row in listed():
            copy.write_row(row)
    return connection


def pairs(groups, aggregate, meant):
    """What PostgreSQL and DuckDB give for every person."""
    found = groups.execute(BY_GROUP.format(aggregate)).fetchall()
    return [(one, two) for (one,), two in zip(found, from_duckdb(meant), strict=True)]


@pytest.mark.parametrize(("name", "meant", "parts"), [(name, meant, parts) for name, meant, *parts in CASES])
def test_an_aggregate_gives_what_duckdb_gives_for_every_person(groups, name, meant, parts):
    found = pairs(groups, AGGREGATES[name](*parts), meant.format(*parts))
    assert [pair for pair in found if not same(*pair)] == []
    assert len({repr(value) for value, _ in found}) > 1


@pytest.mark.parametrize(
    ("aggregate", "meant"),
    [
        ("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)", "MEDIAN(x)"),
        ("PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY x)", "MEDIAN(x)"),
        ("(ARRAY_AGG(t ORDER BY x))[1]", CHOSEN.format("MIN").format("x", "t")),
        ("(ARRAY_AGG(t ORDER BY x, t DESC) FILTER (WHERE x IS NOT NULL))[1]", CHOSEN.format("MIN").format("x", "t")),
    ],
)
def test_a_wrong_aggregate_is_noticed(groups, aggregate, meant):
    assert any(not same(*pair) for pair in pairs(groups, aggregate, meant))


def test_a_wide_integer_is_the_double_that_duckdb_makes_of_it(groups):
    numbers, wanted = wide_integers()
    text = "SELECT {} FROM UNNEST(CAST($1 AS NUMERIC[])) WITH ORDINALITY AS given(n, place) ORDER BY place"
    for spelling, right in ((AGGREGATES["wide as double"]("n"), True), ("CAST(n AS float8)", False)):
        found = [value for (value,) in groups.execute(text.format(spelling), [list(map(str, numbers))]).fetchall()]
        assert (found == wanted) is right


@pytest.mark.parametrize(("written", "meant"), AGGREGATE_READINGS.items())
def test_an_aggregate_is_read_as_what_it_means(written, meant):
    one, other = (text.format("x", "y") for text in (written, meant))
    assert read_phrases(parse_one(one, dialect="postgres"), POSTGRES) == parse_one(other, dialect="duckdb")


def test_an_aggregate_of_other_rows_is_not_read_so():
    for text in (
        "ao_median(ARRAY_AGG(x ORDER BY y))",
        "ao_median(ARRAY_AGG(x))",
        "ao_median(x)",
        "(ARRAY_AGG(y ORDER BY x, y) FILTER (WHERE x IS NOT NULL AND y IS NOT NULL))[2]",
        "(ARRAY_AGG(y ORDER BY x, y) FILTER (WHERE x IS NOT NULL AND z IS NOT NULL))[1]",
        "(ARRAY_AGG(y ORDER BY x DESC, y) FILTER (WHERE x IS NOT NULL AND y IS NOT NULL))[1]",
        "(ARRAY_AGG(DISTINCT y ORDER BY x, y) FILTER (WHERE x IS NOT NULL AND y IS NOT NULL))[1]",
    ):
        tree = parse_one(text, dialect="postgres")
        assert read_phrases(tree.copy(), POSTGRES) == tree
