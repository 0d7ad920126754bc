"""Populations are judged first: intervals that miss a wrong truth would look too narrow."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from kit.columns import KINDS, population, rows_of

CELLS = {  # of x, as nearest-neighbour regression releases them
    "heaped ages": (-0.5, 20.5, 25.5, 29.5, 30.5, 36.5, 60.5, 69.5, 120.5),
    "smooth": (0, 24, 30, 33, 48, 49.5, 76, 100.5),
}
DOUBLINGS, ROWS = 20, 20_000
MOST = 0.2  # of the standard error of the mean of a cell's rows, where there are so many rows


def cut(kind, data):
    """The values of y in each cell of x."""
    return [data["y"][(data["x"] >= start) & (data["x"] < end)] for start, end in pairwise(CELLS[kind])]


@pytest.mark.parametrize("kind", CELLS)
def test_a_population_has_the_means_of_its_cells(kind):
    """A larger one of other points has the same: they were up to 0.7 standard errors apart, and intervals missed."""
    points = stats.qmc.Sobol(5, scramble=True, rng=np.random.default_rng(4)).random_base2(DOUBLINGS)
    larger = cut(kind, rows_of(KINDS[kind], np.clip(points, 1e-9, 1 - 1e-9)))
    apart = [
        abs(told.mean() - y.mean()) / y.std() * np.sqrt(len(y) * ROWS / 2**DOUBLINGS)
        for told, y in zip(cut(kind, population(kind)), larger, strict=True)
    ]
    assert max(apart) < MOST, np.round(apart, 3)
