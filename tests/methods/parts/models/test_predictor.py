"""Linear predictors are expressions that say what NumPy says, of one shape whatever their constants."""

from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.contract import Factor
from adomnia.methods.parts.models.design import build_design
from adomnia.methods.parts.models.evidence import Coordinates, Span
from adomnia.methods.parts.models.predictor import LARGEST_COEFFICIENT, at_level, round_coefficient, write_predictor
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Call, Column
from adomnia.privacy.keys import Bucket
from adomnia.privacy.kinds import Boolean
from kit.analyses import Arms, frame
from kit.bits import SeededBits

FRAME = frame({"y": (0, 1), "a": (0, 10), "b": (-2, 4)}, {"city": ("A", "B", "C")})
DATA = {
    "y": np.zeros(4),
    "a": np.array([0.0, 5.0, 10.0, 99.0]),  # the last beyond its bounds
    "b": np.array([1.0, -2.0, 4.0, 0.5]),
    "city": np.array(["A", "B", "C", "B"], dtype=object),
}
DESIGN = build_design("y ~ a*city + b", FRAME)


def write(coefficients, offset=Fraction(0)):
    coordinates = Coordinates(DESIGN, tuple(map(Span.of, DESIGN.numbers)))
    return write_predictor(DESIGN, [each.value for each in coordinates.numbers], offset, coefficients)


def test_they_add_up_columns_times_coefficients():
    coefficients = [Fraction(k - 3, 4) for k in range(len(DESIGN.basis))]
    a, b = np.clip(DATA["a"], 0, 10) / 5 - 1, (DATA["b"] - 1) / 3
    expected = np.full(4, 0.5)
    for (levels, (i, j)), coefficient in zip(DESIGN.basis, coefficients, strict=True):
        inside = np.ones(4) if not levels else DATA["city"] == "ABC"[levels[0][1]]
        expected = expected + float(coefficient) * inside * a**i * b**j
    assert Arms(DATA, SeededBits(0)).value(write(coefficients, Fraction(1, 2))) == pytest.approx(expected)


def test_their_shape_does_not_depend_on_constants():
    def shape(expression):
        return (expression.function, *map(shape, expression.arguments)) if isinstance(expression, Call) else ()

    size = len(DESIGN.basis)
    assert shape(write([Fraction(-3)] * size)) == shape(write([Fraction(0)] * size, Fraction(7)))


def test_coefficients_are_on_a_grid_and_within_limits():
    assert round_coefficient(1e9) == LARGEST_COEFFICIENT
    assert round_coefficient(-1e9) == -LARGEST_COEFFICIENT
    assert round_coefficient(0.1).denominator <= 2**30


@pytest.mark.parametrize(
    ("key", "held", "expected"),
    [
        (Column("m", Boolean()), [1.0, 0.0], [[0, 1], [1, 0]]),
        (Bucket(FRAME.numbers["b"].value, Numbers(-2, 4, 3), FRAME.numbers["b"].value), [-3.0, 9.0], [[1, 0], [0, 1]]),
        (FRAME.factors["city"].key, ["B", "A"], [[0, 1], [1, 0]]),
    ],
)
def test_a_level_is_a_condition_on_whatever_a_factor_is_made_of(key, held, expected):
    values = np.array(held, dtype=object if isinstance(held[0], str) else float)
    name = key.value.name if isinstance(key, Bucket) else key.name
    arms = Arms({name: values}, SeededBits(0))
    found = [arms.value(at_level(Factor(name, key), level)).tolist() for level in (0, 1)]
    assert found == expected
