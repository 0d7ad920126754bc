"""Densities: they integrate to one, and their bands cover all bins at once."""

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import adomnia
from adomnia.curator.executor import drive
from adomnia.distributions.simulations import draw_again
from adomnia.errors import Refusal
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.methods.densities.density import (
    METHOD,
    candidates,
    choose,
    count_bins,
    estimate_error,
)
from adomnia.methods.densities.histogram import METHOD as HISTOGRAM
from adomnia.methods.parts.densities.shares import merge
from adomnia.pricing.parts import split_price
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.losses import rho_of
from adomnia.sql.lower import lower
from kit.analyses import analyse, frame
from kit.bits import SeededBits
from kit.methods import Executing, hospital, hospital_catalog

__all__ = ["hospital", "hospital_catalog"]

FRAME = frame({"x": (0, 1), "age": (0, 90)}, {"city": ("A", "B")}, whole=("age",))
DEFAULTS = {"column": FRAME.numbers["x"], "cells": 128, "width": "cross-validation", "by": ()}
PRICES = {"epsilon": Pure(Fraction(1)), "rho": Concentrated(rho_of(1, 1e-6))}

every_price = pytest.mark.parametrize("price", PRICES.values(), ids=PRICES)
KNOWN = json.loads((Path(__file__).parents[2] / "fixtures" / "vectors.json").read_text())["hist_density_beta22"]
CELLS = 128
WIDTHS = np.full(CELLS, 1 / CELLS)
SHARES = np.diff(stats.beta(2, 2).cdf(np.linspace(0, 1, CELLS + 1)))


def ask(data, price, seed="density", **arguments):
    return analyse(METHOD.build(FRAME, {**DEFAULTS, **arguments}), price, data, SeededBits(seed))


def covering(price, n, times):
    """How often the band holds the population's average density of all chosen bins."""
    generator, edges = np.random.default_rng(n), np.linspace(0, 1, 129)
    shares = np.diff(stats.beta(2, 4).cdf(edges))
    covered = []
    for place in range(times):
        density = ask({"x": generator.beta(2, 4, n)}, price, place).estimates["density"]
        lower, upper = density.interval(0.95, 1)
        changes = np.flatnonzero(np.diff(density.values) != 0) + 1
        bins = np.split(np.arange(128), changes)
        true = np.concatenate([np.full(len(each), shares[each].mean() * 128) for each in bins])
        covered.append(((lower <= true + 1e-9) & (true <= upper + 1e-9)).all())
    return np.mean(covered)


@every_price
def test_bands_cover_all_bins_at_once(price):
    """Of 25 bands that cover in 95% of cases, 10 miss in one of 10**7 runs."""
    assert covering(price, 1_000, 25) > 0.6


@pytest.mark.soak
@every_price
@pytest.mark.parametrize("n", [300, 1_000, 10_000])
def test_bands_cover_in_many_tables(price, n):
    assert covering(price, n, 1_000) >= 0.93


@every_price
@pytest.mark.parametrize("n", [0, 1, 2, 50, 5_000])
def test_it_integrates_to_one_and_is_never_negative(price, n):
    table = ask({"x": np.random.default_rng(n).beta(2, 4, n)}, price)
    density = table.estimates["density"]
    widths = np.array(table.labels["x_to"]) - np.array(table.labels["x_from"])
    assert len(density.values) == 128
    assert density.values.min() >= 0
    assert (density.values * widths).sum() == pytest.approx(1)
    lower, upper = density.interval(0.95, 1)
    assert (lower <= density.values).all()
    assert (density.values <= upper).all()
    assert np.isfinite(upper).all()


def test_more_rows_bring_it_nearer():
    true = stats.beta(2, 4).pdf((np.arange(128) + 0.5) / 128)
    errors = [
        np.mean(
            (ask({"x": np.random.default_rng(7).beta(2, 4, n)}, PRICES["epsilon"]).estimates["density"].values - true)
            ** 2
        )
        for n in (100, 3_000, 100_000)
    ]
    assert errors[0] > 2 * errors[1] > 4 * errors[2]


@pytest.mark.parametrize("x", [[0.3] * 1_000, [0.0, 1.0] * 500, [np.nan] * 10, [k % 5 / 4 for k in range(1_000)]])
@every_price
def test_ugly_data_has_a_finite_band(x, price):
    density = ask({"x": np.array(x)}, price).estimates["density"]
    lower, upper = density.interval(0.95, 1)
    assert np.isfinite(density.values).all()
    assert np.isfinite(upper).all()
    assert (lower <= upper).all()


