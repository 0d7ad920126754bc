from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.contract import BadArgument
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.losses import covers, loss
from kit.analyses import Arms
from kit.bits import SeededBits
from kit.describing import build
from kit.proposing import DATA, DELTA, FRAME, ask, ask_often

EPSILON, RHO, KNOWN = Pure(1), Concentrated(0.1), Fraction(8)


def plain(values):
    return float(np.quantile(values, 0.5, method="inverted_cdf"))


@pytest.mark.parametrize("distribution", ["normal", "heavy tails", "zeros", "whole numbers"])
@pytest.mark.parametrize("price", [EPSILON, RHO], ids=["epsilon", "rho"])
def test_with_a_known_scale_it_replies_and_its_interval_holds(distribution, price):
    """Too few hits of 40 are seen at a false-alarm rate of 1e-6."""
    replies = ask_often("ptr_median", plain, distribution, 4000, 40, price, scale=KNOWN)
    assert replies.silent <= 0.1
    replies.check_coverage()
    assert replies.width < 15


@pytest.mark.parametrize("distribution", ["normal", "whole numbers"])
def test_a_scale_that_is_not_known_is_found_first(distribution):
    replies = ask_often("ptr_median", plain, distribution, 20_000, 25, EPSILON)
    assert replies.silent <= 0.4
    replies.check_coverage()
    assert replies.width < 15


@pytest.mark.soak
@pytest.mark.parametrize("distribution", ["normal", "heavy tails", "zeros", "whole numbers", "two ends"])
def test_coverage_given_a_reply_is_near_what_is_promised(distribution):
    replies = ask_often("ptr_median", plain, distribution, 4000, 2000, EPSILON, scale=KNOWN)
    assert 0.92 <= replies.hits / len(replies.found) <= 0.985


def test_an_interval_that_forgets_the_noise_is_found_out():
    replies = ask_often("ptr_median", plain, "normal", 4000, 60, EPSILON, scale=KNOWN)
    found = replies.found.copy()
    found[:, 0], found[:, 2] = (found[:, 1] + (found[:, end] - found[:, 1]) / 5 for end in (0, 2))
    with pytest.raises(AssertionError):
        replace(replies, found=found).check_coverage()


@pytest.mark.parametrize("rows", [0, 1, 5])
@pytest.mark.parametrize("scale", [None, KNOWN])
def test_tiny_data_has_no_reply_and_is_told_why(rows, scale):
    table = ask("ptr_median", EPSILON, DATA["normal"](np.random.default_rng(1), rows), 3, scale=scale)
    assert np.isnan(table.estimates["estimate"].values).all()
    assert table.estimates["estimate"].interval(0.95, 1)[0].tolist() == [-np.inf]
    assert any("There is no reply, and it was charged" in note for note in table.notes)
    assert any("A scale that is known" in note for note in table.notes) == (scale is None)


def test_a_gap_in_the_middle_is_replied_to_only_where_the_median_is_far_from_it():
    """Of 4,000 rows at two ends, the numbers on both sides differ by about 60 at random: seldom by enough."""
    replies = ask_often("ptr_median", plain, "two ends", 4000, 40, EPSILON, scale=KNOWN)
    assert 0.1 < replies.silent < 0.9
    replies.check_coverage()


def spending(statistic, price, values):
    """The table, and the events of all that was measured."""
    arms, flow, events = Arms({"x": values, "k": values}, SeededBits("cascade")), statistic.steps(price), []
    asked = next(flow)
    while True:
        events += [each.mechanism.event(each.query.sensitivity()) for each in asked]
        try:
            asked = flow.send(tuple(map(arms.measure, asked)))
        except StopIteration as end:
            return end.value, events


@pytest.mark.parametrize("price", [EPSILON, RHO], ids=["epsilon", "rho"])
@pytest.mark.parametrize("attempts", [1, 2, 4])
@pytest.mark.parametrize("scale", [None, KNOWN, Fraction(1, 50)])
def test_no_more_attempts_are_made_than_were_paid_and_all_of_them_cost_the_price(price, attempts, scale):
    asked = build("ptr_median", FRAME, column=FRAME.numbers["x"], scale=scale, attempts=attempts).with_delta(DELTA)
    for values in (np.zeros(0), DATA["normal"](np.random.default_rng(5), 3000)):
        table, events = spending(asked, price, values)
        assert covers(asked.event(price), Composed(events))
        made = len(events) - 1 - (scale is None)
        assert made <= attempts
        if np.isnan(table.estimates["estimate"].values[0]) and (scale is not None or made):
            assert made == attempts
            spent, paid = loss(Composed(events)), loss(asked.event(price))
            assert spent.delta == paid.delta
            assert (spent.epsilon, spent.rho)[price is RHO] == (paid.epsilon, paid.rho)[price is RHO]
    assert any("those that were not needed are paid too" in note for note in table.notes) == (attempts > 1)


def test_a_coarser_attempt_replies_where_the_scale_was_much_too_small():
    values = DATA["normal"](np.random.default_rng(6), 20_000)
    wrong = Fraction(1, 2)  # it is about 8
    once = [ask("ptr_median", Pure(2), values, seed, scale=wrong) for seed in range(10)]
    more = [ask("ptr_median", Pure(2), values, seed, scale=wrong, attempts=3) for seed in range(10)]
    silent = [sum(bool(np.isnan(each.estimates["estimate"].values[0])) for each in tables) for tables in (once, more)]
    assert silent[0] >= 9
    assert silent[1] <= 2


def test_what_is_rehearsed_has_all_attempts_and_costs_the_price():
    for scale in (None, KNOWN):
        asked = build("ptr_median", FRAME, column=FRAME.numbers["x"], scale=scale, attempts=3).with_delta(DELTA)
        measures = asked.planned_measures(EPSILON)
        assert len(measures) == 4 + (scale is None)
        bounds = [each.query.aggregate.bound for each in measures[-3:]]
        assert bounds == [bounds[0], 4 * bounds[0], 16 * bounds[0]]
        spent = Composed(each.mechanism.event(each.query.sensitivity()) for each in measures)
        assert loss(spent).epsilon == 1
        assert covers(asked.event(EPSILON), spent)


def test_whole_numbers_have_whole_ends():
    values = np.clip(np.round(np.random.default_rng(7).normal(40, 6, 4000)), 0, 100)
    table = ask("ptr_median", Pure(4), values, 1, column="k", scale=KNOWN)
    (low,), (high,) = table.estimates["estimate"].interval(0.95, 1)
    assert (low % 1, high % 1, table.estimates["estimate"].values[0] % 1) == (0, 0, 0)
    assert low <= 40 <= high


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1)])
def test_a_scale_that_is_none_is_refused(scale):
    with pytest.raises(BadArgument, match="scale"):
        build("ptr_median", FRAME, column=FRAME.numbers["x"], scale=scale)
