"""Kolmogorov and Smirnov's test: whether two groups, or a column and a given distribution, differ."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from adomnia.distributions.projections import project_shares
from adomnia.messages.texts import define_note
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.column_bins import ColumnBins, split_finely
from adomnia.methods.contract import (
    BY,
    Arguments,
    BadArgument,
    Factor,
    Frame,
    Method,
    NumberColumn,
    Parameter,
    demand_few_tables,
)
from adomnia.methods.parts.describe.rounds import SeveralRounds, table_of
from adomnia.methods.parts.testing.null_distribution import LOST, Histograms, NullDistribution
from adomnia.methods.parts.testing.rank_cuts import (
    BINNED,
    CutRows,
    RankCuts,
    demand_choosable,
    demand_few_cuts,
    has_few_whole_numbers,
    rank_bins_parameter,
)
from adomnia.methods.parts.testing.report import (
    ADJUST,
    demand_one_row_a_person,
    demand_spread,
    demand_two_levels,
    returns,
    tabulate_test,
)
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Bounds, Floats, Measured, ResultTable, Steps

_LEAST = 1e-12  # standard deviations that are divided by
_BINNED = define_note(
    "compared_at_cuts",
    "The distributions are compared at the cuts between bins. Between two cuts their difference may be larger, by at"
    " most the share of rows there.",
)
_BINS = 32
_CUT_BINS = 16  # their cuts are where they should be, so that fewer do
_TAIL = 0.001  # of a distribution is beyond the outermost cuts


@dataclass(frozen=True)
class Distribution:
    """A named distribution: its parameters, what they must be, how probable values up to x are, and its quantiles."""

    parameters: tuple[str, ...]
    fits: Callable[..., bool]
    probability: Callable[..., Floats]
    quantile: Callable[..., Floats]


def _normal(x: Floats, mean: float, sd: float) -> Floats:
    from scipy.special import ndtr

    found: Floats = ndtr((x - mean) / sd)
    return found


def _normal_quantile(share: Floats, mean: float, sd: float) -> Floats:
    from scipy.special import ndtri

    found: Floats = mean + sd * ndtri(share)
    return found


DISTRIBUTIONS: Mapping[str, Distribution] = {
    "normal": Distribution(("mean", "sd"), lambda _, sd: sd > 0, _normal, _normal_quantile),
    "lognormal": Distribution(
        ("mean of the logarithm", "sd of the logarithm"),
        lambda _, sd: sd > 0,
        lambda x, mean, sd: np.where(x > 0, _normal(np.log(np.where(x > 0, x, 1.0)), mean, sd), 0.0),
        lambda share, mean, sd: np.exp(_normal_quantile(share, mean, sd)),
    ),
    "exponential": Distribution(
        ("rate",),
        lambda rate: rate > 0,
        lambda x, rate: -np.expm1(-rate * np.maximum(x, 0.0)),
        lambda share, rate: -np.log1p(-share) / rate,
    ),
    "uniform": Distribution(
        ("lower", "upper"),
        lambda lower, upper: lower < upper,
        lambda x, lower, upper: np.clip((x - lower) / (upper - lower), 0.0, 1.0),
        lambda share, lower, upper: lower + share * (upper - lower),
    ),
}


@dataclass(frozen=True)
class KolmogorovSmirnov(SingleRound):
    """The largest difference of two distribution functions.

    Method      noisy histograms, of whole numbers or between quantiles of the distribution, projected to be shares; the
                largest difference of the two sums of shares up to a cut. Null: multinomial distributions of the shares
                of both groups together, or of the given one, and fresh noise. The interval is of differences that are
                not projected, which would make them too small.
    Guarantee   one measurement at the whole price: a person is in one group and one bin.
    Bias        bins: differences within one are not seen.
    Cite        Kolmogorov 1933; Smirnov 1939; Ferrando, Wang & Sheldon 2022 (the simulation).
    """

    tag: ClassVar[str] = "KolmogorovSmirnov"
    name: ClassVar[str] = "ks_test"
    relation: Relation
    by: tuple[Factor, ...]
    bins: ColumnBins
    group: Factor | None
    distribution: str
    parameters: tuple[Fraction, ...]

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        groups = () if self.group is None else (self.group,)
        return ((self.bins.query(self.relation, keys_of(*self.by, *groups)), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        found = measured[0]
        if self.group is not None:
            return _compare(CutRows(found, ((True,) * len(self.bins),)), self, self.bins.column, None)
        lone = Measured(found.values[None, :], found.mechanism, (found, "lone"))
        return _compare(CutRows(lone, ((False,) * len(self.bins),)), self, self.bins.column, self._chances)

    @property
    def _chances(self) -> Floats:
        """The probability of each bin by the distribution; what is beyond the bounds is in the outer bins."""
        edges, parameters = np.array(self.bins.upper[:-1]), map(float, self.parameters)
        reached = DISTRIBUTIONS[self.distribution].probability(edges, *parameters)
        return np.diff(reached, prepend=0.0, append=1.0)


@dataclass(frozen=True)
class KolmogorovSmirnovByRank(SeveralRounds):
    """The same of two groups and a column of many values.

    Method      a noisy number of rows, bins between values chosen by rank, and noisy histograms of both groups.
    Guarantee   three rounds composed.
    Bias        bins: differences within one are not seen.
    Cite        Smirnov 1939; Kaplan, Schnapp & Stemmer 2022 (the choice); Ferrando, Wang & Sheldon 2022.
    """

    tag: ClassVar[str] = "KolmogorovSmirnovByRank"
    name: ClassVar[str] = "ks_test"
    relation: Relation
    by: tuple[Factor, ...]
    column: NumberColumn
    bins: int
    group: Factor

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self._cuts.query, Fraction(1)),)

    @property
    def _cuts(self) -> RankCuts:
        return RankCuts(self.relation, self.by, (self.column,), self.bins)

    def steps(self, price: Price) -> Steps:
        found = yield from self._cuts.count(price, self.group.key)
        return table_of(self.by, [_compare(each, self, self.column, None) for each in found])


def _compare(
    rows: CutRows,
    asked: KolmogorovSmirnov | KolmogorovSmirnovByRank,
    column: NumberColumn,
    target: Floats | None,
) -> ResultTable:
    """The table of one cell: of two groups, or of one and the probabilities of its bins by a distribution."""
    histograms = Histograms(rows.measured, asked.by)
    null = histograms.pooled if target is None else target[None, :]

    def compare(counts: Floats) -> Floats:
        return np.where(histograms.are_lost(counts)[..., None], 0.0, _apart(counts, target))

    distance = _largest(compare(histograms.counts))

    @lru_cache(maxsize=1)
    def null_distribution() -> NullDistribution:
        return NullDistribution(_largest(compare(histograms.simulate(null, "ks_test"))))

    @lru_cache(maxsize=1)
    def errors() -> Floats:
        shares = project_shares(histograms.counts)
        again = histograms.simulate(shares, "ks_test intervals")
        return _differ(again, target) - _differ(shares, target)

    def interval(confidence: float, cells: int) -> Bounds:
        if histograms.lost or len(rows.tied[0]) == 1:
            return np.zeros(1), np.ones(1)
        return _bound_largest(_differ(histograms.counts, target), errors(), confidence, cells)

    return tabulate_test(
        [f"largest difference in {column.name}"],
        np.atleast_1d(distance),
        interval,
        lambda: float(distance),
        lambda: null_distribution().p_value(float(distance)),
        notes=(*(() if rows.exact else (_BINNED,)), *((LOST,) if histograms.lost else ())),
    )


def _largest(differences: Floats) -> Floats:
    """The largest difference at a cut; 0 where one bin holds everything."""
    return np.asarray(np.abs(differences).max(axis=-1, initial=0.0))


def _apart(counts: Floats, target: Floats | None) -> Floats:
    """The difference of the distribution functions at the end of each bin but the last, where there is none."""
    return _differ(project_shares(counts), target)


def _differ(counts: Floats, target: Floats | None) -> Floats:
    """The same, not projected: right on average, but noisier."""
    reached = (np.cumsum(counts, axis=-1) / np.maximum(counts.sum(axis=-1, keepdims=True), 1.0))[..., :-1]
    other = reached[..., 1, :] if target is None else np.cumsum(target)[:-1]
    found: Floats = reached[..., 0, :] - other
    return found


def _bound_largest(found: Floats, errors: Floats, confidence: float, cells: int) -> Bounds:
    """The interval of the largest difference, from simulated errors of all of them.

    It is above what any of them is surely above, of all at once. It is one of them, of which each alone may be as large
    as its own error allows.
    """
    spread = np.maximum(errors.std(axis=0), _LEAST)
    together = NullDistribution((np.abs(errors) / spread).max(axis=-1)).distance((1 + confidence) / 2, cells)
    alone = np.array([NullDistribution(each).distance(confidence, cells) for each in errors.T])
    lower, upper = (np.abs(found) - together * spread).max(), (np.abs(found) + alone).max()
    return np.clip([lower], 0.0, 1.0), np.clip([upper], 0.0, 1.0)


def build(frame: Frame, arguments: Arguments) -> KolmogorovSmirnov | KolmogorovSmirnovByRank:
    """The test that the arguments ask for."""
    demand_one_row_a_person(frame, "ks_test")
    column, group, by, distribution = (arguments[each] for each in ("column", "group", "by", "distribution"))
    bins, parameters = arguments["bins"] or _BINS, arguments["distribution_parameters"] or ()
    demand_few_tables(by, 2 * bins)
    demand_spread(column)
    if (group is None) == (distribution is None):
        raise BadArgument(
            "group",
            "or distribution must be given, and not both",
            "compare two groups, or one column with a distribution",
        )
    if distribution is not None:
        _demand_parameters(distribution, parameters)
        cut = (
            split_finely(column, bins)
            if has_few_whole_numbers(column, bins)
            else _cut_by_distribution(column, distribution, parameters, arguments["bins"] or _CUT_BINS)
        )
        return KolmogorovSmirnov(with_values(frame.relation, column.value), by, cut, None, distribution, parameters)
    demand_two_levels(group)
    relation = with_values(frame.relation, column.value, group)
    if has_few_whole_numbers(column, bins):
        return KolmogorovSmirnov(relation, by, split_finely(column, bins), group, "", parameters)
    demand_choosable(column)
    demand_few_cuts(by, bins, column)
    return KolmogorovSmirnovByRank(relation, by, column, bins, group)


def _cut_by_distribution(
    column: NumberColumn, distribution: str, parameters: tuple[Fraction, ...], bins: int
) -> ColumnBins:
    """Bins between quantiles of the distribution. Where these pass the bounds, the outermost number has its own bin.

    They are cut half way between two numbers of the grid, since each number stands for all that is rounded to it.
    """
    domain, half = column.domain, Fraction(1, 2)
    shares = np.array([_TAIL, *(np.arange(1, bins - 2) / (bins - 2)), 1 - _TAIL])
    with np.errstate(over="ignore"):  # beyond all doubles is beyond the bounds
        quantiles = DISTRIBUTIONS[distribution].quantile(shares, *map(float, parameters))
    at = np.clip(quantiles, float(domain.lower), float(domain.upper))
    places = {int(np.rint(each / float(domain.step) + 0.5)) for each in at}
    inside = sorted({min(max(place, domain.grid_lower + 1), domain.grid_upper) for place in places})
    ends = domain.grid_lower, domain.grid_upper + 1
    return ColumnBins(column, tuple((place - half) * domain.step for place in (ends[0], *inside, ends[1])))


def _demand_parameters(distribution: str, parameters: tuple[Fraction, ...]) -> None:
    named = DISTRIBUTIONS[distribution].parameters
    if len(parameters) != len(named) or not DISTRIBUTIONS[distribution].fits(*map(float, parameters)):
        raise BadArgument(
            "distribution_parameters",
            f"of a {distribution} distribution are its {' and '.join(named)}, and these are none",
            "give them in that order: for a normal distribution of mean 0 and standard deviation 1, "
            "distribution => 'normal', distribution_parameters => (0, 1)",
        )


def _describe_distributions() -> str:
    return "; ".join(f"{name}: {', '.join(each.parameters)}" for name, each in DISTRIBUTIONS.items())


METHOD = Method(
    name="ks_test",
    chapter="testing",
    summary="Tests whether two groups have the same distribution, or a column a given one (Kolmogorov and Smirnov).",
    parameters=(
        Parameter("column", "column", "the numbers whose distribution is tested", required=True),
        Parameter("group", "factor", "a column of two values: the distributions of the two groups are compared"),
        Parameter(
            "distribution",
            "choice",
            "the distribution that a column without groups is compared with",
            choices=tuple(DISTRIBUTIONS),
            formerly="law",
        ),
        Parameter(
            "distribution_parameters",
            "numbers",
            f"the parameters of the distribution: {_describe_distributions()}",
            formerly="law_parameters",
        ),
        rank_bins_parameter(
            None, more=f". By default {_BINS}, and {_CUT_BINS} where it is compared with a distribution"
        ),
        BY,
        ADJUST,
    ),
    build=build,
    returns=returns("the largest difference of the two distribution functions at the cuts between bins"),
    example="SELECT * FROM ks_test(people, column => salary, group => age >= 65)",
    known_as={"R": "ks.test", "SAS": "PROC NPAR1WAY / EDF", "SciPy": "ks_2samp, ks_1samp"},
    notes=(
        "A person must have one row. Values beyond the bounds of the column count as the bounds.",
        BINNED,
        "A column that is compared with a distribution is cut at its quantiles, which cost nothing.",
    ),
)