def test_whole_numbers_are_not_taken_for_spikes():
    """ColumnBins hold as many whole numbers each: the density of even counts is even."""
    table = ask({"age": np.repeat(np.arange(91), 200)}, PRICES["epsilon"], column=FRAME.numbers["age"])
    assert table.rows == 91
    assert table.labels["x_from"][0] == -0.5
    assert table.estimates["density"].values == pytest.approx(np.full(91, 1 / 91), rel=0.05)


def test_it_is_repeated_for_groups():
    data = {"x": np.linspace(0, 1, 400), "city": np.array(["A", "B"] * 200, dtype=object)}
    table = ask(data, PRICES["epsilon"], by=(FRAME.factors["city"],))
    assert table.rows == 256
    assert table.labels["city"] == ("A",) * 128 + ("B",) * 128


def test_rows_of_one_person_are_refused():
    with pytest.raises(Refusal) as refused:
        METHOD.build(frame({"x": (0, 1)}, rows_per_person=2), DEFAULTS)
    assert refused.value.code == "rows_per_person"


def test_its_picture_names_the_column():
    assert ask({"x": np.linspace(0, 1, 50)}, PRICES["rho"]).figure["x_title"] == "x"


BY_RATE = {"column": FRAME.numbers["x"], "cells": 128, "width": "rate", "by": ()}


def ask_by_rate(data, price, seed="density", **arguments):
    return ask(data, price, seed, **{**BY_RATE, **arguments})


def bins_of(table):
    return int(re.search(r"chose (\d+) bin", table.notes[-1])[1])


@pytest.mark.parametrize(("n", "bins"), [(1_000, 10), (8_000, 20), (27_000, 32), (0, 1)])
def test_the_rate_makes_about_as_many_bins_as_the_cube_root_of_the_rows(n, bins):
    """Bins are whole cells: 128 of them make 32 bins where the rate asks for 30."""
    table = ask_by_rate({"x": np.random.default_rng(n).beta(2, 4, n)}, Pure(4))
    assert n == 0 or abs(bins_of(table) - bins) <= 0.15 * bins
    assert table.estimates["density"].values.sum() / 128 == pytest.approx(1)


@every_price
def test_bands_of_bins_by_rate_cover_all_at_once(price):
    """Of 25 bands that cover in 95% of cases, 10 miss in one of 10**7 runs."""
    generator, shares, covered = np.random.default_rng(5), np.diff(stats.beta(2, 4).cdf(np.linspace(0, 1, 129))), []
    for place in range(25):
        density = ask_by_rate({"x": generator.beta(2, 4, 1_000)}, price, place).estimates["density"]
        lower_ends, upper_ends = density.interval(0.95, 1)
        bins = np.split(np.arange(128), np.flatnonzero(np.diff(density.values) != 0) + 1)
        true = np.concatenate([np.full(len(each), shares[each].mean() * 128) for each in bins])
        covered.append(((lower_ends <= true + 1e-9) & (true <= upper_ends + 1e-9)).all())
    assert np.mean(covered) > 0.6


def test_it_errs_less_than_merged_cells_where_noise_is_large():
    true, generator, errors = stats.beta(2, 2).pdf((np.arange(128) + 0.5) / 128), np.random.default_rng(6), {}
    samples = [generator.beta(2, 2, 1_000) for _ in range(25)]
    for width in ("cross-validation", "rate"):
        found = (ask_by_rate({"x": x}, Pure(Fraction(1, 10)), k, width=width) for k, x in enumerate(samples))
        errors[width] = np.mean([((each.estimates["density"].values - true) ** 2).mean() for each in found])
    assert errors["rate"] < 0.5 * errors["cross-validation"]


@every_price
@pytest.mark.parametrize("x", [[0.3] * 1_000, [0.0, 1.0] * 500, [np.nan] * 10, []])
def test_ugly_data_has_a_finite_band_by_rate(x, price):
    density = ask_by_rate({"x": np.array(x, dtype=float)}, price).estimates["density"]
    lower_ends, upper_ends = density.interval(0.95, 1)
    assert np.isfinite(density.values).all()
    assert (lower_ends <= density.values).all()
    assert (density.values <= upper_ends).all()


def test_groups_are_refused_and_told_what_helps():
    with pytest.raises(adomnia.Refusal, match="one width for all rows"):
        METHOD.build(FRAME, {**BY_RATE, "by": (FRAME.factors["city"],)})


