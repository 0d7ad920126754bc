"""A measure knows the noise that its price buys."""

from fractions import Fraction

import pytest

from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.privacy.aggregates import Rows
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.statistics.contract import Measure

QUERY = Query(Private("visits", 10, ()), (), Rows())


@pytest.mark.parametrize(
    ("price", "noise"),
    [
        (Pure(Fraction(1, 2)), DiscreteLaplace(Fraction(20))),
        (Concentrated(Fraction(1, 2)), DiscreteGaussian(Fraction(100))),
    ],
)
def test_epsilon_buys_laplace_noise_and_rho_gaussian(price, noise):
    assert Measure(QUERY, price).mechanism == noise
    assert noise.event(QUERY.sensitivity()) == price
