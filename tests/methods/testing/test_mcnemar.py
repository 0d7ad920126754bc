from functools import partial

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from adomnia.methods.contract import BadArgument
from adomnia.privacy.events import Pure
from kit.analyses import analyse, frame
from kit.bits import SeededBits
from kit.trials import (
    NO_NOISE,
    PRICES,
    answer,
    build,
    fewer_draws,
    most_rejected,
    read_p_value,
    share_rejected,
    share_rejected_naively,
)

ROWS = frame(levels={"s": ("no", "yes"), "t": ("no", "yes"), "u": ("ill", "well"), "h": ("a", "b", "c")})
S, T = ROWS.factors["s"], ROWS.factors["t"]
TEST = build("mcnemar", ROWS, column=S, other=T)
WORDS = np.array(["no", "yes"], dtype=object)
TRIALS = 40


def draw(random, rows=400, more=0.0, change=0.3):
    """So many change, of whom half and so many more change from yes to no."""
    first = random.random(rows) < 0.5
    second = np.where(random.random(rows) < change, random.random(rows) < 0.5 - more, first)
    return {"s": WORDS[first.astype(int)], "t": WORDS[second.astype(int)]}


def tabulate(data):
    return np.array([[((data["s"] == a) & (data["t"] == b)).sum() for b in WORDS] for a in WORDS])


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_without_noise_it_is_the_exact_test(alternative):
    data = draw(np.random.default_rng(4), 500, 0.1)
    table = answer(build("mcnemar", ROWS, column=S, other=T, alternative=alternative), NO_NOISE, data)
    counts = tabulate(data)
    there, back = int(counts[1, 0]), int(counts[0, 1])
    assert table.facts["statistic"]()[0] ** 2 == pytest.approx(mcnemar(counts, exact=False, correction=False).statistic)
    theirs = stats.binomtest(there, there + back, alternative=alternative).pvalue
    assert read_p_value(table) == pytest.approx(theirs, abs=0.02)
    assert table.estimates["estimate"].values == pytest.approx([there / back, there / (there + back)])
    assert table.labels["term"] == ("odds of yes to no against no to yes", "share of yes to no")


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("change", [0.02, 0.3])
def test_it_keeps_its_level(price, change):
    drawn = partial(draw, change=change)
    assert share_rejected(TEST, PRICES[price], drawn, TRIALS, f"{price}{change}") <= most_rejected(TRIALS)


@pytest.mark.parametrize("rows", [0, 1, 2, 20])
def test_of_few_rows_it_says_little_and_nothing_wrong(rows):
    for price in PRICES.values():
        assert share_rejected(TEST, price, partial(draw, rows=rows), 10, f"{rows} {price}") <= most_rejected(10)


def test_it_finds_what_is_there():
    assert share_rejected(TEST, Pure(1), partial(draw, rows=1000, more=0.25), 20, "power") >= 0.9


def test_the_classical_test_of_noisy_counts_rejects_what_is_true():
    def classical(noisy):
        there, back = np.maximum(np.rint([noisy[1, 0], noisy[0, 1]]), 0).astype(int)
        return stats.binomtest(int(there), max(1, int(there + back))).pvalue

    rho, drawn = PRICES["rho of (1, 1e-6)"], partial(draw, rows=100)
    assert share_rejected_naively(TEST, rho, drawn, classical, 200) > most_rejected(200)


@pytest.mark.parametrize("rows", [150, 1000])
def test_its_intervals_cover_the_population_and_are_not_much_wider_than_without_noise(rows):
    """100 trials that miss 6%: a false alarm in 1e-6. Without noise the share's is 3.9 / sqrt(changes) * 0.49 wide."""
    change, more = 0.3, 0.1
    there, back = 0.5 * change * (0.5 + more), 0.5 * change * (0.5 - more)
    random, bits, held, widths = np.random.default_rng(3), SeededBits("covered"), [], []
    with fewer_draws():
        for _ in range(100):
            table = analyse(TEST, Pure(1), draw(random, rows, more, change), bits)
            lower, upper = table.estimates["estimate"].interval(0.95, 1)
            held.append(
                (lower <= [there / back, there / (there + back)]) & (upper >= [there / back, there / (there + back)])
            )
            widths.append(upper[1] - lower[1])
    assert (1 - np.mean(held, axis=0) <= most_rejected(100)).all()
    assert np.median(widths) < 1.5 * 3.92 * 0.49 / np.sqrt(rows * (there + back))


def test_where_nobody_changes_there_is_no_estimate_and_a_note_says_so():
    data = {"s": np.repeat(WORDS, 200), "t": np.repeat(WORDS, 200)}
    table = answer(TEST, PRICES["rho of (1, 1e-6)"], data)
    lower, upper = table.estimates["estimate"].interval(0.95, 1)
    assert np.isnan(table.estimates["estimate"].values).tolist() == [True, False]
    assert (lower.tolist(), upper.tolist()) == ([0, 0], [np.inf, 1])
    assert "lost in the noise" in " ".join(table.notes)


def test_where_nobody_changes_back_the_odds_have_no_end():
    data = {"s": np.repeat(WORDS, 200), "t": np.repeat(np.array(["no"], dtype=object), 400)}
    table = answer(TEST, NO_NOISE, data)
    assert np.isnan(table.estimates["estimate"].values).tolist() == [True, False]
    assert table.estimates["estimate"].values[1] == 1
    lower, upper = table.estimates["estimate"].interval(0.95, 1)
    assert lower[0] > 10
    assert upper[0] == np.inf
    assert "no upper limit" in " ".join(table.notes)


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(BadArgument, match="h has 3"):
        build("mcnemar", ROWS, column=ROWS.factors["h"], other=T)
    with pytest.raises(BadArgument, match="same two values"):
        build("mcnemar", ROWS, column=S, other=ROWS.factors["u"])
    with pytest.raises(BadArgument, match="same as column"):
        build("mcnemar", ROWS, column=S, other=S)
