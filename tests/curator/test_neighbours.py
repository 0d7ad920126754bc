"""The main gate: whole questions on a database and on the same without one person.

One person may move the exact aggregates by the declared sensitivity at most, in every norm. Nothing else may move at
all: not the plan, not the price, not the statements, not the noise that is drawn, not the shape of the answer.
"""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from itertools import product
from math import inf, nan
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adomnia.pricing.quotes import list_measures
from adomnia.privacy import scans as exact
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.expressions import FUNCTIONS
from adomnia.sql.lower import lower
from kit.gate import aggregated, meaning, moved_within, proved, public_side
from kit.hospital import CATALOG, Rows, curated, declare, person, visit
from kit.reference import MEANINGS
from kit.rows import ORPHAN, PEOPLE, databases
from kit.searches import examples
from kit.tables import Database

if TYPE_CHECKING:
    from adomnia.catalog.model import Catalog
    from adomnia.privacy.queries import Query

pytestmark = pytest.mark.no_cover  # other tests have one example of each branch

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
        conditions(table).map(lambda c: f"COUNT(DISTINCT person_id) FILTER (WHERE {c})"),
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


def gate(catalog: Catalog, files: tuple[Rows, Rows], who: int | None, asked: list[tuple[str, dict]]) -> None:
    database = Database(catalog, dict(zip(("people", "visits"), files, strict=True)))
    smaller = database.without((0, who))
    with curated(catalog, **database.files) as one, curated(catalog, **smaller.files) as other:
        found: set[tuple[Query, ...]] = set()
        for text, price in asked:
            paid = Pure(price["epsilon"]) if "epsilon" in price else Concentrated(price["rho"])
            queries = tuple(dict.fromkeys(each.query for each in list_measures(lower(text, catalog), paid)))
            if queries not in found:  # whatever is paid for them, they are the same
                found.add(queries)
                statements = proved(one, queries)
                here, there = aggregated(one, statements), aggregated(other, statements)
                assert here == {query: meaning(query, database) for query in queries}
                assert there == {query: meaning(query, smaller) for query in queries}
                for query in queries:
                    moved_within(query, here[query], there[query])
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


@settings(max_examples=16, suppress_health_check=_calm)
@given(**_cases)
def test_one_person_moves_a_question_by_at_most_its_sensitivity_and_nothing_else_at_all(catalog, database, who, asked):
    gate(catalog, database, who, asked)


@pytest.mark.soak
@settings(max_examples=3000, suppress_health_check=_calm)
@given(**_cases)
def test_one_person_moves_no_question_further_over_many_more_databases(catalog, database, who, asked):
    gate(catalog, database, who, asked)


@pytest.fixture(scope="module")
def with_others(tmp_path_factory):
    listed, fewer = 'values = ["F", "M", "X"]', 'values = ["F", "M"], others = "Else"'
    return declare(tmp_path_factory.mktemp("others") / "hospital", CATALOG.replace(listed, fewer))


@settings(max_examples=examples(4), suppress_health_check=_calm)
@given(**_cases)
def test_what_is_read_as_another_value_moves_a_question_no_further(with_others, database, who, asked):
    chosen = [("SELECT sex, COUNT(*), SUM(age) FROM people WHERE sex = 'Else' OR age > 3 GROUP BY sex", {"epsilon": 1})]
    gate(with_others, database, who, chosen + asked[:1])


