"""Brackets: the cost of all stages together over small databases, what is counted, and what is said of few rows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import log

import numpy as np
import pytest

from adomnia.mechanisms import brackets as module
from adomnia.mechanisms import halving
from adomnia.mechanisms.brackets import Brackets
from adomnia.mechanisms.cuts import ROWS, Pair, Several, cut_pair, cut_several, most_edges
from adomnia.mechanisms.draws import choose
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.halving import MOST_ROWS, levels_of
from adomnia.mechanisms.histograms import Known
from adomnia.noise.discrete import NotDrawableError
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import Histogram, Rows
from adomnia.privacy.sensitivity import Sensitivity
from kit.bits import SeededBits
from kit.brackets import counts_between, drawn, halving_distribution, secret
from kit.quantiles import exact_distribution
from mechanisms.test_halving import databases
from mechanisms.test_quantiles import p_value

HALF = Fraction(1, 2)
NINE = Fraction(9, 10)
THIRDS = (Fraction(1, 4), HALF, Fraction(3, 4))
NINTHS = tuple(Fraction(tenth, 10) for tenth in range(1, 10))
AGE = Column("age", Quantity(Fraction(0), Fraction(4), whole=True), Numbers.integers(0, 4))
PART = Fraction(1, 100)
PAIR = Pair(Fraction(2), Fraction(3, 2), Fraction(1, 3), False, Fraction(0), (25 * PART,), 71 * PART)
OWN = replace(PAIR, farthest=True, own=30 * PART, choosing=(20 * PART,), counting=46 * PART)
SEVERAL = Several((Fraction(1, 5), Fraction(2, 5), Fraction(3, 5)), False, (25 * PART, 25 * PART), 46 * PART)
PLANS = {
    "few rows of one": ((HALF,), None),
    "few rows of nine tenths": ((NINE,), None),
    "a median": ((HALF,), PAIR),
    "nine tenths": ((NINE,), PAIR),
    "a median of its own": ((HALF,), OWN),
    "nine tenths of its own": ((NINE,), OWN),
    "few rows of several": (THIRDS, None),
    "several": ((Fraction(1, 4), HALF), SEVERAL),
}


def choices(mechanism, plan, rows):
    """The exact distribution of the values that are chosen under a plan, by enumeration."""
    if plan is None and len(mechanism.shares) == 1:
        return exact_distribution(mechanism._few._alone, rows)
    if plan is None:
        return halving_distribution(mechanism.shares, rows, mechanism.values, 0, mechanism._few.rate)
    if isinstance(plan, Pair):
        found = {(): 1.0}
        for stage in mechanism._choices(plan):
            one = exact_distribution(stage, rows)
            found = {(*first, *then): chance * its for first, chance in found.items() for then, its in one.items()}
        return found
    return halving_distribution(plan.shares, rows, mechanism.values, 50, mechanism._rate(plan.choosing[0]))


def numbers(mechanism, plan, chosen, rows):
    """The exact numbers that noise is added to once values were chosen, in scales of their noise."""
    if plan is None:
        return []
    scale = mechanism.counting(plan).scale
    if isinstance(plan, Pair):
        (share,), counts = (
            mechanism.shares,
            counts_between(cut_pair(module._order(chosen), plan, mechanism.values), rows),
        )
        across = share.denominator * ((1 - share) * counts[0] - share * counts[-1]) if len(counts) > 1 else 0
        return [
            across / mechanism._noise(plan.counting, mechanism._moved).scale,
            *(count / scale for count in counts[1:-1]),
        ]
    edges = cut_several(chosen, mechanism.values, threes=plan.threes)
    return [count / scale for count in counts_between(edges, rows)]


def worst_loss(mechanism, plan, people):
    """The greatest loss of any outcome of all stages: Laplace noise reaches its bound whatever was chosen before."""
    worst, values = 0.0, mechanism.values
    distributions = {rows: choices(mechanism, plan, rows) for rows in databases(values, 2 + people)}
    for rows, added in product(databases(values, 2), databases(values, people)):
        more = tuple(sorted(rows + added))
        for chosen, chance in distributions[rows].items():
            here, there = numbers(mechanism, plan, chosen, rows), numbers(mechanism, plan, chosen, more)
            counted = sum(abs(one - other) for one, other in zip(here, there, strict=True))
            total = len(added) / mechanism._total.scale
            worst = max(worst, abs(log(distributions[more][chosen] / chance)) + float(counted + total))
    return worst


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("people", [1, 2])
@pytest.mark.no_cover
def test_no_outcome_of_all_stages_is_more_than_exp_epsilon_times_likelier_for_a_neighbour(plan, people):
    """All databases of up to two rows, and all rows that one person may add: two in different places, too."""
    shares, planned = PLANS[plan]
    mechanism = Brackets(shares, 3, Fraction(people), Pure(1))
    assert 0.4 < worst_loss(mechanism, planned, people) <= 1 + 1e-9


@pytest.mark.parametrize("plan", ["a median", "a median of its own", "several", "few rows of one"])
@pytest.mark.no_cover
def test_a_stage_that_is_dearer_than_its_part_is_found_out(plan, monkeypatch):
    shares, planned = PLANS[plan]
    monkeypatch.setattr(module, "ROWS", Fraction(1, 2))
    whole = Brackets(shares, 3, Fraction(1), Pure(1))
    monkeypatch.setattr(
        Brackets,
        "_few",
        property(lambda mechanism: module.Halving(mechanism.shares, mechanism.values, mechanism.rows, mechanism.price)),
    )
    assert worst_loss(whole, planned, 1) > 1.05


@pytest.mark.parametrize("shares", [(HALF,), (NINE,), (Fraction(1, 100),), THIRDS, NINTHS], ids=str)
@pytest.mark.parametrize("price", [Pure(1), Pure(Fraction(1, 50)), Pure(30), Concentrated(Fraction(1, 9))], ids=str)
def test_the_stages_of_every_plan_cost_the_price_together(shares, price):
    """Whatever number of rows was released: parts add up to the price, and each buys what can be drawn."""
    mechanism, kinds = Brackets(shares, 5, Fraction(2), price), set()
    for rows in (2**power // 3 + 1 for power in range(2, 38)):
        plan = mechanism.plan(min(rows, MOST_ROWS))
        kinds.add(None if plan is None else (type(plan), bool(getattr(plan, "own", 0))))
        if plan is not None:
            parts = [getattr(plan, "own", Fraction(0)), *plan.choosing, plan.counting]
            assert sum(parts) + ROWS == 1
            assert all(module._PARTS[0] <= part <= module._PARTS[1] for part in parts if part)
            assert plan.counting >= Fraction(1, 100)
            assert len(plan.choosing) == (1 if len(shares) == 1 else levels_of(plan.shares))
    assert kinds - {None}


@pytest.mark.parametrize("price", [Pure(102), Concentrated(5100)], ids=str)
def test_a_price_whose_plan_cannot_be_made_is_refused_before_anything_is_read(price):
    """The plan needs the noise of the whole price, which is just too sharp here: that of each part is not."""
    with pytest.raises(NotDrawableError):
        Brackets((HALF,), 5, Fraction(1), price)


@pytest.mark.parametrize("shares", [(HALF,), (NINE,), THIRDS], ids=len)
def test_each_stage_costs_its_part(shares):
    mechanism, one = Brackets(shares, 5, Fraction(2), Pure(1)), Sensitivity(l1=2)
    plan = mechanism.plan(100_000)
    assert mechanism._total.event(one).epsilon == ROWS
    assert mechanism.counting(plan).event(one).epsilon == plan.counting
    assert (
        mechanism._noise(plan.counting, mechanism._moved).event(Sensitivity(l1=2 * mechanism._moved)).epsilon
        == plan.counting
    )
    assert [2 * mechanism._rate(part) * one.l1 for part in plan.choosing] == list(plan.choosing)
    assert mechanism._total.event(one).epsilon + mechanism._few.event(one).epsilon == 1


ROWS_HELD = sorted([1, 2, 2, 3, 7, 8, 8, 9] * 40)


@pytest.mark.parametrize("shares", [(HALF,), (NINE,), THIRDS], ids=len)
@pytest.mark.parametrize("times", [1, 40], ids=["few", "many"])
def test_a_release_draws_what_the_price_pays_for_and_no_number_goes_without_noise(shares, times, monkeypatch):
    """Each noise adds seven here: every number that is released has its own, and all draws together cost the price."""
    mechanism, rows, one = (
        Brackets(shares, 11, Fraction(2), Pure(2)),
        sorted(ROWS_HELD[::40] * times),
        Sensitivity(l1=2),
    )
    added, distributions = [], []

    def add(exact, noise, _):
        added.append(noise)
        return [int(each) + 7 for each in exact]

    def spy(chosen_by, *others):
        distributions.append(chosen_by)
        return (yield from choose(chosen_by, *others))

    monkeypatch.setattr(module, "_add", add)
    monkeypatch.setattr(module, "choose", spy)
    monkeypatch.setattr(halving, "choose", spy)
    many, *rest = mechanism.release(secret(mechanism, rows), SeededBits("spy"))[0].tolist()
    assert rest[-1] == len(rows) + 7
    plan, start = mechanism.plan(rest[-1]), 3 * len(shares)
    assert (plan is None) == (times == 1)
    exact = counts_between(rest[start:][:many], rows)
    if len(shares) == 1:
        spent = sum(2 * each.rate * one.l1 for each in distributions)
        moved = [1, mechanism._moved, 1]
        exact = [mechanism._across(exact), *exact[1:-1]]
    else:
        (rate,) = {each.rate * halving.PARTS for each in distributions}
        spent = 2 * rate * one.l1 * levels_of(plan.shares if plan else shares)
        moved = [1, 1]
    if plan is not None:
        counts = rest[start + most_edges(len(shares)) :][: len(exact)]
        assert counts == [each + 7 for each in exact]
        assert len(added) == len(moved)
    costs = [noise.event(Sensitivity(l1=2 * by)).epsilon for noise, by in zip(added, moved, strict=False)]
    assert costs == [2 * ROWS, *[2 * plan.counting for _ in added[1:]]]  # both of the last are of different rows
    assert spent + sum(costs[:2]) == 2


@pytest.mark.parametrize("shares", [(HALF,), (Fraction(1, 4), HALF)], ids=len)
@pytest.mark.parametrize("price", [Pure(2), Concentrated(1)], ids=str)
def test_all_that_was_chosen_and_counted_comes_out_in_its_place(shares, price):
    mechanism = Brackets(shares, 11, Fraction(1), price)
    released = mechanism.release(secret(mechanism, ROWS_HELD, 40), SeededBits("places"))
    assert released.shape == (40, mechanism.width)
    room, start = most_edges(len(shares)), 1 + 3 * len(shares)
    told = 0
    for many, *rest in released.tolist():
        threes, edges, counts = rest[: start - 1], rest[start - 1 :][:many], rest[start - 1 + room : -1]
        assert abs(rest[-1] - len(ROWS_HELD)) < 400
        assert all(-1 <= value < 11 for value in threes)
        assert edges == sorted(edges)
        exact = counts_between(edges, ROWS_HELD)
        if many and len(shares) > 1:
            told += 1
            assert np.abs(np.array(counts[: many + 1]) - exact).max() < 40
        elif many:
            told += 1
            assert abs(counts[0] - (exact[0] - exact[-1])) < 40
            assert np.abs(np.array(counts[1:many]) - exact[1:-1]).max() < 40
    assert told > 20


@pytest.mark.no_cover
def test_quick_draws_are_like_the_mechanism():
    """What is chosen for a pair, against enumeration: false alarms 1e-7."""
    mechanism, pair = Brackets((HALF,), 11, Fraction(1), Pure(2)), PAIR
    stated = {}
    for chosen, chance in choices(mechanism, pair, ROWS_HELD).items():
        stated[tuple(sorted(chosen))] = stated.get(tuple(sorted(chosen)), 0.0) + chance
    fixed = replace(mechanism)
    object.__setattr__(fixed, "plan", lambda _: pair)
    assert p_value(drawn(fixed, ROWS_HELD, 1000, 3)[:, [1, 3]], stated) > 1e-7
    released = fixed.release(secret(mechanism, ROWS_HELD, 400), SeededBits("pair"))
    assert p_value(released[:, [1, 3]], stated) > 1e-7
    room = most_edges(1)
    noise = [
        each[4 + room + 1] - counts_between(each[4 : 4 + each[0]], ROWS_HELD)[1]
        for each in released.tolist()
        if each[0] > 1
    ]
    wanted = 2 * sum(k * mechanism.counting(pair).probability(k) for k in range(1, 200))
    assert np.abs(noise).mean() == pytest.approx(wanted, rel=0.4)


def test_large_grids_are_read_in_part_and_counted_exactly():
    rows, room = np.arange(0, 2**20, 501), most_edges(1)
    mechanism = Brackets((HALF,), 2**20, Fraction(1), Pure(Fraction(10)))
    for many, *rest in mechanism.release(secret(mechanism, rows, 5), SeededBits("large")).tolist():
        assert many >= 5
        exact = counts_between(rest[3 : 3 + many], rows.tolist())
        assert np.abs(np.array(rest[3 + room + 1 :][: many - 1]) - exact[1:-1]).max() < 10


def test_rows_that_lie_evenly_are_supposed_where_they_are():
    for shares in ((HALF,), THIRDS):
        mechanism = Brackets(shares, 2**20, Fraction(1), Pure(1))
        for rows in (0, 60, 200, 100_000):
            many, *rest = mechanism.spread_evenly(rows).tolist()
            assert len(rest) + 1 == mechanism.width
            values = rest[1 : 3 * len(shares) : 3]
            assert values == pytest.approx([float(share) * 2**20 for share in shares], rel=0.1)
            assert (many == 0) == (mechanism.plan(max(rows, 1)) is None)


@pytest.mark.parametrize("shares", [(HALF,), THIRDS], ids=len)
def test_at_a_high_price_no_rows_at_all_are_spread_too(shares):
    mechanism = Brackets(shares, 11, Fraction(1), Pure(100))
    assert mechanism.plan(1) is not None or len(shares) > 1
    assert mechanism.spread_evenly(0).tolist() == mechanism.spread_evenly(1).tolist()


def test_it_is_bought_for_a_histogram_with_either_noise():
    asked = Query(Private("people", 2, (AGE,)), (), Histogram(AGE, AGE.domain, THIRDS, Fraction(19, 20)))
    mechanism = Brackets.for_query(asked, Concentrated(1))
    assert (mechanism.shares, mechanism.values, mechanism.rows, mechanism.shape(asked)) == (
        THIRDS,
        5,
        2,
        (mechanism.width,),
    )
    assert isinstance(mechanism.usual_counting, DiscreteGaussian)
    with pytest.raises(TypeError, match="Histogram"):
        Brackets.for_query(Query(Private("people", 2, (AGE,)), (), Rows()), Pure(1))


def test_counting_asks_for_the_buckets_that_edges_lie_in():
    mechanism, rows = Brackets(THIRDS, 2**12, Fraction(1), Pure(100)), np.array([4, 5, 5, 9, 4000])
    known = Known(2**12, np.bincount(rows >> 2, minlength=2**10))
    counting = mechanism._count(SEVERAL, [5, 8, 100], known, SeededBits("unread"))
    assert next(counting) == [1]  # 8 and 100 begin a bucket
    known.refine(np.array([[4, 5], [1, 2]]), [1])
    with pytest.raises(StopIteration) as end:
        next(counting)
    assert end.value.value == pytest.approx([1, 2, 1, 1], abs=1)
