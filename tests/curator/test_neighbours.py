"""The main gate: whole questions on a database and on the same without one person.

One person may move the exact aggregates by the declared sensitivity at most, in every norm. Nothing else may move at
all: not the plan, not the price, not the statements, not the noise that is drawn, not the shape of the answer.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import date, timedelta
from fractions import Fraction
from math import inf, nan
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.expressions import FUNCTIONS
from adomnia.privacy.losses import loss
from adomnia.sql.check import checked
from adomnia.sql.lower import lower
from adomnia.sql.price import measures
from engines.databases import ranked
from kit.hospital import CITIES, KEY, Row, Rows, curated, declare, person, visit
from kit.reference import MEANINGS, exact

if TYPE_CHECKING:
    from adomnia.catalog.model import Catalog, Table
    from adomnia.curator.curator import Curator
    from adomnia.privacy.queries import Query

PEOPLE = (1, 2, 3)
ORPHAN = 99  # has visits, and no row among the people
FAR = (nan, inf, -inf, 1e308, -1e308, 5e-324, -0.0, 0.0)

# ------------------------------------------------------------------------------------------------ databases

_money = st.sampled_from([*FAR, 1.0, 0.125, 0.3, 50_000.0, 499_999.875, 500_000.0, 1e6, -7.0, 2.0**53 + 1]) | st.none()
_small = st.sampled_from([*FAR, -1.5, -1.46, 2.25, 2.2, 0.05, 1.0]) | st.none()
_ages = st.sampled_from([*FAR, 0.0, 1.0, 17.0, 18.0, 64.5, 119.5, 120.0, 200.0, -3.0]) | st.none()
_truth = st.sampled_from([None, False, True])
_words = st.sampled_from([None, "", "Ann Lee", "Bo", "naïve", "%", "a_b", "x" * 40])
_days = st.dates(date(2019, 12, 30), date(2020, 1, 3)) | st.sampled_from([None, date(1, 1, 1), date(9999, 12, 31)])

_people = {
    "name": _words,
    "age": _ages,
    "sex": st.sampled_from([None, "F", "M", "X", "rare", ""]),
    "city": st.sampled_from([None, *CITIES[:2], "Atlantis"]),
    "salary": _money,
    "eye_color": _words,
    "member": _truth,
    "score": _small,
    "weight": _money,
}
_visits = {
    "visit_id": st.none() | st.integers(0, 3),
    "hospital": st.sampled_from([None, "H1", "H2", "H9"]),
    "day": _days,
    "diagnosis": _words,
    "cost": _money,
    "urgent": _truth,
}
_someone = st.sampled_from([*PEOPLE, *PEOPLE, ORPHAN, None])
_person_rows = st.builds(lambda who, row: person(who, **row), _someone, st.fixed_dictionaries(_people))
_visit_rows = st.builds(lambda who, row: visit(who, **row), _someone, st.fixed_dictionaries(_visits))
_copies = st.sampled_from([1, 1, 1, 2, 5])
databases = st.tuples(
    st.lists(_person_rows, max_size=5),
    st.lists(st.tuples(_visit_rows, _copies), max_size=8).map(lambda some: [row for row, n in some for _ in range(n)]),
)

# ------------------------------------------------------------------------------------------------ questions

_constants = st.sampled_from(["0", "1", "-1", "0.5", "1e300", "1e-300", "50000", "3.7", "120"])
_texts = st.sampled_from(["''", "'F'", "'H1'", "'Oslo'", "'Ann Lee'", "'nobody'", "'O''Neil'", "'%'"])
_patterns = st.sampled_from(["'%'", "'A%'", "'_o'", "'%e%'", "''", "'H_'", "'a_b'", "'%%'"])
_dates = st.sampled_from(["DATE '2020-01-01'", "'2019-12-31'"])

NUMBERS = {"people": ["age", "salary", "score", "weight"], "visits": ["cost"]}
BOUNDED = {"people": ["age", "salary", "score"], "visits": ["cost"]}
TEXTS = {"people": ["name", "sex", "city", "eye_color"], "visits": ["hospital", "diagnosis"]}
TRUTHS = {"people": "member", "visits": "urgent"}
KEYS = {"people": ["sex", "city", "member"], "visits": ["hospital", "urgent"]}


def _binary(operators: list[str], left: Any, right: Any) -> Any:
    return st.builds(lambda o, a, b: f"({a} {o} {b})", st.sampled_from(operators), left, right)


def numbers(table: str) -> Any:
    """Any arithmetic: for conditions, where no bounds are needed."""
    leaves = st.sampled_from(NUMBERS[table]) | _constants
    return st.recursive(
        leaves,
        lambda inner: _binary(["+", "-", "*", "/"], inner, inner) | inner.map(lambda a: f"(- {a})"),
        max_leaves=4,
    )


def sums(table: str) -> Any:
    """Arithmetic whose bounds follow from those of the columns."""
    leaves = st.sampled_from(BOUNDED[table])
    moderate = st.sampled_from(["1", "-2", "0.5", "3.7", "1000"])
    return leaves | st.recursive(
        leaves,
        lambda inner: _binary(["+", "-"], inner, inner | moderate) | _binary(["*", "/"], inner, moderate),
        max_leaves=3,
    )


def conditions(table: str) -> Any:
    number, text = numbers(table), st.sampled_from(TEXTS[table])
    negated = st.sampled_from(["", "NOT "])
    compared = ["=", "<>", "<", "<=", ">", ">="]
    leaves = [
        _binary(compared, number, number),
        _binary(["=", "<>"], text, _texts | text),
        st.builds(lambda t, n, p: f"({t} {n}LIKE {p})", text, negated, _patterns),
        st.builds(lambda t, n, a, b: f"({t} {n}IN ({a}, {b}))", text, negated, _texts, _texts),
        st.builds(lambda e, n, a, b: f"({e} {n}BETWEEN {a} AND {b})", number, negated, _constants, _constants),
        st.builds(lambda e, n: f"({e} IS {n}NULL)", number | text, negated),
        st.sampled_from([TRUTHS[table], "TRUE", "FALSE"]),
    ]
    if table == "visits":
        leaves.append(_binary(compared, st.just("day"), _dates))
    return st.recursive(
        st.one_of(leaves),
        lambda inner: _binary(["AND", "OR"], inner, inner) | inner.map(lambda a: f"(NOT {a})"),
        max_leaves=4,
    )


def aggregates(table: str) -> Any:
    anything = sums(table) | st.sampled_from(TEXTS[table]) | st.just(TRUTHS[table])
    return st.one_of(
        st.just("COUNT(*)"),
        st.just("COUNT(DISTINCT person_id)"),
        st.just("COUNT(person_id)"),
        anything.map(lambda e: f"COUNT({e})"),
        sums(table).map(lambda e: f"SUM({e})"),
        sums(table).map(lambda e: f"AVG({e})"),
    )


@st.composite
def questions(draw: Any) -> str:
    table = draw(st.sampled_from(["people", "visits"]))
    keys = draw(st.lists(st.sampled_from(KEYS[table]), unique=True, max_size=2))
    asked = draw(st.lists(aggregates(table), min_size=1, max_size=3))
    text = f"SELECT {', '.join([*keys, *asked])} FROM {table}"
    if draw(st.booleans()):
        text += f" WHERE {draw(conditions(table))}"
    if keys:
        text += f" GROUP BY {', '.join(keys)}"
    if draw(st.booleans()):
        text += f" ORDER BY {draw(st.sampled_from([asked[0], '1']))} {draw(st.sampled_from(['', 'DESC']))}"
    return text + draw(st.sampled_from(["", "", " LIMIT 2"]))


prices = st.sampled_from([{"epsilon": 1}, {"epsilon": 0.01}, {"rho": 0.1}])

# ------------------------------------------------------------------------------------------------ the gate


def without(database: tuple[Rows, Rows], who: int | None) -> tuple[Rows, Rows]:
    people, visits = ([row for row in rows if row["person_id"] != who] for rows in database)
    return people, visits


def counted(table: Table, rows: Rows) -> list[tuple[int, Row]]:
    """The rows that count: of each person the first in the order that the key gives, as many as the cap allows."""
    own: defaultdict[int, Rows] = defaultdict(list)
    for row in rows:
        if row["person_id"] is not None:
            own[row["person_id"]].append(row)
    columns = tuple(column for column in table.columns if column.name not in ("person_id", "visit_id"))
    return [
        (who, row)
        for who, some in own.items()
        for row in ranked(KEY, columns, some, f"0:{who}")[: table.rows_per_person]
    ]


def everyones(table: Table, rows: Rows) -> list[tuple[int, Row]]:
    return [(row["person_id"], row) for row in rows if row["person_id"] is not None]


def meaning(query: Query, catalog: Catalog, database: tuple[Rows, Rows]) -> Any:
    """What the query must give on a database, from the rows alone."""
    relation = query.relation
    while hasattr(relation, "source"):
        relation = relation.source
    table = catalog.table(relation.name)
    rows = database[0] if table.name == "people" else database[1]
    return exact(query, everyones(table, rows) if query.cap is None else counted(table, rows))


def flat(values: Any) -> list[int]:
    return [each for part in values for each in flat(part)] if isinstance(values, list) else [values]


def aggregated(curator: Curator, queries: tuple[Query, ...]) -> list[Any]:
    """The engine's own exact aggregates, each from a statement that the second derivation proves."""
    found = []
    for query in queries:
        statement = curator.engine.render((query,))
        (derived,) = checked(statement, curator.catalog, query.shape)
        declared = query.sensitivity()
        assert (derived.l1, derived.l2_squared, derived.linf) == (declared.l1, declared.l2_squared, declared.linf)
        (values,) = curator.engine.inner.run(statement, (query,))
        assert values.shape == query.shape
        found.append(values.tolist())
    return found