EVERYTHING = [
    "SELECT COUNT(*), COUNT(salary), COUNT(DISTINCT person_id), SUM(salary), AVG(salary), SUM(age) FROM people",
    (
        "SELECT sex, member, COUNT(*), SUM(score), AVG(age + score) FROM people "
        "WHERE 1 / (salary - 50000) > 0 GROUP BY sex, member"
    ),
    "SELECT hospital, COUNT(DISTINCT person_id), SUM(cost), COUNT(*) FROM visits GROUP BY hospital",
    (
        "SELECT urgent, COUNT(DISTINCT CASE WHEN cost > 0 THEN person_id END), COUNT(DISTINCT person_id) "
        "FROM visits GROUP BY urgent"
    ),
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


IN_BLOCKS = [
    "SELECT COUNT(*), AVG(z), SUM(z), VAR_POP(z) FROM (SELECT AVG(age) AS z FROM people GROUP BY BLOCK(2))",
    "SELECT z > 30, COUNT(*) FROM (SELECT MIN(age) AS z, MAX(salary) AS y FROM people GROUP BY BLOCK(3)) GROUP BY 1",
    (
        "SELECT SUM(n), COUNT(DISTINCT c), AVG(m) FROM (SELECT CLAMP(COUNT(*), 0, 4) AS n, COUNT(cost) > 1 AS c, "
        "CLAMP(SUM(cost) / COUNT(*), 0, 9) AS m FROM visits GROUP BY BLOCK(2) HAVING COUNT(*) <> 2)"
    ),
    (
        "SELECT COUNT(*), SUM(z) FROM (SELECT MEDIAN(v.cost) AS z FROM people AS p LEFT JOIN visits AS v "
        "ON p.person_id = v.person_id GROUP BY BLOCK(2)) WHERE z > 1"
    ),
]


@settings(max_examples=examples(3), suppress_health_check=_calm)
@given(database=databases, who=_cases["who"])
def test_one_person_changes_the_row_of_one_block(catalog, database, who):
    gate(catalog, database, who, [(text, {"rho": 1}) for text in IN_BLOCKS])


def test_no_small_database_moves_rows_of_blocks_further(catalog):
    """All ways in which three people have an age of 0, one of 120, both or no row."""
    own = [(), (0.0,), (120.0,), (0.0, 120.0)]
    queries = {each.query for text in IN_BLOCKS for each in list_measures(lower(text, catalog), Pure(1))}
    found = {ages: in_small_database(catalog, queries, ages) for ages in product(own, repeat=3)}
    lowered = set()
    for ages, here in found.items():
        for who in range(3):
            there = found[(*ages[:who], (), *ages[who + 1 :])]
            for query in queries:
                moved_within(query, here[query], there[query])
                lowered |= {query.aggregate} if here[query] < there[query] else set()
    assert not any(query.sensitivity().monotone for query in queries)
    assert exact.Rows() in lowered  # a person who joins a block can lower a count


def in_small_database(catalog, queries, ages):
    rows = [(who + 1, age) for who, own in enumerate(ages) for age in own]
    files = {"people": [person(who, age=age, salary=1e5) for who, age in rows]}
    database = Database(catalog, {**files, "visits": [visit(who, cost=age) for who, age in rows]})
    return {query: meaning(query, database) for query in queries}


def test_the_gate_sees_a_person_who_counts_too_much(catalog):
    """Otherwise it proves nothing: one row more than the cap allows must be noticed."""
    some = [visit(1, hospital="H1", cost=1.0) for _ in range(3)]
    (query,) = (each.query for each in list_measures(lower("SELECT COUNT(*) FROM visits", catalog), Pure(1)))
    moved_within(query, len(some), 0)
    with pytest.raises(AssertionError):
        moved_within(query, len(some) + 1, 0)


def test_the_reference_knows_every_function_that_a_question_can_use():
    assert set(MEANINGS) == set(FUNCTIONS)


def test_the_order_of_rows_in_the_file_changes_nothing(catalog, seeded_bits):
    some = [visit(k % 3, hospital=f"H{k % 5 + 1}", cost=k / 7, day=date(2020, 1, 1) + timedelta(k)) for k in range(40)]
    text = "SELECT hospital, COUNT(*), SUM(cost), COUNT(DISTINCT person_id) FROM visits GROUP BY hospital"
    queries = tuple(each.query for each in list_measures(lower(text, catalog), Pure(Fraction(1))))
    found = []
    for _ in range(10):
        order = sorted(range(len(some)), key=lambda _: int(seeded_bits.words(1)[0]))
        with curated(catalog, [], [some[place] for place in order]) as curator:
            found.append(aggregated(curator, proved(curator, queries)))
    assert found == [found[0]] * 10
