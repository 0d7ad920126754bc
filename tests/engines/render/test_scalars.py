from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from itertools import cycle, islice
from math import inf, isnan, nan, nextafter
from sys import float_info

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.engines.check import check_statement
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.render import render
from adomnia.engines.render.scalars import (
    Scalars,
    double,
    find_rounding,
    integer,
    matches,
    may_be_nan,
    nearest_double,
    render_grid,
)
from adomnia.engines.spark.dialect import SPARK
from adomnia.errors import Refusal
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Call, Column, Literal, call
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity, Text
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Where
from adomnia.privacy.scans import NonNull, Rows, Total
from adomnia.sql.values.patterns import read_pattern
from engines.databases import (
    PERSON,
    answer,
    applied,
    catalog,
    category,
    constant,
    evaluate,
    loaded,
    number,
    people,
    relation,
    whole,
)
from kit.effort import do_within
from kit.reference import MEANINGS
from kit.searches import examples
from privacy.functions.samples import applications, result_of

SIZE = 60
ROW = category("row", *(f"r{place}" for place in range(SIZE)))
X = number("x", -10, 10)
Y = Column("y", Quantity())
N = whole("n", 0, 120)
FREE = Column("free", Quantity(whole=True))
B = Column("b", Boolean())
CITY = category("city", "Oslo", "Bergen", "50%")
TOWN = category("town", "Bergen", "Oslo", "Voss")
HOME = category("home", "Oslo", "Bergen", "50%")
T = Column("t", Text())
D = Column("d", Day(date(2020, 1, 1), date(2020, 12, 31)))
U = Column("u", Day())
NOON, NEW_YEAR = map(datetime.fromisoformat, ("2020-06-15T12:00:00", "2020-01-01T00:00:00"))
M = Column("m", Moment(NEW_YEAR, datetime.fromisoformat("2020-12-31T23:59:59"), "Europe/Oslo"))
W = Column("w", Moment(zone="Europe/Oslo"))
COLUMNS = (ROW, X, Y, N, FREE, B, CITY, TOWN, HOME, T, D, U, M, W)
TABLE = people(*COLUMNS)

VALUES = {
    X: [None, nan, inf, -inf, 0.0, -0.0, 5e-324, 0.5, 2.5, -10.0, 10.0, 10.5, 1e308],
    Y: [None, nan, inf, -inf, 0.0, -0.0, 1e308, -1e308, 3.25, 2.0**53 + 2, 7.0],
    N: [None, 0.0, 1.0, 30.0, 120.0, 500.0, -3.0, nan],
    FREE: [None, 2.0, -7.0, 1e18, 0.0],
    B: [None, True, False],
    CITY: [None, "Oslo", "Bergen", "50%", "Nowhere", ""],
    TOWN: [None, "Oslo", "Voss", "Bergen", "oslo"],
    HOME: [None, "50%", "Oslo", "Bergen"],
    T: [None, "", "Oslo", "o'clock", "50% off", "é\n", "Bergen"],
    D: [None, date(2020, 1, 1), date(2019, 1, 1), date(2020, 6, 15), date(2030, 1, 1)],
    U: [None, date(1900, 2, 28), date(2020, 6, 15)],
    M: [None, NEW_YEAR, *map(datetime.fromisoformat, ("2019-01-01T23:00:00", "2020-06-15T12:00:00.999999"))],
    W: [None, NOON, *map(datetime.fromisoformat, ("0001-01-01T00:00:00", "1969-12-31T23:59:59.5"))],
}
ROWS = [
    {"person_id": place, "row": f"r{place}", **dict(zip((column.name for column in VALUES), values, strict=True))}
    for place, values in enumerate(islice(zip(*(cycle(values) for values in VALUES.values()), strict=False), SIZE))
]
NULLS = {kind: Literal(None, kind) for kind in (Quantity(), Boolean(), Text(), Day(), Moment())}
NUMBERS = st.sampled_from([X, Y, N, FREE, NULLS[Quantity()]]) | st.sampled_from(
    [constant(value) for value in (0, 1, -3, Fraction(1, 10), Fraction(5, 2), 30, 10**200, 10**400)]
)
TEXTS = st.sampled_from(
    [CITY, TOWN, HOME, T, NULLS[Text()], *map(constant, ("Oslo", "Voss", "Nowhere", "", "%e%", "50%", "o'clock"))]
)
DAYS = st.sampled_from([D, U, NULLS[Day()], constant(date(2020, 6, 15))])
MOMENTS = st.sampled_from([M, W, NULLS[Moment()], constant(NOON)])
PATTERNS = st.sampled_from(
    [constant(pattern) for pattern in ("%", "", "_slo", "%er%", "50%", "O%", "Oslo", "%\n", "%'%")]
)


