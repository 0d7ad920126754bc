"""Lines of several tables: labels in the order of the counts, intervals at the stated rate."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.methods.synthesis.agreeing import Agreement
from adomnia.methods.synthesis.cubes import ALL, estimate_cells, list_labels, list_whole, word
from adomnia.methods.synthesis.residuals import NoisyMarginal, Residuals
from adomnia.statistics.products import Attribute

ATTRIBUTES = (Attribute("sex", ("F", "M")), Attribute("member", (False, True, None), "boolean"))
TABLES = ((), (0,), (1,), (0, 1))


def test_labels_follow_the_cells_of_each_table():
    labels = list_labels(ATTRIBUTES, TABLES)
    assert list(zip(labels["sex"], labels["member"], strict=True)) == [
        (ALL, ALL),
        ("F", ALL),
        ("M", ALL),
        *((ALL, value) for value in ("false", "true", "(missing)")),
        *((sex, value) for sex in "FM" for value in ("false", "true", "(missing)")),
    ]


def test_values_and_whole_numbers_are_in_the_same_order():
    counts = np.array([[5, 1, 0], [2, 2, 7]])
    found = Residuals.from_measured((2, 3), [NoisyMarginal((0, 1), counts, 4.0)])
    tables = {(): counts.sum(), (0,): counts.sum(axis=1), (1,): counts.sum(axis=0), (0, 1): counts}
    estimate = estimate_cells(found, TABLES, "gaussian", 0.0)
    assert estimate.values == pytest.approx(list_whole(Agreement(tables), TABLES, 12))
    lower, upper = estimate.interval(0.95, 1)
    assert (upper - lower) / 2 / 1.959964 == pytest.approx(np.sqrt(4.0 * np.repeat([6, 3, 2, 1], [1, 2, 3, 6])))


def test_where_there_are_no_whole_numbers_nothing_is_said():
    assert list_whole(None, TABLES, 12) == list_whole(Agreement(), TABLES, 12) == [None] * 12


def test_values_are_words():
    assert [word(each) for each in (None, True, 3, "Oslo")] == ["(missing)", "true", "3", "Oslo"]
