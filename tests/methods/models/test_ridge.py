"""Ridge regression: its closed form without noise, and sense where least squares has none."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.models.ridge import METHOD
from adomnia.methods.parts.models.least_squares import LeastSquares
from adomnia.privacy.events import Pure
from kit.analyses import analyse, frame
from kit.bits import SeededBits
from kit.products import Simulation

FRAME = frame({"y": (-1, 1), "x": (-1, 1), "z": (-1, 1)}, {})


def sample(n, rng, twins=0.0):
    x = rng.uniform(-1, 1, n)
    z = twins * x + (1 - twins) * rng.uniform(-1, 1, n)
    return {"x": x, "z": z, "y": np.clip(0.4 * x + 0.2 * z + rng.normal(0, 0.2, n), -1, 1)}


def test_with_next_to_no_noise_it_is_the_closed_form():
    data = sample(1000, np.random.default_rng(1))
    analysis = METHOD.build(FRAME, {"formula": "y ~ x + z", "by": (), "penalty": Fraction(50)})
    table = analyse(analysis, Pure(300), data, SeededBits("ridge"))
    columns = np.stack([np.ones(1000), data["x"], data["z"]], axis=1)
    expected = np.linalg.solve(columns.T @ columns + np.diag([0, 50, 50]), columns.T @ data["y"])
    assert table.estimates["estimate"].values == pytest.approx(expected, abs=1e-3)
    assert "The penalty is 50 " in table.notes[0]


def test_a_penalty_of_its_own_follows_the_noise():
    rng = np.random.default_rng(2)
    simulation = Simulation.of("y ~ x + z", FRAME, Pure(1))
    assert simulation.fit(sample(100_000, rng), rng).missing_signal == 0
    assert simulation.fit(sample(100, rng), rng).missing_signal > 0


def test_it_predicts_better_where_columns_are_hardly_apart():
    rng = np.random.default_rng(3)
    simulation = Simulation.of("y ~ x + z", FRAME, Pure(1))
    plain, ridge = [], []
    for _ in range(100):
        data = sample(300, rng, twins=0.9)
        fit = simulation.fit(data, rng)
        penalised = replace(fit, penalty=fit.missing_signal)
        assert np.all(penalised.known)
        points = sample(50, rng, twins=0.9)
        columns = np.stack([np.ones(50), points["x"], points["z"]], axis=1)
        truth = 0.4 * points["x"] + 0.2 * points["z"]
        inverse = np.linalg.pinv(fit.directions.T @ fit.products.matrix @ fit.directions)
        unguarded = fit._units @ inverse @ fit.directions.T @ fit.products.matrix @ fit.response
        plain.append(np.mean((columns @ unguarded - truth) ** 2))
        ridge.append(np.mean((columns @ penalised.coefficients - truth) ** 2))
    assert np.mean(ridge) < np.mean(plain)


def test_its_intervals_cover_the_penalised_coefficients_of_the_data():
    """100 sets of 3 coefficients: at least 265 of 300 are covered but for 1e-6."""
    rng, covered = np.random.default_rng(4), 0
    simulation = Simulation.of("y ~ x + z", FRAME, Pure(1))
    for _ in range(100):
        data = sample(1000, rng)
        fit = LeastSquares(simulation.products(data, rng), 3, penalty=60.0)
        exact = LeastSquares(simulation.products(data, None), 3, penalty=60.0)
        errors = np.sqrt(np.diagonal(fit.covariance(population=False)))
        covered += np.sum(np.abs(fit.coefficients - exact.coefficients) <= 1.96 * errors)
    assert 265 <= covered <= 299
