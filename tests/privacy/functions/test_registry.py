"""Every function of the table is complete, total, and means in the engine what it means in plain Python."""

from __future__ import annotations

import math
from itertools import product

import duckdb
import pytest

from adomnia.engines.duckdb.dialect import DUCKDB
from adomnia.engines.render.constants import double
from adomnia.privacy.expressions import FUNCTIONS as REACHED
from adomnia.privacy.functions.registry import FUNCTIONS
from adomnia.privacy.kinds import Quantity
from kit.reference import MEANINGS
from privacy.functions.samples import CONSTANTS, SAMPLES, TYPES, applications, constant

# On some platforms the engine and Python use different libraries for these: the last bits are theirs.
INEXACT = ("exp", "ln", "log10", "log2", "power")
CASES = [
    pytest.param(*case, id=f"{case[0].name} {' '.join(map(str, case[1]))} {' '.join(map(str, case[2]))}".strip())
    for case in applications()
]


@pytest.fixture(scope="module")
def engine():
    with duckdb.connect(config={"ieee_floating_point_ops": True, "threads": 1}) as connection:
        yield connection


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=lambda function: function.name)
def test_every_row_is_complete_and_says_how_often_it_writes_an_argument(function):
    marks = [f"<{place}>" for place in range(5 if function.arity is None else function.arity)]
    sql = DUCKDB.functions[function.name](*marks)
    assert function.meaning
    assert " -> " in function.signature
    assert all(mark in sql for mark in marks)
    written = [sql.count(mark) for place, mark in enumerate(marks) if place not in function.constants]
    # Engines read NULLIF as a CASE, and BETWEEN as two comparisons.
    guards = round(math.log2(max(written))) + ("NULLIF" in sql)
    assert function.copies == (3 if "BETWEEN" in sql else 2) ** guards


def test_the_table_is_one_and_every_row_has_a_meaning():
    assert REACHED is FUNCTIONS
    assert FUNCTIONS.keys() == MEANINGS.keys()
    assert {function.name for function in FUNCTIONS.values() if function.constants} == CONSTANTS.keys()


def test_no_two_rows_are_called_by_the_same_name():
    names = [name for function in FUNCTIONS.values() for name in function.spellings]
    assert len(names) == len(set(names))
    assert {"POWER", "POW", "UPPER", "YEAR", "CLAMP"} <= set(names)
    assert not {"CAST", "CASE", "DATE_TRUNC"} & set(names)


@pytest.mark.parametrize(("function", "kinds", "constants"), CASES)
def test_the_engine_computes_what_python_does_on_every_value_and_never_fails(engine, function, kinds, constants):
    rows = list(product(*(SAMPLES[type(kind)] for kind in kinds)))
    columns = ", ".join(f"a{place} {TYPES[type(kind)]}" for place, kind in enumerate(kinds))
    engine.execute(f"CREATE OR REPLACE TEMP TABLE samples (place INTEGER, {columns})")
    engine.executemany(
        f"INSERT INTO samples VALUES ({', '.join('?' * (len(kinds) + 1))})", [(at, *row) for at, row in enumerate(rows)]
    )
    parts = [f'"a{place}"' for place in range(len(kinds))] + [
        double(constant(each).lower, DUCKDB) for each in constants
    ]
    sql = DUCKDB.functions[function.name](*parts)
    found, fault = None, None
    try:
        found = engine.execute(f"SELECT {sql} FROM samples ORDER BY place").fetchall()
    except duckdb.Error as error:
        fault = error
    assert fault is None
    for row, (value,) in zip(rows, found, strict=True):
        expected = MEANINGS[function.name](*row, *(float(each) for each in constants))
        assert alike(value, expected, function.name in INEXACT), (row, value, expected)


def alike(value, expected, inexact):
    if isinstance(expected, float) and isinstance(value, float):
        return (
            value == expected
            or (math.isnan(value) and math.isnan(expected))
            or (inexact and math.isclose(value, expected, rel_tol=1e-14))
            or (math.isinf(value) and math.isinf(expected))  # of either sign: no infinity is kept
        )
    return value == expected and type(value) is type(expected)


@pytest.mark.parametrize(("function", "kinds", "constants"), CASES)
def test_no_value_lies_outside_of_the_bounds_that_were_derived(function, kinds, constants):
    """Bounds follow from bounds: what is computed from samples between them keeps to those of the result."""
    for lower, upper in ((-2.5, 7.0), (0.5, 2.5), (0.0, 0.0), (-3.0, -0.5), (-1.0, 709.0)):
        number = Quantity(constant(lower).lower, constant(upper).upper)
        bounded = [number if isinstance(kind, Quantity) else kind for kind in kinds]
        result = function.result(*bounded, *map(constant, constants))
        samples = [[each for each in SAMPLES[type(kind)] if fits(each, lower, upper)] for kind in bounded]
        for row in product(*samples) if isinstance(result, Quantity) else ():
            value = MEANINGS[function.name](*row, *(float(each) for each in constants))
            assert value is None or not math.isfinite(value) or keeps_to(value, result), (row, value)


def fits(value, lower, upper):
    return not isinstance(value, float) or lower <= value <= upper


def keeps_to(value, kind):
    slack = 1e-14 * abs(value)  # a last bit, which is clamped where it is added up
    above = kind.lower is None or value >= kind.lower - slack
    return above and (kind.upper is None or value <= kind.upper + slack)
