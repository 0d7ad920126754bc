"""Predictions on public rows, as statsmodels makes them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from adomnia.errors import Refusal
from adomnia.methods.models.lm import METHOD
from adomnia.methods.parts.models.prediction import predict
from adomnia.privacy.events import Pure
from kit.analyses import analyse, frame
from kit.bits import SeededBits

FRAME = frame({"y": (-10, 20), "x": (0, 10), "z": (1, 5)}, {"a": ("p", "q", "r")})


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(1)
    n = 4000
    data = {"x": rng.uniform(0, 10, n), "z": rng.uniform(1, 5, n), "a": rng.choice(list("pq"), n).astype(object)}
    data["y"] = 1 + 0.5 * data["x"] - np.log(data["z"]) + 2.0 * (data["a"] == "q") + rng.normal(0, 1, n)
    analysis = METHOD.build(FRAME, {"formula": "y ~ I(x^2) + x*a + log(z)", "by": (), "inference": "population"})
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


def test_a_row_that_needs_a_coefficient_without_reply_has_no_prediction(fitted):
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