def moved_within(query: Query, one: Any, other: Any) -> None:
    distances = [abs(a - b) for a, b in zip(flat(one), flat(other), strict=True)]
    sensitivity = query.sensitivity()
    assert sum(distances) <= sensitivity.l1
    assert sum(distance**2 for distance in distances) <= sensitivity.l2_squared
    assert max(distances) <= sensitivity.linf
    if sensitivity.monotone:
        signs = {a < b for a, b in zip(flat(one), flat(other), strict=True) if a != b}
        assert len(signs) < 2


def public_side(curator: Curator, text: str, price: dict[str, Any]) -> dict[str, Any]:
    """All that an onlooker could see or time of one question, noise aside."""
    curator.engine.ran.clear()
    curator.bits.requests.clear()
    session = curator.session("bob")
    quote = session.price(text, **price)
    answer = session.sql(text, **price, replay=False)
    return {
        "quote": repr(quote),
        "plan": lower(text, curator.catalog).identity(quote.price, 1),
        "statements": list(curator.engine.ran),
        "words": list(curator.bits.requests),
        "cost": loss(answer.cost),
        "left": answer.left,
        "columns": [column.name for column in answer.columns],
        "keys": [sorted(map(str, column.values)) for column in answer.columns if hasattr(column, "values")],
        "rows": len(answer),
        "methods": [column.estimate.method for column in answer.columns if hasattr(column, "estimate")],
        "bytes": [type(value) for column in answer.columns for value in answer[column.name]],
    }


