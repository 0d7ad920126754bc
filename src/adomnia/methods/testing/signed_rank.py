"""Wilcoxon's signed-rank test: whether differences tend to be above or below zero."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from adomnia.distributions.projections import project_shares
from adomnia.messages.texts import define_note
from adomnia.methods.analysis import with_values
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
from adomnia.methods.parts.testing.group_means import size_of, subtract, subtract_number
from adomnia.methods.parts.testing.null_distribution import Histograms, NullDistribution, as_alternative
from adomnia.methods.parts.testing.rank_cuts import (
    BINNED,
    TIED,
    CutRows,
    RankCuts,
    demand_choosable,
    demand_few_cuts,
    rank_bins_parameter,
)
from adomnia.methods.parts.testing.report import (
    ADJUST,
    ALTERNATIVE,
    demand_one_row_a_person,
    demand_possible,
    demand_spread,
    returns,
    tabulate_test,
)
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price
from adomnia.privacy.expressions import call, number
from adomnia.privacy.keys import Bucket
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation, Where
from adomnia.statistics.contract import Bounds, Floats, Measured, ResultTable, Steps

_ZEROS = define_note("zeros_left_out", "Differences of zero are left out.")
_LOST = define_note(
    "differences_lost", "The differences are so few that they are lost in the noise: nothing is known of them."
)
_LEAST = 1e-12  # variances that are divided by


@dataclass(frozen=True)
class SignedRank(SeveralRounds):
    """Whether differences tend to be above zero.

    Method      noisy counts of positive and of negative differences by their size, in bins of one value or between
                values chosen by rank; the sum of the ranks of positive ones less that of negative ones, over the sum of
                all. Null: either sign is as probable in each bin; a multinomial distribution, and fresh noise.
    Guarantee   of few values one measurement at the whole price, else three rounds composed.
    Bias        bins: sizes in one bin count as equal, which the interval allows for.
    Cite        Wilcoxon 1945; Kerby 2014 (the rank correlation); Couch, Kazan, Shi, Bray & Groce 2019 (with noise).
    """

    tag: ClassVar[str] = "SignedRank"
    name: ClassVar[str] = "signed_rank"
    relation: Relation
    by: tuple[Factor, ...]
    difference: NumberColumn
    bins: int
    alternative: str

    @property
    def _cuts(self) -> RankCuts:
        return RankCuts(self.relation, self.by, (size_of(self.difference),), self.bins)

    @property
    def _sign(self) -> Bucket:
        """0 of negative differences, 1 of positive ones."""
        place = call("case", call("<", self.difference.value, number(0)), number(0), number(1))
        return Bucket(place, Numbers.integers(0, 1), place)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self._cuts.query, Fraction(1)),)

    def steps(self, price: Price) -> Steps:
        found = yield from self._cuts.count(price, self._sign)
        return table_of(self.by, [self._tabulate(each) for each in found])

    def _tabulate(self, rows: CutRows) -> ResultTable:
        flat = rows.measured.values.reshape(1, -1)
        histograms = Histograms(Measured(flat, rows.measured.mechanism, (rows.measured, "signs")), self.by)
        noise = rows.measured.noise.cumulants.variance

        def compare(counts: Floats) -> Floats:
            return np.where(histograms.are_lost(counts), 0.0, balance(project_shares(counts), 0.0))

        observed, lost = float(compare(histograms.counts)), histograms.lost
        shares = project_shares(histograms.counts)

        @lru_cache(maxsize=1)
        def null_distribution() -> NullDistribution:
            even = (shares + _turn(shares)) / 2
            return NullDistribution(compare(histograms.simulate(even, "signed_rank")))

        @lru_cache(maxsize=1)
        def errors() -> NullDistribution:
            again = histograms.simulate(shares, "signed_rank intervals")
            return NullDistribution(balance(again, noise) - float(balance(shares, 0.0)))

        found = float(np.clip(balance(histograms.counts, noise), -1.0, 1.0))

        def interval(confidence: float, cells: int) -> Bounds:
            if lost:
                return -np.ones(1), np.ones(1)
            wider = np.sqrt(1 + _vary_by_order(shares, rows.tied[0]) / max(float(errors().draws.var()), _LEAST))
            reach = wider * errors().distance(confidence, cells)
            return np.clip([found - reach], -1.0, 1.0), np.clip([found + reach], -1.0, 1.0)

        return tabulate_test(
            [f"rank correlation of {self.difference.name}"],
            np.array([np.nan if lost else found]),
            interval,
            lambda: observed,
            lambda: null_distribution().p_value(observed, as_alternative(self.alternative)),
            notes=(_ZEROS, *(() if rows.exact else (TIED,)), *((_LOST,) if lost else ())),
        )


def balance(counts: Floats, noise: float) -> Floats:
    """The ranks of positive differences less those of negative ones, as a share of all ranks.

    The last axis has the bins of negative differences, then those of positive ones, each with noise of that variance:
    what its square adds to the sum of all ranks is taken away. In the difference it cancels.
    """
    below, above = _split(counts)
    sizes = below + above
    ranks = np.cumsum(sizes, axis=-1) - sizes / 2
    rows, all_noise = counts.sum(axis=-1), noise * counts.shape[-1]
    whole = np.maximum(rows**2 - all_noise, np.maximum(all_noise, _LEAST)) / 2
    found: Floats = (((above - below) * ranks).sum(axis=-1) / whole)[..., 0]
    return found


def _vary_by_order(shares: Floats, tied: tuple[bool, ...]) -> float:
    """The variance by which of a positive and a negative difference in one bin is larger, taken for anything alike."""
    below, above = _split(shares)
    return float((((2 * below * above)[..., ~np.asarray(tied)]) ** 2).sum() / 3)


def _split(counts: Floats) -> tuple[Floats, Floats]:
    bins = counts.shape[-1] // 2
    return counts[..., :bins], counts[..., bins:]


def _turn(shares: Floats) -> Floats:
    """The same with all signs turned round."""
    below, above = _split(shares)
    return np.concatenate([above, below], axis=-1)


def build(frame: Frame, arguments: Arguments) -> SignedRank:
    """The test that the arguments ask for."""
    demand_one_row_a_person(frame, "signed_rank")
    column, other, mu, bins, by = (arguments[name] for name in ("column", "other", "mu", "bins", "by"))
    demand_few_tables(by, 2 * bins)
    if other is not None and column.value == other.value:
        raise BadArgument("other", "is the same as column", "choose another column")
    pairs = column if other is None else subtract(column, other)
    demand_possible(pairs, mu)
    difference = subtract_number(pairs, mu)
    demand_spread(difference)
    demand_choosable(size_of(difference))
    demand_few_cuts(by, bins, size_of(difference))
    half = difference.domain.step / 2
    relation = with_values(frame.relation, difference.value)
    relation = Where(relation, call(">=", call("abs", difference.value), number(half)))
    return SignedRank(relation, by, difference, bins, arguments["alternative"])


METHOD = Method(
    name="signed_rank",
    chapter="testing",
    summary="Tests whether differences of pairs, or a column less a number, tend to be above zero (Wilcoxon).",
    parameters=(
        Parameter("column", "column", "the numbers that are tested", required=True),
        Parameter("other", "column", "the second number of each pair: the difference of the two is tested"),
        Parameter("mu", "number", "the number that is taken away before", default=Fraction(0)),
        ALTERNATIVE,
        rank_bins_parameter(64),
        BY,
        ADJUST,
    ),
    build=build,
    returns=returns(
        "the rank correlation of pairs, from -1 to 1: the ranks of positive differences less those of negative ones,"
        " as a share of all ranks"
    ),
    example="SELECT * FROM signed_rank(people, column => salary, mu => 40000)",
    known_as={"R": "wilcox.test(paired = TRUE)", "SAS": "PROC UNIVARIATE", "SciPy": "wilcoxon"},
    notes=(
        "A person must have one row. Values beyond the bounds of a column count as the bounds.",
        "Differences of zero, or of less than half a step of the grid, are left out, as Wilcoxon did.",
        BINNED,
    ),
)
