"""The error of private histograms: as the formula says, and of the rate of those without privacy."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from adomnia.methods.densities.histogram import METHOD
from adomnia.methods.parts.densities.rates import Shape, count_bins, expected_ise
from adomnia.privacy.events import Pure
from kit.analyses import analyse, frame
from kit.bits import SeededBits

BETA = Shape(square=1.2, slope_square=12.0)  # of beta(2, 2)
KNOWN = json.loads((Path(__file__).parents[3] / "fixtures" / "vectors.json").read_text())["hist_density_beta22"]
FRAME = frame({"x": (0, 1)})
FINE = 2_000  # places where densities are compared, in each bin
DRAWS = 60


def integrated_error(values, bins):
    places = (np.arange(FINE * bins) + 0.5) / (FINE * bins)
    return float(((np.repeat(values, FINE) - stats.beta(2, 2).pdf(places)) ** 2).mean())


def errors_of(n, epsilon, bins):
    arguments = {"column": FRAME.numbers["x"], "bins": bins, "breaks": (), "inference": "population", "by": ()}
    asked, generator = METHOD.build(FRAME, arguments), np.random.default_rng(n)
    for seed in range(DRAWS):
        table = analyse(asked, Pure(epsilon), {"x": generator.beta(2, 2, n)}, SeededBits(f"rate {n} {seed}"))
        yield integrated_error(table.estimates["density"].values, bins)


@pytest.mark.parametrize("case", KNOWN, ids=lambda case: f"n={case['n']} epsilon={case['eps']:.3g}")
def test_the_formula_is_near_the_simulated_errors_where_a_person_is_replaced(case):
    found = expected_ise(BETA, case["d"], case["n"], case["eps"], moved=case["noise_factor"])
    assert found.noise == pytest.approx(case["noise_term"], rel=1e-3)
    assert found.averaging + found.sampling == pytest.approx(case["ise_nonpriv"], rel=0.1)
    assert found.total == pytest.approx(case["ise_priv"], rel=0.15)


@pytest.mark.parametrize(("n", "epsilon"), [(1000, 1), (1000, 0.1), (8000, 0.05)])
def test_the_histogram_follows_the_formula_and_beats_that_of_replaced_people(n, epsilon):
    """Means of 60 errors, six standard deviations of them; densities that are cut at zero err less than the formula."""
    bins = count_bins(n)
    errors = list(errors_of(n, epsilon, bins))
    far = 6 * np.std(errors) / np.sqrt(DRAWS)
    own, replaced = (expected_ise(BETA, bins, n, epsilon, moved).total for moved in (1, 2))
    assert np.mean(errors) <= own * 1.05 + far
    assert np.mean(errors) >= own * 0.75 - far
    assert epsilon == 1 or np.mean(errors) + far < replaced


@pytest.mark.parametrize("exponent", [-1 / 3, 0.0])
def test_with_epsilon_down_to_the_cube_root_the_rate_is_that_without_privacy(exponent):
    scaled = [expected_ise(BETA, count_bins(n), n, n**exponent).total * n ** (2 / 3) for n in (10**3, 10**6, 10**9)]
    assert max(scaled) < 1.2 * min(scaled)


def test_with_less_the_rate_is_lost():
    scaled = [expected_ise(BETA, count_bins(n), n, n**-0.5).total * n ** (2 / 3) for n in (10**3, 10**6)]
    assert scaled[1] > 3 * scaled[0]


@pytest.mark.parametrize(("rows", "bins"), [(-1e9, 1), (0, 1), (1, 1), (30, 3), (10**6, 100), (1e300, 208064)])
def test_bins_are_the_cube_root_of_the_rows(rows, bins):
    assert count_bins(rows) == bins
