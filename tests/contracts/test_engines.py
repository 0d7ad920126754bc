"""Every engine gives the same integers as plain Python: every function on every edge, aggregates, caps, joins, keys.

An engine is found by registry. Functions are tried through the engine's own face: a table holds arguments, and beside
them what Python makes of these; the engine counts the rows in which it agrees. What is not finite is NULL on both
sides, as everywhere behind the guards of the language.
"""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from functools import cached_property
from itertools import product
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import parse_one

from adomnia.engines.check import check_cells_of_blocks, check_statement
from adomnia.engines.dialect import Dialect
from adomnia.engines.registry import EMBEDDED, ENGINES, load_engine
from adomnia.errors import Failure, Refusal
from adomnia.pricing.quotes import list_measures
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Pure
from adomnia.privacy.expressions import Column, call
from adomnia.privacy.functions.registry import FUNCTIONS
from adomnia.privacy.keys import Blocks, Bucket, Names
from adomnia.privacy.kinds import Boolean, Day, Moment, Quantity, Text
from adomnia.privacy.queries import Clip, Query
from adomnia.privacy.relations import Where, everything
from adomnia.privacy.scans import Histogram, NonNull, People, Rows, Total
from adomnia.privacy.units import ROW
from adomnia.sql.lower import lower
from engines.databases import applied, catalog, constant, people, relation
from kit.engines import make_ready
from kit.gate import meaning
from kit.hospital import LINKED, PUBLIC, declare, frame, item, person, visit
from kit.reference import MEANINGS, grid, read, value
from kit.tables import Database, rows
from privacy.functions.samples import SAMPLES, applications

EVERY_ENGINE = pytest.mark.parametrize("name", ENGINES)
# An index for each function takes Spark minutes: there, all are tried in a few statements (engines/spark).
QUICK_ENGINES = pytest.mark.parametrize("name", [name for name in ENGINES if name != "spark"])
KEY = bytes(range(32))

# What the samples of functions do not hold: they are compared with each other, and NaN and infinities cannot be.
MORE = {
    Quantity: [math.nan, math.inf, -math.inf, -0.0, 2.0**53 - 1, 2.0**53, 2.0**63 - 1024, 2.2250738585072014e-308],
    Text: ['"', "o'clock; --", "$1", "\\", "ß", "ǅ", "İ", "日本", "x" * 1024, "\u00a0", "tab\t"],
    Day: [date(1, 1, 2), date(9999, 12, 30), date(2000, 2, 29), date(1582, 10, 15)],
    Moment: [datetime.fromisoformat("0001-01-01T00:59:59"), datetime.fromisoformat("9999-12-31T00:00:00")],
    Boolean: [],
}
EDGES = {kind: [*SAMPLES[kind], *MORE[kind]] for kind in SAMPLES}
# Beyond ASCII, engines differ in what they know of letters: these are the ones on which all agree.
CASELESS = {"ß", "ǅ", "İ"}
# On some platforms the engine and Python use different libraries for these: the last bits are theirs.
INEXACT = ("exp", "ln", "log10", "log2", "power")
APPLICATIONS = list(applications())


def keyed(name, load):
    """What `load` makes of an engine, with a key of the order that Python knows too."""
    make_ready(name)
    with patch(f"adomnia.engines.{name}.engine.fresh_key", lambda: KEY):
        return load(load_engine(name))


# Functions.


def arguments_of(function, kinds):
    """Columns for the arguments; numbers need not be whole, unless a function wants them so."""
    whole = function.name == "number as text"
    plain = [Quantity(whole=whole) if isinstance(kind, Quantity) else kind for kind in kinds]
    return [Column(f"a{place}", kind) for place, kind in enumerate(plain)]


def expected(function, arguments, constants):
    """What Python makes of stored values: no value where it is not finite."""
    found = MEANINGS[function.name](*arguments, *(each if isinstance(each, str) else float(each) for each in constants))
    return None if isinstance(found, float) and not math.isfinite(found) else found


