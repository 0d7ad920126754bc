"""The (epsilon, delta) curve of one integer with discrete Gaussian noise, summed from its definition in floats."""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
from scipy.special import log_ndtr


def curve(variance: float, distance: int, epsilon: float) -> float:
    """The least delta for moves of up to `distance`: the largest sum of (p(k) - exp(epsilon) p(k + shift))+."""
    reach = int(40 * sqrt(variance)) + 40 + distance
    k = np.arange(-reach, reach + 1, dtype=float)
    weights = np.exp(-k * k / (2 * variance))
    worst = 0.0
    for shift in range(1, distance + 1):
        log_ratios = shift * (2 * k + shift) / (2 * variance)
        likelier = log_ratios > epsilon
        worst = max(worst, float(np.sum(weights[likelier] * -np.expm1(epsilon - log_ratios[likelier]))))
    return worst / float(weights.sum())


def analytic_deviation(epsilon: float, delta: float) -> float:
    """The least (epsilon, delta)-private deviation of continuous Gaussian noise at distance 1; Balle & Wang 2018."""

    def continuous(deviation: float) -> float:
        first, second = 1 / (2 * deviation) - epsilon * deviation, -1 / (2 * deviation) - epsilon * deviation
        return exp(float(log_ndtr(first))) - exp(epsilon + float(log_ndtr(second)))

    low, high = 1e-3, 1e6
    for _ in range(200):
        middle = sqrt(low * high)
        low, high = (middle, high) if continuous(middle) > delta else (low, middle)
    return high
