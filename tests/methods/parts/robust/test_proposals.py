from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest

from adomnia.mechanisms.envelopes import LogRange, OrderStatistic, ValueCounts
from adomnia.mechanisms.propose_test_release import ProposeTestRelease
from adomnia.methods.parts.robust.proposals import NORMAL_QUARTILES, QUARTILES, propose_levels, propose_width
from adomnia.privacy.events import Approximate, Composed, Concentrated, Pure
from kit.analyses import frame
from kit.describing import build

SIZE = 1 << 20
PRICES = [Approximate(1, 1e-6), Approximate(1, 1e-9), Concentrated(Fraction(1, 2), 1e-6)]
FRAME = frame({"x": (0, 100)})


def normal_counts(rows, seed, deviation=SIZE / 30):
    values = np.random.default_rng(seed).normal(SIZE / 2, deviation, rows).clip(0, SIZE - 1).astype(np.int64)
    return ValueCounts.of(SIZE, *np.unique(values, return_counts=True))


@pytest.mark.parametrize("price", PRICES, ids=["epsilon", "small delta", "rho"])
@pytest.mark.parametrize("rows", [3000, 30_000])
def test_normal_data_is_seldom_left_without_a_reply(price, rows):
    """P[no reply] averaged over 40 samples is at most 3%; a bound of a third of the size is far above."""
    bound, ratio = propose_levels(SIZE, 1, rows, price)
    width = propose_width(SIZE, 1, rows, price, NORMAL_QUARTILES * SIZE / 30)
    for statistic, proposed in (
        (LogRange(*QUARTILES, SIZE, ratio), bound),
        (OrderStatistic(Fraction(1, 2), SIZE), width),
    ):
        silent = [silence(ProposeTestRelease(statistic, proposed, 1, price), rows, seed) for seed in range(40)]
        assert np.mean(silent) <= 0.03
        narrow = ProposeTestRelease(statistic, max(1, proposed // 3), 1, price)
        assert np.mean([silence(narrow, rows, seed) for seed in range(5)]) > 0.2


def silence(mechanism, rows, seed):
    """P[no reply], from the exact distance."""
    short = mechanism.threshold - mechanism.distance(normal_counts(rows, seed))
    rate = float(1 / mechanism.testing.scale)
    above = lambda k: np.exp(-rate * k) / (1 + np.exp(-rate))  # noqa: E731 - P[noise >= k] for k >= 1
    return 1 - above(short + 1) if short >= 0 else above(-short)


@pytest.mark.parametrize("rows", [1, 50, 1000, 10**6, 10**12])
@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("size", [1, 2, 101, SIZE])
def test_proposals_are_made_for_any_number_of_rows_and_any_grid(rows, price, size):
    bound, ratio = propose_levels(size, 2, rows, price)
    assert 1 < ratio <= 2
    ProposeTestRelease(LogRange(*QUARTILES, size, ratio), bound, 2, price)
    for scale in (0.0, 1.0, 1e300, inf):  # scale => 1e30 in steps of 1e-290 is no double any more
        width = propose_width(size, 2, rows, price, scale)
        ProposeTestRelease(OrderStatistic(Fraction(1, 2), size), width, 2, price)


def test_no_bound_is_proposed_whose_noise_would_say_nothing():
    price = Approximate(1, 1e-6)
    bound, ratio = propose_levels(SIZE, 1, 100.0, price)
    noise = ProposeTestRelease(LogRange(*QUARTILES, SIZE, ratio), bound, 1, price).adding
    assert float(ratio) ** noise.interval(0.95).half_width < 40
    width = propose_width(SIZE, 1, 100.0, price, SIZE / 4)
    noise = ProposeTestRelease(OrderStatistic(Fraction(1, 2), SIZE), width, 1, price).adding
    assert noise.interval(0.95).half_width < SIZE / 3


@pytest.mark.parametrize("name", ["ptr_iqr", "ptr_median"])
def test_the_event_has_the_delta_that_was_named_and_none_is_made_up(name):
    asked = build(name, FRAME, column=FRAME.numbers["x"])
    assert asked.needs_delta
    with pytest.raises(TypeError, match="delta must be named by the question, got None"):
        asked.event(Pure(1))
    told = asked.with_delta(Fraction(1, 10**7))
    assert told.event(Pure(1)) == Composed((Approximate(1, Fraction(1, 10**7)),))
    assert told.event(Concentrated(1)) == Composed((Concentrated(1, Fraction(1, 10**7)),))