def guarded_or_not(function, *arguments):
    """A function applied with and without the guard that keeps numbers finite."""
    return st.builds(lambda make, *parts: make(*parts), st.sampled_from([applied, call]), function, *arguments)


ARITHMETIC = st.recursive(
    NUMBERS,
    lambda inner: guarded_or_not(st.sampled_from("+-*/"), inner, inner) | guarded_or_not(st.just("negative"), inner),
    max_leaves=5,
)
COMPARISONS = (
    st.builds(applied, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), ARITHMETIC, ARITHMETIC)
    | st.builds(applied, st.sampled_from(["=", "<>"]), TEXTS, TEXTS)
    | st.builds(applied, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), DAYS, DAYS)
    | st.builds(applied, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), MOMENTS, MOMENTS)
    | st.builds(applied, st.just("like"), TEXTS, PATTERNS)
    | st.builds(applied, st.just("is null"), ARITHMETIC | TEXTS | DAYS | MOMENTS)
    | st.sampled_from([B, constant(True), constant(False), NULLS[Boolean()]])
)
CONDITIONS = st.recursive(
    COMPARISONS,
    lambda inner: (
        st.builds(applied, st.sampled_from(["and", "or", "="]), inner, inner)
        | st.builds(applied, st.sampled_from(["not", "is null"]), inner)
    ),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def engine():
    with loaded(catalog(TABLE), people=ROWS) as engine:
        yield engine


def holds(engine, condition):
    """In which rows a condition is true."""
    ((exact),) = answer(engine, Query(Where(relation(TABLE), condition), (ROW,), Rows()))
    return exact


@settings(max_examples=examples(100), deadline=None)
@given(condition=CONDITIONS)
def test_a_condition_is_true_false_or_null_in_the_rows_where_it_should_be(engine, condition):
    expected = [evaluate(condition, row) for row in ROWS]
    assert holds(engine, condition) == [int(value is True) for value in expected]
    assert holds(engine, applied("not", condition)) == [int(value is False) for value in expected]
    assert holds(engine, applied("is null", condition)) == [int(value is None) for value in expected]


LEAVES = {
    Quantity: st.sampled_from([X, Y, N, FREE, *map(constant, (0, 3, Fraction(-5, 2)))]),
    Boolean: st.sampled_from([B, constant(True)]),
    Text: st.sampled_from([CITY, TOWN, T, *map(constant, ("Oslo", "%e%", "12", "2020-06-15"))]),
    Day: st.sampled_from([D, U, constant(date(2020, 6, 15))]),
    Moment: st.sampled_from([M, W, constant(NOON)]),
}
# The libraries of some platforms differ in the last bit of these.
INEXACT = ("exp", "ln", "log10", "log2", "power")
APPLICATIONS = {
    kind: [case for case in applications() if case[0].name not in INEXACT and type(result_of(*case)) is kind]
    for kind in LEAVES
}


def grown(kind, depth):
    """Expressions of a kind, made of all the functions there are."""
    if depth == 0:
        return LEAVES[kind]
    parts = st.sampled_from(APPLICATIONS[kind]).flatmap(
        lambda case: st.tuples(st.just(case), *(grown(type(part), depth - 1) for part in case[1]))
    )
    return LEAVES[kind] | parts.map(lambda drawn: called(*drawn))


def called(case, *arguments):
    function, _, constants = case
    try:
        return call(function.name, *arguments, *map(constant, constants))
    except ValueError:  # a number that is not whole where only a whole one will do
        return Literal(None, result_of(*case))


def meaning(expression, row):
    if isinstance(expression, Call):
        return MEANINGS[expression.function](*(meaning(argument, row) for argument in expression.arguments))
    return evaluate(expression, row)


@settings(max_examples=examples(40), deadline=None)
@given(condition=grown(Boolean, 3))
def test_every_function_means_in_the_index_what_it_means_in_python_however_they_are_nested(engine, condition):
    expected = [meaning(condition, row) for row in ROWS]
    query = Query(Where(relation(TABLE), condition), (ROW,), Rows())
    assert check_statement(engine.render((query,)), catalog(TABLE), DUCKDB)
    assert holds(engine, condition) == [int(value is True) for value in expected]
    assert holds(engine, applied("is null", condition)) == [int(value is None) for value in expected]


@settings(max_examples=examples(80), deadline=None)
@given(
    expression=ARITHMETIC,
    domain=st.sampled_from([Numbers.bounded(-10, 10), Numbers.integers(0, 7), Numbers.integers(0, 2**70)]),
)
def test_an_aggregated_expression_is_on_the_grid_and_counts_where_it_has_a_value(engine, expression, domain):
    whole_table = relation(TABLE)
    totals, present = answer(
        engine, Query(whole_table, (ROW,), Total(expression, domain)), Query(whole_table, (ROW,), NonNull(expression))
    )
    values = [evaluate(expression, row) for row in ROWS]
    assert totals == [domain.grid(value) or 0 for value in values]
    assert present == [int(value is not None and not isnan(value)) for value in values]


@pytest.mark.parametrize("column", [*COLUMNS, PERSON], ids=lambda column: column.name)
def test_counting_a_column_counts_the_rows_where_it_can_be_read(engine, column):
    ((present),) = answer(engine, Query(relation(TABLE), (ROW,), NonNull(column)))
    assert present == [int(column is PERSON or evaluate(column, row) is not None) for row in ROWS]


def test_counting_a_condition_counts_the_rows_where_it_is_true_or_false(engine):
    condition = call(">", X, Y)
    ((present),) = answer(engine, Query(relation(TABLE), (ROW,), NonNull(condition)))
    assert present == [int(evaluate(condition, row) is not None) for row in ROWS]


def test_text_constants_are_bound_once_each_and_never_written():
    scalars = Scalars(DUCKDB)
    condition = applied(
        "or", applied("=", T, constant("x'; DROP TABLE people")), applied("like", T, constant("x'; DROP TABLE people"))
    )
    assert scalars.value(condition) == '(("t" = $1) OR ("t" LIKE $1))'
    assert list(scalars.parameters) == ["x'; DROP TABLE people"]


@pytest.mark.parametrize(
    ("condition", "sql"),
    [
        (applied("=", CITY, constant("Bergen")), '("city" IN (1))'),
        (applied("=", constant("Bergen"), CITY), '("city" IN (1))'),
        (applied("<>", CITY, constant("Bergen")), '("city" <> 1)'),
        (applied("=", CITY, constant("Nowhere")), 'CASE WHEN "city" IS NULL THEN NULL ELSE FALSE END'),
        (applied("<>", CITY, constant("Nowhere")), 'CASE WHEN "city" IS NULL THEN NULL ELSE TRUE END'),
        (applied("like", CITY, constant("%e%")), '("city" IN (1))'),
        (applied("like", CITY, constant("%n")), '("city" IN (1))'),
        (applied("=", CITY, HOME), '("city" = "home")'),
        (applied("is null", CITY), '("city" IS NULL)'),
        (applied("is null", X), '("x grid" IS NULL)'),  # what sums read anyway
    ],
)
def test_categories_are_compared_by_their_codes_alone(condition, sql):
    scalars = Scalars(DUCKDB)
    assert scalars.value(condition) == sql
    assert not scalars.parameters


def test_categories_of_different_lists_are_compared_by_what_they_say():
    scalars = Scalars(DUCKDB)
    assert "CASE" in scalars.value(applied("=", CITY, TOWN))
    assert list(scalars.parameters) == ["Oslo", "Bergen", "50%", "Voss"]


def test_a_bare_column_is_summed_from_its_stored_grid_and_from_no_other():
    assert Scalars(DUCKDB).grid(X, X.domain) == '"x grid"'
    assert Scalars(DUCKDB).grid(N, N.domain) == '"n"'
    assert "FLOOR" in Scalars(DUCKDB).grid(X, Numbers.bounded(0, 1))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (X, False),
        (applied("*", X, N), False),
        (applied("+", X, constant(10**299)), False),
        (applied("*", X, constant(10**302)), True),
        (Y, False),
        (applied("/", X, X), True),
        (call("/", X, X), False),
        (applied("+", X, Y), True),
        (call("+", X, Y), False),
        (applied("*", applied("*", X, constant(10**302)), constant(Fraction(1, 10**302))), True),
        (B, False),
    ],
)
def test_only_what_can_overflow_or_is_unbounded_may_be_nan(expression, expected):
    assert may_be_nan(expression) is expected


