"""What is measured for a family: one vector, of which a row moves all entries by one row's worth."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from adomnia.methods.parts.likelihood.families import FAMILIES
from adomnia.methods.parts.likelihood.statistic_sums import Sample, StatisticSums
from adomnia.privacy.events import Pure
from adomnia.statistics.contract import Measure
from kit.analyses import Arms, frame
from kit.bits import SeededBits

FRAME = frame({"x": (-3, 3), "w": (0, 100), "p": (2, 50), "k": (0, 9), "b": (0, 1)}, whole=("k", "b"))
KNOWN = json.loads((Path(__file__).parents[3] / "fixtures" / "vectors.json").read_text())["suffstat"]
COLUMNS = {"normal": "x", "bernoulli": "b", "poisson": "k", "geometric": "k"}


def sums(family, column, values, epsilon=10**6):
    sample = Sample(FRAME.numbers[column], family)
    measure = Measure(sample.query(FRAME.relation, ()), Pure(Fraction(epsilon)))
    measured = Arms({column: np.array(values, dtype=float)}, SeededBits("sums")).measure(measure)
    return StatisticSums(sample, measured)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_row_moves_all_sums_by_what_it_counts(family):
    sample = Sample(FRAME.numbers[COLUMNS.get(family, "w")], family)
    widths = [each.domain.width for each in sample.vector.variables]
    assert sample.vector.row.l1 == np.prod([int(each) for each in widths], dtype=object) ** sample.family.degree


def test_means_are_those_of_the_statistics():
    values = np.array([-2.0, -1.0, 0.5, 3.0])
    found = sums("normal", "x", values)
    shares = (values + 3) / 6
    assert found.rows == pytest.approx(4, abs=1e-3)
    assert found.means == pytest.approx([shares.mean(), (shares**2).mean()], abs=1e-3)
    assert (found.offsets + found.widths).tolist() == [3.0]


def test_of_a_gamma_law_both_means_are_there_and_rows_left_out_are_counted():
    values = np.array([1.0, 4.0, 50.0, 99.0])
    found = sums("gamma", "w", [*values, 0.0, 0.0, -5.0])
    expected = [values.mean(), np.log(values).mean()]
    assert found.offsets + found.widths * found.means == pytest.approx(expected, rel=1e-3)
    assert (found.rows, found.excluded) == pytest.approx((4, 3), abs=1e-3)


def test_where_all_values_are_above_zero_none_is_left_out():
    assert not Sample(FRAME.numbers["p"], "gamma").excludes
    assert Sample(FRAME.numbers["p"], "gamma").bounds == FRAME.numbers["p"].domain
    assert Sample(FRAME.numbers["k"], "lognormal").bounds.lower == 1


def test_the_mean_has_less_noise_than_sums_of_x_and_its_square_measured_apart():
    """Apart, of a known number of rows and for replaced ones, it has the scale of the known answer."""
    found = sums("normal", "x", np.zeros(KNOWN["n"]), KNOWN["eps"])
    error = np.sqrt(found.noise_about(found.means)[0, 0]) / KNOWN["n"] * 2 * KNOWN["B"]
    assert 0 < error < 0.5 * np.sqrt(2) * KNOWN["scale_mean_replace"]
