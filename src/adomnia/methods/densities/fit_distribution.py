"""Fits a distribution to a noisy histogram: its parameters, its mean, and the largest value to expect.

The outer two bins are open: censored data with known noise. A noisy count has mean n P and variance n P + s, where P is
the share of its bin under the distribution and s the variance of the noise. The fit solves the equations that are best
for these two moments (quasi-likelihood; Wedderburn 1974): bins that hold hardly more than noise count little, and
nothing is cut at zero, which would bias the tails. Without noise it is the censored maximum of likelihood.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from adomnia.distributions.projections import project
from adomnia.distributions.simulations import draw_again
from adomnia.mechanisms.contract import find_alpha
from adomnia.messages.texts import NoteTemplate, define_note
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.column_bins import BREAKS, ColumnBins, bins_parameter, choose_bins, split_finely
from adomnia.methods.contract import BY, Arguments, BadArgument, Factor, Frame, Method, Parameter, demand_few_tables
from adomnia.methods.parts.densities.distributions import DISTRIBUTIONS, Family
from adomnia.methods.parts.densities.shares import ABOUT_PEOPLE, require_one_row
from adomnia.methods.simulation import count_simulations
from adomnia.noise.afterwards import follow
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Bounds, Estimate, Fact, Floats, Measured, ResultTable
from adomnia.statistics.p_values import bound_p_value

_DRAWS = 400
_LEAST_BINS = 4
_MOST_BINS = 200
_STEPS = 4  # that a fit takes, about
_LARGEST_ERROR = 1.0  # of a logarithm, or in standard deviations: beyond it a parameter is unknown
_CLEAR = 3.0  # standard deviations of the noise that the number of rows must exceed
_MOST_ROWS = 2**53
_LEAST_MEAN = 0.1  # standard deviations above 0 where the fit of a positive distribution starts: noise may put it below

_OPEN = define_note("outer_bins_open", "The outer bins are open: values beyond the bounds count as censored there.")
_LARGEST = define_note(
    "largest_of_many", "maximum is what the largest of as many values is about: one of them lies above it on average."
)
_TAKEN_FOR_GRANTED = define_note(
    "distribution_taken_for_granted",
    "All figures take the distribution for granted; fit_p_value is small where the histogram speaks against it.",
)
_NOT_ESTIMABLE = NoteTemplate(
    "fit_not_estimable",
    "Not estimable: {problem}. Ask with a larger price, or with breaks that divide the values into more bins.",
)
_MOST_STEPS = 40
_LARGEST_STEP = 0.7
_FARTHEST = 30.0  # of any parameter: standard deviations, or logarithms
_SMALLEST_VARIANCE = 1e-6
_DIFFERENCE = 1e-5
_CLOSE = 1e-6


@dataclass(frozen=True)
class FitDistribution(SingleRound):
    """The parameters of a distribution, its moments and its largest value.

    Method      one noisy histogram, which is fitted by quasi-likelihood with the noise in the variance;
                intervals by parametric bootstrap: sampling and noise are simulated, and the fit is repeated.
    Guarantee   one measurement of disjoint counts at the whole price.
    Bias        that of the distribution where the data do not follow it.
    Cite        Wedderburn 1974 (quasi-likelihood); Ferrando, Wang & Sheldon 2022 (the bootstrap).
    """

    tag: ClassVar[str] = "Fit of a distribution"
    name: ClassVar[str] = "fit_distribution"
    relation: Relation
    by: tuple[Factor, ...]
    bins: ColumnBins
    distribution: str

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.bins.query(self.relation, keys_of(*self.by)), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        fitted = Fitted(DISTRIBUTIONS[self.distribution], self.bins, measured[0])
        problem = fitted.problem
        return ResultTable(
            labels={"term": fitted.terms},
            estimates={"estimate": Estimate(fitted.values, fitted.interval, "fit to a noisy histogram")},
            facts={"standard_error": fitted.standard_errors, "fit_p_value": fitted.fit_p_values},
            notes=(
                ABOUT_PEOPLE,
                _OPEN,
                _LARGEST,
                _TAKEN_FOR_GRANTED,
                *([_NOT_ESTIMABLE(problem=problem)] if problem else []),
            ),
            figure={"kind": "points", "x": "term", "y": "estimate", "scales": "own"},
            model={"distribution": self.distribution, "point": [] if problem else fitted.point.tolist()},
            about="population",
        )


class Fits(NamedTuple):
    """Points of a distribution with numbers of rows, of shapes (..., parameters) and (...)."""

    points: Floats
    rows: Floats


@dataclass(frozen=True)
class Censored:
    """A distribution to fit, the edges between bins in about standard deviations, the variance of a count's noise."""

    distribution: Family
    edges: Floats
    variance: float

    def shares(self, points: Floats) -> Floats:
        """The share of each bin."""
        below = self.distribution.below(points, self.edges)
        whole = np.concatenate([np.zeros_like(below[..., :1]), below, np.ones_like(below[..., :1])], axis=-1)
        return np.maximum(np.diff(whole, axis=-1), 0.0)

    def fit(self, counts: Floats, start: Fits) -> Fits:
        """The best points for counts of shape (..., bins), from points nearby: Fisher's scoring, with limited steps."""
        points = np.broadcast_to(start.points, (*counts.shape[:-1], start.points.shape[-1]))
        logs = np.broadcast_to(np.log(start.rows), counts.shape[:-1])
        now = np.concatenate([logs[..., None], points], axis=-1)
        moving = np.ones(counts.shape[:-1], dtype=bool)
        for _ in range(_MOST_STEPS):
            before = now[moving]
            step = np.clip(self._scoring_step(before, counts[moving]), -_LARGEST_STEP, _LARGEST_STEP)
            now[moving] = np.clip(before + step, -_FARTHEST, _FARTHEST)
            moving[moving] = np.abs(now[moving] - before).max(axis=-1) >= _CLOSE
            if not moving.any():
                break
        return Fits(now[..., 1:], np.exp(now[..., 0]))

    def misfit(self, fits: Fits, counts: Floats) -> Floats:
        """The squares of how far all counts are from their means, each over its variance, added up."""
        means = fits.rows[..., None] * self.shares(fits.points)
        return np.asarray(((counts - means) ** 2 / (means + self._noise)).sum(axis=-1))

    def errors(self, fits: Fits) -> Floats:
        """About the standard errors of all parameters; enormous where the counts do not tell."""
        information = self._linearise(np.concatenate([np.log(fits.rows)[..., None], fits.points], axis=-1))[2]
        inverse = np.linalg.inv(information + _SMALLEST_VARIANCE * np.eye(information.shape[-1]))
        return np.sqrt(np.maximum(np.diagonal(inverse, axis1=-2, axis2=-1)[..., 1:], 0))

    @property
    def _noise(self) -> float:
        return max(self.variance, _SMALLEST_VARIANCE)

    def _scoring_step(self, now: Floats, counts: Floats) -> Floats:
        means, weighted, information = self._linearise(now)
        score = weighted @ (counts - means)[..., None]
        damping = _SMALLEST_VARIANCE * np.eye(now.shape[-1])
        return np.asarray(np.linalg.solve(information + damping, score)[..., 0])

    def _linearise(self, now: Floats) -> tuple[Floats, Floats, Floats]:
        """The means of counts, their slopes over their variances, and the information on all parameters."""
        means = self._means(now)
        steps = _DIFFERENCE * np.eye(now.shape[-1])
        slopes = np.stack([(self._means(now + step) - means) / _DIFFERENCE for step in steps], axis=-2)
        weighted = slopes / (means + self._noise)[..., None, :]
        return means, weighted, weighted @ np.swapaxes(slopes, -1, -2)

    def _means(self, now: Floats) -> Floats:
        return np.exp(now[..., :1]) * self.shares(now[..., 1:])


