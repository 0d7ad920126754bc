from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy import stats

from adomnia.methods.contract import BadArgument
from adomnia.methods.testing.ks_test import DISTRIBUTIONS, KolmogorovSmirnov, KolmogorovSmirnovByRank
from kit.analyses import frame
from kit.trials import (
    NO_NOISE,
    PRICES,
    answer,
    build,
    most_rejected,
    share_covered,
    share_rejected,
    share_rejected_naively,
)

ROWS = frame({"x": (0, 1), "n": (0, 9)}, {"g": ("A", "B")}, whole=("n",))
X, N, G = ROWS.numbers["x"], ROWS.numbers["n"], ROWS.factors["g"]
TWO = build("ks_test", ROWS, column=X, group=G)
DISTRIBUTION = build(
    "ks_test", ROWS, column=X, distribution="normal", distribution_parameters=(Fraction(1, 2), Fraction(3, 20))
)
TRIALS = 40


def draw(random, rows=300, shift=0.0, kind="normal"):
    group = random.choice(np.array(["A", "B"], dtype=object), rows)
    values = {
        "normal": lambda: random.normal(0.5, 0.15, rows),
        "zeros": lambda: np.where(random.random(rows) < 0.9, 0.0, random.exponential(0.2, rows)),
        "lognormal": lambda: random.lognormal(0, 1, rows) / 10,
        "constant": lambda: np.full(rows, 0.37),
    }[kind]()
    return {
        "x": np.clip(values + shift * (group == "A"), 0, 1),
        "n": random.integers(0, 10, rows).astype(float),
        "g": group,
    }


def test_without_noise_and_of_few_values_it_is_the_classical_statistic():
    data = draw(np.random.default_rng(4), 400)
    table = answer(build("ks_test", ROWS, column=N, group=G), NO_NOISE, data)
    theirs = stats.ks_2samp(*(data["n"][data["g"] == each] for each in "AB"))
    assert table.facts["statistic"]()[0] == pytest.approx(theirs.statistic, abs=1e-9)


def test_without_noise_it_is_nearly_the_classical_test():
    """Up to what differs within a bin."""
    data = draw(np.random.default_rng(4), 400, 0.02)
    theirs = stats.ks_2samp(*(data["x"][data["g"] == each] for each in "AB"))
    ours = answer(TWO, NO_NOISE, data)
    assert theirs.statistic - 0.04 <= ours.facts["statistic"]()[0] <= theirs.statistic + 1e-9
    distribution = answer(DISTRIBUTION, NO_NOISE, data)
    one = stats.ks_1samp(data["x"], stats.norm(0.5, 0.15).cdf)
    assert one.statistic - 0.04 <= distribution.facts["statistic"]()[0] <= one.statistic + 1e-9


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("statistic", [TWO, DISTRIBUTION], ids=["two", "distribution"])
def test_it_keeps_its_level(price, statistic):
    assert share_rejected(statistic, PRICES[price], draw, TRIALS, price) <= most_rejected(TRIALS)


@pytest.mark.parametrize("kind", ["zeros", "lognormal", "constant"])
def test_it_keeps_its_level_on_data_that_is_not_nice(kind):
    drawn = partial(draw, kind=kind)
    assert share_rejected(TWO, PRICES["epsilon = 1"], drawn, TRIALS, kind) <= most_rejected(TRIALS)


@pytest.mark.parametrize("rows", [0, 1, 2, 20])
def test_of_few_rows_it_says_little_and_nothing_wrong(rows):
    for price in PRICES.values():
        assert share_rejected(TWO, price, partial(draw, rows=rows), 10, f"{rows} {price}") <= most_rejected(10)


def test_it_finds_what_is_there():
    assert share_rejected(TWO, PRICES["epsilon = 1"], partial(draw, rows=1000, shift=0.08), 20, "power") >= 0.9
    assert share_rejected(DISTRIBUTION, PRICES["epsilon = 1"], partial(draw, rows=1000, shift=0.08), 20, "power") >= 0.9


