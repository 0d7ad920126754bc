"""How much intervals of quantiles say: ranks that they span, on the columns that people have, by quick draws.

Draws are seeded. Bars are far from what is found: means have standard errors of a tenth of them.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from adomnia.mechanisms.brackets import Brackets
from adomnia.mechanisms.round_numbers import RoundNumbers
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Concentrated, Pure
from adomnia.statistics.brackets import Bracket
from kit.brackets import drawn

ALPHA, DRAWS = 0.05, 60
SHARP = Pure(Fraction(3, 10))
SHARES = [Fraction(1, 20), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(19, 20)]


def on_grid(values, lower, upper):
    domain = Numbers.bounded(lower, upper)
    return np.rint(np.clip(values, lower, upper) / float(domain.step)).astype(np.int64), domain


def whole(values, upper):
    return np.minimum(values, upper), Numbers.integers(0, upper)


COLUMNS = {
    "smooth": lambda random, rows: on_grid(random.normal(50, 12, rows), 0, 100),
    "money": lambda random, rows: on_grid(random.lognormal(10.3, 0.7, rows), 0, 500_000),
    "0 to 4": lambda random, rows: whole(random.choice(5, rows, p=[0.45, 0.3, 0.15, 0.07, 0.03]), 4),
    "many zeros": lambda random, rows: whole(
        np.where(random.random(rows) < 0.6, 0, random.negative_binomial(1.2, 0.1, rows)), 200
    ),
    "heaped ages": lambda random, rows: whole(
        np.rint(np.clip(random.normal(45, 16, rows), 0, 99) / 5).astype(int) * 5, 100
    ),
    "half times": lambda random, rows: on_grid(np.rint(random.gamma(4, 1.6, rows) * 2) / 2, 0, 24),
    "tenths": lambda random, rows: on_grid(np.rint(random.gamma(4, 1.6, rows) * 10) / 10, 0, 50),
}


def spans(name, rows, share, price, *, draws=DRAWS, seed=0):  # noqa: PLR0913 - a column, a question, and chance
    """Of each draw: ranks to leave the interval by, whether it holds the quantile, and how far off the value is."""
    held, domain = COLUMNS[name](np.random.default_rng(seed), rows)
    values = domain.width + 1
    held, rank = np.sort(held), float(share) * rows
    true = held[max(0, int(np.ceil(rank - 1e-9)) - 1)]
    mechanism, found = Brackets((share,), values, Fraction(1), price, RoundNumbers.of(domain)), []
    for numbers in drawn(mechanism, held.tolist(), draws, seed + 1):
        bracket = Bracket.read(mechanism, numbers, 0)
        (low, high), value = bracket.bounds(ALPHA), bracket.estimate(ALPHA)
        inside = held[(held >= low) & (held <= high)]
        ends = (inside[0], inside[-1]) if len(inside) else (true, true)
        above = max(0, np.searchsorted(held, ends[1]) - rank)
        below = max(0, rank - np.searchsorted(held, ends[0], side="right"))
        found.append((above + below, low <= true <= high, low < 0 and high >= values, abs(value - true)))
    return np.array(found, dtype=float)


@pytest.mark.no_cover
@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("price", [Pure(1), Concentrated(Fraction(1, 10))], ids=["epsilon", "rho"])
def test_intervals_span_few_ranks_and_cover(name, price):
    """The mean over five shares is 0 to 45 ranks; one answer in fifty that told nothing would add as many."""
    found = np.concatenate([spans(name, 2000, share, price) for share in SHARES])
    assert found[:, 0].mean() < 60
    assert found[:, 1].mean() > 0.93
    assert found[:, 2].mean() < 0.01


def spans_of_many_rows(name):
    """Ranks, at epsilon .3, of five samples of 20,000 rows."""
    found = [spans(name, 20_000, share, SHARP, draws=8, seed=seed) for share in SHARES for seed in range(5)]
    return float(SHARP.epsilon) * np.concatenate(found)[:, 0].mean()


@pytest.mark.no_cover
@pytest.mark.parametrize("name", ["half times", "tenths"])
def test_where_values_lie_apart_on_a_fine_grid_intervals_are_narrow_as_well(name, monkeypatch):
    """A mean of 1 and 9; it is 47 and 27 where a value of a gap is as likely to be chosen as one that people write."""
    assert spans_of_many_rows(name) < 18
    monkeypatch.setattr(RoundNumbers, "of", lambda _: None)
    assert spans_of_many_rows(name) > 18


@pytest.mark.no_cover
@pytest.mark.parametrize("name", ["smooth", "money"])
@pytest.mark.parametrize("share", [Fraction(1, 100), Fraction(99, 100)], ids=str)
def test_the_outermost_hundredths_are_told_from_within(name, share):
    """Of 1,000 rows ten lie beyond: the interval is about 40 ranks, where the whole range is 1,000."""
    assert spans(name, 1000, share, Pure(1))[:, 0].mean() < 120


@pytest.mark.no_cover
@pytest.mark.parametrize("name", ["smooth", "0 to 4", "heaped ages"])
def test_a_median_of_twenty_rows_gets_no_worse_as_epsilon_rises(name):
    """Errors and widths of 200 draws each fall, or rise by less than their standard errors allow: five of them."""
    found = [
        np.concatenate(
            [spans(name, 20, Fraction(1, 2), Pure(Fraction(epsilon)), draws=40, seed=seed) for seed in range(5)]
        )
        for epsilon in (1, 2, 4, 6, 9, 20)
    ]
    for less, more in pairwise(found):
        for column in (0, 3):
            error = np.hypot(less[:, column].std(), more[:, column].std()) / np.sqrt(len(less))
            assert more[:, column].mean() <= less[:, column].mean() + 5 * error + 1e-9
