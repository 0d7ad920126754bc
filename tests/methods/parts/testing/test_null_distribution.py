from functools import partial

import numpy as np
import pytest

from adomnia.methods.contract import Factor
from adomnia.methods.parts.testing.null_distribution import LEAST_DRAWS, MOST_DRAWS, NullDistribution, count_draws
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Text
from kit.hypotheses import OF_MEANS, SETTINGS, SHAPED, SHAPES, draw_shape
from kit.trials import PRICES, share_rejected

# Where spreads differ, so do distributions: means alone are equal then.
UGLY = [(name, kind) for name in SHAPED for kind in (*SHAPES, "groups of 10 to 1")]
UGLY += [(name, "unequal spread") for name in SHAPED if name in OF_MEANS]

NORMAL = NullDistribution(np.random.default_rng(3).standard_normal(9_999))


@pytest.mark.parametrize(("alternative", "expected"), [("two-sided", 5 / 10), ("greater", 3 / 10), ("less", 9 / 10)])
def test_a_p_value_counts_the_draws_at_least_as_far_out_and_the_statistic_itself(alternative, expected):
    assert NullDistribution(np.arange(-4.0, 5.0)).p_value(3.0, alternative) == expected


def test_a_p_value_is_never_zero():
    assert NullDistribution(np.zeros(999)).p_value(1e9) == 1 / 1000


def test_a_draw_that_is_off_by_rounding_counts():
    assert NullDistribution(np.array([0.1 + 0.2, 0.0])).p_value(0.3 * (1 + 2e-16)) == 2 / 3


def test_distances_are_quantiles_and_grow_beyond_the_draws():
    assert NORMAL.distance(0.95) == pytest.approx(1.96, abs=0.06)
    assert NORMAL.distance(0.95, 10) == pytest.approx(2.81, abs=0.2)
    assert NORMAL.distance(0.999) < NORMAL.distance(0.99999) < NORMAL.distance(1.0) < np.inf
    assert NORMAL.distance(0.99999) >= 4.41  # of a normal distribution: the tail is taken for a heavier one


def test_many_groups_get_fewer_draws_each_but_never_too_few():
    cities = Factor("city", Column("city", Text(tuple(map(str, range(50))))))
    assert count_draws(1) == MOST_DRAWS
    assert MOST_DRAWS > count_draws(2, (cities,)) > count_draws(5, (cities,)) >= LEAST_DRAWS
    assert count_draws(10**6) == LEAST_DRAWS


@pytest.mark.soak
@pytest.mark.parametrize("rows", [200, 1000, 5000])
@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("name", SETTINGS)
def test_levels_are_neither_too_high_nor_too_low(name, price, rows):
    """1,000 trials of a level between 0.02 and 0.06: a false alarm in 1e-6."""
    drawn = partial(SETTINGS[name].draw, rows=rows, effect=0.0)
    assert 0.003 <= share_rejected(SETTINGS[name].analysis, PRICES[price], drawn, 1000, f"{price} {rows}") <= 0.1


@pytest.mark.soak
@pytest.mark.parametrize("rows", [20, 200, 1000])
@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize(("name", "kind"), UGLY)
def test_levels_are_not_too_high_on_data_that_is_not_nice(name, kind, price, rows):
    """1,000 trials of a level of at most 0.06: a false alarm in 1e-6."""
    drawn = partial(draw_shape, rows=rows, kind=kind)
    assert share_rejected(SETTINGS[name].analysis, PRICES[price], drawn, 1000, f"{kind} {price} {rows}") <= 0.1
