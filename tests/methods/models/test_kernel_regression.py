"""Kernel regression: the smoothed means of the data without noise, and intervals of the smoothed curve with it."""

import re
from fractions import Fraction

import numpy as np
import pytest

from adomnia.errors import Refusal
from adomnia.methods.models.kernel_regression import METHOD, choose_bandwidth, estimate_error, list_bandwidths, weigh
from adomnia.methods.parts.models.binned_means import BinnedMeans, ask_means
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.losses import rho_of
from adomnia.statistics.contract import Measure, Measured
from kit.analyses import analyse, frame
from kit.bits import SeededBits

FRAME = frame({"x": (0, 10), "y": (0, 10), "whole": (0, 8)}, {"city": ("A", "B")}, whole=("whole",))
DEFAULTS = {
    "y": FRAME.numbers["y"],
    "x": FRAME.numbers["x"],
    "bandwidth": None,
    "points": 25,
    "cells": 128,
    "by": (),
    "inference": "population",
}
PRICES = {"epsilon": Pure(1), "rho": Concentrated(rho_of(1, 1e-6))}
ENDLESS = Pure(10**6)
MIDDLES = (np.arange(128) + 0.5) * 10 / 128

every_price = pytest.mark.parametrize("price", PRICES.values(), ids=PRICES)


def ask(data, price, seed="kernel", **arguments):
    return analyse(METHOD.build(FRAME, {**DEFAULTS, **arguments}), price, data, SeededBits(str(seed)))


def draw(distribution, n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 10, n)
    if distribution == "gap":
        x = np.where(rng.random(n) < 0.5, rng.uniform(0, 3, n), rng.uniform(7, 10, n))
    if distribution == "ties":
        x = np.round(x)
    y = 5 + 3 * np.sin(x) + rng.normal(0, 1, n)
    return {"x": x, "y": np.full(n, 3.3) if distribution == "constant" else np.clip(y, 0, 10)}


def bandwidth_of(table):
    return float(re.search(r"reaches ([\d.e+-]+)", table.notes[1])[1])


def smooth(data, points, bandwidth):
    place = np.clip(np.floor(data["x"] * 12.8).astype(int), 0, 127)
    counts, sums = np.bincount(place, minlength=128), np.bincount(place, data["y"], minlength=128)
    weights = np.maximum(1 - ((np.asarray(points)[:, None] - MIDDLES) / bandwidth) ** 2, 0)
    with np.errstate(invalid="ignore"):
        return (weights @ sums) / (weights @ counts)


def test_without_noise_it_is_nadaraya_and_watsons_estimator():
    data = draw("smooth", 3000)
    table = ask(data, ENDLESS, bandwidth=Fraction(1))
    expected = smooth(data, table.labels["x"], 1.0)
    assert table.estimates["mean"].values == pytest.approx(expected, abs=1e-3)


def cover(distribution, price, runs, n, blind=False):
    truth, hits, told, widths = draw(distribution, 200_000, 99), 0, 0, []
    for run in range(runs):
        table = ask(draw(distribution, n, run), price, run)
        estimate, points = table.estimates["mean"], table.labels["x"]
        low, high = estimate.interval(0.95, 1)
        if blind:  # knows the sampling, and nothing of the noise
            about = ask(draw(distribution, n, run), ENDLESS, run, bandwidth=Fraction(bandwidth_of(table)))
            away = np.diff(about.estimates["mean"].interval(0.95, 1), axis=0)[0] / 2
            low, high = estimate.values - away, estimate.values + away
        expected = smooth(truth, points, bandwidth_of(table))
        known = ~np.isnan(estimate.values) & ~np.isnan(expected)
        hits += int(((low <= expected + 1e-3) & (expected <= high + 1e-3))[known].sum())
        told += int(known.sum())
        widths.append(np.median((high - low)[known]))
    return hits / told, told / (25 * runs), np.median(widths)


@every_price
@pytest.mark.parametrize("distribution", ["smooth", "gap", "ties", "constant"])
def test_intervals_hold_the_smoothed_curve_and_say_something(distribution, price):
    """14 tables, of whose points about 8 are independent: below 80% by chance in under 1e-6."""
    held, told, width = cover(distribution, price, 14, 2000)
    assert held > 0.8
    assert told > (0.9 if distribution in {"smooth", "constant"} else 0.2)
    assert width < 4


def test_intervals_that_are_blind_to_the_noise_do_not_hold():
    assert cover("smooth", Pure(Fraction(1, 4)), 6, 2000, blind=True)[0] < 0.75


@pytest.mark.soak
@every_price
@pytest.mark.parametrize("n", [1_000, 10_000])
@pytest.mark.parametrize("distribution", ["smooth", "gap", "ties", "constant"])
def test_coverage_is_near_what_is_promised(distribution, n, price):
    held, _, _ = cover(distribution, price, 200, n)
    assert 0.92 - 0.03 < held <= 0.985


def test_all_points_at_once_have_wider_intervals():
    estimate = ask(draw("smooth", 2000), PRICES["epsilon"]).estimates["mean"]
    (low, high), (lower, upper) = estimate.interval(0.95, 1), estimate.interval(0.95, 25)
    assert (upper - lower > high - low).all()


