import numpy as np
import pytest

from adomnia.methods.synthesis.graphical.descent import descend


def steep(size=40):
    """A quadratic whose curvatures differ by a factor of ten thousand, and its minimum."""
    generator = np.random.default_rng(0)
    turn, _ = np.linalg.qr(generator.normal(size=(size, size)))
    matrix = turn @ np.diag(np.logspace(0, 4, size)) @ turn.T
    minimum = generator.normal(size=size)
    return matrix, minimum


def test_the_minimum_of_a_quadratic_is_reached():
    matrix, minimum = steep()
    found = descend(
        lambda place: matrix @ (place - minimum),
        np.zeros(40),
        np.diag(matrix).copy(),
        lambda slopes: float(slopes @ slopes) < 1e-16,
        2_000,
    )
    np.testing.assert_allclose(found.place, minimum, atol=1e-6)
    assert found.gradients < 2_000


def test_a_wrong_guess_of_the_curvature_costs_steps_and_not_the_minimum():
    target = np.array([3.0, -20.0, 0.5])

    def find_slopes(place):
        return np.exp(np.clip(place, None, 50)) - np.exp(target) + 1e-9 * place

    found = descend(find_slopes, np.zeros(3), np.full(3, 1e-4), lambda slopes: abs(slopes).max() < 1e-10, 500)
    np.testing.assert_allclose(np.exp(found.place), np.exp(target), atol=1e-7)


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_no_more_gradients_are_computed_than_allowed(most):
    matrix, minimum = steep()
    calls = []

    def find_slopes(place):
        calls.append(1)
        return matrix @ (place - minimum)

    found = descend(find_slopes, np.zeros(40), np.ones(40), lambda slopes: False, most)
    assert len(calls) == found.gradients <= most


def test_a_last_step_that_is_too_long_is_not_taken():
    found = descend(lambda place: 100 * place, np.ones(1), np.full(1, 1e-3), lambda slopes: False, 2)
    assert found.place.tolist() == [1.0]
