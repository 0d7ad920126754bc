from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf

import numpy as np
import pytest

from adomnia.mechanisms.envelopes import LogRange, OrderStatistic, ValueCounts
from adomnia.mechanisms.propose_test_release import ProposeTestRelease
from adomnia.methods.parts.robust.proposals import (
    NORMAL_QUARTILES,
    QUARTILES,
    Allowance,
    cascade,
    parallel,
    propose_levels,
    propose_width,
    subroutine,
)
from adomnia.privacy.events import Approximate, Composed, Concentrated, Pure
from adomnia.privacy.losses import covers, loss
from adomnia.statistics.contract import Measured
from kit.analyses import frame
from kit.describing import build

SIZE = 1 << 20
PRICES = [Approximate(1, 1e-6), Approximate(1, 1e-9), Concentrated(Fraction(1, 2), 1e-6)]
FRAME = frame({"x": (0, 100)})
ASKED = build("ptr_iqr", FRAME, column=FRAME.numbers["x"])
SPENT = [Allowance(Pure(1), Fraction(1, 10**6)), Allowance(Concentrated(Fraction(1, 3)), Fraction(1, 10**6))]
every_allowance = pytest.mark.parametrize("allowance", SPENT, ids=["epsilon", "rho"])


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


def routine(bound, rounds=1):
    """Proposes a bound so many times, each for an equal part, and returns the last reply."""

    def flow(allowance):
        for _ in range(rounds):
            price = (allowance * Fraction(1, rounds)).whole
            (found,) = yield (ASKED.propose(price, (Fraction(1, 2),), bound),)
        return int(found.values[0])

    return flow


def run(flow, replies):
    """The events of all that a flow asks for, how many there are in each round, and what it returns."""
    events, rounds, answers = [], [], iter(replies)
    asked = next(flow)
    while True:
        events += [each.mechanism.event(each.query.sensitivity()) for each in asked]
        rounds.append(len(asked))
        try:
            asked = flow.send(tuple(Measured(np.array([next(answers), 0]), each.mechanism) for each in asked))
        except StopIteration as end:
            return Composed(events), rounds, end.value


def is_all_of(event, allowance):
    """Whether an event costs the allowance, to the last bit, and no more."""
    spent, offered = loss(event), loss(allowance.whole)
    if isinstance(allowance.price, Pure):
        return (spent.epsilon, spent.delta) == (offered.epsilon, offered.delta)
    return (spent.rho, spent.delta) == (offered.rho, offered.delta)


@every_allowance
def test_a_subroutine_and_what_follows_cost_the_allowance(allowance):
    for reply in (0, 1):
        flow = subroutine(allowance, Fraction(2, 5), routine(3), lambda found: routine(1 + found))
        event, rounds, _ = run(flow, [reply, 1])
        assert rounds == [1, 1]
        assert is_all_of(event, allowance)


def test_what_follows_a_subroutine_may_depend_on_what_it_found():
    asked = []
    flow = subroutine(SPENT[0], Fraction(1, 2), routine(3), lambda found: asked.append(found) or routine(1))
    assert run(flow, [1, 0])[2] == 0
    assert asked == [1]


@every_allowance
@pytest.mark.parametrize("replies", list(product((0, 1), repeat=3)), ids=str)
def test_a_cascade_never_costs_more_than_its_allowance_and_all_of_it_without_a_reply(allowance, replies):
    flow = cascade(allowance, [routine(4**number) for number in range(3)], bool)
    event, rounds, found = run(flow, replies)
    made = replies.index(1) + 1 if 1 in replies else 3
    assert rounds == [1] * made
    assert found == (1 in replies)
    assert covers(allowance.whole, event)
    assert is_all_of(event, allowance) == (made == 3)
    assert is_all_of(event, allowance * Fraction(made, 3))


@every_allowance
def test_routines_side_by_side_share_rounds_and_cost_the_allowance(allowance):
    """Of different lengths: the shorter ones end, and the others go on."""
    event, rounds, found = run(parallel(allowance, [routine(2), routine(3, rounds=3), routine(4)]), [1, 1, 0, 1, 0])
    assert rounds == [3, 1, 1]
    assert found == [1, 0, 0]
    assert is_all_of(event, allowance)


@every_allowance
def test_routines_nest(allowance):
    inner = lambda given: subroutine(given, Fraction(1, 3), routine(2), lambda _: routine(5))  # noqa: E731
    event, rounds, _ = run(parallel(allowance, [inner, inner]), [0] * 4)
    assert rounds == [2, 2]
    assert is_all_of(event, allowance)


def test_a_routine_that_asks_for_nothing_costs_nothing():
    def silent(_):
        yield from ()
        return 7

    event, rounds, found = run(parallel(SPENT[0], [silent, routine(2)]), [1])
    assert (rounds, found) == ([1], [7, 1])
    assert loss(event).epsilon == Fraction(1, 2)


def test_an_allowance_is_divided_with_its_delta():
    assert (SPENT[0] * Fraction(1, 4)).whole == Approximate(Fraction(1, 4), Fraction(1, 4 * 10**6))