def test_an_id_other_than_the_persons_cannot_be_asked_for():
    with pytest.raises(ValueError, match="which no index keeps"):
        Scalars(DUCKDB).present(Column("visit_id", Identity()))


def test_a_pattern_that_keeps_an_engine_busy_is_refused_there():
    pattern = read_pattern("(a*)*").text
    query = Query(Where(relation(people(T)), call("matches", T, constant(pattern))), (), Rows())
    assert render((query,), DUCKDB).parameters == (pattern,)
    with pytest.raises(Refusal, match="may fit in too many ways"):
        render((query,), SPARK)


LETTERS = st.text("ab%_é\n\U0001f600", max_size=8)


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as connection:
        yield connection


@given(text=LETTERS, pattern=LETTERS)
def test_declared_values_are_matched_as_the_engine_matches_text(connection, text, pattern):
    ((expected,),) = connection.execute("SELECT $1 LIKE $2", [text, pattern]).fetchall()
    assert matches(text, pattern) is expected


def test_a_pattern_without_signs_matches_itself_alone():
    assert matches("ab", "ab")
    assert not matches("abc", "ab")


def test_a_pattern_made_to_be_slow_is_not():
    assert not do_within(0.5, lambda: matches("a" * 2_000, "%a" * 60 + "b"))