def without_constants(text):
    return "".join(re.sub(r"-?\b\d+(\.\d+)?([eE][-+]?\d+)?\b", "0", text).split())


def test_what_it_asks_later_was_proved_before_but_for_its_constants(hospital, hospital_catalog):
    plan = lower("SELECT * FROM density(people, column => salary, width => 'rate')", hospital_catalog)
    running = Executing(hospital, plan, PRICES["epsilon"])
    drive(split_price(plan, PRICES["epsilon"]), running.executor)
    known = {without_constants(statement.text) for statement in running.proved}
    assert {without_constants(text) for text in running.ran} <= known


def test_candidates_merge_in_powers_of_two():
    assert [len(each) for each in candidates(128)] == [128, 64, 32, 16, 8, 4, 2, 1]
    assert candidates(5) == [(1, 1, 1, 1, 1), (2, 2, 1), (4, 1), (5,)]
    assert candidates(1) == [(1,)]


def test_without_noise_it_is_least_squares_cross_validation():
    """Rudemo's formula for bins of equal width: 2 d / (n - 1) - d (n + 1) / ((n - 1) n**2) * sum of squares."""
    counts = np.random.default_rng(1).multinomial(500, SHARES).astype(float)
    for sizes in candidates(CELLS):
        d, n, merged = len(sizes), 500, merge(counts, sizes)
        rudemo = 2 * d / (n - 1) - d * (n + 1) / ((n - 1) * n**2) * (merged**2).sum()
        assert estimate_error(counts, WIDTHS, 0.0, sizes) == pytest.approx(rudemo)


@pytest.mark.parametrize("noise", [DiscreteLaplace(Fraction(2)), DiscreteGaussian(Fraction(20))], ids=str)
def test_its_estimate_is_unbiased_under_noise(noise):
    """The mean of 400 tables is 6 standard errors off in one of 10**8 runs. Without a correction it is too small."""
    generator, n = np.random.default_rng(2), 20_000
    counts = generator.multinomial(n, SHARES, 400).astype(float)
    noisy = counts + draw_again(noise, generator, counts.shape)
    sizes, variance = candidates(CELLS)[2], noise.cumulants.variance
    shown = variance * CELLS * len(sizes) / n**2  # the error by the noise of what is shown
    exact = np.array([estimate_error(each, WIDTHS, 0.0, sizes) for each in counts])
    found = np.array([estimate_error(each, WIDTHS, variance, sizes) - shown for each in noisy])
    blind = np.array([estimate_error(each, WIDTHS, 0.0, sizes) for each in noisy])
    spread = (found - exact).std() / 20
    assert abs((found - exact).mean()) < 6 * spread
    assert abs((blind - exact).mean()) > shown / 2


@pytest.mark.parametrize("case", KNOWN, ids=lambda case: f"{case['n']} at {case['eps']:.2g}")
def test_errors_of_histograms_are_those_that_are_known(case):
    """400 simulated tables have the stated mean errors to within 10%, with noise and without."""
    generator = np.random.default_rng(case["n"])
    n, d = case["n"], case["d"]
    noise = DiscreteLaplace(Fraction(case["noise_factor"] / case["eps"]))
    shares = np.diff(stats.beta(2, 2).cdf(np.linspace(0, 1, d + 1)))
    counts = generator.multinomial(n, shares, 400)
    x = (np.arange(d * 50) + 0.5) / (d * 50)
    true = stats.beta(2, 2).pdf(x)
    plain = (np.repeat(counts * d / n, 50, axis=1) - true) ** 2
    noisy = (np.repeat((counts + draw_again(noise, generator, counts.shape)) * d / n, 50, axis=1) - true) ** 2
    assert plain.mean() == pytest.approx(case["ise_nonpriv"], rel=0.1)
    assert noisy.mean() == pytest.approx(case["ise_priv"], rel=0.1)


@pytest.mark.parametrize("variance", [1.84, 20.5])
@pytest.mark.parametrize("n", [1_000, 10_000])
def test_the_choice_is_nearly_as_good_as_the_best(n, variance):
    generator = np.random.default_rng(3)
    noise = DiscreteGaussian(Fraction(variance))
    chosen, best, finest = [], [], []
    for _ in range(100):
        counts = generator.multinomial(n, SHARES) + draw_again(noise, generator, (CELLS,))
        errors = {sizes: error_of(counts, sizes) for sizes in candidates(CELLS)}
        chosen.append(errors[choose(counts, WIDTHS, variance)])
        best.append(min(errors.values()))
        finest.append(errors[candidates(CELLS)[0]])
    assert np.mean(chosen) < 1.6 * np.mean(best)
    assert np.mean(chosen) < np.mean(finest) / 2


