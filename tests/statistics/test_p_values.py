"""P-values at their floor are bounds, and no number is below it."""

import numpy as np
import pytest

from adomnia.methods.parts.testing.null_distribution import NullDistribution
from adomnia.statistics.p_values import AtMost, bound_p_value, bound_p_values, find_floor


@pytest.mark.parametrize(("draws", "least"), [(9_999, 1e-4), (999, 1e-3), (400, 0.0025)])
def test_a_simulated_p_value_is_a_bound_where_no_draw_is_as_far_out(draws, least):
    mechanism = NullDistribution(np.arange(draws, dtype=float))
    found, next_one = mechanism.p_value(draws + 1.0, "greater"), mechanism.p_value(draws - 1.0, "greater")
    assert isinstance(found, AtMost)
    assert found == pytest.approx(1 / (1 + draws))
    assert found.floor == least
    assert type(next_one) is float
    assert next_one == pytest.approx(2 / (1 + draws))


def test_a_column_has_the_bound_of_its_values():
    values = bound_p_values([0.0, None, 0.2, 1e-4])
    assert values == (0.0, None, 0.2, 1e-4)
    assert find_floor(values) == 1e-4
    assert find_floor((0.2, None)) is None
    assert find_floor((bound_p_value(0.001, 0.001), bound_p_value(0.002, 0.002))) == 0.002