class Trial:
    """Functions of the same arguments: one table holds these, and beside them what each function should give."""

    def __init__(self, arguments, alike):
        self._arguments, self._alike = arguments, alike
        self._cases = [case for case in APPLICATIONS if told_by(case) == (arguments, alike)]
        self._engines = {}

    @cached_property
    def _wanted(self):
        return [Column(f"w{place}", type(self._compute(case).kind)()) for place, case in enumerate(self._cases)]

    @cached_property
    def _table(self):
        return people(*self._arguments, *self._wanted)

    @cached_property
    def _frame(self):
        listed = []
        for at, row in enumerate(product(*(EDGES[type(each.kind)] for each in self._arguments))):
            if self._alike and CASELESS & set(row):
                continue
            cells = {column.name: cell for column, cell in zip(self._arguments, row, strict=True)}
            known = [read(column, cells[column.name]) for column in self._arguments]
            for column, (function, _, constants) in zip(self._wanted, self._cases, strict=True):
                cells[column.name] = expected(function, known, constants)
            listed.append({"person_id": at, **cells})
        return frame(listed, self._table)

    def _compute(self, case):
        function, _, constants = case
        computed = applied(function.name, *self._arguments, *map(constant, constants))
        return applied("finite", computed) if isinstance(computed.kind, Quantity) else computed

    def _agrees(self, case):
        """The condition that a row gives what it should."""
        computed, wanted = self._compute(case), self._wanted[self._cases.index(case)]
        agrees = applied("same", computed, wanted)
        if case[0].name in INEXACT:
            slack = applied("*", applied("abs", wanted), constant(Fraction(1, 10**14)))
            agrees = applied("or", agrees, applied("<=", applied("abs", applied("-", computed, wanted)), slack))
        return Query(Where(relation(self._table), agrees), (), Rows())

    def _engine(self, name):
        if name not in self._engines:
            loading = catalog(self._table), {"people": self._frame}
            self._engines[name] = keyed(name, lambda made: made.load(*loading))
        return self._engines[name]

    def disagreements(self, name, case, dialect=None):
        """In how many rows an engine does not give what Python does: in all of them, if it fails."""
        engine, query, agreed = self._engine(name), self._agrees(case), 0
        with patch.object(type(engine), "dialect", dialect or engine.dialect), suppress(Failure):
            agreed = int(engine.run(engine.render((query,)), (query,))[0])
        return self._frame.num_rows - agreed

    def close(self):
        for engine in self._engines.values():
            engine.close()


def told_by(case):
    """What tells the table that a function is tried on: its arguments, and whether odd letters are left out."""
    function, kinds, _ = case
    return tuple(arguments_of(function, kinds)), function.name in ("upper", "lower")


@pytest.fixture(scope="module")
def disagreements():
    """In how many rows an engine does not give what Python does; an index is built when it is first asked for."""
    trials = {}

    def find(name, case, dialect=None):
        known = told_by(case)
        if known not in trials:
            trials[known] = Trial(*known)
        return trials[known].disagreements(name, case, dialect)

    yield find
    for trial in trials.values():
        trial.close()


def case_name(case):
    function, kinds, constants = case
    return f"{function.name} {' '.join(map(str, kinds))} {' '.join(map(str, constants))}".strip()


@QUICK_ENGINES
@pytest.mark.parametrize("case", APPLICATIONS, ids=case_name)
@pytest.mark.no_cover
def test_a_function_gives_what_python_does_on_every_edge_and_never_fails(disagreements, name, case):
    if case[0].name not in load_engine(name).dialect.refused:
        assert disagreements(name, case) == 0
        return
    with pytest.raises(Refusal, match=f"{case[0].name.upper()} is not offered on the engine {name}") as refused:
        disagreements(name, case)
    assert refused.value.code == "engine"


