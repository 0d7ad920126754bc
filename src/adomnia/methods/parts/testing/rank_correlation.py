"""Rank correlations of two columns, from a noisy table of their bins."""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TypeAlias

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
    NumberColumn,
    Parameter,
    demand_few_tables,
)
from adomnia.methods.parts.describe.rounds import SeveralRounds, table_of
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
    demand_spread,
    tabulate_test,
)
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Bounds, Floats, Measured, ResultTable, Steps

_MOST_BINS = 24
_LOST = define_note(
    "rows_too_few_or_alike",
    "The rows are so few, or so much alike, that they are lost in the noise: nothing is known of the correlation.",
)
LEAST = 1e-12  # variances of ranks that are divided by

PARAMETERS = (
    Parameter("column", "column", "one column", required=True),
    Parameter("other", "column", "the other column", required=True),
    ALTERNATIVE,
    rank_bins_parameter(16, _MOST_BINS),
    BY,
    ADJUST,
)
NOTES = (
    "A person must have one row. Values beyond the bounds of a column count as the bounds.",
    BINNED,
)


@dataclass(frozen=True)
class Margin:
    """One column of a table: the shares of its bins, and which of them hold one value.

    Ranks are shares of all rows, less a half. Those of a bin are its middle; within one that is not tied they are even.
    """

    shares: Floats
    tied: tuple[bool, ...]

    @property
    def scores(self) -> Floats:
        """The rank of each bin."""
        found: Floats = np.cumsum(self.shares, axis=-1) - self.shares / 2 - 0.5
        return found

    @property
    def between(self) -> Floats:
        """The variance of ranks between bins."""
        return np.asarray(np.maximum((self.shares * self.scores**2).sum(axis=-1), LEAST))

    @property
    def all(self) -> Floats:
        """The variance of all ranks."""
        return np.asarray(self.between + (self.shares[..., ~np.asarray(self.tied)] ** 3).sum(axis=-1) / 12)

    def untied(self, *, within: bool) -> Floats:
        """The share of pairs that are not tied; those in one bin are, but for such `within` bins of several values."""
        ties = self.shares[..., np.asarray(self.tied)] if within else self.shares
        return np.asarray(np.maximum(1 - (ties**2).sum(axis=-1), LEAST))


Margins: TypeAlias = tuple[Margin, Margin]


@dataclass(frozen=True)
class RankCorrelation(SeveralRounds):
    """Whether the ranks of two columns belong together; a subclass says how they are correlated."""

    relation: Relation
    by: tuple[Factor, ...]
    column: NumberColumn
    other: NumberColumn
    bins: int
    alternative: str

    @staticmethod
    @abstractmethod
    def correlate(table: Floats, margins: Margins) -> tuple[Floats, Floats]:
        """The correlation, of a noisy table of shares on the last axes: twice.

        First as where it is weak: mean ranks within a bin then change with the other column as they do between bins,
        and bins hide a share of it, which ranks within them have of the variance of all. Then as where one column
        follows from the other: bins hide the same share of what is divided and of what it is divided by.
        """

    @staticmethod
    def list_candidates(found: Floats, margins: Margins) -> Floats:  # noqa: ARG004 - a subclass may have more
        """What the correlation of all ranks may be, on the first axis, where these two were found."""
        return found

    @property
    def _cuts(self) -> RankCuts:
        return RankCuts(self.relation, self.by, (self.column, self.other), self.bins)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((self._cuts.query, Fraction(1)),)

    def steps(self, price: Price) -> Steps:
        found = yield from self._cuts.count(price)
        return table_of(self.by, [self._tabulate(each) for each in found])

    def _tabulate(self, rows: CutRows) -> ResultTable:
        flat = Measured(rows.measured.values.reshape(1, -1), rows.measured.mechanism, (rows.measured, "table"))
        histograms = Histograms(flat, self.by)
        shape = rows.measured.values.shape

        def read(counts: Floats) -> tuple[Floats, Margins]:
            table = counts[..., 0, :].reshape(*counts.shape[:-2], *shape)
            first, second = (
                Margin(project_shares(table.sum(axis=axis)), tied)
                for axis, tied in zip((-1, -2), rows.tied, strict=True)
            )
            return table / np.maximum(table.sum(axis=(-1, -2), keepdims=True), 1.0), (first, second)

        def correlate(counts: Floats) -> Floats:
            return np.stack(self.correlate(*read(counts)))

        @lru_cache(maxsize=1)
        def margins() -> Margins:
            return read(histograms.counts)[1]

        def list_candidates(counts: Floats) -> Floats:
            return self.list_candidates(correlate(counts), margins())

        def compare(counts: Floats) -> Floats:
            return np.where(histograms.are_lost(counts), 0.0, correlate(counts)[0])

        observed = float(compare(histograms.counts))
        lost = histograms.lost or is_flat(histograms.counts.reshape(shape), flat.noise.cumulants.variance)
        shares = project_shares(histograms.counts)

        @lru_cache(maxsize=1)
        def null_distribution() -> NullDistribution:
            return NullDistribution(
                compare(histograms.simulate(multiply(shares.reshape(shape)).reshape(1, -1), self.name))
            )

        @lru_cache(maxsize=1)
        def errors() -> Floats:
            again = list_candidates(histograms.simulate(shares, f"{self.name} intervals"))
            return again - list_candidates(shares * max(float(histograms.rows[0]), 1.0))[:, None]

        def interval(confidence: float, cells: int) -> Bounds:
            if lost:
                return -np.ones(1), np.ones(1)
            reach = np.array([NullDistribution(each).distance(confidence, cells) for each in errors()])
            found = list_candidates(histograms.counts)
            return np.clip([(found - reach).min()], -1.0, 1.0), np.clip([(found + reach).max()], -1.0, 1.0)

        return tabulate_test(
            [f"rank correlation of {self.column.name} and {self.other.name}"],
            np.array([np.nan if lost else np.clip(observed, -1.0, 1.0)]),
            interval,
            lambda: observed,
            lambda: null_distribution().p_value(observed, as_alternative(self.alternative)),
            notes=(*(() if rows.exact else (TIED,)), *((_LOST,) if lost else ())),
        )


def multiply(table: Floats) -> Floats:
    """The table with the same margins in which the columns have nothing to do with each other."""
    return np.outer(table.sum(axis=1), table.sum(axis=0))


def is_flat(table: Floats, noise: float) -> bool:
    """Whether all rows but those that may be noise alone are in one bin of a column: it has no ranks then."""
    clear = max(2 * float(np.sqrt(noise * table.size)), 1.0)
    return any(float(each.sum() - each.max()) < clear for each in (table.sum(axis=1), table.sum(axis=0)))


def read_columns(frame: Frame, arguments: Arguments, name: str) -> tuple[Relation, NumberColumn, NumberColumn]:
    """The rows and the two columns that the arguments ask for."""
    demand_one_row_a_person(frame, name)
    column, other, bins, by = (arguments[each] for each in ("column", "other", "bins", "by"))
    demand_spread(column)
    demand_spread(other, "other")
    if column.value == other.value:
        raise BadArgument("other", "is the same as column", "choose another column")
    demand_few_tables(by, bins**2)
    demand_choosable(column)
    demand_choosable(other, "other")
    demand_few_cuts(by, bins, column, other)
    return with_values(frame.relation, column.value, other.value), column, other
