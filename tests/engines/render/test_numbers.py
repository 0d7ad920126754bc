from __future__ import annotations

from fractions import Fraction
from math import inf, nan, nextafter
from sys import float_info

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.render.numbers import double, find_rounding, integer, nearest_double, render_grid
from adomnia.privacy.domains import Numbers

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