# Words of an engine that mean something else: each must be noticed.
PLANTED = {
    "halves to the even number": ("round", "ROUND_EVEN({0}, 0)"),
    "halves of negative numbers upward": ("round", "FLOOR({0} + 0.5e0)"),
    "floor towards zero": ("floor", "TRUNC({0})"),
    "remainder with the sign of the divisor": ("mod", "({0} - {1} * FLOOR({0} / NULLIF({1}, 0e0)))"),
    "division by zero is infinite, and one less": ("/", "({0} / {1} - 1e0)"),
    "a clamp that fills what is missing": ("clamp", "LEAST(GREATEST({0}, {1}), {2})"),
    "NULL is larger than values": ("greatest", "CASE WHEN {0} > {1} THEN {0} ELSE {1} END"),
    "a backslash escapes": ("like", "({0} LIKE {1} ESCAPE '\\')"),
    "case of ASCII letters alone": (
        "upper",
        "TRANSLATE({0}, 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')",
    ),
    "every white space is trimmed": ("trim", "TRIM(REPLACE({0}, chr(160), ' '), ' ')"),
    "length in bytes": ("length", "CAST(STRLEN({0}) AS DOUBLE)"),
    "days of the week from 1": ("dow", "CAST(EXTRACT(dow FROM {0}) + 1 AS DOUBLE)"),
    "weeks from the first of January": ("week", "CAST(FLOOR((EXTRACT(doy FROM {0}) + 6) / 7) AS DOUBLE)"),
    "any spelling of a number": ("text as number", "TRY_CAST({0} AS DOUBLE)"),
    "patterns that match all of a text": ("matches", "REGEXP_FULL_MATCH({0}, {1})"),
    "only the first part is replaced": ("replace", "REGEXP_REPLACE({0}, {1}, {2})"),
    "places from 0": ("position", "CAST(INSTR({0}, {1}) - 1 AS DOUBLE)"),
    "months of thirty days": ("shift months", "CAST({0} + 30 * CAST({1} AS INTEGER) AS DATE)"),
    "NULL equals NULL never": ("same", "({0} = {1})"),
}


@pytest.mark.parametrize("plant", PLANTED)
def test_a_wrong_spelling_is_noticed(disagreements, plant):
    function, wrong = PLANTED[plant]
    right = load_engine(EMBEDDED).dialect
    planted = replace(right, functions={**right.functions, function: wrong.format})
    tried = [case for case in APPLICATIONS if case[0].name == function]
    assert any(disagreements(EMBEDDED, case, planted) for case in tried)


@EVERY_ENGINE
def test_a_dialect_spells_every_function_and_no_argument_more_often_than_it_may(name):
    dialect = load_engine(name).dialect
    assert dialect.functions.keys() | dialect.refused.keys() == FUNCTIONS.keys()
    for function in (FUNCTIONS[name] for name in dialect.functions):
        marks = [f"<{place}>" for place in range(5 if function.arity is None else function.arity)]
        sql = dialect.functions[function.name](*marks)
        assert all(mark in sql for mark in marks)
        written = [sql.count(mark) for place, mark in enumerate(marks) if place not in function.constants]
        # Engines read NULLIF as a CASE, and BETWEEN as two comparisons.
        guards = round(math.log2(max(written))) + ("NULLIF" in sql)
        assert (3 if "BETWEEN" in sql else 2) ** guards <= function.copies


@EVERY_ENGINE
def test_a_dialect_is_one_that_is_parsed_and_its_integers_hold_what_they_say(name):
    dialect = load_engine(name).dialect
    assert isinstance(dialect, Dialect)
    types = dialect.types
    for kind in (types.long, types.wide, types.decimal, *types.stored):
        assert parse_one(f"CAST(1 AS {kind.name})", dialect=dialect.name)
    assert [kind.largest for kind in types.stored] == sorted(kind.largest for kind in types.stored)
    assert types.long.largest == 2**63 - 1
    assert types.decimal.largest >= 10**38 - 1
    assert types.wide.largest >= 2**126


# Aggregates, caps, joins and keys, over files full of what may go wrong.

FAR = (None, math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 0.0, 1.0, 0.3, 499_999.875, 2.0**53 + 1, -7.0)
WORDS = (None, "", "Ann Lee", "naïve", "%", "o'clock", '"', "12.5", "2020-01-02", "日本")
DAYS = (None, date(1, 1, 1), date(9999, 12, 31), date(2020, 2, 29), date(2019, 12, 30))
OWNERS = (1, 1, 1, 1, 1, 1, 2, 2, 3, 99, None)


def cell(values, place):
    return values[place % len(values)]


