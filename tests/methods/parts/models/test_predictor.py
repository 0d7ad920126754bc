"""Linear predictors are expressions that say what NumPy says, of one shape whatever their constants."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from adomnia.errors import Refusal
from adomnia.methods.contract import Factor
from adomnia.methods.models.lm import METHOD
from adomnia.methods.parts.models.design import build_design
from adomnia.methods.parts.models.evidence import Coordinates, Span
from adomnia.methods.parts.models.predictor import (
    LARGEST_COEFFICIENT,
    at_level,
    predict,
    round_coefficient,
    write_predictor,
)
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Pure
from adomnia.privacy.expressions import Call, Column
from adomnia.privacy.keys import Bucket
from adomnia.privacy.kinds import Boolean
from kit.analyses import Arms, analyse, frame
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


FRAME_OF_PREDICTION = frame({"y": (-10, 20), "x": (0, 10), "z": (1, 5)}, {"a": ("p", "q", "r")})


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(1)
    n = 4000
    data = {"x": rng.uniform(0, 10, n), "z": rng.uniform(1, 5, n), "a": rng.choice(list("pq"), n).astype(object)}
    data["y"] = 1 + 0.5 * data["x"] - np.log(data["z"]) + 2.0 * (data["a"] == "q") + rng.normal(0, 1, n)
    analysis = METHOD.build(
        FRAME_OF_PREDICTION, {"formula": "y ~ I(x^2) + x*a + log(z)", "by": (), "inference": "population"}
    )
    return data, analyse(analysis, Pure(200), data, SeededBits("model")).model


def test_they_are_those_of_statsmodels(fitted):
    import statsmodels.formula.api as smf

    data, model = fitted
    rows = [{"x": 3, "z": 2, "a": "q"}, {"X": 9.5, "z": 1, "a": "p"}]
    fit = smf.ols("y ~ I(x**2) + x*a + np.log(z)", pd.DataFrame(data)).fit()
    lowered = pd.DataFrame([{name.lower(): value for name, value in row.items()} for row in rows])
    expected = fit.get_prediction(lowered).summary_frame()[["mean", "mean_ci_lower", "mean_ci_upper"]]
    assert np.array(predict(model, rows)) == pytest.approx(expected.to_numpy(), abs=0.02)


def test_the_model_is_plain_data(fitted):
    _, model = fitted
    again = json.loads(json.dumps(model))
    row = [{"x": 1, "z": 3, "a": "p"}]
    assert predict(again, row) == predict(model, row)
    assert model["kind"] == "lm"


def test_a_row_that_needs_a_coefficient_that_is_not_estimable_has_no_prediction(fitted):
    _, model = fitted
    known, unknown = predict(model, [{"x": 1, "z": 3, "a": "p"}, {"x": 1, "z": 3, "a": "r"}])
    assert known[0] is not None
    assert unknown == (None, None, None)


@pytest.mark.parametrize("kind", ["logit", "poisson"])
def test_links_turn_sums_into_means(kind):
    model = {
        "kind": kind,
        "columns": [{"name": "x", "levels": [], "powers": [["x", False, 1]]}],
        "coefficients": [1.0],
        "covariance": [[0.25]],
    }
    ((value, lower, upper),) = predict(model, [{"x": 2}])
    link = {"logit": lambda t: 1 / (1 + np.exp(-t)), "poisson": np.exp}[kind]
    assert (value, lower, upper) == pytest.approx([link(2), link(2 - 1.96), link(2 + 1.96)], rel=1e-3)
    assert np.all(np.isfinite(np.array(predict(model, [{"x": 1e100}, {"x": -1e100}]), dtype=float)))
    assert predict(model, [{"x": 1e308}]) == [(None, None, None)]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"x": 1, "a": "p"}, "needs z, and row 1 has none"),
        ({"x": "two", "z": 1, "a": "p"}, "needs a number for x"),
        ({"x": 1, "z": 0, "a": "p"}, "a number above zero for z"),
        ({"x": float("nan"), "z": 1, "a": "p"}, "needs a number"),
    ],
)
def test_rows_that_do_not_fit_are_refused(fitted, row, words):
    with pytest.raises(Refusal, match=words):
        predict(fitted[1], [row])


def test_a_confidence_beyond_one_is_an_error(fitted):
    with pytest.raises(ValueError, match="confidence"):
        predict(fitted[1], [], confidence=1.0)


def test_a_level_that_the_model_does_not_know_is_not_taken_for_the_first_one(fitted):
    with pytest.raises(Refusal, match=r"knows no a .Atlantis., which row 2 has\. Fix: use one of p, q, r"):
        predict(fitted[1], [{"x": 1, "z": 3, "a": "p"}, {"x": 1, "z": 3, "a": "Atlantis"}])
