"""Where the printed maximum of a normal fit may come from: four ways to it, given the printed lognormal fit.

The paper's salaries and noisy counts are not printed. So salaries are drawn from the lognormal distribution that it
prints, counted in its classes with its noise, and fitted. A regression on the lognormal fit of each sample tells what
each way gives where that fit is the printed one, and how much it still varies.
"""

import numpy as np
from scipy.special import ndtr, ndtri

from exhibits.contract import Simulation

PEOPLE = 500
MEAN, DEVIATION = 74.9, 38.3  # of the fit that the paper prints, in thousands
PRINTED = 197.157
WAYS = {
    "fit": "normal fit to the noisy counts",
    "above zero": "normal fit above 0 to the noisy counts",
    "exact": "mean and deviation of the exact salaries",
    "expected": "the same, expected value of the largest",
}

_ENDS = np.array([*range(0, 275, 25), np.inf])
_QUANTILE = ndtri(1 - 1 / PEOPLE)
_SHARES = np.linspace(0, 1, 200_001)[1:-1]
_EXPECTED = float(ndtri(_SHARES ** (1 / PEOPLE)).mean())  # of the largest of 500 standard normal values
_ROUNDS = 60  # of Fisher scoring, which converges long before
_REPETITIONS = 2000


def match_moments() -> tuple[float, float]:
    """The parameters of the lognormal distribution with the printed mean and standard deviation."""
    sigma = np.sqrt(np.log1p((DEVIATION / MEAN) ** 2))
    return float(np.log(MEAN) - sigma**2 / 2), float(sigma)


def fit_normal(counts: np.ndarray, ends: np.ndarray, start: tuple[float, float], *, above: bool) -> tuple[float, float]:
    """Mean and standard deviation of maximum likelihood from counts of classes, by Fisher scoring.

    With `above`, of a normal distribution that has no values below the first end.
    """
    mean, scale = start
    for _ in range(_ROUNDS):
        units = (ends - mean) / scale
        heights = np.exp(-units * units / 2) / np.sqrt(2 * np.pi)
        shares = np.maximum(np.diff(ndtr(units)), 1e-300)
        slopes = -np.diff([heights, np.where(np.isinf(units), 0, units) * heights], axis=1)  # by mean and ln scale
        if above:
            slopes = slopes / shares - slopes.sum(axis=1, keepdims=True) / shares.sum()
            shares = shares / shares.sum()
        else:
            slopes = slopes / shares
        score, information = slopes @ counts, counts.sum() * (slopes * shares) @ slopes.T
        step = np.linalg.solve(information, score)
        mean, scale = mean + scale * step[0], scale * np.exp(np.clip(step[1], -0.5, 0.5))
    return float(mean), float(scale)


def measure_once(random: np.random.Generator) -> list[float]:
    """Mean and standard deviation of the lognormal fit to one sample, and what each way makes of the same sample."""
    salaries = np.exp(random.normal(*match_moments(), PEOPLE))
    noise = random.laplace(0, 1, len(_ENDS) - 1)
    counts = np.maximum(np.histogram(salaries, _ENDS)[0] + noise, 0)
    with np.errstate(divide="ignore"):
        mu, sigma = fit_normal(counts, np.log(_ENDS), match_moments(), above=False)
    mean = np.exp(mu + sigma**2 / 2)
    own, moments = (float(salaries.mean()), float(salaries.std(ddof=1))), (MEAN, DEVIATION)
    open_ends = np.concatenate([[-np.inf], _ENDS[1:]])
    found = {
        "fit": _place(fit_normal(counts, open_ends, moments, above=False), _QUANTILE),
        "above zero": _place(fit_normal(counts, _ENDS, moments, above=True), _QUANTILE),
        "exact": _place(own, _QUANTILE),
        "expected": _place(own, _EXPECTED),
    }
    return [float(mean), float(mean * np.sqrt(np.expm1(sigma**2))), *(found[way] for way in WAYS)]


def run(_case: str, repetitions: int) -> dict[str, float]:
    """What each way gives where the lognormal fit is the printed one, and its standard deviation around that."""
    random = np.random.default_rng(PEOPLE)
    found = np.array([measure_once(random) for _ in range(repetitions)])
    fits = np.column_stack([np.ones(repetitions), found[:, 0] - MEAN, found[:, 1] - DEVIATION])
    lines = np.linalg.lstsq(fits, found[:, 2:], rcond=None)[0]
    spreads = (found[:, 2:] - fits @ lines).std(axis=0)
    both = zip(WAYS, lines[0], spreads, strict=True)
    return {key: float(value) for way, at, spread in both for key, value in ((way, at), (f"{way} spread", spread))}


def _place(fit: tuple[float, float], units: float) -> float:
    return fit[0] + units * fit[1]


SIMULATION = Simulation(run, ("given the printed fit",), _REPETITIONS, 20, "given the printed fit")
