"""How many bins a density has: the least error, whatever the noise."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from adomnia.distributions.simulations import draw_again
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.methods.parts.densities.bandwidth import candidates, choose, estimate_error
from adomnia.methods.parts.densities.shares import merge

KNOWN = json.loads((Path(__file__).parents[3] / "fixtures" / "vectors.json").read_text())["hist_density_beta22"]
CELLS = 128
WIDTHS = np.full(CELLS, 1 / CELLS)
SHARES = np.diff(stats.beta(2, 2).cdf(np.linspace(0, 1, CELLS + 1)))


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
