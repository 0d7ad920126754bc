"""Functions of several rows of an answer: what they are, and how often their intervals hold what they would be."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.plans.formulas import Formula, Order, WindowFunction, may_be_null
from adomnia.plans.intervals import estimate_term
from adomnia.plans.plan import Output, Plan, RowFilter, RowLimit
from adomnia.plans.windows import WindowedCells
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Text
from adomnia.sql.lower import lower
from adomnia.statistics.contract import Estimate, Measured
from adomnia.statistics.one_round import in_steps
from sql.hospital import HOSPITAL

TRIALS = 4000
LEAST = 0.932  # of 4,000 intervals of 95%, fewer hold the truth with a probability below 1e-6
TRIAL = Column("trial", Text(tuple(f"t{place}" for place in range(TRIALS))))
GROUP = Column("g", Text(("a", "b", "c", "d", "e")))
(N,) = lower("SELECT COUNT(*) FROM people", HOSPITAL).statistics
NOISES = {"laplace": DiscreteLaplace(Fraction(3)), "gaussian": DiscreteGaussian(Fraction(20))}
TRUTHS = {
    "nothing": (0, 0, 0, 0, 0),
    "ties": (40, 40, 40, 40, 40),
    "few": (0, 1, 2, 3, 4),
    "plenty": (100, 250, 90, 400, 1000),
    "one": (0, 0, 0, 0, 500),
}


def draw(noise, rng):
    size = (TRIALS, 5)
    if isinstance(noise, DiscreteLaplace):
        share = 1 - np.exp(-1 / float(noise.scale))
        return rng.geometric(share, size) - rng.geometric(share, size)
    return np.rint(rng.normal(0, float(noise.variance) ** 0.5, size)).astype(np.int64)


def counted(values, noise):
    return {N: replace(in_steps(Measured(values, noise), Fraction(1), ""), unsigned=True)}


def known(values):
    """The same without noise."""
    found = values.astype(np.float64)
    return {N: Estimate(found, lambda *_: (found, found), "", whole=True)}


def total(function="sum", term=N, stage=0, keys=(TRIAL,)):
    return WindowFunction(function, (term,), keys, stage=stage)


def rank(function, stage=0, descending=True):
    return WindowFunction(function, (), (TRIAL,), (Order(N, descending),), stage)


MANY = Formula(">", (N, Fraction(30)))
TERMS = {
    "share": (Formula("/", (N, total())), ()),
    "total": (total(), ()),
    "mean": (total("avg"), ()),
    "far from the mean": (Formula("-", (N, total("avg"))), ()),
    "least": (total("min"), ()),
    "greatest": (total("max"), ()),
    "share of the greatest": (Formula("/", (N, Formula("greatest", (total("max"), Fraction(1))))), ()),
    "rank": (rank("rank"), ()),
    "dense rank": (rank("dense_rank", descending=False), ()),
    "row number": (rank("row_number"), ()),
    "total of the chosen": (total(stage=1), (RowFilter(MANY),)),
    "mean of the chosen": (total("avg", stage=1), (RowFilter(MANY),)),
    "number of the chosen": (WindowFunction("count", (), (TRIAL,), stage=1), (RowFilter(MANY),)),
    "rank among the chosen": (rank("rank", stage=1), (RowFilter(MANY),)),
    "total of roots": (total("sum", Formula("sqrt", (N,))), ()),
    "case": (Formula("case", (MANY, Formula("round", (Formula("/", (N, Fraction(7))), Fraction(0))), N)), ()),
    "first root": (Formula("coalesce", (Formula("ln", (N,)), Formula("negative", (N,)))), ()),
    "square": (Formula("power", (Formula("-", (N, Fraction(3))), Fraction(2))), ()),
    "within": (Formula("least", (Formula("greatest", (N, Fraction(0))), Fraction(95))), ()),
    "unless zero": (Formula("nullif", (Formula("abs", (N,)), Fraction(0))), ()),
}


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize(("truth", "noise"), [(truth, "laplace") for truth in TRUTHS] + [("few", "gaussian")])
def test_intervals_hold_what_the_exact_rows_would_give(name, truth, noise):
    term, choices = TERMS[name]
    plan = Plan(None, (TRIAL, GROUP), (Output("x", term),), inner=choices)
    exact = np.broadcast_to(np.array(TRUTHS[truth]), (TRIALS, 5))
    rng = np.random.default_rng(len(name) + len(truth))
    noisy = WindowedCells(plan, counted(exact + draw(NOISES[noise], rng), NOISES[noise]))
    wanted = WindowedCells(plan, known(exact)).values_of(term).reshape(TRIALS, 5)
    lower, upper = (np.broadcast_to(end, (TRIALS, 5)) for end in estimate_term(term, noisy).interval(0.95, 1))
    left = noisy.rows_at(len(choices)).cells
    there = np.zeros(TRIALS * 5, dtype=bool)
    there[left] = True
    asked = ~np.isnan(wanted) & (
        there.reshape(TRIALS, 5) | (not term.order if isinstance(term, WindowFunction) else True)
    )
    if "share" in name and truth == "nothing":
        asked &= False  # a part of nothing is no number
    holds = (lower <= wanted) & (wanted <= upper)
    for place in range(5):
        if asked[:, place].sum() == TRIALS:
            assert holds[:, place].mean() >= LEAST
        else:  # rows that noise chose: all of them are within their intervals at once
            assert (holds | ~asked)[:, place].mean() >= LEAST


def test_a_share_is_better_known_than_by_its_parts_alone():
    share = Formula("/", (N, total()))
    exact = np.broadcast_to(np.array(TRUTHS["plenty"]), (TRIALS, 5))
    cells = WindowedCells(Plan(None, (TRIAL, GROUP), (Output("x", share),)), counted(exact, NOISES["laplace"]))
    lower, upper = estimate_term(share, cells).interval(0.95, 1)
    apart = [estimate_term(each, cells).interval(0.975, 1) for each in (N, total())]
    boxed = apart[0][1] / apart[1][0] - apart[0][0] / apart[1][1]
    assert ((upper - lower) < 0.85 * boxed).all()


@pytest.mark.parametrize("kind", NOISES)
def test_a_share_of_totals_is_a_share_however_few_there_are(kind):
    """Between 0 and 1 where noise may make the divisor zero: otherwise nothing would be known of it."""
    half, pair = Column("h", Text(("x", "y"))), Column("g", Text(("a", "b")))
    part, whole = total(keys=(TRIAL, pair)), total()
    plan = Plan(None, (TRIAL, pair, half), (Output("x", Formula("/", (part, whole))),))
    exact = np.broadcast_to(np.array([[0, 1], [2, 3]]), (TRIALS, 2, 2))
    noise = draw(NOISES[kind], np.random.default_rng(7))[:, :4].reshape(TRIALS, 2, 2)
    share = estimate_term(plan.outputs[0].source, WindowedCells(plan, counted(exact + noise, NOISES[kind])))
    lower, upper = share.interval(0.95, 1)
    wanted = np.array([1, 5])[None, :, None] / 6
    assert ((lower <= wanted) & (wanted <= upper)).mean(axis=0).min() >= LEAST
    assert ((upper <= np.maximum(share.values, 1)) & (lower >= np.minimum(share.values, 0))).all()
    assert np.median(upper - lower) <= 1.5  # also where the noisy share is beyond them


def test_totals_within_totals_know_each_other_and_others_do_not():
    both, one = total(keys=(TRIAL, GROUP)), total(keys=(GROUP,))
    plan = Plan(None, (TRIAL, GROUP), (Output("x", Formula("-", (total(), both))),))
    values = np.arange(TRIALS * 5).reshape(TRIALS, 5)
    cells = WindowedCells(plan, counted(values, NOISES["laplace"]))
    within = estimate_term(plan.outputs[0].source, cells)
    assert within.method.endswith("by the distribution of their noise")
    assert within.values[0, 0] == 0 + 1 + 2 + 3 + 4 - 0
    across = estimate_term(
        Formula("-", (total(), one)), WindowedCells(replace(plan, outputs=()), counted(values, NOISES["laplace"]))
    )
    assert across.method.endswith("each within its interval")


def test_ranks_of_ties_are_those_of_sql():
    values = np.array([[5, 3, 5, 1, 3]])
    plan = Plan(None, (Column("trial", Text(("t",))), GROUP), ())
    cells = WindowedCells(plan, known(values))
    ranked = {name: WindowFunction(name, (), (), (Order(N, True),)) for name in ("rank", "dense_rank", "row_number")}
    assert cells.values_of(ranked["rank"]).tolist() == [1, 3, 1, 5, 3]
    assert cells.values_of(ranked["dense_rank"]).tolist() == [1, 2, 1, 3, 2]
    assert cells.values_of(ranked["row_number"]).tolist() == [1, 3, 2, 5, 4]


def test_of_rows_that_a_limit_chose_nothing_is_known():
    plan = Plan(None, (Column("trial", Text(("t",))), GROUP), (), inner=(RowLimit((Order(N, True),), 2, 0),))
    cells = WindowedCells(plan, counted(np.array([[5, 3, 9, 1, 3]]), NOISES["laplace"]))
    found = {name: cells[WindowFunction(name, (N,), stage=1)] for name in ("sum", "avg", "min", "max")}
    assert [each.values[0, 0] for each in found.values()] == [14, 7, 5, 9]
    assert all(np.isinf(end).all() for each in found.values() for end in each.interval(0.95, 1))
    ends = cells[WindowFunction("rank", (), (), (Order(N),), 1)].interval(0.95, 1)
    assert (ends[0][0].tolist(), ends[1][0].tolist()) == ([1] * 5, [5] * 5)
    assert "LIMIT" in found["sum"].method


def test_of_no_rows_a_total_is_null_and_their_number_zero():
    plan = Plan(None, (Column("trial", Text(("t",))), GROUP), (), inner=(RowFilter(Formula(">", (N, Fraction(99)))),))
    cells = WindowedCells(plan, known(np.array([[5, 3, 9, 1, 3]])))
    for name in ("sum", "avg", "min", "max", "rank"):
        over = WindowFunction(name, () if name == "rank" else (N,), (), (Order(N),) if name == "rank" else (), stage=1)
        assert np.isnan(cells.values_of(over)).all()
        assert may_be_null(over) == (name != "rank")
    assert cells.values_of(WindowFunction("count", stage=1)).tolist() == [0] * 5
