"""Scores and information in coordinates of a design, and the noise in them."""

from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.parts.models.design import build_design, evaluate_basis
from adomnia.methods.parts.models.evidence import Coordinates, Evidence, Span, shorten
from adomnia.methods.parts.models.weighted_sums import NoisySums
from kit.analyses import frame

DESIGN = build_design("y ~ a + a:b + city", frame({"y": (0, 1), "a": (0, 10), "b": (5, 7)}, {"city": ("A", "B")}))
COORDINATES = Coordinates(DESIGN, tuple(map(Span.of, DESIGN.numbers)))
RNG = np.random.default_rng(3)


ROWS = evaluate_basis(
    COORDINATES.basis, RNG.uniform(-1, 1, (2, 500)), [RNG.integers(0, 2, 500)], 500
)  # of which sums are made


def evidence(rows, noise):
    """What is told by so many rows like those, with such noise in every sum."""
    size, pairs = len(COORDINATES.basis), len(COORDINATES.pairs)
    products = ROWS.T @ ROWS * rows / len(ROWS)
    values = np.zeros(pairs + 1)
    values[COORDINATES.places] = products
    sums = NoisySums(np.ones(size), np.eye(size))
    return Evidence(COORDINATES, sums, NoisySums(values[:-1], noise * np.eye(pairs)))


def test_coordinates_lead_to_the_columns_and_back():
    assert COORDINATES.to_columns @ COORDINATES.from_columns == pytest.approx(np.eye(COORDINATES.size))
    middles, halves = ([float(getattr(each, name)) for each in COORDINATES.ranges] for name in ("middle", "half"))
    columns = DESIGN.transformation(middles, halves)
    assert COORDINATES.of_design @ COORDINATES.from_columns == pytest.approx(columns)


def test_a_range_is_narrowed_within_itself():
    assert Span(Fraction(5), Fraction(5)).narrow(-0.5, 3.0) == Span(Fraction(25, 4), Fraction(15, 4))


def test_the_noise_of_information_times_a_step_is_that_of_its_sums():
    """20,000 draws: each variance within 10%, 10 standard deviations; false alarms below 1e-20."""
    found = evidence(100.0, 1.0)
    step = RNG.normal(size=COORDINATES.size)
    draws = RNG.normal(size=(len(COORDINATES.pairs), 20_000))
    moved = np.einsum("ijk,j->ik", COORDINATES.square(draws), step)
    expected = found.information_noise(step)
    assert np.cov(moved) == pytest.approx(expected, abs=0.1 * np.abs(expected).max())
    assert np.cov(moved) != pytest.approx(2 * expected, abs=0.1 * np.abs(expected).max())


def test_coefficients_are_carried_where_information_is_above_its_noise():
    assert evidence(1e6, 1.0).identified.all()
    assert not evidence(0.1, 1.0).identified.any()


def test_what_has_no_information_is_supposed_to_have_some():
    found = evidence(-5.0, 1.0)
    assert np.linalg.eigvalsh(found.steady).min() > 0
    assert np.isfinite(found.newton()).all()


def test_steps_are_shortened_to_what_can_be_believed():
    step = np.full(COORDINATES.size, 100.0)
    squares = np.eye(COORDINATES.size)
    assert np.linalg.norm(shorten(step, squares)) == pytest.approx(3)
    assert shorten(step / 1e4, squares) == pytest.approx(step / 1e4)
