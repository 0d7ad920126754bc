"""Bayesian inference that knows the noise: what is believed of parameters after noisy sums were seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.mechanisms.contract import find_alpha
from adomnia.messages.texts import Note, NoteTemplate, define_note
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.contract import BY, Arguments, BadArgument, Factor, Frame, Method, Parameter, demand_few_tables
from adomnia.methods.parts.densities.shares import require_one_row
from adomnia.methods.parts.likelihood.conjugates import CONJUGATES, ConditionalDistribution, Conjugate, Prior
from adomnia.methods.parts.likelihood.families import FAMILIES
from adomnia.methods.parts.likelihood.latent_sums import Boxes, LatentSums, add_up, find_reach
from adomnia.methods.parts.likelihood.statistic_sums import Sample, check_values
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Bounds, Estimate, Fact, Floats, Measured, ResultTable

_STRATA = 1024  # into which cases are joined whose parameter has about the same mean
_TAIL = 18.0  # of the logits between which these lie: rare cases are joined with few others
_HALVINGS = 40
_NUMBERS = 300  # that a group takes as long as, of those that are simulated elsewhere
_QUARTILES = {"lower_quartile": 0.25, "median": 0.5, "upper_quartile": 0.75}
_LEAST_SPREAD = 1e-9  # the smallest variance of values between 0 and 1 that is looked at

_ABOUT = define_note(
    "about_credible",
    "Intervals are credible ones: the parameter lies in them with that probability, given the noisy sums, the prior "
    "and the distribution. They hold the sampling and the noise.",
)
_PRIOR = NoteTemplate("prior", "The prior is {prior}. Beforehand all numbers of rows{fewest} are equally probable.")
_CLAMPED = NoteTemplate(
    "bounds_unknown_to_distribution",
    "Values beyond {lower:g} and {upper:g} count as these, which the distribution does not know: declare bounds that "
    "hold them all.",
)


@dataclass(frozen=True)
class Posterior(SingleRound):
    """What is believed of the parameters of a distribution after noisy sums.

    Method      the conjugate posterior given exact sums, averaged over all exact sums and numbers of rows that the
                noisy ones may stand for, weighted by the noise and by the probability of these sums under the prior.
    Guarantee   one measurement at the whole price: the Bernstein polynomials of the statistics, which add up to one.
    Bias        clamping; the prior's.
    Cite        Bernstein & Sheldon 2018; Raiffa & Schlaifer 1961.
    """

    tag: ClassVar[str] = "Posterior"
    name: ClassVar[str] = "posterior"
    relation: Relation
    by: tuple[Factor, ...]
    sample: Sample
    prior: Prior

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self.sample.query(self.relation, keys_of(*self.by)), Fraction(1)),)

    @property
    def conjugate(self) -> Conjugate:
        """The family with its prior."""
        return CONJUGATES[self.sample.family_name]

    def tabulate(self, *measured: Measured) -> ResultTable:
        beliefs = Beliefs(self.conjugate, self.prior, self.sample, measured[0])
        return ResultTable(
            labels={"term": self.conjugate.terms},
            estimates={"estimate": Estimate(beliefs.means, beliefs.interval, "posterior mean")},
            notes=self._notes(),
            figure={"kind": "points", "x": "term", "y": "estimate", "scales": "own"},
            facts={
                "standard_deviation": lambda: tuple(map(float, beliefs.deviations)),
                **{name: beliefs.tell_quantile(level) for name, level in _QUARTILES.items()},
            },
            about="credible",
        )

    def _notes(self) -> tuple[Note, ...]:
        names = [f"{name} {float(value):g}" for name, value in zip(self.conjugate.prior_names, self.prior, strict=True)]
        fewest, bounds = self.conjugate.fewest, self.sample.bounds
        return (
            _ABOUT,
            _PRIOR(prior=names, fewest=f" from {fewest}" if fewest else ""),
            *([_CLAMPED(lower=float(bounds.lower), upper=float(bounds.upper))] if self.sample.clamps else []),
        )


class Beliefs:
    """The posterior of one group: a mixture of the conjugate ones over all exact sums that are possible.

    Computed when it is read first.
    """

    def __init__(self, conjugate: Conjugate, prior: Prior, sample: Sample, measured: Measured) -> None:
        self._conjugate, self._prior, self._measured = conjugate, prior, measured
        self._grid = sample.vector.variables[0].domain
        self._width = float(max(1, self._grid.width))
        self._entries = np.asarray(measured.values, dtype=np.float64)

    @cached_property
    def cases(self) -> LatentSums:
        """What the exact sums may be."""
        return self._sum_moments() if len(self._entries) > 2 else self._sum_values()

    @cached_property
    def distributions(self) -> tuple["Mixture", ...]:
        """Of each parameter."""
        cases = self.cases
        sums = self._in_units(cases.rows, *cases.sums)
        updated = self._conjugate.update(self._prior, cases.rows, *sums)
        return tuple(Mixture(each, cases.weights) for each in updated)

    @property
    def means(self) -> Floats:
        """Of each parameter."""
        return np.array([each.mean for each in self.distributions])

    @property
    def deviations(self) -> Floats:
        """The standard deviation of each parameter."""
        return np.array([each.deviation for each in self.distributions])

    def quantiles(self, level: float) -> Floats:
        """Of each parameter."""
        return np.array([each.quantile(level) for each in self.distributions])

    def tell_quantile(self, level: float) -> "_Quantile":
        """The same as a column."""
        return _Quantile(self, level)

    def interval(self, confidence: float, cells: int) -> Bounds:
        """As much of the probability below it as above it; the mean is always in it."""
        alpha = find_alpha(confidence, cells)
        lower, upper = self.quantiles(alpha / 2), self.quantiles(1 - alpha / 2)
        return np.minimum(lower, self.means), np.maximum(upper, self.means)

    def _row_ends(self, whole: float) -> tuple[float, float]:
        """Between which numbers of rows the exact one is, by the noise alone."""
        fewest, noise = float(self._conjugate.fewest), self._measured.noise
        seen, reach = self._entries.sum() / whole, len(self._entries) * find_reach(noise) / whole
        low = max(fewest, np.floor(seen - reach))
        return low, max(low + 1, np.ceil(seen + reach))

    def _sum_values(self) -> LatentSums:
        """All sums of values, in steps of their grid above its lower end."""
        below, above = self._entries.tolist()
        noise, width = self._measured.noise, self._width

        def log_weight(rows: Floats, total: Floats) -> Floats:
            own = noise.log_probability(above - total) + noise.log_probability(below - (rows * width - total))
            return own + self._conjugate.log_weight(self._prior, rows, *self._in_units(rows, total))

        def boxes(rows: Floats) -> Boxes:
            most = (rows * width)[:, None]
            centre = np.clip(np.rint((above + most - below) / 2), 0.0, most)
            reach = np.ceil(find_reach(noise))
            limits = np.zeros_like(most), most
            ends = np.maximum(centre - reach, 0.0), np.minimum(centre + reach, most)
            return Boxes(rows, *ends, limits, self._conjugate.discrete)

        return add_up(log_weight, self._row_ends(width), boxes)

    def _sum_moments(self) -> LatentSums:
        """All means, and logarithms of variances, of values between 0 and 1."""
        noise, whole = self._measured.noise, self._width**2

        def log_weight(rows: Floats, mean: Floats, log_spread: Floats) -> Floats:
            square = np.exp(log_spread) + mean**2
            exact = (rows * (1 - 2 * mean + square), 2 * rows * (mean - square), rows * square)
            own = sum(
                noise.log_probability(entry - whole * each)
                for entry, each in zip(self._entries.tolist(), exact, strict=True)
            )
            found = self._conjugate.log_weight(self._prior, rows, *self._in_units(rows, mean, log_spread))
            return np.where(square <= mean, own + found, -np.inf)

        def boxes(rows: Floats) -> Boxes:
            low, high = np.array([0.0, np.log(_LEAST_SPREAD)]), np.array([1.0, np.log(0.25)])
            limits = tuple(np.broadcast_to(each, (len(rows), 2)) for each in (low, high))
            return Boxes(rows, limits[0], limits[1], (limits[0], limits[1]), lattice=False)

        return add_up(log_weight, self._row_ends(whole), boxes)

    @property
    def _size(self) -> float:
        return self._width * float(self._grid.step)

    def _in_units(self, rows: Floats, *sums: Floats) -> tuple[Floats, ...]:
        """Sums in the units of the column."""
        step, start = float(self._grid.step), float(self._grid.grid_lower * self._grid.step)
        if len(sums) == 1:
            return (rows * start + sums[0] * step,)
        mean, log_spread = sums
        return start + self._size * mean, self._size**2 * np.exp(log_spread)


@dataclass(frozen=True)
class _Quantile:
    """A column of one quantile of all parameters."""

    beliefs: Beliefs
    level: float

    def __call__(self) -> Sequence[Fact]:
        return tuple(map(float, self.beliefs.quantiles(self.level)))


class Mixture:
    """A distribution that is one of many, each with a weight."""

    def __init__(self, distribution: ConditionalDistribution, weights: Floats) -> None:
        self._distribution = distribution
        self.mean = float(weights @ distribution.mean)
        self.deviation = float(np.sqrt(weights @ (distribution.variance + (distribution.mean - self.mean) ** 2)))
        self._weights, self._parameters = _join(distribution, weights)

    def quantile(self, level: float) -> float:
        """By halving, between what the mean and the deviation leave open (Cantelli 1928)."""
        low, high = self._distribution.support
        low = max(low, self.mean - self.deviation * np.sqrt((1 - level) / level))
        high = min(high, self.mean + self.deviation * np.sqrt(level / (1 - level)))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            less = float(self._weights @ self._distribution.below(np.array(middle), *self._parameters)) < level
            low, high = (middle, high) if less else (low, middle)
        return float((low + high) / 2)


def _join(distribution: ConditionalDistribution, weights: Floats) -> tuple[Floats, tuple[Floats, ...]]:
    """Fewer cases: those of about the same mean become one, whose parameters are their means."""
    from scipy.special import expit

    if len(weights) <= _STRATA:
        return weights, distribution.parameters
    order = np.argsort(distribution.mean)
    held = weights[order]
    strata = np.searchsorted(expit(np.linspace(-_TAIL, _TAIL, _STRATA)), np.cumsum(held) - held / 2)
    joined = np.bincount(strata, held).astype(np.float64)
    there = joined > 0
    means = (np.bincount(strata, held * each[order])[there] / joined[there] for each in distribution.parameters)
    return joined[there], tuple(means)


def _build(frame: Frame, arguments: Arguments) -> Posterior:
    column, by, family = arguments["column"], arguments["by"], arguments["family"]
    require_one_row(frame, METHOD.name)
    check_values(column, FAMILIES[family])
    demand_few_tables(by, _NUMBERS)
    sample = Sample(column, family)
    prior = _read_prior(arguments["prior"], CONJUGATES[family], sample)
    return Posterior(with_values(frame.relation, column.value), by, sample, prior)


def _read_prior(given: Sequence[Fraction], conjugate: Conjugate, sample: Sample) -> Prior:
    if not given:
        return conjugate.weak_prior(sample.bounds)
    names = ", ".join(conjugate.prior_names)
    if len(given) != len(conjugate.prior_names):
        why = f"has {len(given)} numbers, and that of {conjugate.name} has {len(conjugate.prior_names)}"
        raise BadArgument("prior", why, f"give ({names})")
    for name, value, least in zip(conjugate.prior_names, given, conjugate.least, strict=True):
        if least is not None and value <= least:
            raise BadArgument("prior", f"has {name} {float(value):g}", f"give a number above {least}")
    return tuple(Fraction(value) for value in given)


METHOD = Method(
    name="posterior",
    chapter="likelihood",
    summary="Bayesian inference about a distribution: the posterior of its parameters, with the noise in it.",
    parameters=(
        Parameter("column", "column", "the column of numbers", required=True),
        Parameter("family", "choice", "the family of distributions", default="normal", choices=tuple(CONJUGATES)),
        Parameter(
            "prior", "numbers", "the numbers of the conjugate prior; without them a weak one in the size of the bounds"
        ),
        BY,
    ),
    build=_build,
    returns={
        "term": "a parameter of the distribution",
        "estimate": "its posterior mean; the interval is a credible one",
        "standard_deviation": "that of the posterior",
        "lower_quartile": "a quarter of the posterior is below it",
        "median": "half of the posterior is below it",
        "upper_quartile": "three quarters of the posterior are below it",
    },
    example="SELECT * FROM posterior(people, column => age, family => 'normal', prior => (40, 1, 2, 200))",
    known_as={"R": "LearnBayes, rstanarm", "SAS": "PROC MCMC, PROC GENMOD (BAYES)", "SciPy": "stats.bayes_mvs"},
    notes=(
        "bernoulli: the probability has a beta distribution, prior => (a, b).",
        "poisson: the mean has a gamma distribution, prior => (shape, rate). exponential: the rate has one.",
        "normal: prior => (mean, strength, shape, rate): sigma^2 is inverse gamma, mu normal of sigma^2 / strength.",
        "Where noise leaves nothing to be seen the posterior is the prior.",
    ),
)