def test_more_rows_make_a_narrower_kernel_and_less_error():
    found = [ask(draw("smooth", n), PRICES["epsilon"]) for n in (300, 5_000, 100_000)]
    widths = [bandwidth_of(table) for table in found]
    errors = [np.nanmean((each.estimates["mean"].values - 5 - 3 * np.sin(each.labels["x"])) ** 2) for each in found]
    assert widths[0] > widths[1] >= widths[2]
    assert errors[0] > 2 * errors[1] > 4 * errors[2]


def test_a_gap_has_no_reply_and_is_said():
    table = ask(draw("gap", 20_000), PRICES["epsilon"])
    inside = [value for x, value in zip(table.labels["x"], table.estimates["mean"].values, strict=True) if 4 < x < 6]
    assert np.isnan(inside).all()
    assert "gap in x" in table.notes[-1]


@every_price
@pytest.mark.parametrize("n", [0, 1, 3, 30])
def test_few_rows_give_finite_numbers_or_no_reply(n, price):
    estimate = ask(draw("smooth", n), price).estimates["mean"]
    low, high = estimate.interval(0.95, 1)
    told = ~np.isnan(estimate.values)
    assert (low <= high).all()
    assert ((estimate.values >= 0) & (estimate.values <= 10))[told].all()


def test_whole_numbers_are_told_each_by_itself():
    x = np.repeat(np.arange(9.0), 500)
    table = ask({"whole": x, "y": x / 2}, ENDLESS, x=FRAME.numbers["whole"])
    assert table.labels["x"] == tuple(range(9))
    assert table.estimates["mean"].values == pytest.approx(np.arange(9) / 2, abs=1e-3)


def test_it_is_repeated_for_groups():
    data = {**draw("smooth", 400), "city": np.array(["A", "B"] * 200, dtype=object)}
    assert ask(data, PRICES["epsilon"], by=(FRAME.factors["city"],)).labels["city"] == ("A",) * 25 + ("B",) * 25


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"x": FRAME.numbers["y"]}, "by itself"),
        ({"bandwidth": Fraction(1, 100)}, "below the width of a cell"),
    ],
)
def test_what_makes_no_sense_is_refused(changed, why):
    with pytest.raises(Refusal, match=why):
        METHOD.build(FRAME, {**DEFAULTS, **changed})


def test_about_the_population_rows_of_one_person_are_refused():
    several = frame({"x": (0, 10), "y": (0, 10)}, rows_per_person=2)
    arguments = {**DEFAULTS, "x": several.numbers["x"], "y": several.numbers["y"]}
    with pytest.raises(Refusal):
        METHOD.build(several, arguments)
    METHOD.build(several, {**arguments, "inference": "data"})


FRAME_OF_KERNEL_BANDWIDTH = frame({"y": (0, 1)})
Y = FRAME_OF_KERNEL_BANDWIDTH.numbers["y"]
MIDDLES_OF_KERNEL_BANDWIDTH = (np.arange(64) + 0.5) / 64


def measured(rows, curve, seed=0, epsilon=1):
    """Responses of 0 and 1 that are spread evenly over 64 bins, with noise."""
    rng, mechanism = (
        np.random.default_rng(seed),
        Measure(ask_means(FRAME_OF_KERNEL_BANDWIDTH.relation, (), Y), Pure(epsilon)).mechanism,
    )
    counts = rng.multinomial(rows, np.full(64, 1 / 64))
    ones = rng.binomial(counts, curve(MIDDLES_OF_KERNEL_BANDWIDTH))
    whole = mechanism.scale * epsilon
    noise = np.rint(rng.laplace(0, float(mechanism.scale), (64, 3))).astype(np.int64)
    return BinnedMeans(
        Y, Measured(np.stack([counts - ones, 0 * ones, ones], axis=1) * int(whole) + noise, mechanism), True
    )


def wave(x):
    return 0.5 + 0.45 * np.sin(12 * x)


def flat(x):
    return np.full_like(x, 0.4)


def test_a_kernel_ends_at_its_bandwidth():
    assert weigh(np.zeros(1), np.array([0.0, 0.5, 1.0, 2.0]), 1.0).tolist() == [[1.0, 0.75, 0.0, 0.0]]


def test_candidates_go_from_one_bin_to_all():
    found = list(list_bandwidths(1.0, 10.0))
    assert found[0] == 0.75
    assert found[-1] >= 10
    assert found == sorted(found)


@pytest.mark.parametrize("seed", range(5))
def test_a_wave_has_a_narrow_kernel_and_a_flat_line_a_wide_one(seed):
    bending, straight = (
        choose_bandwidth(measured(20_000, each, seed), MIDDLES_OF_KERNEL_BANDWIDTH, 1 / 64) for each in (wave, flat)
    )
    assert bending < 0.15
    assert straight > 0.2


def test_where_no_rows_are_seen_it_is_the_widest():
    assert choose_bandwidth(measured(0, flat), MIDDLES_OF_KERNEL_BANDWIDTH, 1 / 64) >= 1


def test_the_estimated_error_ranks_as_the_real_one_does():
    bins = measured(50_000, wave, 3)
    estimated, real = [], []
    for bandwidth in list_bandwidths(1 / 64, 1.0):
        weights = weigh(MIDDLES_OF_KERNEL_BANDWIDTH, MIDDLES_OF_KERNEL_BANDWIDTH, bandwidth)
        estimated.append(estimate_error(bins, weights))
        real.append(((weights @ bins.sums / (weights @ bins.counts) - wave(MIDDLES_OF_KERNEL_BANDWIDTH)) ** 2).sum())
    assert real[int(np.argmin(estimated))] < 2 * min(real)
