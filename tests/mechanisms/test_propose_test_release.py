"""Propose-test-release against brute force: its exact distribution on all small data sets, and near misses of it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import ceil, exp, tanh

import numpy as np
import pytest

from adomnia.mechanisms.envelopes import MOST_ROWS, LogRange, OrderStatistic, ValueCounts
from adomnia.mechanisms.histograms import SecretHistogram
from adomnia.mechanisms.propose_test_release import ProposeTestRelease
from adomnia.noise.discrete import NotDrawableError
from adomnia.privacy.domains import Numbers
from adomnia.privacy.enclosures import exp_up
from adomnia.privacy.events import Approximate, Concentrated
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity, Text
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import Histogram, Proposal, bucket_bits
from adomnia.privacy.sensitivity import Sensitivity
from kit.bits import SeededBits
from kit.distributions import p_value_of_counts

SIZE, PEOPLE = 4, 7
MEDIAN = OrderStatistic(Fraction(1, 2), SIZE)
QUARTILE = OrderStatistic(Fraction(1, 4), SIZE)
RANGE = LogRange(Fraction(1, 4), Fraction(3, 4), SIZE, Fraction(3, 2))
DATA = [data for size in range(PEOPLE + 1) for data in combinations_with_replacement(range(SIZE), size)]
# As large as P[noise > 1] of the test, rounded up: a threshold of 1 is just enough, and 0 is not.
DELTA = exp_up(Fraction(-2)) / (1 + exp_up(Fraction(-1))) + Fraction(1, 10**12)
PRICE = Approximate(2, DELTA)
EPSILON, ROUNDING = 2.0, 1e-9

every_statistic = pytest.mark.parametrize("statistic", [MEDIAN, QUARTILE, RANGE], ids=str)
every_bound = pytest.mark.parametrize("bound", [1, 2])
every_cap = pytest.mark.parametrize("rows", [1, 2])


def counts_of(data, size=SIZE) -> ValueCounts:
    values, counts = np.unique(np.asarray(data, dtype=np.int64), return_counts=True)
    return ValueCounts.of(size, values, counts)


def order_statistic(data, share):
    return sorted(data)[ceil(share * len(data)) - 1] if data else 0


def exact(statistic, data) -> int:
    if isinstance(statistic, OrderStatistic):
        return order_statistic(data, statistic.share)
    distance = order_statistic(data, statistic.high) - order_statistic(data, statistic.low)
    return sum(statistic.ratio**j <= distance for j in range(50))


@cache
def row_distances():
    """How many rows have to come or go, of any two data sets."""
    table = np.array([[data.count(value) for value in range(SIZE)] for data in DATA])
    return np.abs(table[:, None] - table[None]).sum(axis=2)


def neighbours(rows):
    return np.argwhere(-(-row_distances() // rows) == 1)


def sealed(mechanism, data, rows=1):
    """A histogram that is read as an engine would: buckets first, then the values of those that are named."""
    size = mechanism.statistic.size
    held, shift = np.asarray(data, dtype=np.int64), bucket_bits(size)

    def read(buckets):
        chosen = held >> shift if buckets is None else held[np.isin(held >> shift, buckets)]
        values, counts = np.unique(chosen, return_counts=True)
        return np.stack([np.zeros_like(values), values, counts])

    return SecretHistogram(read, 1, Sensitivity(l1=rows), mechanism.price)


# -- the distance ---------------------------------------------------------------------------------------------------


@every_statistic
@every_bound
@every_cap
def test_one_person_moves_the_distance_by_at_most_one(statistic, bound, rows):
    mechanism = ProposeTestRelease(statistic, bound, rows, Approximate(1, 1e-6))
    distances = np.array([mechanism.distance(counts_of(data)) for data in DATA])
    here, there = neighbours(rows).T
    assert np.abs(distances[here] - distances[there]).max() == 1


@pytest.mark.no_cover
@every_statistic
@every_bound
@every_cap
def test_where_the_distance_is_not_zero_every_neighbour_is_within_the_bound(statistic, bound, rows):
    mechanism = ProposeTestRelease(statistic, bound, rows, Approximate(1, 1e-6))
    distances = np.array([mechanism.distance(counts_of(data)) for data in DATA])
    values = np.array([exact(statistic, data) for data in DATA])
    here, there = neighbours(rows).T
    moved = np.abs(values[here] - values[there])
    assert (moved[distances[here] >= 1] <= bound).all()
    assert moved.max() > bound  # or there would be nothing to hide


# -- the distribution ------------------------------------------------------------------------------------------------


def laplace(scale):
    return tanh(1 / scale / 2) * np.exp(-np.abs(np.arange(-80, 81)) / scale)


def outputs(distance, value, bound, threshold, *, noisy_test=True):
    """P[no reply] and P[value + noise] of what is released at epsilon 1 for the test and 1 for the release."""
    tested = laplace(1.0)
    above = (
        float(tested[np.arange(-80, 81) + distance > threshold].sum()) if noisy_test else float(distance > threshold)
    )
    released = np.zeros(161 + SIZE + 4)
    released[value : value + 161] = above * laplace(float(bound))
    return np.append(released, 1 - above)


def hockey_stick(distributions, rows):
    """The largest delta at epsilon over all neighbours, where each data set has one distribution."""
    pairs = {(distributions[here], distributions[there]) for here, there in neighbours(rows)}
    return max(float(np.maximum(0, outputs(*one) - exp(EPSILON) * outputs(*two)).sum()) for one, two in pairs)


def distributions_of(statistic, bound, rows, lower=0):
    mechanism = ProposeTestRelease(statistic, bound, rows, PRICE)
    return [
        (mechanism.distance(counts_of(data)), exact(statistic, data), bound, mechanism.threshold - lower)
        for data in DATA
    ]


@pytest.mark.no_cover
@every_statistic
@every_bound
@every_cap
def test_no_neighbour_gains_more_than_delta_at_epsilon(statistic, bound, rows):
    assert ProposeTestRelease(statistic, bound, rows, PRICE).threshold == 1
    assert hockey_stick(distributions_of(statistic, bound, rows), rows) <= float(DELTA) + ROUNDING


def test_a_threshold_that_is_one_lower_gives_away_more_than_delta():
    assert hockey_stick(distributions_of(MEDIAN, 1, 1, lower=1), 1) > 1.2 * float(DELTA)


def test_a_test_without_noise_gives_away_more_than_delta():
    bare = {mechanism: outputs(*mechanism, noisy_test=False) for mechanism in distributions_of(MEDIAN, 1, 1)}
    distributions = distributions_of(MEDIAN, 1, 1)
    assert max(
        float(np.maximum(0, bare[distributions[here]] - exp(EPSILON) * bare[distributions[there]]).sum())
        for here, there in neighbours(1)
    ) > 5 * float(DELTA)


def test_asking_only_whether_this_very_data_keeps_the_bound_gives_away_more_than_delta():
    """The local sensitivity itself, with no distance: one person is enough to change it."""
    distributions = [(40 * (distance > 0), *rest) for distance, *rest in distributions_of(MEDIAN, 1, 1)]
    assert hockey_stick(distributions, 1) > 2 * float(DELTA)


def test_a_distance_in_replaced_rows_gives_away_more_than_delta():
    """As the paper has it, where the number of rows is known: nothing can be replaced in a table without rows."""
    values = {data: exact(MEDIAN, data) for data in DATA}

    def replaced(data):
        same = [each for each in DATA if len(each) == len(data)]
        far = {each: (Counter(each) - Counter(data)).total() for each in same}
        broken = {
            each
            for each in same
            if any((Counter(each) - Counter(y)).total() == 1 and abs(values[each] - values[y]) > 1 for y in same)
        }
        return min((far[each] for each in broken), default=40)

    small = {data: replaced(data) for data in DATA if len(data) <= 3}
    distributions = [
        (small.get(data, distance), *rest)
        for data, (distance, *rest) in zip(DATA, distributions_of(MEDIAN, 1, 1), strict=True)
    ]
    pairs = [(h, t) for h, t in neighbours(1) if DATA[h] in small and DATA[t] in small]
    gained = max(
        float(np.maximum(0, outputs(*distributions[h]) - exp(EPSILON) * outputs(*distributions[t])).sum())
        for h, t in pairs
    )
    assert gained > 2 * float(DELTA)


@pytest.mark.parametrize("price", [PRICE, Approximate(0.3, 1e-9), Concentrated(0.5, 1e-6)], ids=["tight", "low", "rho"])
def test_the_threshold_is_the_least_that_the_noise_alone_is_above_with_delta(price):
    mechanism = ProposeTestRelease(MEDIAN, 1, 1, price)
    rate = float(1 / mechanism.testing.scale)
    above = [exp(-rate * (k + 1)) / (1 + exp(-rate)) for k in (mechanism.threshold - 1, mechanism.threshold)]
    assert above[1] <= float(price.delta) * (1 + 1e-12)
    assert above[0] > float(price.delta) * (1 + 1e-12)
    assert mechanism.farthest == 2 * mechanism.threshold + 1


def test_rho_buys_the_epsilon_whose_square_is_twice_as_much():
    by_rho, by_epsilon = (
        ProposeTestRelease(MEDIAN, 3, 1, price) for price in (Concentrated(0.5, 1e-6), Approximate(1, 1e-6))
    )
    assert by_rho.testing == by_epsilon.testing
    assert by_rho.adding == by_epsilon.adding
    assert by_rho.adding.scale == 6
    assert by_rho.event(Sensitivity(l1=1)) == Concentrated(0.5, 1e-6)


# -- the release ----------------------------------------------------------------------------------------------------


@pytest.mark.no_cover
def test_what_is_released_has_the_stated_distribution_and_not_that_of_a_nearby_distance(seeded_bits):
    """False alarms: 1e-6."""
    data = (1, 1, 1, 2, 3, 3)
    mechanism = ProposeTestRelease(MEDIAN, 1, 1, PRICE)
    stated = (mechanism.distance(counts_of(data)), exact(MEDIAN, data), 1, 1)
    held, cells = counts_of(data), 4000
    rows = np.array(
        [[c, v, n] for c in range(cells) for v, n in zip(held.values, np.diff(held.below, prepend=0), strict=True)]
    ).T
    drawn = mechanism.release(SecretHistogram(lambda _: rows, cells, Sensitivity(l1=1), PRICE), seeded_bits)
    places = [-1 if not reply else int(value) + 80 for reply, value in drawn]
    counts = np.bincount([place % len(outputs(*stated)) for place in places], minlength=len(outputs(*stated)))
    usual = outputs(*stated) > 1e-3

    def fits(*wanted):
        pooled = [np.append(each[usual], each[~usual].sum()) for each in (counts, outputs(*wanted))]
        return p_value_of_counts(*pooled) >= 1e-6

    assert fits(*stated)
    for wrong in (
        (stated[0] + 1, *stated[1:]),
        (stated[0], stated[1] + 1, *stated[2:]),
        (*stated[:3], 0),
    ):
        assert not fits(*wrong)


@pytest.mark.parametrize("size", [1, 4, 1000, 1024, 5000, 1 << 20, 1 << 33])
@pytest.mark.parametrize("rows", [1, 3])
def test_buckets_that_are_read_are_enough(size, rows, seeded_bits):
    """The distance and the statistic from what is read are those of the whole histogram."""
    random = np.random.default_rng(size)
    for many in (0, 1, 5, 300, 3000):
        data = np.clip(np.abs(random.standard_t(2, many)) * size / 8, 0, size - 1).astype(np.int64)
        for shares in ((Fraction(1, 2),), (Fraction(1, 4), Fraction(3, 4))):
            ratio = Fraction(9, 8)
            statistic = OrderStatistic(shares[0], size) if len(shares) == 1 else LogRange(*shares, size, ratio)
            mechanism = ProposeTestRelease(statistic, max(1, min(4, statistic.top)), rows, Approximate(1, 1e-6))
            whole = counts_of(data, size)
            expected = [mechanism.distance(whole), statistic.envelopes(whole, rows, 0).exact]
            assert mechanism._read(sealed(mechanism, data, rows)).tolist() == [expected]


def test_few_values_are_read_of_much_data():
    data = np.random.default_rng(5).normal(0.5e6, 1e5, 20_000).clip(0, 10**6).astype(np.int64)
    mechanism = ProposeTestRelease(OrderStatistic(Fraction(1, 2), 10**6 + 1), 100, 1, Approximate(1, 1e-6))
    secret, looked = sealed(mechanism, data), []
    read = secret.opened_by(mechanism)
    spy = SecretHistogram(
        lambda buckets: looked.append(buckets) or read(buckets), 1, Sensitivity(l1=1), mechanism.price
    )
    mechanism.release(spy, SeededBits("few"))
    assert len(looked) == 2
    assert 1 <= len(looked[1]) <= 5


def test_both_noises_are_drawn_whether_or_not_there_is_a_reply():
    """After a release the next bits are the same, whatever the data."""
    mechanism = ProposeTestRelease(MEDIAN, 1, 1, PRICE)
    following = set()
    for data in ((), (0,), (1,) * 50, (0,) * 25 + (3,) * 25):
        bits = SeededBits("both")
        mechanism.release(sealed(mechanism, data), bits)
        following.add(int(bits.words(1)[0]))
    assert len(following) == 1


def test_data_far_from_the_bound_is_replied_to_and_data_at_it_is_not(seeded_bits):
    mechanism = ProposeTestRelease(OrderStatistic(Fraction(1, 2), 101), 2, 1, Approximate(1, 1e-6))
    tied, split = [50] * 500, [0] * 250 + [100] * 250
    replies = [mechanism.release(sealed(mechanism, tied), seeded_bits)[0] for _ in range(50)]
    assert all(reply == 1 and abs(value - 50) < 100 for reply, value in replies)
    assert [mechanism.release(sealed(mechanism, split), seeded_bits)[0].tolist() for _ in range(50)] == [[0, 0]] * 50


def test_cells_are_apart():
    mechanism = ProposeTestRelease(OrderStatistic(Fraction(1, 2), 101), 2, 1, Approximate(4, 1e-6))
    rows = np.array([[0, 2, 2], [40, 0, 100], [500, 300, 300]])
    secret = SecretHistogram(lambda _: rows, 3, Sensitivity(l1=1), mechanism.price)
    found = mechanism.release(secret, SeededBits("cells"))
    assert found.shape == (3, 2)
    assert found[:, 0].tolist() == [1, 0, 0]  # one value; nobody; half of the rows at either end


# -- what is refused ------------------------------------------------------------------------------------------------


def test_people_with_more_rows_than_it_was_built_for_are_refused():
    mechanism = ProposeTestRelease(MEDIAN, 1, 2, PRICE)
    assert mechanism.event(Sensitivity(l1=1)) == mechanism.event(Sensitivity(l1=2)) == PRICE
    with pytest.raises(ValueError, match="at most 2 rows"):
        mechanism.event(Sensitivity(l1=3))


def test_several_cells_and_several_rows_a_person_are_refused():
    """One person could be in several cells, each of which moves by itself."""
    mechanism = ProposeTestRelease(MEDIAN, 1, 2, PRICE)
    secret = SecretHistogram(lambda _: np.zeros((3, 0), dtype=np.int64), 2, Sensitivity(l1=2), PRICE)
    with pytest.raises(ValueError, match="cells must be 1"):
        mechanism.release(secret, SeededBits("cells"))
    with pytest.raises(ValueError, match="rows must be 1"):
        ProposeTestRelease.for_query(query(rows=2, keys=(Column("city", Text(("a", "b"))),)), PRICE)


@pytest.mark.parametrize(
    ("bound", "price", "why"),
    [
        (0, PRICE, "bound must be from 1 to 3"),
        (4, PRICE, "bound must be from 1 to 3"),
        (1, Concentrated(1), "delta must be >= 1e-30"),
        (1, Approximate(1e-6, 1e-9), "must buy a test"),
        (1, Approximate(1e6, 1e-9), "scale must be"),
    ],
)
def test_what_cannot_be_promised_or_drawn_is_refused(bound, price, why):
    with pytest.raises(ValueError, match=why):
        ProposeTestRelease(MEDIAN, bound, 1, price)


def test_people_of_so_many_rows_that_ranks_would_wrap_are_refused():
    """Three joined tables of a million rows a person each: times the steps, that is beyond 64 bits."""
    cheap, median = Approximate(Fraction(1, 1000), Fraction(1, 10**9)), OrderStatistic(Fraction(1, 2), 5000)
    mechanism = ProposeTestRelease(median, 3000, MOST_ROWS, cheap)
    assert mechanism.release(sealed(mechanism, [2503] * 50), SeededBits("most")).shape == (1, 2)
    least, most = median.ranks(2**48, MOST_ROWS, 2**20)
    assert (np.diff(least) <= 0).all()
    assert (np.diff(most) > 0).all()
    _, wrapped = median.ranks(2**48, 2**50, 2**20)
    assert not (np.diff(wrapped) > 0).all()
    with pytest.raises(NotDrawableError, match="rows must be at most"):
        ProposeTestRelease(median, 3000, 2**50, cheap)


def query(rows=1, keys=(), shares=(Fraction(1, 2),), ratio=None):
    column = Column("x", Quantity(Fraction(0), Fraction(100), True), Numbers.integers(0, 100))
    proposal = Proposal(column, Numbers.integers(0, 100), shares, Fraction(19, 20), bound=2, ratio=ratio)
    return Query(Private("people", rows, (column,)), keys, proposal)


def test_a_query_says_which_statistic_and_how_many_rows_a_person_has():
    median = ProposeTestRelease.for_query(query(rows=3), PRICE)
    assert median == ProposeTestRelease(OrderStatistic(Fraction(1, 2), 101), 2, 3, PRICE)
    quartiles = (Fraction(1, 4), Fraction(3, 4))
    spread = ProposeTestRelease.for_query(query(shares=quartiles, ratio=Fraction(5, 4)), PRICE)
    assert spread == ProposeTestRelease(LogRange(*quartiles, 101, Fraction(5, 4)), 2, 1, PRICE)
    assert spread.shape(query()) == (2,)


def test_another_aggregate_than_a_proposal_is_refused():
    proposed = query()
    counted = proposed.aggregate
    plain = Histogram(counted.value, counted.domain, counted.shares, counted.confidence)
    with pytest.raises(TypeError, match="must be of a Proposal"):
        ProposeTestRelease.for_query(Query(proposed.relation, (), plain), PRICE)


def test_rows_that_lie_evenly_have_their_median_in_the_middle():
    assert ProposeTestRelease(OrderStatistic(Fraction(1, 2), 101), 2, 1, PRICE).spread_evenly(50).tolist() == [1, 50]
    spread = ProposeTestRelease(LogRange(Fraction(1, 4), Fraction(3, 4), 1025, Fraction(2)), 2, 1, PRICE)
    assert spread.spread_evenly(50).tolist() == [1, 10]