DOMAINS = [
    Numbers.bounded(0, 100),
    Numbers.bounded(-1, 1),
    Numbers.integers(0, 120),
    Numbers.integers(-(2**63), 2**63),
    Numbers.integers(2**53 - 5, 2**53 + 5),
    Numbers.integers(2**70, 2**70 + 100),
    Numbers(Fraction("0.3"), Fraction("9.7"), 1),  # the bounds lie off the grid
    Numbers(Fraction("0.3"), Fraction("9.7"), Fraction("0.1")),
    Numbers(Fraction("0.05"), Fraction("0.15"), Fraction("0.1")),
    Numbers(5, 5, 1),
    Numbers(2**60, 2**60, Fraction("0.1")),  # here the doubles are coarser than the grid
    Numbers(2**60, 2**60 + 1000, Fraction("0.7")),
    Numbers(-(2**60), -(2**60) + 3, Fraction(1, 3)),
    Numbers(10**299, 10**300, 10**290),
    Numbers(0, Fraction(1, 10**290), Fraction(1, 10**300)),
]
EDGES = [
    None,
    nan,
    inf,
    -inf,
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    0.5,
    1.5,
    2.5,
    -0.5,
    -1.5,
    2.0**53,
    2.0**53 - 1,
    2.0**53 + 2,
    1e308,
    -1e308,
]


def around(x: float) -> list[float]:
    return [nextafter(x, -inf), x, nextafter(x, inf)]


