"""Every function of the table is complete, and its bounds hold. What engines make of it: contracts/test_engines.py."""

from __future__ import annotations

import math
from itertools import product

import pytest

from adomnia.privacy.expressions import FUNCTIONS as REACHED
from adomnia.privacy.functions.registry import FUNCTIONS
from adomnia.privacy.kinds import Quantity
from kit.reference import MEANINGS
from privacy.functions.samples import CONSTANTS, SAMPLES, applications, constant

CASES = [
    pytest.param(*case, id=f"{case[0].name} {' '.join(map(str, case[1]))} {' '.join(map(str, case[2]))}".strip())
    for case in applications()
]


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=lambda function: function.name)
def test_every_row_is_complete(function):
    assert function.meaning
    assert " -> " in function.signature


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
def test_no_value_lies_outside_of_the_bounds_that_were_derived(function, kinds, constants):
    """Bounds follow from bounds: what is computed from samples between them keeps to those of the result."""
    for lower, upper in ((-2.5, 7.0), (0.5, 2.5), (0.0, 0.0), (-3.0, -0.5), (-1.0, 709.0)):
        number = Quantity(constant(lower).lower, constant(upper).upper)
        bounded = [number if isinstance(kind, Quantity) else kind for kind in kinds]
        result = function.result(*bounded, *map(constant, constants))
        samples = [[each for each in SAMPLES[type(kind)] if fits(each, lower, upper)] for kind in bounded]
        for row in product(*samples) if isinstance(result, Quantity) else ():
            value = MEANINGS[function.name](
                *row, *(each if isinstance(each, str) else float(each) for each in constants)
            )
            assert value is None or not math.isfinite(value) or keeps_to(value, result), (row, value)


def fits(value, lower, upper):
    return not isinstance(value, float) or lower <= value <= upper


def keeps_to(value, kind):
    slack = 1e-14 * abs(value)  # a last bit, which is clamped where it is added up
    above = kind.lower is None or value >= kind.lower - slack
    return above and (kind.upper is None or value <= kind.upper + slack)
