"""The tables of estimators: written from what was simulated, which is what would be simulated again."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import replace
from itertools import product
from math import log
from pathlib import Path

import numpy as np
import pytest

from adomnia.methods.registry import METHODS

ROOT = Path(__file__).parents[1]


def load_tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLE = load_tool("location_error_table")
KEPT = json.loads(TABLE.KEPT.read_text())
MEASURED = [each for each in TABLE.offered() if any(key.startswith(f"{each.name} | ") for key in KEPT)]


def by_name(estimator):
    return estimator.name


def test_the_tables_are_what_was_simulated():
    assert TABLE.PAGE.read_text().endswith(TABLE.render(KEPT))


def test_the_picture_shows_what_was_simulated_on_light_and_dark_pages():
    svg = TABLE.PICTURE.read_text()
    assert f'data-digest="{TABLE.draw(KEPT).digest}"' in svg
    assert "prefers-color-scheme:dark" in svg


def test_an_error_that_was_changed_is_found():
    [key] = [key for key in KEPT if key.startswith("mad | normal | 1000 | 1")]
    changed = {**KEPT, key: {**KEPT[key], "error": 0.9}}
    assert not TABLE.PAGE.read_text().endswith(TABLE.render(changed))


def test_every_estimator_that_was_measured_was_measured_everywhere():
    cells = [cell for cell in TABLE.list_cells() if cell.estimator in MEASURED]
    assert len(cells) == len(MEASURED) * 8 * 4 * 3
    assert [cell.key for cell in cells if cell.key not in KEPT] == []


@pytest.mark.parametrize("estimator", MEASURED, ids=by_name)
@pytest.mark.parametrize(
    ("distribution", "price"), [("Pareto", "0.1"), ("rounded to fives", "1"), ("lognormal", "no noise")]
)
def test_the_first_errors_that_are_kept_are_drawn_again(estimator, distribution, price):
    cell = TABLE.Cell(estimator, TABLE.DISTRIBUTIONS[distribution], 100, price)
    kept = [np.nan if each is None else each for each in KEPT[cell.key]["first"]]
    assert cell.errors(TABLE.FIRST) == pytest.approx(kept, rel=1e-5, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize(
    ("error", "silent", "shown"),
    [(0.021, 0.0, "0.021"), (0.021, 0.4, "0.021 (no reply 40%)"), (None, 0.85, "no reply 85%")],
)
def test_no_reply_is_told_as_often_as_it_is(error, silent, shown):
    assert TABLE._show({"error": error, "silent": silent}) == shown


def test_more_than_half_without_a_reply_has_no_error():
    distribution = TABLE.DISTRIBUTIONS["normal"]
    [silent] = [each for each in TABLE.offered() if each.name == "ptr_iqr"]
    found = TABLE.Cell(replace(silent, samples={100: 4}), distribution, 100, "0.1").simulate()
    assert found["error"] is None
    assert found["silent"] == 1


def error_of(name, distribution, rows, price):
    return KEPT[f"{name} | {distribution} | {rows} | {price}"]["error"]


@pytest.mark.parametrize(("name", "instead"), [("ptr_median", "MEDIAN(x)"), ("ptr_iqr", "iqr")])
@pytest.mark.parametrize("distribution", ["normal", "lognormal", "exponential", "uniform", "Pareto"])
def test_what_is_tested_before_it_is_released_is_never_nearer_as_the_page_says(name, instead, distribution):
    for rows in TABLE.SIZES:
        for price in TABLE.PRICES:
            error = error_of(name, distribution, rows, price)
            assert error is None or error > 1.5 * error_of(instead, distribution, rows, price)


def test_smooth_noise_is_worth_it_for_ties_and_not_at_a_small_price_as_the_page_says():
    for rows, distribution in product((1000, 10_000), ("normal", "lognormal", "uniform", "Pareto")):
        assert error_of("smooth_quantile", distribution, rows, "0.1") > 2 * error_of(
            "MEDIAN(x)", distribution, rows, "0.1"
        )
        assert error_of("smooth_quantile", distribution, rows, "1") < 1.2 * error_of(
            "MEDIAN(x)", distribution, rows, "1"
        )
    assert error_of("smooth_quantile", "60% zeros", 100, "1") == 0 == error_of("MEDIAN(x)", "60% zeros", 100, "1")
    assert 5 * error_of("smooth_quantile", "60% zeros", 100, "0.1") < error_of("MEDIAN(x)", "60% zeros", 100, "0.1")


def test_hubers_location_is_nearer_than_the_median_on_normal_values_as_the_page_says():
    assert error_of("huber_location", "normal", 10_000, "1") < 0.9 * error_of("MEDIAN(x)", "normal", 10_000, "1")
    assert error_of("huber_location", "Pareto", 1000, "0.1") > 1


def test_a_number_that_a_distribution_does_not_have_is_left_blank():
    [line] = [
        line
        for line in TABLE._render_distribution(TABLE.DISTRIBUTIONS["Pareto"], KEPT).splitlines()
        if "STDDEV" in line
    ]
    assert set(line.replace("`STDDEV(x)`", "")) == {"|", " "}


@pytest.mark.parametrize("price", TABLE.PRICES.values(), ids=TABLE.PRICES)
def test_location_takes_the_way_of_the_median_on_all_distributions_as_the_page_says(price):
    """So it needs no row of its own."""
    for distribution in TABLE.DISTRIBUTIONS.values():
        for rows in TABLE.SIZES:
            asked = TABLE._method("location", "median", f", sample_size => {rows}").build(distribution)
            assert asked.specialize_for(price).way == "brackets"


def test_hubers_location_is_where_distances_that_are_cut_add_up_to_zero():
    from scipy.optimize import brentq

    values = np.array([1.0, 2.0, 2.5, 3.0, 4.0, 7.0, 40.0])
    reach = 1.345 * 1.4826 * np.median(np.abs(values - 3.0))
    root = brentq(lambda centre: np.clip(values - centre, -reach, reach).sum(), 1, 40)
    assert TABLE.FUNCTIONALS["Huber's location"](values) == pytest.approx(root)


def test_methods_that_are_not_there_are_not_offered():
    offered = {each.method for each in TABLE.offered()}
    assert offered <= {"", *METHODS}
    assert {"trimmed_mean", "iqr", "mad", "smooth_quantile", "ptr_median"} <= offered


@pytest.mark.parametrize(
    ("distribution", "target", "known"),
    [
        ("normal", "mean", 50.0),
        ("normal", "sd", 10.0),
        ("normal", "MAD", 10.0),
        ("exponential", "median", 20 * log(2)),
        ("exponential", "mean", 20.0),
        ("uniform", "IQR", 50.0),
        ("uniform", "trimmed mean", 50.0),
        ("Pareto", "mean", 30.0),
        ("Pareto", "median", 10 * 2 ** (2 / 3)),
        ("bimodal", "mean", 50.0),
        ("60% zeros", "mean", 8.0),
        ("60% zeros", "median", 0.0),
        ("rounded to fives", "median", 50.0),
    ],
)
def test_the_population_has_the_numbers_that_are_known(distribution, target, known):
    assert TABLE.find_truth(distribution, target) == pytest.approx(known, rel=2e-3, abs=1e-9)


@pytest.mark.parametrize("distribution", TABLE.DISTRIBUTIONS.values(), ids=lambda distribution: distribution.name)
def test_samples_follow_their_distribution(distribution):
    """The share below the true quartiles, of 100,000 values: beyond six deviations once in 500 million."""
    drawn = distribution.draw(100_000, 0)
    for share in (0.25, 0.75):
        value = float(distribution.quantile(np.array([share]))[0])
        below, most = np.mean(drawn < value), np.mean(drawn <= value)
        assert below - 0.0083 <= share <= most + 0.0083


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0, "0"), (0.01234, "0.012"), (0.998, "1.0"), (0.35, "0.35"), (14.2, "14"), (61.0, "61")]
)
def test_two_digits_that_count_are_shown(value, shown):
    assert TABLE.show_two_digits(value) == shown
