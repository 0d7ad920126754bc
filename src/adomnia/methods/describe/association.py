"""How strongly two factors belong together: Cramer's V and its kin; of two by two values, odds and risks."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.messages.texts import define_note
from adomnia.methods.analysis import SingleRound, keys_of, stack_estimates
from adomnia.methods.contract import BY, INFERENCE, Arguments, BadArgument, Factor, Frame, Method
from adomnia.methods.describe.crosstab import COLUMN, ROW, read_factors
from adomnia.methods.parts.describe.noisy_ratios import NoisyRatio, describe_inference, read_inference
from adomnia.methods.parts.testing.departures import Strengths, lead_on, list_steps
from adomnia.methods.simulation import count_simulations
from adomnia.noise.afterwards import follow
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Bounds, Estimate, Floats, Measured, ResultTable, name_about

_STRENGTHS = 24  # that are tried
_DRAWS = 500  # tables of each
_MOST_ROWS = 2**40  # of a table that is drawn
_MOST_CELLS = 400
_PAIR = 2
_TINY = 1e-9
_SIMULATED = define_note("v_simulated", "Intervals of V and of contingency are simulated.")


@dataclass(frozen=True)
class Association(SingleRound):
    """Measures of association of two factors, in every group.

    Method      noisy counts of all cells. Cramer's V: tables between independence and the one that was seen are drawn
                again with sampling and noise, and the strengths whose chi-square looks like the one that was seen are
                the interval. Odds and risks: Fieller's interval of products of noisy counts.
    Guarantee   one measurement at the whole price: a row is in one cell.
    Bias        none of noise in the median of V, which is that of the rows, as in R: it is above that of the population
                where rows are few. Odds have half a row added to each cell.
    Cite        Cramer 1946; Smithson 2003 (intervals of V); Fieller 1954; Haldane 1956 (half a row).
    """

    tag: ClassVar[str] = "Association"
    name: ClassVar[str] = "association"
    relation: Relation
    by: tuple[Factor, ...]
    row: Factor
    column: Factor
    population: bool

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((Query(self.relation, keys_of(*self.by, self.row, self.column), Rows()), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        table = NoisyTable(measured[0], self.population)
        measures = {"cramers_v": table.strength(), "contingency": table.contingency()}
        if table.counts.shape == (_PAIR, _PAIR):
            measures |= {"odds_ratio": table.odds(), "risk_ratio": table.risks()}
        return ResultTable(
            {"measure": tuple(measures)},
            {"estimate": stack_estimates(list(measures.values()))},
            (describe_inference(population=self.population), _SIMULATED),
            {"kind": "points", "x": "measure", "y": "estimate"},
            about=name_about(population=self.population),
        )


@dataclass(frozen=True)
class NoisyTable:
    """Noisy counts of a two-way table."""

    measured: Measured
    population: bool

    @cached_property
    def counts(self) -> Floats:
        """The counts, as released."""
        return np.asarray(self.measured.values, dtype=np.float64)

    @cached_property
    def _noise(self) -> float:
        return self.measured.noise.continuous.cumulants.variance

    @cached_property
    def _smaller(self) -> int:
        return int(min(self.counts.shape)) - 1

    @cached_property
    def _rows(self) -> int:
        return int(np.clip(self.counts.sum(), 1, _MOST_ROWS))

    @cached_property
    def _path(self) -> tuple[Floats, Floats]:
        """Tables of shares from independence through the one that was seen and beyond, and the V of each."""
        shares = np.maximum(self.counts, min(0.5, np.sqrt(self._noise) / 2) + _TINY)
        shares = shares / shares.sum()
        apart = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0, keepdims=True)
        last = 1 / max(float(self._measure(shares)), 1e-3)
        tables = lead_on(apart, shares, list_steps(last, count_simulations(_STRENGTHS, least=8)))
        return tables, np.maximum.accumulate(self._measure(tables))

    def _measure(self, shares: Floats) -> Floats:
        """The V of tables of shares."""
        apart = shares.sum(axis=-1, keepdims=True) * shares.sum(axis=-2, keepdims=True)
        off = (shares - apart) ** 2 / np.maximum(apart, np.finfo(np.float64).tiny)
        return np.asarray(np.sqrt(off.sum(axis=(-2, -1)) / self._smaller))

    @cached_property
    def _drawn(self) -> Floats:
        """The chi-square of tables that are drawn from each of these."""
        shares, _ = self._path
        random = follow([self.measured.values], "association")
        flat = shares.reshape(len(shares), -1)
        flat = flat / flat.sum(axis=1, keepdims=True)
        size = (len(shares), count_simulations(_DRAWS), flat.shape[1])
        if self.population:
            drawn = random.multinomial(self._rows, flat[:, None, :], size[:2]).astype(np.float64)
        else:
            drawn = np.broadcast_to(self._rows * flat[:, None, :], size)
        scale = np.sqrt(self._noise)
        laplace = self.measured.noise.continuous.tails == "laplace"
        noise = random.laplace(0.0, scale / np.sqrt(2), size) if laplace else random.normal(0.0, scale, size)
        return self._chi_square((drawn + noise).reshape(*size[:2], *self.counts.shape))

    def _chi_square(self, counts: Floats) -> Floats:
        """Pearson's statistic over the number of rows, where a cell counts less in which noise is much."""
        floor = np.maximum(counts, 0.0)
        rows, columns = np.einsum("...ij->...i", floor), np.einsum("...ij->...j", floor)
        count = np.maximum(rows.sum(axis=-1), 1.0)
        shares = columns / count[..., None]
        expected = rows[..., :, None] * shares[..., None, :]
        off = counts - expected
        return np.asarray(np.einsum("...ij,...ij->...", off, off / (expected + self._noise + 1.0)) / count)

    @cached_property
    def _found(self) -> Strengths:
        return Strengths(float(self._chi_square(self.counts)), self._path[1], self._drawn, 1.0)

    def strength(self) -> Estimate:
        """Cramer's V of the rows themselves, which the noise would make larger; sampling is left to the interval."""
        value = NoisyTable(self.measured, population=False)._found.at(0.5)

        def interval(confidence: float, cells: int) -> Bounds:
            lower, upper = self._found.between(confidence, cells)
            return np.array([min(lower, value)]), np.array([max(upper, value)])

        return Estimate(np.array([value]), interval, "tables drawn again")

    def contingency(self) -> Estimate:
        """Pearson's contingency coefficient, which follows from V."""
        strength = self.strength()

        def change(v: Floats) -> Floats:
            square = v**2 * self._smaller
            return np.sqrt(square / (1 + square))

        def interval(confidence: float, cells: int) -> Bounds:
            lower, upper = strength.interval(confidence, cells)
            return change(lower), change(upper)

        return Estimate(change(strength.values), interval, strength.method)

    def odds(self) -> Estimate:
        """The odds of the first column in the first row, over those in the second."""
        (a, b), (c, d), (va, vb), (vc, vd) = self._cells
        zero = np.zeros(1)
        square = (d**2 * va + a**2 * vd + self._noise**2, zero, c**2 * vb + b**2 * vc + self._noise**2)
        return _positive(NoisyRatio(a * d, b * c, square, zero, (0.0, np.inf)))

    def risks(self) -> Estimate:
        """The share of the first column in the first row, over that in the second."""
        (a, b), (c, d), (va, vb), (vc, vd) = self._cells
        first, second = a + b, c + d
        square = (
            second**2 * va + a**2 * (vc + vd),
            second * c * va + a * first * vc,
            c**2 * (va + vb) + first**2 * vc,
        )
        return _positive(NoisyRatio(a * second, c * first, square, np.zeros(1), (0.0, np.inf)))

    @property
    def _cells(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Both rows of counts, and of the variances of their errors; every number has an axis of its own."""
        counts = np.maximum(self.counts, 0.0) + 0.5
        variances = self._noise + counts * self.population
        return (*counts[..., None], *variances[..., None])


def _positive(ratio: NoisyRatio) -> Estimate:
    """A quotient that has no upper limit."""
    return Estimate(ratio.top / ratio.bottom, ratio.bounds, "quotient of products of noisy counts")


def _build(frame: Frame, arguments: Arguments) -> Association:
    row, column = read_factors(arguments)
    cells = len(row.levels) * len(column.levels)
    if min(len(row.levels), len(column.levels)) < _PAIR or cells > _MOST_CELLS:
        why = f"makes a table of {len(row.levels)} by {len(column.levels)} values"
        raise BadArgument("column", why, f"take columns of at least 2 values each, and at most {_MOST_CELLS} pairs")
    return Association(frame.relation, arguments["by"], row, column, read_inference(frame, arguments, "association"))


METHOD = Method(
    "association",
    "describe",
    "How strongly two columns of declared values belong together.",
    (ROW, COLUMN, BY, INFERENCE),
    _build,
    {
        "measure": "cramers_v, contingency; of two by two values odds_ratio and risk_ratio, of the first column by row",
        "estimate": "its value",
    },
    "SELECT * FROM association(people, row => sex, column => city)",
    {"R": "vcd::assocstats", "SAS": "PROC FREQ MEASURES", "SciPy": "stats.contingency.association"},
)
