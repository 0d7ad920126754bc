"""Shortened contributions: what is asked and for how much, which length is taken, and how near the truth that gets.

Where draws decide, the seed is fixed; with any other a test would fail with a probability below 1e-6.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from math import pi, sqrt
from pathlib import Path

import numpy as np
import pytest

from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.noise import discrete_gaussian
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.keys import Bucket, key_cells
from adomnia.privacy.kinds import Identity, Quantity, Text
from adomnia.privacy.losses import covers, loss
from adomnia.privacy.queries import CLIPPED_PARTS, Clip, Query
from adomnia.privacy.relations import PerPerson, Private, Select
from adomnia.privacy.scans import NonNull, People, Rows, Total
from adomnia.privacy.sensitivity import Sensitivity
from adomnia.statistics.clipped import Clipped
from adomnia.statistics.contract import Measure, Measured
from adomnia.statistics.count import Count
from adomnia.statistics.located import Located
from adomnia.statistics.mean import Mean
from adomnia.statistics.sum import Sum
from adomnia.statistics.variance import Variance
from kit.bits import SeededBits
from kit.spreads import at_most

VECTORS = json.loads((Path(__file__).parents[1] / "fixtures" / "vectors2.json").read_text())
CITY = Column("city", Text(tuple(map(str, range(50)))))
FARE = Column("fare", Quantity(Fraction(0), Fraction(100)), Numbers(0, 100, Fraction(1, 16)))
NAME = Column("visit_id", Identity(linked="trips.visit_id"))
TRIPS = Private("trips", 1000, (CITY, FARE, NAME))
COUNT = Count(Query(TRIPS, (CITY,), Rows()))
PAID = Query(TRIPS, (CITY,), Total(FARE, FARE.domain))
RHO = Concentrated(Fraction("0.0173"))  # about (1, 1e-6)
MOST_ROWS = 1000


class World:
    """People with a number of rows in each cell, who answer measures: exactly, or with the noise that was bought."""

    def __init__(self, rows, values=None, bits=None):
        self.rows, self.values, self.bits = rows, values, bits
        self.asked = []

    def entries(self, aggregate):
        if isinstance(aggregate, Total):
            return self.values - aggregate.centre * self.rows
        return self.rows

    def exact(self, query):
        if query.clip is not None:
            return self._shortened(query)
        if isinstance(query.relation, Select):
            return self._profile(query)
        entries = self.entries(query.aggregate)
        return entries.sum(axis=0) if query.keys else entries.sum()

    def _profile(self, query):
        """Of the lengths of which the square has so many bits."""
        entries = lengths_in(query).source
        vectors = self.entries(entries.outputs[0].aggregate)
        vectors = vectors if entries.keys else vectors.sum(axis=1, keepdims=True)
        squares = (vectors.astype(np.float64) ** 2).sum(axis=1)
        levels = np.floor(np.log2(squares[squares > 0])).astype(int)
        return np.bincount(levels, minlength=len(key_cells(query.keys[0])))

    def _shortened(self, query):
        grouped = self.entries(query.aggregate), self.rows
        entries, rows = (each if query.keys else each.sum(axis=1, keepdims=True) for each in grouped)
        length = np.sqrt(((rows if query.clip.counted else entries).astype(np.float64) ** 2).sum(axis=1, keepdims=True))
        factor = np.minimum(1.0, query.clip.bound / np.maximum(length, 1e-9))
        summed = np.trunc(CLIPPED_PARTS * factor * entries).astype(np.int64).sum(axis=0)
        return summed if query.keys else summed[0]

    def measured(self, measure):
        exact = np.asarray(self.exact(measure.query))
        noise = measure.mechanism
        if self.bits is not None:
            exact = exact + discrete_gaussian(noise.variance, exact.shape, self.bits)
        return Measured(np.asarray(exact), noise)

    def estimate(self, statistic, price=RHO):
        flow = statistic.steps(price)
        asked = next(flow)
        while True:
            self.asked.append(asked)
            known = {measure: self.measured(measure) for measure in dict.fromkeys(asked)}
            try:
                asked = flow.send(tuple(known[measure] for measure in asked))
            except StopIteration as end:
                return end.value


def lengths_in(query):
    """The lengths of which a profile counts the levels, of all people: below it are those who have any."""
    lengths = query.relation.source.source
    assert isinstance(lengths, PerPerson)
    return lengths


def people(sizes, draw, cities=50):
    """Rows spread over cities at random."""
    rows = np.zeros((len(sizes), cities), dtype=np.int64)
    places = draw.integers(0, cities, size=int(sizes.sum()))
    np.add.at(rows, (np.repeat(np.arange(len(sizes)), sizes), places), 1)
    return rows


def uniform(number, draw):
    return people(draw.integers(1, 101, size=number), draw)


# ------------------------------------------------------------------------------------------------ what is asked


def test_a_tenth_buys_the_lengths_and_the_rest_the_shortened_counts():
    world = World(np.array([[3, 4], [1, 0], [0, 0]]))
    count = Count(Query(Private("trips", 9, (CITY,)), (Column("c", Text(("a", "b"))),), Rows()))
    world.estimate(Clipped(count), Concentrated(1))
    (lengths,), (shortened,) = world.asked
    assert lengths.price == Concentrated(Fraction(1, 10))
    assert lengths.query.sensitivity() == Sensitivity(l1=1, monotone=True)
    assert world.exact(lengths.query).tolist() == [1, 0, 0, 0, 1, 0, 0]  # squares of 1 and of 25, up to 81
    assert shortened.price == Concentrated(Fraction(9, 10))
    assert shortened.query == Query(count.query.relation, count.query.keys, Rows(), shortened.query.clip)


STATISTICS = {
    "count": COUNT,
    "values": Count(Query(TRIPS, (CITY,), NonNull(FARE))),
    "ids": Count(Query(TRIPS, (CITY,), NonNull(NAME))),
    "sum": Sum(PAID),
    "centred sum": Located(PAID, mean=False),
    "mean": Located(PAID),
    "mean from the middle": Mean(PAID),
    "weighted mean": Located(PAID, share=Fraction(1, 5)),
    "ungrouped": Located(Query(TRIPS, (), PAID.aggregate)),
    "variance": Variance(PAID, "VAR_POP"),
    "people": Count(Query(TRIPS, (CITY,), People())),
    "one row": Count(Query(Private("trips", 1, (CITY,)), (CITY,), Rows())),
}


def small_world(bits=None):
    draw = np.random.default_rng(5)
    rows = uniform(300, draw)
    return World(rows, rows * 160 + draw.integers(-8, 8, size=rows.shape) * rows, bits)


class Guessing(World):
    """Squares of values are not its business: it makes answers up where a query is about others than its own."""

    def exact(self, query):
        return np.zeros(query.shape, dtype=np.int64) + 40


@pytest.mark.parametrize("name", STATISTICS)
def test_all_rounds_together_cost_what_the_statistic_itself_costs_at_most(name):
    statistic = STATISTICS[name]
    world = Guessing(None) if name == "variance" else small_world()
    world.estimate(Clipped(statistic), Concentrated(1))
    spent = Composed(
        measure.mechanism.event(measure.query.sensitivity())
        for asked in world.asked
        for measure in dict.fromkeys(asked)
    )
    assert covers(Clipped(statistic).event(Concentrated(1)), spent)
    assert loss(spent).rho >= Fraction(9, 10)


@pytest.mark.parametrize("name", STATISTICS)
def test_what_is_asked_was_rehearsed(name):
    """Except for the length and the centre, which are found on the way."""
    statistic = Clipped(STATISTICS[name])
    world = Guessing(None) if name == "variance" else small_world()
    world.estimate(statistic, Concentrated(1))
    rehearsed = {forgetting(measure.query) for measure in statistic.planned_measures(Concentrated(1))}
    assert {forgetting(measure.query) for asked in world.asked for measure in asked} <= rehearsed


def forgetting(query):
    """The query without the numbers that only the first answers tell."""
    clipped = query.clip is not None and query.clip.counted
    if isinstance(query.relation, Select):
        (own,) = lengths_in(query).source.outputs
        return "lengths", type(own.aggregate), lengths_in(query).source.source.source
    return type(query.aggregate), query.keys, query.clip is not None, clipped


def test_equal_measurements_of_two_statistics_stay_equal():
    """Then they are made once, and paid once: COUNT(fare) beside AVG(fare) and its SUM."""
    statistics = [STATISTICS[name] for name in ("values", "mean", "centred sum")]
    prices = [Concentrated(Fraction(1, 2)), Concentrated(1), Concentrated(1)]
    flows = [small_world(), small_world(), small_world()]
    for statistic, price, world in zip(statistics, prices, flows, strict=True):
        world.estimate(Clipped(statistic), price)
    alone, mean, total = (world.asked for world in flows)
    assert mean == total
    assert [set(one) <= set(both) for one, both in zip(alone, mean, strict=False)] == [True, True]


def test_what_cannot_be_shortened_is_asked_as_it_is():
    for name in ("people", "one row"):
        world = small_world()
        statistic = STATISTICS[name]
        flow = Clipped(statistic).steps(RHO)
        assert next(flow) == (Measure(statistic.query, RHO),)
    beyond = Private("trips", 2**44, (CITY, FARE))
    assert next(Clipped(Sum(Query(beyond, (), PAID.aggregate))).steps(RHO))[0].query.relation == beyond
    assert world.asked == []


def test_sums_from_a_centre_are_shortened_by_rows_unless_it_is_near_the_mean():
    world = small_world()
    world.estimate(Clipped(Mean(PAID)), RHO)
    assert [measure.query.clip.counted for measure in world.asked[1]] == [True, False]
    world = small_world()
    world.estimate(Clipped(Located(PAID)), RHO)
    assert [measure.query.clip.counted for asked in world.asked[1::2] for measure in asked] == [False] * 3


def test_lengths_are_bought_with_rho_alone():
    with pytest.raises(TypeError, match=r"Clipped is bought with Concentrated\(rho\)"):
        next(Clipped(COUNT).steps(Pure(1)))


def test_a_key_that_is_an_expression_is_one_of_the_lengths_too():
    key = Bucket(FARE, Numbers.integers(0, 9), FARE)
    (lengths,) = next(Clipped(Count(Query(TRIPS, (key,), Rows()))).steps(RHO))
    (selected,) = lengths_in(lengths.query).source.source.outputs
    assert (selected.value, selected.stored) == (FARE, False)


# ------------------------------------------------------------------------------------------------ which length


@pytest.mark.parametrize(
    ("shape", "sizes"),
    [
        ("uniform100,people=20000,rows=1010671", lambda draw: draw.integers(1, 101, size=20_000)),
        ("uniform100,people=200000,rows=10098579", lambda draw: draw.integers(1, 101, size=200_000)),
    ],
)
def test_counts_come_as_near_to_the_raw_truth_as_is_known(shape, sizes):
    """The median over cities of the relative error, of ten draws the mean: no larger than what the reference found.

    The reference split epsilon, a tenth for the lengths, where rho is split here: that leaves more for the counts. Its
    ladder has other steps too, so that a length is within half of its own.
    """
    error, length = VECTORS["cap_choice_grouped_L2_clip_[median_rel_err_pct, tau]"][shape]["rule"]
    draw = np.random.default_rng(11)
    rows = people(sizes(draw), draw)
    truth = rows.sum(axis=0)
    errors = []
    for place in range(10):
        world = World(rows, bits=SeededBits(f"{shape} {place}"))
        found = world.estimate(Clipped(COUNT)).values
        errors.append(np.median(abs(found - truth) / truth) * 100)
        assert abs(world.asked[1][0].query.clip.bound / length - 1) <= 0.5
    assert np.mean(errors) <= error


def test_a_heavy_tail_is_cut_and_the_answer_says_by_how_much():
    draw = np.random.default_rng(3)
    sizes = np.minimum(np.floor((1 - draw.random(20_000)) ** (-1 / 1.2)), MOST_ROWS).astype(int)
    world = World(people(sizes, draw), bits=SeededBits("tail"))
    estimate = world.estimate(Clipped(COUNT))
    bound = world.asked[1][0].query.clip.bound
    assert 8 <= bound <= 256
    kept = world.exact(world.asked[1][0].query).sum() / CLIPPED_PARTS
    said = re.fullmatch(
        r"noisy count, shortened to (\d+) rows a person: about ([\d.]+)%, up to ([\d.]+)% left out", estimate.method
    )
    shown, seen, hidden = map(float, said.groups())
    assert shown == bound
    assert seen / 100 <= 1 - kept / sizes.sum() <= 1.25 * hidden / 100 <= 0.4


def test_where_noise_hides_everybody_nothing_is_shortened():
    """A length that nobody was seen to have would cut off whoever there is, and the interval would not say so."""
    world = World(np.full((5, 50), 20), bits=SeededBits("nobody"))
    estimate = world.estimate(Clipped(COUNT))
    assert world.asked[1][0].query.clip.bound == MOST_ROWS
    lower, upper = estimate.interval(1 - 1e-9, 50)
    assert ((lower <= 100) & (upper >= 100)).all()


def test_a_profile_that_shows_few_of_many_shortens_nothing():
    """300 people at ten levels, at a price at which only one or two of these stand out of the noise."""
    world = World(uniform(300, np.random.default_rng(1)))
    world.estimate(Clipped(COUNT), Concentrated(Fraction(1, 200)))
    assert world.asked[1][0].query.clip.bound == MOST_ROWS


def test_more_noise_to_expect_means_shorter_vectors():
    draw = np.random.default_rng(1)
    rows = people(np.minimum(np.floor((1 - draw.random(20_000)) ** (-1 / 1.2)), MOST_ROWS).astype(int), draw)
    bounds = []
    for price in (Concentrated(Fraction(1, 100)), Concentrated(Fraction(1, 5)), Concentrated(10)):
        world = World(rows)
        world.estimate(Clipped(COUNT), price)
        bounds.append(world.asked[1][0].query.clip.bound)
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1]


def test_one_cell_loses_what_it_loses_and_many_lose_three_times_that():
    """With one cell the length is the entry itself: shortening it by one row loses one row."""
    draw = np.random.default_rng(2)
    sizes = draw.integers(1, 101, size=3000)
    ungrouped = Count(Query(TRIPS, (), Rows()))
    world = World(sizes[:, None], bits=SeededBits("one"))
    found = world.estimate(Clipped(ungrouped), Concentrated(Fraction(1, 1000)))
    assert abs(found.values - sizes.sum()) < 0.1 * sizes.sum()


# ------------------------------------------------------------------------------------------------ how near it gets


FINE = Column("fare", Quantity(Fraction(0), Fraction(100)), Numbers(0, 100, Fraction(1, 4096)))
FINELY_PAID = Query(Private("trips", 100, (CITY, FINE)), (CITY,), Total(FINE, FINE.domain))
STEPS = 4096
VALUES = {
    "near each other": lambda shape, draw: (20 * STEPS + draw.normal(0, 2 * STEPS, shape)).astype(np.int64),
    "skewed": lambda shape, draw: np.minimum(draw.exponential(10 * STEPS, shape), 100 * STEPS).astype(np.int64),
    "even": lambda shape, draw: draw.integers(0, 100 * STEPS + 1, shape),
}


@pytest.mark.parametrize("shape", VALUES)
def test_the_interval_of_a_mean_covers_and_is_hardly_wider_than_the_distribution_of_its_error(shape):
    """50 cells of about 200 rows, 40 draws: fewer than 94.5% of 2,000 are found out below 92.2%."""
    draw = np.random.default_rng(3)
    rows = people(draw.integers(1, 21, size=1000), draw)
    values = VALUES[shape](rows.shape, draw) * rows
    truth = values.sum(axis=0) / rows.sum(axis=0) / STEPS
    errors, ends = [], []
    for place in range(40):
        world = World(rows, values, SeededBits(f"{shape} {place}"))
        estimate = world.estimate(Clipped(Located(FINELY_PAID)), Concentrated(Fraction(1, 2)))
        errors.append(estimate.values - truth)
        ends.append(estimate.interval(0.95, 1))
    lower, upper = np.stack(ends, axis=1)
    own = float(np.diff(np.quantile(errors, [0.025, 0.975]))[0])
    middle, quarter = (lower + upper) / 2, (upper - lower) / 4
    held, half_held = ((np.abs(truth - middle) <= reach).sum() for reach in (2 * quarter, quarter))
    assert at_most(int(held), lower.size) >= 0.945 > at_most(int(half_held), lower.size)
    assert (upper - lower).mean() <= 1.4 * own < 100


def test_what_two_statistics_shorten_alike_holds_one_noise():
    """A formula over both must not take it for two."""
    measures = {}

    def measured(measure):
        return measures.setdefault(measure, Measured(np.full(measure.query.shape, 1000), measure.mechanism))

    found = []
    for statistic, price in (
        (STATISTICS["centred sum"], Concentrated(1)),
        (STATISTICS["values"], Concentrated(Fraction(1, 2))),
    ):
        flow = Clipped(statistic).steps(price)
        asked = next(flow)
        with pytest.raises(StopIteration) as end:
            while True:
                asked = flow.send(tuple(measured(measure) for measure in asked))
        found.append([part.key for part, _ in end.value.value.parts])
    (distances, rows), (alone,) = found
    assert rows == alone != distances


def test_the_interval_holds_the_shortened_truth_as_often_as_it_says():
    """50 cells of 400 draws, confidence 0.9: fewer than 0.88 of 20,000 would be seen with a probability below 1e-12."""
    rows = uniform(500, np.random.default_rng(8))
    hits, halved = [], []
    for place in range(400):
        world = World(rows, bits=SeededBits(f"interval {place}"))
        estimate = world.estimate(Clipped(COUNT), Concentrated(Fraction(1, 20)))
        truth = world.exact(world.asked[1][0].query) / CLIPPED_PARTS
        lower, upper = estimate.interval(0.9, 1)
        hits.append((lower <= truth) & (truth <= upper))
        middle, half = (lower + upper) / 2, (upper - lower) / 4
        halved.append((middle - half <= truth) & (truth <= middle + half))
    assert np.mean(hits) >= 0.88
    assert np.mean(halved) < 0.8


def test_the_interval_is_hardly_wider_than_that_of_the_noise_itself():
    rows = uniform(500, np.random.default_rng(8))
    world = World(rows, bits=SeededBits("width"))
    estimate = world.estimate(Clipped(COUNT))
    lower, upper = estimate.interval(0.95, 1)
    noise = world.asked[1][0].mechanism
    assert isinstance(noise, DiscreteGaussian)
    assert (upper - lower).max() <= 1.01 * 2 * noise.interval(0.95).half_width / CLIPPED_PARTS + 2


def test_noise_is_that_of_the_length_and_not_of_the_cap():
    rows = uniform(5000, np.random.default_rng(8))
    truth = rows.sum(axis=0)
    errors = {"capped": [], "shortened": []}
    for place in range(10):
        bits = SeededBits(f"noise {place}")
        errors["capped"].append(np.abs(World(rows, bits=bits).estimate(COUNT).values - truth).mean())
        errors["shortened"].append(np.abs(World(rows, bits=bits).estimate(Clipped(COUNT)).values - truth).mean())
    assert np.mean(errors["shortened"]) < np.mean(errors["capped"]) / 10


def test_large_integers_stay_integers():
    wide = Column("x", Quantity(Fraction(0), Fraction(2**41), whole=True), Numbers.integers(0, 2**41))
    table = Private("trips", 1000, (wide,))
    statistic = Sum(Query(table, (), Total(wide, wide.domain)))
    world = World(np.array([[1]]), np.array([[2**41]]))
    flow = Clipped(statistic).steps(Concentrated(1))
    (lengths,) = next(flow)
    (shortened,) = flow.send((Measured(np.full(lengths.query.shape, 10**6), lengths.mechanism),))
    exact = np.array(2**70 * CLIPPED_PARTS + 600, dtype=object)
    with pytest.raises(StopIteration) as end:
        flow.send((Measured(exact, shortened.mechanism),))
    ((measured, _),) = end.value.value.parts
    assert measured.values.tolist() == 2**70 + 1
    assert world.asked == []


def test_the_mean_size_of_noise_is_what_the_choice_reckons_with():
    measure = Measure(Query(TRIPS, (CITY,), Rows(), Clip(7)), Concentrated(Fraction(1, 50)))
    deviation = sqrt(measure.mechanism.variance) / CLIPPED_PARTS
    assert deviation * sqrt(2 / pi) == pytest.approx(7 / sqrt(pi / 50))