def test_the_classical_test_on_noisy_bins_rejects_what_is_true():
    def classical(noisy):
        rows = np.maximum(noisy.sum(axis=-1), 2)
        reached = np.cumsum(noisy, axis=-1) / rows[:, None]
        size = rows.prod() / rows.sum()
        return stats.kstwobign.sf(np.sqrt(size) * np.abs(reached[0] - reached[1]).max())

    rho = PRICES["rho of (1, 1e-6)"]
    assert share_rejected_naively(TWO, rho, draw, classical, 60) > most_rejected(60)


def test_the_interval_of_the_difference_covers_it():
    truth = 2 * stats.norm.cdf(0.15 / 2 / 0.15) - 1
    drawn = partial(draw, rows=1000, shift=0.15)
    missed = 1 - share_covered(TWO, PRICES["epsilon = 1"], drawn, truth - 0.01, 60)  # less what bins hide
    assert missed <= most_rejected(60, 0.07)


@pytest.mark.parametrize(
    ("distribution", "parameters", "theirs"),
    [
        ("normal", (1, 2), stats.norm(1, 2)),
        ("lognormal", (1, 2), stats.lognorm(2, scale=np.e)),
        ("exponential", (3,), stats.expon(scale=1 / 3)),
        ("uniform", (-1, 2), stats.uniform(-1, 3)),
    ],
)
def test_the_distributions_are_those_of_their_names(distribution, parameters, theirs):
    at = np.array([-3.0, 0.0, 0.5, 2.0, 40.0])
    assert DISTRIBUTIONS[distribution].probability(at, *parameters) == pytest.approx(theirs.cdf(at))


def test_what_cannot_be_is_refused():
    with pytest.raises(BadArgument, match="not both"):
        build("ks_test", ROWS, column=X)
    with pytest.raises(BadArgument, match="not both"):
        build("ks_test", ROWS, column=X, group=G, distribution="normal")
    with pytest.raises(BadArgument, match="mean and sd"):
        build("ks_test", ROWS, column=X, distribution="normal", distribution_parameters=(Fraction(1), Fraction(-1)))
    with pytest.raises(BadArgument, match="its rate"):
        build("ks_test", ROWS, column=X, distribution="exponential")


def test_where_a_group_is_lost_in_noise_anything_is_possible_and_a_note_says_so():
    table = answer(TWO, PRICES["rho of (1, 1e-6)"], draw(np.random.default_rng(1), 4))
    lower, upper = table.estimates["estimate"].interval(0.95, 1)
    assert (lower[0], upper[0]) == (0, 1)
    assert table.facts["p_value"]()[0] == 1
    assert "lost in the noise" in " ".join(table.notes)


def test_the_interval_covers_the_difference_where_the_noise_is_large():
    """200 trials that miss 5%: a false alarm in 1e-6. Projected counts miss a fifth."""
    truth = 2 * stats.norm.cdf(0.15 / 2 / 0.15) - 1
    drawn = partial(draw, rows=120, shift=0.15)
    missed = 1 - share_covered(TWO, PRICES["rho of (1, 1e-6)"], drawn, truth - 0.01, 200)
    assert missed <= most_rejected(200, 0.05)


def test_parameters_that_are_the_same_as_doubles_make_no_distribution():
    with pytest.raises(BadArgument, match="lower and upper"):
        build(
            "ks_test",
            ROWS,
            column=X,
            distribution="uniform",
            distribution_parameters=(Fraction(50), 50 + Fraction(1, 10**20)),
        )


MONEY = frame({"x": (0, 500_000), "n": (0, 500_000)}, {"g": ("A", "B")}, whole=("n",))
MONEY_DISTRIBUTION = {"distribution": "lognormal", "distribution_parameters": (Fraction(15, 2), Fraction(1))}


def draw_money(random, rows=1000, higher=0.0):
    group = np.where(random.random(rows) < 0.5, "A", "B").astype(object)
    values = np.minimum(random.lognormal(7.5 + higher * (group == "A"), 1, rows), 500_000)
    return {"x": values, "n": np.rint(values), "g": group}