def error_of(counts, sizes):
    density = np.repeat(merge(counts, sizes) / merge(WIDTHS, sizes) / counts.sum(), sizes)
    return float(((density - SHARES * CELLS) ** 2).mean())


@pytest.mark.parametrize("total", [-40, 0, 1])
def test_where_hardly_any_rows_are_seen_there_is_one_bin(total):
    counts = np.zeros(CELLS)
    counts[5] = total
    assert choose(counts, WIDTHS, 1.84) == (CELLS,)


def test_more_rows_make_more_bins():
    bins = [len(choose(n * SHARES, WIDTHS, 1.84)) for n in (100, 10_000, 1_000_000)]
    assert bins == sorted(bins)
    assert bins[0] < bins[-1]


SQUARE, SLOPE_SQUARE = 1.2, 12.0  # integrals of the square of the density of beta(2, 2), and of that of its slope


def expected_ise(bins, rows, epsilon, moved=1):
    """What the module says of the squared error: of averaging, of sampling, and of the noise."""
    noise = 2 * (moved * bins / (epsilon * rows)) ** 2
    return SLOPE_SQUARE / (12 * bins**2), (bins - SQUARE) / rows, noise


UNIT_FRAME = frame({"x": (0, 1)})
FINE = 2_000  # places where densities are compared, in each bin
DRAWS = 60


def integrated_error(values, bins):
    places = (np.arange(FINE * bins) + 0.5) / (FINE * bins)
    return float(((np.repeat(values, FINE) - stats.beta(2, 2).pdf(places)) ** 2).mean())


def errors_of(n, epsilon, bins):
    arguments = {"column": UNIT_FRAME.numbers["x"], "bins": bins, "breaks": (), "inference": "population", "by": ()}
    asked, generator = HISTOGRAM.build(UNIT_FRAME, arguments), np.random.default_rng(n)
    for seed in range(DRAWS):
        table = analyse(asked, Pure(epsilon), {"x": generator.beta(2, 2, n)}, SeededBits(f"rate {n} {seed}"))
        yield integrated_error(table.estimates["density"].values, bins)


@pytest.mark.parametrize("case", KNOWN, ids=lambda case: f"n={case['n']} epsilon={case['eps']:.3g}")
def test_the_formula_is_near_the_simulated_errors_where_a_person_is_replaced(case):
    averaging, sampling, noise = expected_ise(case["d"], case["n"], case["eps"], moved=case["noise_factor"])
    assert noise == pytest.approx(case["noise_term"], rel=1e-3)
    assert averaging + sampling == pytest.approx(case["ise_nonpriv"], rel=0.1)
    assert averaging + sampling + noise == pytest.approx(case["ise_priv"], rel=0.15)


@pytest.mark.parametrize(("n", "epsilon"), [(1000, 1), (1000, 0.1), (8000, 0.05)])
def test_the_histogram_follows_the_formula_and_beats_that_of_replaced_people(n, epsilon):
    """Means of 60 errors, six standard deviations of them; densities that are cut at zero err less than the formula."""
    bins = count_bins(n)
    errors = list(errors_of(n, epsilon, bins))
    far = 6 * np.std(errors) / np.sqrt(DRAWS)
    own, replaced = (sum(expected_ise(bins, n, epsilon, moved)) for moved in (1, 2))
    assert np.mean(errors) <= own * 1.05 + far
    assert np.mean(errors) >= own * 0.75 - far
    assert epsilon == 1 or np.mean(errors) + far < replaced


@pytest.mark.parametrize("exponent", [-1 / 3, 0.0])
def test_with_epsilon_down_to_the_cube_root_the_rate_is_that_without_privacy(exponent):
    scaled = [sum(expected_ise(count_bins(n), n, n**exponent)) * n ** (2 / 3) for n in (10**3, 10**6, 10**9)]
    assert max(scaled) < 1.2 * min(scaled)


def test_with_less_the_rate_is_lost():
    scaled = [sum(expected_ise(count_bins(n), n, n**-0.5)) * n ** (2 / 3) for n in (10**3, 10**6)]
    assert scaled[1] > 3 * scaled[0]


@pytest.mark.parametrize(("rows", "bins"), [(-1e9, 1), (0, 1), (1, 1), (30, 3), (10**6, 100), (1e300, 208064)])
def test_bins_are_the_cube_root_of_the_rows(rows, bins):
    assert count_bins(rows) == bins
