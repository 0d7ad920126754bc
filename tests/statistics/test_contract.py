"""A measure knows the noise that its price buys."""

import gc
from fractions import Fraction
from weakref import ref

import numpy as np
import pytest

from adomnia.mechanisms.exponential import Exponential
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import Rows
from adomnia.privacy.transforms.distances import Candidate, Distances, Guess
from adomnia.statistics.contract import Measure, Measured

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


def test_guesses_that_a_choice_is_made_by_are_not_kept_once_it_is_made():
    """There may be a million of them in every round of a release, and none is ever asked about again."""
    guess = Guess(0, np.zeros(1, np.int64))
    choice = Measure(Query(QUERY.relation, (), Distances(((),), (Candidate((guess,)),))), Pure(1), by="exponential")
    assert isinstance(choice.mechanism, Exponential)
    left = ref(guess)
    del guess, choice
    gc.collect()
    assert left() is None


def test_what_is_taken_from_one_measurement_holds_its_noise_and_each_part_another():
    whole, other = (Measured(np.array([1, 2]), DiscreteLaplace(Fraction(2))) for _ in range(2))
    rounded = [Measured(whole.values // 2, whole.mechanism, (whole, None)) for _ in range(2)]
    parts = [Measured(each.values[..., :1], each.mechanism, (each, part)) for each in rounded for part in ("a", "b")]
    assert whole.key != other.key
    assert rounded[0].key == rounded[1].key != whole.key
    assert parts[0].key == parts[2].key != parts[1].key == parts[3].key
    assert len({each.key for each in (whole, other, *rounded, *parts)}) == 5