def edge_files():
    """People, visits and items: more rows of one person than any cap, rows of nobody, rows whose parent is missing."""
    someone = [
        person(
            at % 12,
            name=cell(WORDS, at),
            age=cell(FAR, at + 1),
            sex=cell((None, "F", "M", "X", "rare"), at),
            city=cell(("Oslo", None, "Bergen", "Atlantis"), at),
            salary=cell(FAR, at),
            eye_color=cell(WORDS, 3 * at),
            member=cell((None, True, False), at),
            score=cell((-1.5, 2.25, 0.05, None, -9.0), at),
            weight=cell(FAR, 2 * at),
        )
        for at in range(28)
    ]
    visits = [
        visit(
            cell(OWNERS, at),
            visit_id=None if at % 9 == 8 else at,
            hospital=cell(("H1", "H2", None, "H9"), at),
            day=cell(DAYS, at),
            diagnosis=cell(WORDS, at),
            cost=cell(FAR, at // 2),
            urgent=cell((True, False, None), at),
        )
        for at in range(40)
    ]
    items = [
        item(
            cell((0, 1, 2, 3, 7, 77, None), at),
            kind=cell(("drug", None, "test", "rare"), at),
            price=cell((None, -12.0, 0.5, 249.6, math.nan, 100.0), at),
            amount=cell((20.0, None, -7.0, 1e9), at),
            bought=cell(DAYS, at),
        )
        for at in range(30)
    ]
    return {"people": someone, "visits": visits, "items": items}


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    return declare(tmp_path_factory.mktemp("engines") / "house", LINKED)


@pytest.fixture(scope="module")
def database(house):
    return Database(house, {**edge_files(), **PUBLIC})


@pytest.fixture(scope="module", params=ENGINES)
def engine(request, house):
    frames = {table.name: frame(edge_files()[table.name], table) for table in house.tables if not table.public}
    made = keyed(request.param, lambda each: each.load(house, frames))
    assert made.is_open()
    yield made
    made.close()
    assert not made.is_open()


QUESTIONS = [
    "SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*), COUNT(salary), SUM(salary), AVG(score) FROM people",
    "SELECT sex, COUNT(*), SUM(age), AVG(age) FROM people GROUP BY sex",
    "SELECT sex, city, member, COUNT(*), COUNT(DISTINCT person_id) FROM people GROUP BY sex, city, member",
    "SELECT COUNT(DISTINCT person_id) FROM visits",
    "SELECT COUNT(DISTINCT person_id) FROM visits WHERE urgent",
    "SELECT hospital, COUNT(DISTINCT person_id), COUNT(DISTINCT diagnosis) FROM visits GROUP BY hospital",
    "SELECT COUNT(DISTINCT urgent), COUNT(DISTINCT day), COUNT(DISTINCT cost) FROM visits",
    "SELECT VAR_POP(cost), CORR(cost, cost * 2) FROM visits",
    "SELECT SUM(CLAMP(weight * 1e300, -5, 5)), COUNT(weight / salary) FROM people",
    "SELECT SUM(cost * 1e9) FROM visits WHERE diagnosis LIKE '%e%' OR cost IS NULL",
    "SELECT urgent, COUNT(*) FROM visits WHERE day >= DATE '2020-01-01' GROUP BY urgent",
    "SELECT age > 18, COUNT(*) FROM people GROUP BY 1",
    "SELECT age, COUNT(*) FROM people WHERE age BETWEEN 0 AND 9 GROUP BY age",
    "SELECT p.sex, COUNT(*), SUM(v.cost) FROM people AS p JOIN visits AS v ON p.person_id = v.person_id GROUP BY p.sex",
    "SELECT COUNT(*), COUNT(v.cost) FROM people AS p LEFT JOIN visits AS v ON p.person_id = v.person_id AND v.urgent",
    "SELECT SUM(i.price), COUNT(*) FROM visits AS v JOIN items AS i ON v.visit_id = i.visit_id",
    "SELECT z.zone, COUNT(*) FROM people AS p JOIN zones AS z ON p.city = z.city GROUP BY z.zone",
    "SELECT AVG(n) FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id) AS own",
    "SELECT SUM(dearest), SUM(stays) FROM stays",
    "SELECT COUNT(*), SUM(c) FROM (SELECT person_id, cost c FROM visits UNION ALL SELECT person_id, age FROM people) u",
    "SELECT kind, SUM(amount), SUM(price) FROM items GROUP BY kind",
    "SELECT COUNT(*), AVG(z), SUM(m) FROM (SELECT AVG(age) AS z, MAX(salary) AS m FROM people GROUP BY BLOCK(3))",
    (
        "SELECT AVG(z), VAR_POP(s) FROM (SELECT CLAMP(SUM(cost) / COUNT(*), 0, 500) AS z, STDDEV(cost) AS s FROM visits"
        " WHERE day >= DATE '2020-01-01' GROUP BY BLOCK(2) HAVING COUNT(*) > 2)"
    ),
    (
        "SELECT z > 30, COUNT(*), COUNT(y) FROM (SELECT AVG(p.age) AS z, MIN(v.cost) AS y FROM people AS p"
        " LEFT JOIN visits AS v ON p.person_id = v.person_id GROUP BY BLOCK(4)) GROUP BY 1"
    ),
    "SELECT SUM(n), AVG(m) FROM (SELECT CLAMP(COUNT(*), 0, 9) AS n, MEDIAN(price) AS m FROM items GROUP BY BLOCK(3))",
    (
        "SELECT AVG(n) FROM (SELECT AVG(n) AS n FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id)"
        " GROUP BY BLOCK(2))"
    ),
]


@pytest.mark.parametrize("text", QUESTIONS)
def test_the_queries_of_a_question_give_the_integers_of_plain_python(engine, house, database, text):
    batches = defaultdict(list)
    for measure in list_measures(lower(text, house), Pure(1)):
        batches[measure.query.scan].append(measure.query)
    for batch in map(tuple, batches.values()):
        statement = engine.render(batch)
        check_statement(statement, house, engine.dialect, batch[0].provable)
        found = [exact.tolist() for exact in engine.run(statement, batch)]
        assert found == [meaning(query, database) for query in batch]


def table_of(house, name, cap):
    declared = house.table(name)
    return replace(relation(declared, cap), keys=())


@pytest.mark.parametrize("cap", [1, 2, 3])
def test_a_cap_keeps_the_rows_that_the_order_puts_first(engine, house, database, cap):
    visits = table_of(house, "visits", cap)
    cost, hospital = (next(each for each in visits.columns if each.name == name) for name in ("cost", "hospital"))
    queries = tuple(Query(visits, (hospital,), each) for each in (Rows(), Total(cost, cost.domain), NonNull(cost)))
    found = [exact.tolist() for exact in engine.run(engine.render(queries), queries)]
    assert found == [meaning(query, database) for query in queries]


@pytest.mark.parametrize("count", [2, 7, 2**17])
def test_a_person_is_in_one_block_of_all_tables_whichever_the_engine(engine, house, database, count):
    for name, cap in (("people", 1), ("visits", 3), ("items", 2)):
        table, keys = table_of(house, name, cap), (Blocks(count),)
        queries = Query(table, keys, Rows()), Query(everything(table), keys, Rows()), Query(table, keys, People())
        for query in queries:
            assert engine.run(engine.render((query,)), (query,))[0].tolist() == meaning(query, database)
        for query in queries[:2]:
            found = check_cells_of_blocks(engine.render((query,)), house, engine.dialect)
            assert found == (range(count),)
        for query in (queries[0], queries[2]):
            found = check_statement(engine.render((query,)), house, engine.dialect, query.provable)
            assert found == (query.sensitivity(),)


@EVERY_ENGINE
def test_rows_that_are_people_are_spread_over_blocks(name):
    numbers = people(Column("n", Quantity()))
    declared, query = catalog(numbers, unit=ROW), Query(relation(numbers), (Blocks(2),), Rows())
    frames = {"people": pa.table({"person_id": [1] * 400, "n": [0.0] * 400})}
    made = [keyed(name, lambda each: each.load(declared, frames)) for _ in range(1 if name == "spark" else 2)]
    found = [each.run(each.render((query,)), (query,))[0].tolist() for each in made]
    for each in made:
        each.close()
    # Heads of 400 throws: more than 250 or fewer than 150 in one of 6,000,000 cases.
    assert all(150 <= heads <= 250 and heads + tails == 400 for heads, tails in found)


@pytest.mark.parametrize("clip", [Clip(1), Clip(2, counted=True), Clip(3)])
def test_shortened_vectors_are_those_of_plain_python(engine, house, database, clip):
    visits = table_of(house, "visits", 3)
    hospital = next(each for each in visits.columns if each.name == "hospital")
    query = Query(visits, (hospital,), Rows(), clip)
    statement = engine.render((query,))
    assert check_statement(statement, house, engine.dialect, query.provable) == (query.sensitivity(),)
    assert engine.run(statement, (query,))[0].tolist() == meaning(query, database)


def test_sums_beyond_64_bits_are_exact(engine, house, database):
    visits = table_of(house, "visits", 3)
    cost = next(each for each in visits.columns if each.name == "cost")
    wide = Numbers.integers(-(2**77), 2**77)
    queries = tuple(
        Query(visits, (), Total(call("*", cost, constant(10**18)), wide, centre)) for centre in (0, 2**70, -(2**76))
    )
    found = engine.run(engine.render(queries), queries)
    assert [exact.tolist() for exact in found] == [meaning(query, database) for query in queries]
    assert max(abs(exact.tolist()) for exact in found) > 2**64


def counted(query, database):
    """How many rows hold each value of a grid, in each cell of the only key."""
    aggregate, (key,) = query.aggregate, query.keys
    cells = {label: place for place, label in enumerate(key.kind.values)}
    found = Counter()
    for _, row in rows(query.read, database):
        cell, number = value(key, row), grid(aggregate.value, aggregate.domain, row)
        if cell in cells and number is not None:
            found[cells[cell], number - aggregate.domain.grid_lower] += 1
    return found


def test_a_histogram_counts_buckets_and_then_values(engine, house, database):
    visits = table_of(house, "visits", 3)
    cost, hospital = (next(each for each in visits.columns if each.name == name) for name in ("cost", "hospital"))
    ranked = Histogram(cost, cost.domain, (Fraction(1, 2),), Fraction(19, 20))
    coarse, wanted = Query(visits, (hospital,), ranked), counted(Query(visits, (hospital,), ranked), database)
    (exact,) = engine.run(engine.render((coarse,)), (coarse,))
    buckets = Counter()
    for (at, number), times in wanted.items():
        buckets[at, number >> ranked.shift] += times
    assert dict(zip(zip(*exact[:2].tolist(), strict=True), exact[2].tolist(), strict=True)) == buckets
    chosen = tuple(sorted({bucket for _, bucket in buckets}))[:2]
    fine = replace(coarse, aggregate=replace(ranked, buckets=chosen))
    (exact,) = engine.run(engine.render((fine,)), (fine,))
    inside = {each: times for each, times in wanted.items() if each[1] >> ranked.shift in chosen}
    assert dict(zip(zip(*exact[:2].tolist(), strict=True), exact[2].tolist(), strict=True)) == inside


@pytest.mark.parametrize("name", ["diagnosis", "day"])
def test_values_that_nobody_declared_are_found_with_their_people_and_then_counted(engine, house, database, name):
    visits = table_of(house, "visits", 3)
    column = next(each for each in visits.columns if each.name == name)
    query = Query(visits, (Bucket(column, Names(("",), most=100), column),), People())
    counts, at = engine.keys(engine.render((query,)), query)
    found = {label: int(times) for (label,), times in zip(at(np.arange(len(counts))), counts, strict=True)}
    owners = defaultdict(set)
    for who, row in rows(query.read, database):
        owners[value(column, row)].add(who)
    owners.pop(None)
    assert found == {label: len(some) for label, some in owners.items()}
    named = Query(visits, (Bucket(column, Names(tuple(found)), column),), Rows())
    (exact,) = engine.run(engine.render((named,)), (named,))
    assert exact.tolist() == meaning(named, database)


# How an engine is made.


@EVERY_ENGINE
def test_an_engine_reads_headers_and_facts_of_files_and_refuses_what_was_not_declared(name, tmp_path):
    made = load_engine(name)
    pq.write_table(pa.table({"city": ["a", "b", "b"], "size": [1.5, 2.0, None]}), tmp_path / "cities.parquet")
    (tmp_path / "cities.csv").write_text("city,size\na,1\n")
    assert list(made.read_header(tmp_path / "cities.csv").items()) == [("city", ""), ("size", "")]
    assert list(made.read_header(tmp_path / "cities.parquet")) == ["city", "size"]
    table = people(Column("city", Text()), Column("size", Quantity()), public=True)
    public = replace(table, name="cities", columns=table.columns[1:])
    made.check_header(tmp_path / "cities.parquet", public)
    city, size = made.find_facts(tmp_path / "cities.parquet", public)
    assert (city.repeats, sorted(city.values), size.lower, size.upper) == (2, ["a", "b"], 1.5, 2.0)
    with pytest.raises(Refusal, match="has none of that name"):
        made.check_header(tmp_path / "cities.parquet", table)


def test_the_registry_names_engines_by_their_folder():
    assert EMBEDDED in ENGINES
    assert [load_engine(name).dialect.called for name in ENGINES] == list(ENGINES)
    with pytest.raises(Refusal, match="is not an engine of this installation"):
        load_engine("oracle")


def test_no_engine_is_loaded_before_it_is_asked_for():
    loaded = "import adomnia.session.curator, sys; print({'duckdb', 'psycopg', 'pyspark'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", loaded], text=True) == "set()\n"
