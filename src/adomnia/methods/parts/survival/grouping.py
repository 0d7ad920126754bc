"""What grouped times leave open: in which order people of one interval had their event or were censored.

The curve of exact times lies between two others. In the lowest one everybody who is censored within an interval leaves
before its events, in the highest one after them. An interval that runs from below the lowest curve to above the highest
one covers every order. The truth cannot be beyond both ends, so that each end needs less reach the further they are
apart: 1.96 standard deviations where they meet, 1.64 where they are far apart (Imbens & Manski 2004).
"""

import numpy as np

from adomnia.statistics.contract import Floats

_HALVINGS = 30  # of the reach: it is found to 1e-8 standard deviations


def find_reach(simulated: Floats, apart: Floats, confidence: float) -> Floats:
    """By how many standard deviations intervals go beyond two ends, so as to cover whatever lies between them.

    `simulated` are sizes of standardised deviations, with the draws along the first axis; `apart` tells how many
    standard deviations the ends are apart. Deviations are taken to be at least those of a normal distribution.

    >>> find_reach(np.zeros((1, 3)), np.array([0.0, 1.0, 9.0]), 0.95).round(3).tolist()
    [1.96, 1.681, 1.645]
    """
    from scipy.special import ndtr

    def miss(reach: Floats) -> Floats:
        """How often both ends together are missed, if the truth is at one of them."""
        found = sum(np.maximum((simulated > each).mean(axis=0), 2 * ndtr(-each)) for each in (reach, reach + apart))
        return np.asarray(found / 2)

    low, high = np.zeros_like(apart), np.full_like(apart, max(10.0, float(simulated.max(initial=0.0))))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        enough = miss(middle) <= 1 - confidence
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high
