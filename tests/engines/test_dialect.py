"""No word of an engine stands outside its dialect: statements in other words hold none of DuckDB's."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from datetime import date
from fractions import Fraction

import pytest

from adomnia.catalog.model import Link, Table
from adomnia.engines.check import check_histogram, check_public, check_statement
from adomnia.engines.contract import Statement
from adomnia.engines.dialect import Dialect, IntegerType
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.index import IndexWriter, Links, TableSource, build_public, build_rows, build_table
from adomnia.engines.render import render, render_rows
from adomnia.errors import Failure
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column, Literal, call, text
from adomnia.privacy.keys import Bucket, Names
from adomnia.privacy.kinds import Boolean, Day, Identity, Quantity, Text
from adomnia.privacy.queries import Clip, Query
from adomnia.privacy.relations import OwnValue, PerPerson, Public, Select, Selected, Where
from adomnia.privacy.scans import Average, DistinctValues, Histogram, NonNull, OwnExtreme, People, Rows, Total
from adomnia.privacy.units import ROW
from engines.databases import applied, catalog, category, constant, number, people, relation, whole

CITY, NAME, X, AGE = category("city", "a", "b"), Column("name", Text()), number("x", -1, 1), whole("age", 0, 120)
FREE, DAY, MEMBER = Column("free", Quantity()), Column("day", Day()), Column("member", Boolean())
BOUNDED = Column("since", Day(date(2020, 1, 1), date(2020, 12, 31)))
COUNTED = Column("counted", Quantity(whole=True))
TABLE = people(CITY, NAME, X, AGE, FREE, DAY, MEMBER, BOUNDED, COUNTED, rows_per_person=3)
WHOLE = relation(TABLE)
WIDE = Numbers.integers(0, 2**70)
MISSING = call("is null", X)
QUERIES = [
    (Query(WHOLE, (CITY,), Rows()), Query(WHOLE, (CITY,), Total(X, X.domain, 3)), Query(WHOLE, (CITY,), People())),
    (Query(WHOLE, (Bucket(MISSING, None, MISSING),), Rows()),),
    (Query(WHOLE, (Bucket(call(">", X, constant(0)), None, X), CITY), Rows()),),
    (Query(WHOLE, (Bucket(NAME, ("a", "b"), NAME),), DistinctValues(NAME)),),
    (Query(WHOLE, (Bucket(AGE, AGE.domain, AGE),), NonNull(call("/", X, FREE))),),
    (Query(WHOLE, (Bucket(FREE, Names((0,)), FREE),), Rows()),),
    (Query(WHOLE, (CITY,), Rows(), Clip(2)), Query(WHOLE, (CITY,), Total(AGE, AGE.domain), Clip(50))),
    (Query(WHOLE, (), Histogram(X, X.domain, (Fraction(1, 2),), Fraction(19, 20), (1, 2))),),
    (Query(Where(WHOLE, applied("is null", Literal(None, Day()))), (), Total(call("*", X, FREE), WIDE)),),
    (
        Query(
            PerPerson(
                WHOLE,
                (),
                (
                    OwnValue("n", Rows(), Numbers.integers(0, 3)),
                    OwnValue("m", Average(X, X.domain), None),
                    OwnValue("t", Total(X, X.domain), None),
                    OwnValue("e", OwnExtreme(X, greatest=True), None),
                ),
            ),
            (),
            Rows(),
        ),
    ),
]
DUCKDBS = re.compile(
    r'"|\$|TRY_CAST|HUGEINT|BIGINT|UTINYINT|UINTEGER|INTEGER|DOUBLE|VARCHAR|BOOLEAN|AS DATE|DECIMAL|NaN|[0-9]e[0-9+-]'
)
INDEX_WORDS = re.compile(
    r"TRY_CAST|INT\b|INTEGER\b|DOUBLE|VARCHAR|BOOLEAN|md5|rowid|POSITIONAL|ENUM|ANTI|EXCLUDE|strlen|UNNEST|REPLACE|REGEXP|CONTAINS"
)


def other_words() -> Dialect:
    """A dialect in which every word is another one, numbered so that none can be mistaken."""
    types = DUCKDB.types
    integers = {
        each.name: replace(getattr(types, each.name), name=f"kind_{each.name}")
        for each in fields(types)
        if isinstance(getattr(types, each.name), IntegerType)
    }
    plain = {name: f"kind_{name}" for name in ("double", "boolean", "text", "date", "small", "days", "rank")}
    stored = tuple(replace(kind, name=f"kind_{place}") for place, kind in enumerate(types.stored))
    index = {each.name: f"{each.name}<{{0}}>" for each in fields(DUCKDB.index)}
    two = ("temporary", "temporary_columns", "read_as", "side_by_side", "days_between")
    pairs = {name: f"{name}<{{0}}, {{1}}>" for name in two}
    values = {
        "declare": lambda name, _values: [("declare", ()), (f"values<{name}>", ())],
        "code": lambda text, name, _values: f"code<{text}, {name}>",
        "local_time": lambda value, zone: f"local<{value}, {zone}>",
    }
    words = {**index, **pairs, **values, "position": "place_of_row"}
    return replace(
        DUCKDB,
        quotation="`",
        parameter=":{0}",
        double="number<{0}>".replace("{0}", "{0!r}"),
        not_a_number="no_number",
        try_cast="try<{0}, {1}>",
        rounding="rounded<{0}, {1}>",
        fitting="fitting<{0}, {1}>".format,
        truncating="truncating<{0}, {1}>".format,
        types=replace(types, **integers, **plain, stored=stored),
        functions=dict.fromkeys(DUCKDB.functions, lambda *parts: f"function<{', '.join(parts)}>"),
        aggregates=dict.fromkeys(DUCKDB.aggregates, lambda *parts: f"aggregate<{', '.join(parts)}>"),
        index=replace(DUCKDB.index, **words),
    )


OTHER = other_words()


def without_numbers(sql):
    """The text without what is written as a double: an exponent there is our own."""
    return re.sub(r"number<'[^']*'>", "number", sql)


@pytest.mark.parametrize("queries", QUERIES, ids=range(len(QUERIES)))
def test_a_statement_is_made_of_the_words_of_its_dialect(queries):
    assert DUCKDBS.search(render(queries, DUCKDB).text)
    sql = without_numbers(render(queries, OTHER).text)
    assert DUCKDBS.findall(sql) == [], sql


def test_rows_of_public_tables_are_made_of_the_words_of_the_dialect():
    rows = Where(Public("places", (NAME,), (1,)), call("=", NAME, text("z")))
    sql = render_rows(Select(rows, (Selected("c0", NAME, stored=False),)), OTHER).text
    assert sql == "SELECT `name` AS `c0` FROM `places` WHERE (function<`name`, :1>)"


VISIT = Column("visit_id", Identity(linked="visits.visit_id"))
VISITS = Table("visits", "", (VISIT, Column("person_id", Identity())), link=Link("person_id", "people", "person_id"))
ITEMS = Table("items", "", (VISIT, *TABLE.columns[1:]), link=Link("visit_id", "visits", "visit_id"))
PUBLIC = Table("places", "", (NAME, CITY), public=True, repeats=(9, 9))
TYPES = {"person_id": "VARCHAR", "visit_id": "DECIMAL(9,2)", "places": "DOUBLE"}


def test_an_index_is_built_in_the_words_of_its_dialect():
    ran = []

    def run(sql, *_):
        ran.append(sql)
        return [(2,)]  # rows that are tied, ranks to write, keys that are unique

    sources = {name: TableSource(name, f"`{name}`", TYPES, OTHER) for name in ("people", "visits", "items", "places")}
    writer, world = IndexWriter(run, "main", b"key", OTHER), catalog(TABLE, VISITS, ITEMS, PUBLIC)
    links = Links(world, sources, run, OTHER)
    for table in (TABLE, VISITS, ITEMS):
        build_table(writer, table, links, lambda _: None)
    build_public(writer, PUBLIC, sources["places"])
    build_rows(writer, TABLE, Links(catalog(TABLE, unit=ROW), sources, run, OTHER), lambda _: None)
    found = [word for sql in ran for word in INDEX_WORDS.findall(without_numbers(sql))]
    # What is left is our own: the number of a link, which every engine calls so.
    assert set(found) <= {"INTEGER"}, found


# Types as PostgreSQL has them: no engine of ours yet, and enough to tell whose words the second look reads.
POSTGRES = replace(
    DUCKDB,
    name="postgres",
    types=replace(
        DUCKDB.types,
        double="DOUBLE PRECISION",
        text="TEXT",
        small="SMALLINT",
        wide=IntegerType("DECIMAL(38, 0)", 10**38 - 1),
        decimal=IntegerType("DECIMAL(38, 0)", 10**38 - 1),
    ),
)


@pytest.mark.parametrize("place", [0, 2, 6], ids=["plain", "keys", "clipped"])
def test_the_second_look_reads_a_statement_in_the_words_of_its_own_dialect_alone(place):
    queries, world = QUERIES[place], catalog(TABLE)
    for own, other in ((DUCKDB, POSTGRES), (POSTGRES, DUCKDB)):
        statement = render(queries, own)
        found = check_statement(statement, world, own, queries[0].provable)
        assert found == tuple(query.sensitivity() for query in queries)
        with pytest.raises(Failure):
            check_statement(statement, world, other, queries[0].provable)


def test_histograms_and_public_rows_are_read_in_their_own_dialect_too():
    statement, world = render(QUERIES[7], POSTGRES), catalog(TABLE, PUBLIC)
    assert check_histogram(statement, world, POSTGRES)[0] == QUERIES[7][0].sensitivity()
    rows = Statement("SELECT `name` AS `c0` FROM `places`", ())
    check_public(rows, world, replace(DUCKDB, name="mysql"))
    with pytest.raises(Failure):
        check_public(rows, world, DUCKDB)


def test_what_a_row_can_make_fail_in_an_engine_is_not_believed_there():
    queries = (Query(WHOLE, (), NonNull(call("exp", FREE))),)
    world = catalog(TABLE)
    assert check_statement(render(queries, DUCKDB), world, DUCKDB)
    with pytest.raises(Failure) as failure:
        check_statement(render(queries, DUCKDB), world, replace(DUCKDB, raises=frozenset({"Exp"})))
    assert "no Exp, which a row can make fail" in str(failure.value.__cause__)


def test_a_name_is_quoted_whatever_its_letters():
    assert (DUCKDB.quote('a"b'), OTHER.quote("a`b")) == ('"a""b"', "`a``b`")
