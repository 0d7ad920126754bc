"""What a table says beyond its columns costs less than all it says, and adds up to the same noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.releases.mst import METHOD
from adomnia.methods.synthesis.interactions import relative_noise, split_table
from adomnia.methods.synthesis.residuals import NoisyMarginal, Residuals
from adomnia.privacy.events import Concentrated, Pure
from kit.placed_rows import build

RHO = Concentrated(Fraction(1, 10))


def test_two_columns_of_two_values_have_half_the_noise():
    assert relative_noise((2, 2), (0, 1), RHO) == pytest.approx(0.5)
    assert relative_noise((100, 100), (0, 1), RHO) == pytest.approx(0.99)


@pytest.mark.parametrize("table", [(0, 1), (0, 1, 2), (1, 2, 3)])
def test_parts_add_up_to_equal_noise_on_all_counts(table):
    """With what is known of single columns made as exact, all counts have the noise of counts measured whole."""
    sizes = (3, 4, 2, 5)
    whole = Residuals.from_measured(sizes, [NoisyMarginal(table, np.zeros([sizes[c] for c in table]), 7.0)])
    tables = build(METHOD, sizes).tables
    measures = tables.ask_parts(table, RHO)
    parts = split_table(sizes, table, RHO)
    assert sum(part.share for part in parts) == 1
    assert {part.columns for part in parts} == {columns for columns in whole.variances if len(columns) > 1}
    factors = set()
    for part, measure in zip(parts, measures, strict=True):
        kept = float(np.prod([sizes[column] for column in part.columns])) ** -2
        factors.add(round(float(measure.mechanism.variance) * kept / whole.variances[part.columns], 9))
    assert len(factors) == 1
    at_the_same_price = float(1 / (2 * RHO.rho)) / 7.0
    assert next(iter(factors)) == pytest.approx(at_the_same_price * relative_noise(sizes, table, RHO) ** 2)


@pytest.mark.parametrize(
    ("sizes", "table", "price"),
    [((3, 4), (0, 1), Pure(1)), ((3, 4), (0,), RHO), ((500, 4), (0, 1), RHO), ((1, 4), (0, 1), RHO)],
    ids=["laplace", "one column", "many values", "one value"],
)
def test_what_gains_nothing_is_measured_as_counts(sizes, table, price):
    (only,) = split_table(sizes, table, price)
    assert (only.columns, only.basis, only.share) == (table, "counts", 1)
    assert relative_noise(sizes, table, price) == 1.0