def gate(catalog: Catalog, database: tuple[Rows, Rows], who: int | None, asked: list[tuple[str, dict]]) -> None:
    smaller = without(database, who)
    with curated(catalog, *database) as one, curated(catalog, *smaller) as other:
        for text, price in asked:
            paid = Pure(price["epsilon"]) if "epsilon" in price else Concentrated(price["rho"])
            queries = tuple(dict.fromkeys(each.query for each in measures(lower(text, catalog), paid)))
            here, there = aggregated(one, queries), aggregated(other, queries)
            assert here == [meaning(query, catalog, database) for query in queries]
            assert there == [meaning(query, catalog, smaller) for query in queries]
            for query, before, after in zip(queries, here, there, strict=True):
                moved_within(query, before, after)
            assert public_side(one, text, price) == public_side(other, text, price)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return declare(tmp_path_factory.mktemp("gate") / "hospital")


_cases = {
    "database": databases,
    "who": st.sampled_from([*PEOPLE, ORPHAN, None]),
    "asked": st.lists(st.tuples(questions(), prices), min_size=2, max_size=4),
}
_calm = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@settings(max_examples=70, suppress_health_check=_calm)
@given(**_cases)
def test_one_person_moves_a_question_by_at_most_its_sensitivity_and_nothing_else_at_all(catalog, database, who, asked):
    gate(catalog, database, who, asked)


