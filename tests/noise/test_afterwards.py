"""Randomness after the noise follows from released numbers, and from nothing else."""

from __future__ import annotations

import numpy as np

from adomnia.noise.afterwards import follow

ONE, TWO = np.array([1, -2, 3]), np.array([[7], [8]])


def drawn(*released, purpose="test"):
    return follow(released, purpose).normal(size=4).tolist()


def test_the_same_numbers_for_the_same_purpose_give_the_same_draws():
    assert drawn(ONE, TWO) == drawn(ONE.copy(), TWO.copy())


def test_other_numbers_shapes_orders_or_purposes_give_others():
    others = [
        drawn(TWO, ONE),
        drawn(ONE),
        drawn(ONE, TWO.ravel()),
        drawn(ONE + 1, TWO),
        drawn(ONE, TWO, purpose="other"),
    ]
    every = [*others, drawn(ONE, TWO)]
    assert len({tuple(each) for each in every}) == len(every)


def test_integers_that_64_bits_do_not_hold_are_told_apart():
    large = np.array([2**80, 1], dtype=object)
    assert drawn(large) != drawn(large + 1)


def test_draws_are_spread_as_they_should_be():
    found = follow([ONE], "spread").random(100_000)
    assert abs(found.mean() - 0.5) < 6 / np.sqrt(12 * 100_000)