class Fitted:
    """A distribution fitted to one noisy histogram. Inside, numbers are in units of about their standard deviation."""

    def __init__(self, distribution: Family, bins: ColumnBins, measured: Measured) -> None:
        self.distribution, self._measured = distribution, measured
        self.terms = (*distribution.terms, "mean", "sd", "maximum")
        self._counts = measured.values.astype(np.float64)
        self._mean, self._unit = _binned_moments(self._counts, bins)
        edges = np.array(bins.upper[:-1]) / self._unit
        self._model = Censored(distribution, edges, measured.noise.cumulants.variance)

    @cached_property
    def problem(self) -> str:
        """Why nothing is estimable, if nothing is."""
        if self._counts.sum() < max(3.0, _CLEAR * np.sqrt(len(self._counts) * self._model.variance)):
            return "the rows are too few to be seen above the noise"
        if self._model.errors(self._fit).max() > _LARGEST_ERROR:
            return "the values lie in too few bins to tell the parameters"
        return ""

    @cached_property
    def _fit(self) -> Fits:
        mean = self._mean / self._unit
        start = self.distribution.start(max(mean, _LEAST_MEAN) if self.distribution.positive else mean, 1.0)
        return self._model.fit(self._counts, Fits(start, np.array(max(self._counts.sum(), 1.0))))

    @property
    def point(self) -> Floats:
        """The fitted distribution."""
        return self.distribution.scaled(self._fit.points, self._unit)

    @cached_property
    def values(self) -> Floats:
        """Of each term."""
        return np.full(len(self.terms), np.nan) if self.problem else self._describe(self._fit)

    def interval(self, confidence: float, cells: int) -> Bounds:
        """By the normal distribution on the scale of each term, with the spread of all simulated fits."""
        from scipy.special import ndtri

        if self.problem:
            return np.full(len(self.terms), -np.inf), np.full(len(self.terms), np.inf)
        margins = -ndtri(find_alpha(confidence, cells) / 2) * _spread(self._logs(self._simulated))
        values = self._logs(self.values)
        return self._unlogged(values - margins), self._unlogged(values + margins)

    def standard_errors(self) -> tuple[Fact, ...]:
        """The spread of the simulated fits."""
        if self.problem:
            return (None,) * len(self.terms)
        return tuple(map(float, _spread(self._simulated)))

    def fit_p_values(self) -> tuple[Fact, ...]:
        """How many of the simulated histograms are as far from the distribution as this one."""
        if self.problem:
            return (None,) * len(self.terms)
        own = self._model.misfit(self._fit, self._counts)
        farther = int((self._simulated_misfits >= own).sum())
        least = 1 / (1 + len(self._simulated_misfits))
        return (bound_p_value((1 + farther) * least, least),) * len(self.terms)

    def _describe(self, fits: Fits) -> Floats:
        points = self.distribution.scaled(fits.points, self._unit)
        largest = self.distribution.quantile(points, 1 - 1 / np.maximum(fits.rows, 2.0))
        parameters = np.moveaxis(self.distribution.parameters(points), -1, 0)
        described = [*parameters, *self.distribution.moments(points), largest]
        return np.stack(described, axis=-1)

    @cached_property
    def _refitted(self) -> tuple[Fits, Floats]:
        """Fits to simulated histograms, and how far each of these is from its fit."""
        generator = follow([self._measured.values], "fit of a distribution")
        shares = self._model.shares(self._fit.points)
        rows = min(round(float(self._fit.rows)), _MOST_ROWS)
        counts = generator.multinomial(rows, shares / shares.sum(), count_simulations(_DRAWS)).astype(np.float64)
        counts += draw_again(self._measured.noise, generator, counts.shape)
        fits = self._model.fit(counts, self._fit)
        return fits, self._model.misfit(fits, counts)

    @property
    def _simulated(self) -> Floats:
        return self._describe(self._refitted[0])

    @property
    def _simulated_misfits(self) -> Floats:
        return self._refitted[1]

    @property
    def _on_logs(self) -> Floats:
        """Which terms are above zero by their nature."""
        positive = self.distribution.positive
        return np.array([(positive and term != "mu") or term in ("sigma", "sd") for term in self.terms])

    def _logs(self, values: Floats) -> Floats:
        return np.where(self._on_logs, np.log(np.where(self._on_logs, np.maximum(values, 1e-300), 1.0)), values)

    def _unlogged(self, values: Floats) -> Floats:
        return np.where(self._on_logs, np.exp(np.where(self._on_logs, np.minimum(values, 700.0), 0.0)), values)


