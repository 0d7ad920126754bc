"""Maximum likelihood in blocks of people, averaged: with many people as exact as without privacy."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import log, sqrt
from typing import ClassVar

import numpy as np

from adomnia.distributions.margins import deviations
from adomnia.mechanisms.contract import find_alpha
from adomnia.messages.texts import Note, NoteTemplate, define_note
from adomnia.methods.analysis import with_values
from adomnia.methods.contract import Arguments, Frame, Method, NumberColumn, Parameter
from adomnia.methods.models.lm import list_facts
from adomnia.methods.parts.densities.distributions import DISTRIBUTIONS as DENSITIES
from adomnia.methods.parts.densities.shares import ABOUT_PEOPLE, require_one_row
from adomnia.methods.parts.describe.rounds import SeveralRounds
from adomnia.methods.parts.likelihood.block_distributions import (
    BACK,
    DISTRIBUTIONS,
    SCALES,
    BlockDistribution,
    bins_of,
    bounds_of,
    vector_of,
)
from adomnia.methods.parts.likelihood.families import FAMILIES
from adomnia.methods.parts.likelihood.statistic_sums import check_values, locate
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price, Pure
from adomnia.privacy.expressions import call, number
from adomnia.privacy.keys import MOST_BLOCKS, Blocks
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation, Where
from adomnia.privacy.scans import People
from adomnia.privacy.transforms.block_functions import BinsOfBlocks, SumsOfBlocks
from adomnia.privacy.transforms.estimates import EstimateCounts, EstimateMoments
from adomnia.privacy.vectors import Variable, Vector
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measure, Measured, ResultTable, Steps

# Of the price: the number of people, blocks in bins, and the averages.
_PEOPLE, _BINS, _AVERAGES = Fraction(2, 100), Fraction(13, 100), Fraction(85, 100)
_BIN_COUNTS = {"same": 512, "share": 64, "root": 128, "log": 128, "even": 128}  # by the scale that they divide
_HALF_STEPS = 2**11  # of the grid of a parameter: so little is rounded that only noise is seen
_LEAST_BLOCKS, _MOST_LOCATED = 8, 2**14
_LOCATED_ROWS = 12  # of a block whose estimates are counted in bins
_MOST_COUNTS = 2**20  # of blocks times bins
_REACH = 3.2  # standard deviations of a block that count; of skew distributions, moved as far as their quantiles are
_SKEWED = (_REACH**2 - 1) / 6  # Cornish & Fisher 1938
_UNSURE = 1.5  # times the error of the middle that the interval is wider
_IN_A_BIN = 0.3  # of a bin: the standard deviation of a place in it
_USUAL_WIDTH = 7.0  # standard deviations of an interval, on which the number of blocks is planned
_CLEAR = 3.0  # standard deviations of the noise that the number of people must exceed
_LEAST_PEOPLE = 50.0
_SEEN_MISFIT = 1.5  # times the variance of the distribution: more is worth a word
_CLEAR_SPREAD = 0.1  # of a variance: how little noise may be on it then

_BLOCKS = NoteTemplate(
    "distribution_fitted_in_blocks",
    "The distribution was fitted in {blocks:,} blocks of about {rows:,.0f} people each, and the fits were averaged.",
)
_TAKEN_FOR_GRANTED = define_note(
    "distribution_of_blocks_taken_for_granted",
    "All figures take the distribution for granted; standard errors are from how far the blocks differ, and from the "
    "noise.",
)
_CLAMPED = NoteTemplate("counted_as_bounds", "Values beyond {lower:g} and {upper:g} count as these.")
_EXCLUDED = NoteTemplate(
    "not_positive_left_out", "Rows that are not above 0 are left out: {family} is of numbers above 0."
)
_HIDDEN = NoteTemplate(
    "fits_hidden",
    "The noise hides where the fits of blocks lie, so that all that the bounds allow was averaged over: do not use the "
    "estimate. {better}; more rows, a higher price or narrower bounds help here.",
)
# People at epsilon 1 from which the noise hid the blocks in none of 8 simulated tables, by the number of parameters.
_NEEDED = {1: 20_000, 2: 50_000, 5: 1_000_000}
_NEEDED_BINS = 100_000  # of two parameters that are fitted to rows in bins
_NEEDS = NoteTemplate(
    "mle_needs_people",
    "mle needs about {people:,} people at epsilon 1 for {family}, and more in proportion at less. With fewer the noise "
    "hides the fits, and the estimate is of no use. {better}.",
)
_OFF_DISTRIBUTION = define_note(
    "average_of_fits",
    "mle averages the fits of small blocks. If values do not follow the distribution, that is not the fit to all rows: "
    "of 100,000 lognormal values taken for normal, sigma was 1.71; maximum likelihood gives 2.14, fit_family 2.15.",
)
_MISFIT = NoteTemplate(
    "distribution_may_not_hold",
    "The fits of blocks vary {times:.2g} times as much as they would under the distribution, so that it may not "
    "hold. Efficiency compares with what the distribution says.",
)
_NOT_ESTIMABLE = define_note(
    "people_lost", "Not estimable: the people are too few to be seen above the noise. Ask with a larger price."
)


@dataclass(frozen=True)
class ChosenGrids:
    """What the averages are measured on: the grid of each parameter, and how many blocks there are."""

    centre: Floats
    domains: tuple[Numbers, ...]
    blocks: int
    hidden: bool


@dataclass(frozen=True)
class Mle(SeveralRounds):
    """The parameters of a distribution: maximum-likelihood estimates of blocks of people, averaged.

    Method      people in blocks by a keyed hash; noisy numbers of blocks by their estimate in bins show where these
                lie; then the noisy mean of the estimates, clamped to an interval around there, each without its bias.
                Blocks count by their rows. Their number balances the noise with what small blocks lose.
    Guarantee   three rounds composed; a person moves the estimates of one block, within the interval.
    Bias        of second order in the rows of a block where the bias is not known to all orders; clamping.
    Cite        Smith 2008, 2011 (the estimator); Firth 1993 (bias); Cornish & Fisher 1938 (the interval).
    """

    tag: ClassVar[str] = "Mle"
    name: ClassVar[str] = "mle"
    relation: Relation
    column: NumberColumn
    family: str

    @property
    def distribution(self) -> BlockDistribution:
        """The distribution that is fitted."""
        return DISTRIBUTIONS[self.family]

    @property
    def caveats(self) -> tuple[Note, ...]:
        return _NEEDS(people=self._people_needed, family=self.family, better=self._better), _OFF_DISTRIBUTION

    @property
    def _people_needed(self) -> int:
        """At epsilon 1."""
        terms = len(self.distribution.terms)
        return _NEEDED_BINS if self.distribution.bins and terms == 2 else _NEEDED[terms]

    @property
    def _better(self) -> str:
        """What to ask instead where people are few."""
        if self.family in FAMILIES:
            return f"fit_family with family => '{self.family}' does with 1,000"
        if self.family in DENSITIES:
            return f"fit_distribution with distribution => '{self.family}' does with 1,000"
        return "A histogram shows the parts of a mixture with 1,000"

    @property
    def present(self) -> Relation:
        """The rows whose value the distribution can have."""
        rows = with_values(self.relation, self.column.value)
        return Where(rows, call(">", self.column.value, number(Fraction(0)))) if self.excludes else rows

    @property
    def excludes(self) -> bool:
        """Whether there may be values that are no values of the distribution."""
        return self.distribution.positive and self.column.domain.lower <= 0

    @cached_property
    def bounds(self) -> Numbers:
        """Between which values count."""
        return bounds_of(self.column, self.distribution)

    @cached_property
    def sums(self) -> Vector | Variable:
        """What is added up in each block, or by what its rows are counted."""
        if not self.distribution.bins:
            return vector_of(self.column, self.distribution)
        bins = bins_of(self.column, self.distribution)
        return Variable(bins.key.value, Numbers.integers(0, len(bins) - 1))

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((Query(self.present, (), People()), Fraction(1)),)

    def steps(self, price: Price) -> Steps:
        (counted,) = yield (Measure(self.query, price * _PEOPLE),)
        people = max(float(counted.values), _LEAST_PEOPLE)
        silent = float(counted.values) < _LEAST_PEOPLE + _CLEAR * sqrt(counted.noise.cumulants.variance)
        blocks = _limit_blocks(people / self._located_rows, min(_MOST_LOCATED, self._most_blocks))
        (bins,) = yield (Measure(self._count_estimates(blocks), price * _BINS),)
        chosen = self._choose(bins, people, blocks, price * _AVERAGES)
        (moments,) = yield (Measure(self._average_estimates(chosen, people), price * _AVERAGES),)
        return self._tabulate(Averages(self.distribution, chosen, moments, people, self._limits), silent=silent)

    @property
    def _located_rows(self) -> float:
        """How many rows a block has whose estimates are located: as many as the fit in bins needs at least."""
        asked = self.distribution
        return asked.least_rows(np.zeros(len(asked.terms))) if asked.bins else _LOCATED_ROWS

    @property
    def _most_blocks(self) -> int:
        return _MOST_COUNTS // self.distribution.bins if self.distribution.bins else MOST_BLOCKS

    @cached_property
    def _limits(self) -> tuple[tuple[float, float], ...]:
        return self.distribution.limits(self.bounds)

    @cached_property
    def _bins(self) -> tuple[Numbers, ...]:
        """Bins of each parameter on the scale on which it is located; a step of a grid is a bin."""
        found = []
        for scale, ends in zip(self.distribution.located, self._limits, strict=True):
            lower, upper = (Fraction(float(SCALES[scale][0](np.array(end)))) for end in ends)
            found.append(Numbers(lower, upper, (upper - lower) / _BIN_COUNTS[scale]))
        return tuple(found)

    def _count_estimates(self, blocks: int) -> Query:
        return Query(self.present, (Blocks(blocks),), EstimateCounts(self.sums, self._function(), self._bins))

    def _average_estimates(self, chosen: ChosenGrids, people: float) -> Query:
        rows = Fraction(people) / chosen.blocks
        centre = () if chosen.hidden else tuple(map(Fraction, chosen.centre.tolist()))
        function = replace(self._function(), located=False, centre=centre, rows=rows)
        return Query(self.present, (Blocks(chosen.blocks),), EstimateMoments(self.sums, function, chosen.domains))

    def _function(self) -> SumsOfBlocks | BinsOfBlocks:
        """What makes estimates to be located of the sums of a block."""
        if isinstance(self.sums, Variable):
            edges = bins_of(self.column, self.distribution).edges
            return BinsOfBlocks(self.family, edges[0], edges[-1], located=True)
        return SumsOfBlocks(self.family, self.sums.grids, located=True)

    def _choose(self, bins: Measured, people: float, blocks: int, price: Price) -> ChosenGrids:
        """The intervals around where blocks lie, and the number of blocks: all of it after the noise."""
        deviation, distribution = sqrt(bins.noise.cumulants.variance), self.distribution
        stops = np.cumsum([each.width + 1 for each in self._bins])[:-1]
        counts = np.split(np.asarray(bins.values, dtype=np.float64), stops)
        found = [locate(each, deviation, blocks) for each in counts]
        ends = np.array(self._limits)
        if any(each is None for each in found):
            return ChosenGrids(ends.mean(axis=1), tuple(_grid(*each) for each in ends.tolist()), blocks, hidden=True)
        steps = np.array([float(each.step) for each in self._bins])
        places = np.array([each.grid_lower - 0.5 for each in self._bins]) + [each.middle for each in found if each]
        middle = np.array([BACK[scale](at) for scale, at in zip(distribution.located, places * steps, strict=True)])
        centre = np.clip(middle, *ends.T)
        point = distribution.floor(centre, self._located_rows)
        slopes = np.array([SCALES[scale][1](at) for scale, at in zip(distribution.located, point, strict=True)])
        spread = distribution.deviations(point)
        seen = np.array([each.spread for each in found if each]) * steps / slopes * sqrt(people / blocks)
        spread = np.maximum(spread, seen)
        many = self._plan_blocks(people, point, price)
        error = np.array([each.error for each in found if each]) * steps
        # Blocks that all lie in one bin do not tell where in it.
        error += np.where(spread * slopes / sqrt(people / blocks) < steps / 2, _IN_A_BIN * steps, 0.0)
        each_block = spread / sqrt(people / many)
        # Means of few whole numbers lie apart, and the narrowest window holds those on one side of theirs.
        apart = np.minimum(0.25 / self._located_rows, each_block) if distribution.whole else 0.0
        half = _REACH * each_block + _UNSURE * (error / slopes + apart)
        moved = centre + _SKEWED * distribution.skewness(point) / sqrt(people / many) * each_block
        domains = tuple(_grid(at - by, at + by) for at, by in zip(moved.tolist(), half.tolist(), strict=True))
        return ChosenGrids(centre, domains, many, hidden=False)

    def _plan_blocks(self, people: float, point: Floats, price: Price) -> int:
        """As many as make the noise and what small blocks lose the least together; and not too small ones."""
        terms = len(self.distribution.terms)
        if isinstance(price, Pure):
            noise = 2 * (terms * _USUAL_WIDTH / float(price.epsilon)) ** 2
        else:
            noise = terms * _USUAL_WIDTH**2 / (2 * float(price.rho))
        most = people / self.distribution.least_rows(point)
        best = sqrt(noise * people / self.distribution.excess) if self.distribution.excess else most
        return _limit_blocks(min(best, most), self._most_blocks)

    def _tabulate(self, averages: "Averages", *, silent: bool) -> ResultTable:
        nothing = np.full(len(self.distribution.terms), np.nan)

        def interval(confidence: float, cells: int) -> Bounds:
            return (nothing - np.inf, nothing + np.inf) if silent else averages.interval(confidence, cells)

        def told(values: Floats) -> Floats:
            return nothing if silent else values

        chosen = averages.chosen
        return ResultTable(
            labels={"term": self.distribution.terms},
            estimates={"estimate": Estimate(told(averages.values), interval, "average of fits to blocks of people")},
            notes=(ABOUT_PEOPLE, _TAKEN_FOR_GRANTED, *([_NOT_ESTIMABLE] if silent else self._notes(averages))),
            figure={"kind": "points", "x": "term", "y": "estimate", "scales": "own"},
            facts={
                "standard_error": lambda: list_facts(told(averages.standard_errors)),
                "efficiency": lambda: list_facts(told(averages.efficiency)),
                "blocks": lambda: [chosen.blocks] * len(self.distribution.terms),
            },
            model={"family": self.family, "point": [] if silent else averages.values.tolist()},
            about="population",
        )

    def _notes(self, averages: "Averages") -> list[Note]:
        chosen = averages.chosen
        lower, upper = float(self.bounds.lower), float(self.bounds.upper)
        return [
            _BLOCKS(blocks=chosen.blocks, rows=averages.people / chosen.blocks),
            _CLAMPED(lower=lower, upper=upper),
            *([_EXCLUDED(family=self.family)] if self.excludes else []),
            *([_HIDDEN(better=self._better)] if chosen.hidden else []),
            *([_MISFIT(times=averages.misfit)] if averages.misfit else []),
        ]


class Averages:
    """The noisy averages of block estimates, and what follows from them."""

    def __init__(
        self,
        distribution: BlockDistribution,
        chosen: ChosenGrids,
        measured: Measured,
        people: float,
        limits: tuple[tuple[float, float], ...],
    ) -> None:
        self.distribution, self.chosen, self.people = distribution, chosen, people
        self._limits = np.array(limits)
        steps = np.array([float(domain.step) for domain in chosen.domains])
        middles = np.array([float(domain.middle * domain.step) for domain in chosen.domains])
        means, squares = np.asarray(measured.values, dtype=np.float64).reshape(-1, 2).T / chosen.blocks
        self.points = np.clip(middles + steps * means, *self._limits.T)
        widths = np.array([2.0 * max(domain.grid_upper - domain.middle, 1) for domain in chosen.domains])
        # Half a unit more: squares were rounded down.
        spread = (widths * (squares + 0.5) - means**2) * steps**2
        rows = people / chosen.blocks
        expected = distribution.deviations(distribution.floor(self.points, people)) ** 2 / rows
        variance, fourth = measured.noise.continuous.cumulants
        self._spread, self._expected = spread, expected
        self._noise = variance * (widths * steps**2 / chosen.blocks) ** 2 / np.maximum(expected, 1e-300)
        # The distribution is taken for granted: an estimate of the variance below what it says is noise or chance.
        self._variance = np.maximum(spread, expected) / chosen.blocks + variance * (steps / chosen.blocks) ** 2
        self._fourth = fourth * (steps / chosen.blocks) ** 4
        self._exact = expected * rows / people

    @cached_property
    def values(self) -> Floats:
        """The parameters."""
        return self.distribution.parameters(self.points)

    @property
    def standard_errors(self) -> Floats:
        """How far they are off, by sampling and noise."""
        return self.distribution.spread(self.points, np.sqrt(self._variance))

    @property
    def efficiency(self) -> Floats:
        """The variance that the estimate from all exact rows would have, as a part of this one."""
        exact = self.distribution.spread(self.points, np.sqrt(self._exact))
        return np.asarray((exact / np.maximum(self.standard_errors, 1e-300)) ** 2)

    @property
    def misfit(self) -> float | None:
        """How many times the expected variance blocks have, where that is clear and not about one."""
        times = self._spread / np.maximum(self._expected, 1e-300)
        sure = np.sqrt(self._noise) < _CLEAR_SPREAD * np.sqrt(self._expected)
        far = np.where(sure, np.abs(np.log(np.maximum(times, 1e-9))), 0.0)
        return float(times[np.argmax(far)]) if far.max() > log(_SEEN_MISFIT) and not self.chosen.hidden else None

    def interval(self, confidence: float, cells: int) -> Bounds:
        """By the distribution of sampling and noise together, on the scale that is averaged."""
        reach = deviations(self._variance, self._fourth, find_alpha(confidence, cells)) * np.sqrt(self._variance)
        return self.distribution.interval(self.points, reach, self._limits)


def _limit_blocks(wanted: float, most: int) -> int:
    return int(min(max(wanted, _LEAST_BLOCKS), most))


def _grid(lower: float, upper: float) -> Numbers:
    """As many steps for every parameter: then the price is divided evenly among them."""
    step = Fraction(max((upper - lower) / (2 * _HALF_STEPS), abs(lower + upper) * 2.0**-48, 1e-300))
    middle = round(Fraction((lower + upper) / 2) / step)
    return Numbers((middle - _HALF_STEPS) * step, (middle + _HALF_STEPS) * step, step)


def _build(frame: Frame, arguments: Arguments) -> Mle:
    require_one_row(frame, METHOD.name)
    check_values(arguments["column"], DISTRIBUTIONS[arguments["family"]])
    return Mle(frame.relation, arguments["column"], arguments["family"])


METHOD = Method(
    name="mle",
    chapter="likelihood",
    summary="Averages maximum-likelihood fits to blocks of people: with many people the noise hardly counts.",
    parameters=(
        Parameter("column", "column", "the column of numbers", required=True),
        Parameter("family", "choice", "the family of distributions", default="normal", choices=tuple(DISTRIBUTIONS)),
    ),
    build=_build,
    returns={
        "term": "a parameter of the distribution",
        "estimate": "its value",
        "standard_error": "how far it is off, by sampling and noise",
        "efficiency": "the variance from exact rows as a part of this one: 1 where privacy costs nothing",
        "blocks": "in how many blocks of people the distribution was fitted",
    },
    example="SELECT * FROM mle(people, column => salary, family => 'normal')",
    known_as={"R": "MASS::fitdistr, stats4::mle", "SAS": "PROC SEVERITY, PROC NLMIXED", "SciPy": "stats.gamma.fit"},
    notes=(
        (
            "At epsilon 1 it needs about 20,000 people for one parameter, 50,000 for normal, lognormal and gamma, "
            "100,000 for weibull and 1,000,000 for a normal mixture; in proportion more at a smaller epsilon. "
            "With fewer ask fit_family, or fit_distribution for weibull."
        ),
        "bernoulli, poisson, exponential and normal are averaged on scales on which their estimates have no bias.",
        "weibull and normal mixture are fitted to rows in 64 bins of a block; their bias is corrected to first order.",
        "Of a normal mixture, deviations are corrected as if its parts were known: with few people they are too small.",
        "gamma is averaged by its mean and by ln(mean) less the mean of ln(x), whose bias is known to all orders.",
        "lognormal, gamma and weibull leave rows out that are not above 0. mu and sigma are of the logarithm.",
        "Where a logarithm is taken and 0 is within the bounds, numbers below 1/65536 of the upper one count as that.",
    ),
)
