from functools import partial

import numpy as np
import pytest
from scipy import stats

from adomnia.methods.contract import BadArgument
from adomnia.methods.testing.correlation_test import _combine, _whole
from adomnia.privacy.events import Pure
from kit.analyses import frame
from kit.columns import KINDS, draw_rows, frame_of
from kit.trials import (
    NO_NOISE,
    PRICES,
    answer,
    build,
    most_rejected,
    read_p_value,
    share_covered,
    share_rejected,
    share_rejected_naively,
)

ROWS = frame({"x": (0, 1), "y": (-3, 5)}, {})
X, Y = ROWS.numbers["x"], ROWS.numbers["y"]
TEST = build("correlation_test", ROWS, column=X, other=Y)
TRIALS = 30


def draw(random, rows=300, correlation=0.0, kind="normal"):
    first, second = random.standard_normal((2, rows))
    x = {
        "normal": lambda: 0.5 + 0.15 * first,
        "zeros": lambda: np.where(random.random(rows) < 0.9, 0.0, random.exponential(0.2, rows)),
        "constant": lambda: np.full(rows, 0.37),
    }[kind]()
    y = 1 + 0.8 * (correlation * first + np.sqrt(1 - correlation**2) * second)
    return {"x": np.clip(x, 0, 1), "y": np.clip(y, -3, 5)}


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_without_noise_it_is_the_classical_test(alternative):
    data = draw(np.random.default_rng(6), 300, 0.12)
    table = answer(build("correlation_test", ROWS, column=X, other=Y, alternative=alternative), NO_NOISE, data)
    theirs = stats.pearsonr(data["x"], data["y"], alternative=alternative)
    assert table.estimates["estimate"].values[0] == pytest.approx(theirs.statistic, abs=0.01)
    assert read_p_value(table) == pytest.approx(theirs.pvalue, abs=0.02)


def test_without_noise_its_interval_is_fishers():
    data = draw(np.random.default_rng(6), 300, 0.4)
    lower, upper = answer(TEST, NO_NOISE, data).estimates["estimate"].interval(0.95, 1)
    classical = stats.pearsonr(data["x"], data["y"]).confidence_interval()
    assert (lower[0], upper[0]) == pytest.approx(tuple(classical), abs=0.03)


def test_its_interval_is_wider_where_tails_are_heavy_together_or_values_are_skewed():
    """In parts of Fisher's: the roots of what samples of these columns vary more by are 1.62, 1.08 and 1."""
    found = {}
    for kind in ("skewed money", "half times", "smooth"):
        rows = frame_of(KINDS[kind])
        test = build("correlation_test", rows, column=rows.numbers["x"], other=rows.numbers["y"])
        data = draw_rows(KINDS[kind], 20_000, np.random.default_rng(4))
        ends = np.ravel(answer(test, NO_NOISE, data).estimates["estimate"].interval(0.95, 1))
        fisher = stats.pearsonr(data["x"], data["y"]).confidence_interval()
        found[kind] = np.diff(ends)[0] / (fisher.high - fisher.low)
    assert found == {
        "skewed money": pytest.approx(1.8, abs=0.3),
        "half times": pytest.approx(1.055, abs=0.025),
        "smooth": pytest.approx(1, abs=0.025),
    }


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("kind", ["normal", "zeros", "constant"])
def test_it_keeps_its_level(price, kind):
    drawn = partial(draw, kind=kind)
    assert share_rejected(TEST, PRICES[price], drawn, TRIALS, price + kind) <= most_rejected(TRIALS)


@pytest.mark.parametrize("rows", [0, 1, 2, 20])
def test_of_few_rows_it_says_little_and_nothing_wrong(rows):
    for price in PRICES.values():
        assert share_rejected(TEST, price, partial(draw, rows=rows), 10, f"{rows} {price}") <= most_rejected(10)


def test_it_finds_what_is_there():
    assert share_rejected(TEST, PRICES["epsilon = 1"], partial(draw, rows=1000, correlation=0.3), 20, "power") >= 0.9


def test_the_classical_test_on_noisy_sums_rejects_what_is_true():
    (measure,) = TEST.planned_measures(Pure(1))

    def classical(noisy):
        rows, x, y, xx, yy, xy = _combine(noisy) / _whole(measure.query)
        spread = max(xx - x**2 / rows, 1e-9) * max(yy - y**2 / rows, 1e-9)
        r = np.clip((xy - x * y / rows) / np.sqrt(spread), -0.999, 0.999)
        return 2 * stats.norm.sf(abs(np.arctanh(r)) * np.sqrt(max(rows - 3, 1)))

    rho = PRICES["rho of (1, 1e-6)"]
    assert share_rejected_naively(TEST, rho, draw, classical, 200) > most_rejected(200)


@pytest.mark.parametrize("price", PRICES)
def test_its_intervals_cover_the_population(price):
    drawn = partial(draw, rows=2000, correlation=0.5)
    assert 1 - share_covered(TEST, PRICES[price], drawn, 0.5, TRIALS) <= most_rejected(TRIALS, 0.07)


def test_where_a_variance_is_lost_there_is_no_estimate_and_a_note_says_so():
    data = {"x": np.full(40, 0.5), "y": np.full(40, 1.0)}
    tables = [answer(TEST, Pure(1), data, str(seed)) for seed in range(30)]
    lost = [table for table in tables if np.isnan(table.estimates["estimate"].values[0])]
    assert lost
    for table in lost:
        assert "no estimate" in " ".join(table.notes)
        lower, upper = table.estimates["estimate"].interval(0.95, 1)
        assert (lower[0], upper[0]) == (-np.inf, np.inf)
        assert read_p_value(table)


def test_a_column_is_not_compared_with_itself():
    with pytest.raises(BadArgument, match="the same as column"):
        build("correlation_test", ROWS, column=X, other=X)


def test_a_strong_correlation_has_a_short_interval_also_where_noise_puts_it_beyond_1():
    tables = [
        answer(TEST, PRICES["rho of (1, 1e-6)"], draw(np.random.default_rng(seed), 4000, 0.97), str(seed))
        for seed in range(10)
    ]
    ends = np.array([np.ravel(table.estimates["estimate"].interval(0.95, 1)) for table in tables])
    assert (np.diff(ends, axis=1) < 0.5).all()
    assert (ends <= 1).all()


def test_a_spread_that_is_lost_in_noise_has_no_correlation():
    random = np.random.default_rng(1)
    data = {"x": 0.03 + 0.001 * random.standard_normal(200), "y": np.clip(random.normal(1, 0.8, 200), -3, 5)}
    for seed in range(20):
        table = answer(TEST, PRICES["rho of (1, 1e-6)"], data, str(seed))
        lower, upper = table.estimates["estimate"].interval(0.95, 1)
        told = not np.isnan(table.estimates["estimate"].values[0])
        assert told or (lower[0], upper[0]) == (-np.inf, np.inf)
        assert told != ("lost in the noise" in " ".join(table.notes))
        assert not told or lower[0] <= 0 <= upper[0]