def _spread(values: Floats) -> Floats:
    """The standard deviation of the first axis, by its middle: single fits that went astray do not matter."""
    lower, upper = np.quantile(values, [0.1586553, 0.8413447], axis=0)
    return np.asarray((upper - lower) / 2)


def _binned_moments(counts: Floats, bins: ColumnBins) -> tuple[float, float]:
    """About the mean and the standard deviation, from the middles of bins."""
    middles, widths = (np.array(bins.lower) + np.array(bins.upper)) / 2, bins.widths
    total = counts.sum()
    shares = project(counts, np.asarray(total)) / total if total > 0 else widths / widths.sum()
    mean = float(shares @ middles)
    return mean, float(np.sqrt(shares @ ((middles - mean) ** 2 + widths**2 / 12)))


def _build(frame: Frame, arguments: Arguments) -> FitDistribution:
    column, distribution = arguments["column"], arguments["distribution"]
    require_one_row(frame, METHOD.name)
    if DISTRIBUTIONS[distribution].positive and column.domain.upper <= 0:
        raise BadArgument(
            "distribution",
            f"{distribution} is of numbers above 0, and {column.name} has none",
            "ask for distribution => 'normal'",
        )
    bins = choose_bins(column, arguments) if arguments["breaks"] else split_finely(column, arguments["bins"])
    if len(bins) < _LEAST_BINS:
        raise BadArgument("bins", f"are {len(bins)}, too few for a distribution", f"ask for at least {_LEAST_BINS}")
    demand_few_tables(arguments["by"], _STEPS * len(bins))
    return FitDistribution(with_values(frame.relation, column.value), arguments["by"], bins, distribution)


METHOD = Method(
    name="fit_distribution",
    chapter="densities",
    summary="Fits a distribution to a noisy histogram: parameters, mean, standard deviation, largest value.",
    parameters=(
        Parameter("column", "column", "the column of numbers", required=True),
        Parameter(
            "distribution",
            "choice",
            "the family of distributions",
            default="lognormal",
            choices=tuple(DISTRIBUTIONS),
            formerly="law",
        ),
        bins_parameter(32, _MOST_BINS),
        BREAKS,
        BY,
    ),
    build=_build,
    returns={
        "term": "a parameter of the distribution, its mean, its sd, or maximum: the quantile at 1 - 1/n",
        "estimate": "its value",
        "standard_error": "how far it is off, by sampling and noise",
        "fit_p_value": "how probable a histogram as far from the distribution is, if the data follow it",
    },
    example="SELECT * FROM fit_distribution(people, column => salary, distribution => 'gamma')",
    known_as={"R": "fitdistrplus::fitdistcens", "SAS": "PROC UNIVARIATE", "SciPy": "stats.fit"},
)