@pytest.mark.soak
@settings(max_examples=3000, suppress_health_check=_calm)
@given(**_cases)
def test_one_person_moves_no_question_further_over_many_more_databases(catalog, database, who, asked):
    gate(catalog, database, who, asked)


EVERYTHING = [
    "SELECT COUNT(*), COUNT(salary), COUNT(DISTINCT person_id), SUM(salary), AVG(salary), SUM(age) FROM people",
    (
        "SELECT sex, member, COUNT(*), SUM(score), AVG(age + score) FROM people "
        "WHERE 1 / (salary - 50000) > 0 GROUP BY sex, member"
    ),
    "SELECT hospital, COUNT(DISTINCT person_id), SUM(cost), COUNT(*) FROM visits GROUP BY hospital",
    (
        "SELECT hospital, urgent, AVG(cost * 3.7 - 5), COUNT(diagnosis) FROM visits "
        "WHERE day >= DATE '2020-01-01' AND (diagnosis LIKE 'A%' OR NOT urgent) GROUP BY hospital, urgent"
    ),
]
ONE_OF_EACH = [
    ("the empty database", [], []),
    ("one row", [person(1, age=30.0, salary=5e4, sex="F", member=True, score=0.3)], []),
    ("rows of nobody", [person(None, salary=1.0)], [visit(None, cost=1.0)]),
    ("nothing but NULL", [person(1)], [visit(1)]),
    ("no number in it", [person(1, salary=nan, age=nan, score=nan, weight=inf)], [visit(1, cost=nan)]),
    ("beyond all bounds", [person(1, salary=inf, age=-inf, score=1e308)], [visit(1, cost=-inf)]),
    ("duplicate people", [person(1, salary=float(k), sex="FMX"[k % 3]) for k in range(30)], []),
    (
        "many rows in many groups",
        [],
        [visit(1, hospital=f"H{k % 5 + 1}", cost=1e5, urgent=k % 2 == 0) for k in range(400)],
    ),
    ("an orphan", [person(2, age=1.0)], [visit(1, hospital="H1", cost=9.0, day=date(2020, 1, 1), diagnosis="A")] * 7),
]


@pytest.mark.parametrize(("name", "people", "visits"), ONE_OF_EACH, ids=[name for name, *_ in ONE_OF_EACH])
def test_every_aggregate_holds_its_sensitivity_on_the_databases_that_break_things(catalog, name, people, visits):
    gate(catalog, (people, visits), 1, [(text, price) for text in EVERYTHING for price in ({"epsilon": 1}, {"rho": 1})])


def test_the_gate_sees_a_person_who_counts_too_much(catalog):
    """Otherwise it proves nothing: one row more than the cap allows must be noticed."""
    some = [visit(1, hospital="H1", cost=1.0) for _ in range(3)]
    (query,) = (each.query for each in measures(lower("SELECT COUNT(*) FROM visits", catalog), Pure(1)))
    moved_within(query, len(some), 0)
    with pytest.raises(AssertionError):
        moved_within(query, len(some) + 1, 0)


def test_the_reference_knows_every_function_that_a_question_can_use():
    assert set(MEANINGS) == set(FUNCTIONS)


def test_the_order_of_rows_in_the_file_changes_nothing(catalog, seeded_bits):
    rows = [visit(k % 3, hospital=f"H{k % 5 + 1}", cost=k / 7, day=date(2020, 1, 1) + timedelta(k)) for k in range(40)]
    text = "SELECT hospital, COUNT(*), SUM(cost), COUNT(DISTINCT person_id) FROM visits GROUP BY hospital"
    queries = tuple(each.query for each in measures(lower(text, catalog), Pure(Fraction(1))))
    found = []
    for _ in range(10):
        order = sorted(range(len(rows)), key=lambda _: int(seeded_bits.words(1)[0]))
        with curated(catalog, [], [rows[place] for place in order]) as curator:
            found.append(aggregated(curator, queries))
    assert found == [found[0]] * 10
