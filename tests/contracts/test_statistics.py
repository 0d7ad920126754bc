"""What every statistic in the registry must keep; joining the registry is how a class is accepted.

Coverage is judged on DRAWS simulated answers, at a false-alarm rate of 1e-7 a test: with the noise that a statistic was
told of it must reach its confidence, and with noise twice as wide it must be seen to miss it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from functools import cache, reduce
from itertools import pairwise
from math import comb, exp, lgamma, log
from operator import add
from typing import NamedTuple

import numpy as np
import pytest

from adomnia.mechanisms.brackets import Brackets
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.mechanisms.quantiles import Quantiles
from adomnia.noise import discrete_gaussian, discrete_laplace
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.losses import covers, loss
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Private
from adomnia.privacy.scans import DistinctValues, Histogram, NonNull, People, Rows, Total
from adomnia.statistics.contract import Measured
from adomnia.statistics.correlation import Correlation
from adomnia.statistics.count import Count
from adomnia.statistics.covariance import COVARIANCES, Covariance
from adomnia.statistics.extreme import Extreme
from adomnia.statistics.mean import Mean
from adomnia.statistics.population.mean import PopulationMean
from adomnia.statistics.population.quantile import PopulationQuantile, with_ladder
from adomnia.statistics.population.registry import POPULATION
from adomnia.statistics.population.share import PopulationShare
from adomnia.statistics.population.variance import PopulationVariance
from adomnia.statistics.quantile import Quantile
from adomnia.statistics.registry import STATISTICS
from adomnia.statistics.sum import Sum
from adomnia.statistics.variance import VARIANCES, Variance
from kit import brackets, quantiles, reference
from kit.bits import SeededBits
from kit.reference import Cell


class Draws(NamedTuple):
    """How many answers are simulated, and how many times as wide as stated their noise is."""

    number: int
    wider: int = 1


DRAWS = 10_000
USUAL, SOME, WIDER = Draws(DRAWS), Draws(DRAWS // 10), Draws(DRAWS, wider=2)
FEW_DRAWS = 40  # of what is chosen and counted in several stages; tests/statistics judges it by more
PAY = Column("pay", Quantity(Fraction(0), Fraction(1000)), Numbers(0, 1000, Fraction(1, 4)))
FEE = Column("fee", Quantity(Fraction(-50), Fraction(50)), Numbers(-50, 50, Fraction(1, 8)))
BIT = Column("bit", Quantity(Fraction(0), Fraction(1), whole=True), Numbers.integers(0, 1))
TABLE = Private("people", 2, (PAY, FEE, BIT))
PAID = Query(TABLE, (), Total(PAY, PAY.domain))
OTHER = Total(FEE, FEE.domain)
COUNTED = [Rows(), NonNull(PAY), People(), DistinctValues(PAY)]
DECILES = (Fraction(1, 10), Fraction(9, 10))


def ranked(*shares):
    return Query(TABLE, (), Histogram(PAY, PAY.domain, shares, Fraction(19, 20)))


EXAMPLES = {
    "COUNT": [Count(Query(TABLE, (), aggregate)) for aggregate in COUNTED],
    "SUM": [Sum(PAID)],
    "AVG": [Mean(PAID)],
    **{name: [Variance(PAID, name)] for name in VARIANCES},
    **{name: [Covariance(PAID, OTHER, name)] for name in COVARIANCES},
    "CORR": [Correlation(PAID, OTHER)],
    "QUANTILE": [Quantile(ranked(Fraction(1, 2)), Fraction(1, 2)), Quantile(ranked(*DECILES), Fraction(1, 10))],
    "MIN": [Extreme(ranked(Fraction(0)), greatest=False)],
    "MAX": [Extreme(ranked(Fraction(1)), greatest=True)],
}
MEDIAN = ranked(Fraction(1, 2))
# What they hold of a population, tests/statistics/population judges: here they keep what every statistic does.
EXAMPLES_OF_POPULATIONS = {
    "AVG": [PopulationMean(PAID), PopulationMean(PAID, 4)],
    "AVG of a condition": [PopulationShare(replace(PAID, aggregate=Total(BIT, BIT.domain)))],
    **{name: [PopulationVariance(PAID, name)] for name in VARIANCES},
    "QUANTILE": [PopulationQuantile(with_ladder(MEDIAN, Fraction(1, 2)), Fraction(1, 2))],
}
EXAMPLES |= {f"population {name}": examples for name, examples in EXAMPLES_OF_POPULATIONS.items()}
KINDS = STATISTICS | {f"population {name}": kind for name, kind in POPULATION.items()}
PRICES = [Pure(Fraction(1, 3)), Pure(2), Concentrated(Fraction(1, 7)), Concentrated(1)]

# Exact rows of a cell, as steps of both grids; what no rows have may be anything, and the middle is asked for here.
CELLS = {
    "nobody": [],
    "one": [(4000, 400)],
    "two": [(0, 400), (4000, -80)],
    "ten": [(100, 0)] * 10,
    "many": [(37 * row % 4001, 53 * row % 801 - 400) for row in range(3000)],
}

every_statistic = pytest.mark.parametrize("name", KINDS)
every_statistic_of_data = pytest.mark.parametrize("name", STATISTICS)
BOUNDS = ("MIN", "MAX", "QUANTILE")  # their intervals hold for any data, so that on most data they hold far more often
every_sharp_statistic = pytest.mark.parametrize("name", [name for name in STATISTICS if name not in BOUNDS])
every_price = pytest.mark.parametrize("price", PRICES, ids=str)


def made(name):
    return list(map(replace, EXAMPLES[name]))


@cache
def measured(query, rows):
    """The exact answer of a query to rows of one person."""
    cells = (
        {("", "pay"): Cell(pay / 4, pay), ("", "fee"): Cell(fee / 8, fee), ("", "bit"): Cell(pay % 2, pay % 2)}
        for pay, fee in rows
    )
    return reference.exact(query, [("somebody", row) for row in cells])


def exact(query, rows):
    return measured(query, tuple(rows))


def truth(name, statistic, rows):
    pay, fee = np.array([(pay / 4, fee / 8) for pay, fee in rows] or [(500.0, 0.0)]).T
    match name:
        case "COUNT":
            return float(exact(statistic.query, rows))
        case "SUM":
            return pay.sum() if rows else 0.0
        case "AVG":
            return pay.mean()
        case "QUANTILE":
            return np.sort(pay)[int(np.ceil(statistic.share * len(pay))) - 1]
        case "MIN" | "MAX":
            return pay.max() if statistic.greatest else pay.min()
    return spread(name, pay - pay.mean(), fee - fee.mean())


def spread(name, x, y):
    rest = max(1, len(x) - name.endswith("SAMP"))
    match name.split("_")[0]:
        case "VAR":
            return (x * x).sum() / rest
        case "STDDEV":
            return ((x * x).sum() / rest) ** 0.5
        case "COVAR":
            return (x * y).sum() / rest
    if name != "CORR":
        raise ValueError(f"truth must be said of every statistic, and is not of {name}.")
    both = ((x * x).sum() * (y * y).sum()) ** 0.5
    return (x * y).sum() / both if both else 0.0


def drawn(noise, wider, bits, shape):
    """Noise as it is stated, or so many times as wide."""
    match noise:
        case DiscreteLaplace(scale=scale):
            return discrete_laplace(scale * wider, shape, bits)
        case DiscreteGaussian(variance=variance):
            return discrete_gaussian(variance * wider**2, shape, bits)


@cache
def bracketed(distribution, rows, wider):
    return brackets.drawn(distribution, rows, FEW_DRAWS, len(rows), wider)


def noisy(measure, rows, bits, draws):
    distribution, wider = measure.mechanism, draws.wider
    if isinstance(distribution, Quantiles):
        return quantiles.drawn(
            replace(distribution, rate=distribution.rate / wider), [pay for pay, _ in rows], draws.number, bits
        )
    if isinstance(distribution, Brackets):
        return bracketed(distribution, tuple(pay for pay, _ in rows), wider)
    values = np.array(exact(measure.query, rows))
    # Only shapes and limits of what is measured as a vector are judged here.
    return values + drawn(
        distribution, wider, bits, (draws.number // 20, *values.shape) if values.shape else (draws.number,)
    )


def answered(statistic, price, rows, bits, draws=USUAL):
    """The estimates of so many cells that all hold the same rows."""
    flow = statistic.steps(price)
    measured = tuple(Measured(noisy(measure, rows, bits, draws), measure.mechanism) for measure in next(flow))
    with pytest.raises(StopIteration) as end:
        flow.send(measured)
    return end.value.value


def too_few(hits, tries, confidence):
    """Whether so few hits come of that confidence with a probability below 1e-7."""

    def chance(count):
        ways = lgamma(tries + 1) - lgamma(count + 1) - lgamma(tries - count + 1)
        return exp(ways + count * log(confidence) + (tries - count) * log(1 - confidence))

    return hits < tries * confidence and sum(chance(count) for count in range(hits, max(hits - 400, -1), -1)) < 1e-7


def hits(estimate, true, confidence, cells=1):
    lower, upper = estimate.interval(confidence, cells)
    last_bit = 1e-12 * abs(true)  # of the truth, which is computed in doubles here
    return (lower <= true + last_bit) & (true - last_bit <= upper)


@every_statistic
def test_it_says_whether_it_is_about_the_population(name):
    assert KINDS[name].of_population == name.startswith("population ")


@every_statistic
def test_the_docstring_states_method_guarantee_bias_and_source(name):
    text = KINDS[name].__doc__ or ""
    labels = re.findall(r"^ {4}(Method|Guarantee|Bias|Cite) {2,}\S", text, flags=re.MULTILINE)
    assert labels == ["Method", "Guarantee", "Bias", "Cite"]


@every_statistic
@every_price
def test_its_events_sum_to_exactly_the_price(name, price):
    for statistic in made(name):
        event = statistic.event(price)
        parts = event.events if isinstance(event, Composed) else (event,)
        paid = [part.epsilon if isinstance(price, Pure) else part.rho for part in parts]
        assert reduce(add, paid) == (price.epsilon if isinstance(price, Pure) else price.rho)


@every_statistic
@every_price
def test_its_event_has_equal_parts_for_its_queries_until_it_is_split(name, price):
    for statistic in made(name):
        queries = statistic.queries
        assert statistic.event(price).events == (price / len(queries),) * len(queries)
        assert len(statistic.continuations) == len(queries)
        portions = tuple(Fraction(k, sum(range(1, len(queries) + 1))) for k in range(1, len(queries) + 1))
        assert statistic.split(portions).event(price).events == tuple(price * part for part in portions)


@every_statistic
@every_price
def test_it_asks_for_no_more_than_its_event(name, price):
    for statistic in made(name):
        measures = next(statistic.steps(price))
        spent = Composed(measure.mechanism.event(measure.query.sensitivity()) for measure in measures)
        assert covers(statistic.event(price), spent)
        if any(isinstance(measure.mechanism, Quantiles) for measure in measures):  # choices are cheaper in rho
            assert float(amount(spent, price)) == pytest.approx(float(amount(statistic.event(price), price)))
        else:
            assert loss(statistic.event(price)) == loss(spent)


def amount(event, price):
    return loss(event).epsilon if isinstance(price, Pure) else loss(event).rho


@every_statistic
def test_it_ends_after_the_rounds_it_announced(name):
    for statistic in made(name):
        answered(statistic, Pure(1), [], SeededBits(name), SOME)


@every_statistic
def test_equal_questions_are_equal_statistics(name):
    assert made(name) == made(name)
    assert len(set(made(name) + made(name))) == len(EXAMPLES[name])


@every_statistic_of_data
@pytest.mark.parametrize("price", [Pure(Fraction(1, 3)), Concentrated(Fraction(1, 7)), Concentrated(8)], ids=str)
@pytest.mark.parametrize("cell", CELLS)
def test_its_interval_covers_the_truth_as_often_as_it_says(name, price, cell, seeded_bits):
    for statistic in made(name):
        rows = CELLS[cell]
        estimate = answered(statistic, price, rows, seeded_bits)
        for confidence in (0.8, 0.95):
            covered = hits(estimate, truth(name, statistic, rows), confidence)
            assert not too_few(int(covered.sum()), len(covered), confidence)


@every_sharp_statistic
@pytest.mark.parametrize("price", [Pure(Fraction(1, 3)), Concentrated(Fraction(1, 7))], ids=str)
def test_an_interval_for_half_the_noise_is_found_out(name, price, seeded_bits):
    statistic = made(name)[0]
    rows = CELLS["many"]
    covered = hits(answered(statistic, price, rows, seeded_bits, WIDER), truth(name, statistic, rows), 0.95)
    assert too_few(int(covered.sum()), DRAWS, 0.95)


@every_statistic_of_data
@pytest.mark.parametrize("price", [Pure(Fraction(1, 3)), Concentrated(Fraction(1, 7))], ids=str)
def test_a_simultaneous_interval_covers_all_cells_at_once(name, price, seeded_bits):
    statistic = made(name)[0]
    rows = CELLS["many"]
    estimate, true = answered(statistic, price, rows, seeded_bits), truth(name, statistic, rows)
    together = hits(estimate, true, 0.95, cells=10).reshape(-1, 10).all(axis=1)
    one_by_one = hits(estimate, true, 0.95).reshape(-1, 10).all(axis=1)
    assert not too_few(int(together.sum()), len(together), 0.95)
    assert name in BOUNDS or too_few(int(one_by_one.sum()), DRAWS // 10, 0.95)


@every_statistic
@every_price
@pytest.mark.parametrize("cell", CELLS)
def test_its_values_are_finite_and_within_their_own_interval(name, price, cell, seeded_bits):
    for statistic in made(name):
        estimate = answered(statistic, price, CELLS[cell], seeded_bits, SOME)
        for confidence, cells in ((0.5, 1), (0.95, 1), (0.999999, 10**6)):
            lower, upper = estimate.interval(confidence, cells)
            assert np.isfinite(lower).all()
            assert np.isfinite(upper).all()
            assert (lower <= estimate.values).all()
            assert (estimate.values <= upper).all()


@every_statistic
def test_a_wider_confidence_gives_a_wider_interval(name, seeded_bits):
    estimate = answered(made(name)[0], Pure(1), CELLS["ten"], seeded_bits, SOME)
    widths = [np.subtract(*reversed(estimate.interval(confidence, 1))) for confidence in (0.5, 0.9, 0.99, 0.9999)]
    for narrow, wide in pairwise(widths):
        assert (narrow <= wide).all()


@every_statistic
@pytest.mark.parametrize("confidence", [0, 1, -1, 2, float("nan")])
def test_a_confidence_that_is_none_is_refused(name, confidence, seeded_bits):
    estimate = answered(made(name)[0], Pure(1), [], seeded_bits, SOME)
    with pytest.raises(ValueError, match="confidence must be above 0 and below 1"):
        estimate.interval(confidence, 1)


def test_too_few_hits_are_told_from_enough():
    assert too_few(4_000, 5_000, 0.95)
    assert not too_few(4_730, 5_000, 0.95)
    assert sum(comb(20, k) * 0.95**k * 0.05 ** (20 - k) for k in range(12)) < 1e-5