def telling(domain: Numbers) -> list[float | None]:
    """Values where something might go wrong: edges of the doubles, of the bounds, of the cells, of the CASE."""
    step, limits = float(domain.step), find_rounding(domain)
    places = [float(domain.lower), float(domain.upper), limits.first, limits.last]
    cells = {domain.grid_lower, domain.grid_lower + 1, domain.middle, domain.grid_upper - 1, domain.grid_upper}
    places += [place for cell in cells for place in (cell * step, (cell + 0.5) * step, (cell - 0.5) * step)]
    return EDGES + [value for place in places for value in around(place)]


def computed(domain: Numbers, values: list[float | None], *, may_be_nan: bool = True) -> list[int | None]:
    with duckdb.cursor() as connection:
        connection.register("given", pa.table({"x": pa.array(values, pa.float64())}))
        sql = f"SELECT CAST({render_grid('x', domain, DUCKDB, may_be_nan=may_be_nan)} AS VARCHAR) FROM given"
        return [None if cell is None else int(cell) for (cell,) in connection.execute(sql).fetchall()]


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_the_engine_rounds_to_the_grid_as_the_domain_says(domain):
    values = telling(domain)
    assert computed(domain, values) == [domain.grid(value) for value in values]


@settings(max_examples=60, deadline=None)
@given(
    lower=st.fractions(-(10**6), 10**6, max_denominator=1000),
    span=st.fractions(0, 10**6, max_denominator=1000),
    step=st.fractions(Fraction(1, 10**5), 10**4, max_denominator=10**5),
    values=st.lists(st.floats(), max_size=30),
)
def test_any_bounds_and_any_step_round_alike(lower, span, step, values):
    try:
        domain = Numbers(lower, lower + span, step)
    except ValueError:
        return  # no multiple of the step lies between the bounds
    values = telling(domain) + values
    assert computed(domain, values) == [domain.grid(value) for value in values]


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_without_nan_the_shorter_form_says_the_same(domain):
    values = [value for value in telling(domain) if value == value]  # noqa: PLR0124 - all but NaN
    assert computed(domain, values, may_be_nan=False) == [domain.grid(value) for value in values]


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_even_a_nan_that_should_not_be_there_stays_inside_the_grid(domain):
    (cell,) = computed(domain, [nan], may_be_nan=False)
    assert domain.grid_lower <= cell <= domain.grid_upper


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_between_first_and_last_plain_rounding_stays_inside_the_grid(domain):
    limits, step = find_rounding(domain), float(domain.step)
    reached = [value for value in (limits.first, limits.last) if limits.first <= value <= limits.last]
    assert all(domain.grid_lower <= (value / step + 0.5) // 1 <= domain.grid_upper for value in reached)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_read_back_as_the_same_double(value):
    with duckdb.cursor() as connection:
        ((read, kind),) = connection.execute(
            f"SELECT {double(value, DUCKDB)}, typeof({double(value, DUCKDB)})"
        ).fetchall()
    assert (read, kind) == (value, "DOUBLE")


def test_a_fraction_becomes_its_nearest_double_and_the_last_one_beyond_their_range():
    assert double(Fraction(1, 10), DUCKDB) == "0.1e0"
    assert double(Fraction(-1, 3), DUCKDB) == "(-0.3333333333333333e0)"
    assert double(Fraction(10**400), DUCKDB) == double(float_info.max, DUCKDB)
    assert nearest_double(-Fraction(10**400)) == -float_info.max


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_a_number_cannot_be_written_as_one(value):
    with pytest.raises(ValueError, match="SQL number must be finite"):
        double(value, DUCKDB)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1))
def test_a_name_stays_a_name_whatever_its_letters(name):
    with duckdb.cursor() as connection:
        described = connection.execute(f"SELECT 1 AS {DUCKDB.quote(name)}").description
    assert described[0][0] == name


def test_negative_integers_are_in_parentheses():
    assert (integer(7), integer(-7)) == ("7", "(-7)")