@pytest.mark.parametrize(
    ("distribution", "parameters"),
    [("normal", (1, 2)), ("lognormal", (1, 2)), ("exponential", (3,)), ("uniform", (-1, 2))],
)
def test_quantiles_of_a_distribution_are_where_it_reaches_them(distribution, parameters):
    shares = np.array([0.001, 0.3, 0.5, 0.999])
    assert DISTRIBUTIONS[distribution].probability(
        DISTRIBUTIONS[distribution].quantile(shares, *parameters), *parameters
    ) == pytest.approx(shares)


@pytest.mark.parametrize("name", ["x", "n"])
def test_a_distribution_is_cut_at_its_own_quantiles_between_numbers_of_the_grid(name):
    test = build("ks_test", MONEY, column=MONEY.numbers[name], **MONEY_DISTRIBUTION)
    domain = MONEY.numbers[name].domain
    chances = np.diff(
        DISTRIBUTIONS["lognormal"].probability(np.array(test.bins.upper[:-1]), 7.5, 1.0), prepend=0, append=1
    )
    assert len(test.bins) == 16
    assert chances.max() <= 1.05 / 14
    assert chances.min() == pytest.approx(0.001, rel=0.05)
    assert all((edge / domain.step).denominator == 2 for edge in test.bins.edges)


def test_a_distribution_beyond_the_bounds_is_told_from_all_that_is_within():
    test = build(
        "ks_test",
        MONEY,
        column=MONEY.numbers["x"],
        distribution="normal",
        distribution_parameters=(Fraction(-9999), Fraction(1)),
    )
    assert len(test.bins) == 2
    table = answer(test, NO_NOISE, draw_money(np.random.default_rng(1)))
    assert table.estimates["estimate"].values[0] == pytest.approx(1, abs=0.01)


def test_skewed_money_is_compared_with_its_distribution():
    """Bins of equal width would have nearly all rows in the first."""
    data = draw_money(np.random.default_rng(2), 2000)
    right = build("ks_test", MONEY, column=MONEY.numbers["x"], **MONEY_DISTRIBUTION)
    wrong = build(
        "ks_test",
        MONEY,
        column=MONEY.numbers["x"],
        distribution="lognormal",
        distribution_parameters=(Fraction(15, 2), Fraction(5, 4)),
    )
    assert answer(right, PRICES["epsilon = 1"], data).facts["p_value"]()[0] > 0.01
    assert answer(wrong, PRICES["epsilon = 1"], data).facts["p_value"]()[0] < 0.01


def test_skewed_money_of_two_groups_is_told_apart():
    """Without noise 94% of the tests reject."""
    test = build("ks_test", MONEY, column=MONEY.numbers["x"], group=MONEY.factors["g"])
    assert isinstance(test, KolmogorovSmirnovByRank)
    assert share_rejected(test, PRICES["epsilon = 1"], partial(draw_money, higher=0.25), 12, "money") >= 0.5
    assert share_rejected(test, PRICES["epsilon = 1"], draw_money, 25, "money") <= most_rejected(25)


def test_few_whole_numbers_are_asked_as_ever():
    assert isinstance(build("ks_test", ROWS, column=N, group=G), KolmogorovSmirnov)
    assert (
        len(
            build(
                "ks_test", ROWS, column=N, distribution="uniform", distribution_parameters=(Fraction(0), Fraction(9))
            ).bins
        )
        == 10
    )
    assert (
        len(
            build(
                "ks_test",
                ROWS,
                column=X,
                distribution="uniform",
                distribution_parameters=(Fraction(0), Fraction(1)),
                bins=40,
            ).bins
        )
        == 40
    )


def test_where_one_bin_holds_everything_nothing_is_known():
    table = answer(
        TWO, PRICES["epsilon = 1"], {"x": np.full(300, 0.0), "g": np.repeat(np.array(["A", "B"], dtype=object), 150)}
    )
    lower, upper = table.estimates["estimate"].interval(0.95, 1)
    assert 0 <= lower[0] <= upper[0] <= 1
    assert table.facts["p_value"]()[0] > 0.05
