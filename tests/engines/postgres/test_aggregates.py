"""Aggregates of one person's rows give what DuckDB gives, for every person, and are read as DuckDB's are."""

from __future__ import annotations

import pytest
from sqlglot import parse_one

from adomnia.engines.check.reading import read_phrases
from adomnia.engines.postgres.aggregates import AGGREGATE_READINGS, AGGREGATES
from adomnia.engines.postgres.dialect import POSTGRES
from engines.postgres.test_functions import connection  # noqa: F401 - a fixture
from kit.own_rows import BY_GROUP, CASES, CHOSEN, COLUMNS, from_duckdb, listed, wide_integers
from kit.scalars import same

TYPES = dict(zip(COLUMNS, ("float8", "float8", 'text COLLATE "C"', "date", "boolean"), strict=True))


@pytest.fixture(scope="module")
def groups(connection):  # noqa: F811 - the fixture of another module
    connection.execute(f"CREATE TABLE own (g int, {', '.join(f'{name} {kind}' for name, kind in TYPES.items())})")
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
