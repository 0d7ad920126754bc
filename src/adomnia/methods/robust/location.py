"""The median of a column, or other quantiles: by a named way, or that of the least expected error.

Ways that count take noisy counts in public bins: of one histogram, or of a tree of histograms of which each halves a
bin. All quantiles of a column come from the same counts, so that many cost as much as one.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar, Self

import numpy as np

from adomnia.distributions.margins import deviations
from adomnia.mechanisms.contract import find_alpha
from adomnia.messages.texts import Note, NoteTemplate, define_note
from adomnia.methods.analysis import Analysis, stack_estimates, with_values
from adomnia.methods.column_bins import ColumnBins, split_finely
from adomnia.methods.contract import INFERENCE, Arguments, BadArgument, Frame, Method, NumberColumn, Parameter
from adomnia.methods.describe.quantiles import check_probs
from adomnia.methods.parts.describe.noisy_ratios import describe_inference, read_inference
from adomnia.methods.parts.robust.expected_errors import WAYS, WITH_INTERVAL, QuantileFacts, compare, count_levels, say
from adomnia.methods.simulation import SUPPOSED_ROWS
from adomnia.privacy.events import Price
from adomnia.privacy.kinds import LATER
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Histogram, Rows
from adomnia.statistics.brackets import isotonic
from adomnia.statistics.contract import (
    Bounds,
    Estimate,
    Floats,
    Measure,
    Measured,
    ResultTable,
    Round,
    Steps,
    name_about,
)
from adomnia.statistics.population.quantile import PopulationQuantile, with_ladder
from adomnia.statistics.quantile import VALUE_ALONE, Quantile, estimate_chosen

_USUAL_BINS = 64
_CHOSEN = {
    "brackets": "brackets",
    "exponential": "halving",
    "smooth": "smooth_cauchy",
}  # by which mechanism a value is chosen
_CHOSE = NoteTemplate(
    "way_chosen",
    "The way {way} was chosen. Expected errors, supposing {rows:,} rows and {supposed}: {errors}.",
)
NO_INTERVAL = define_note(
    "chosen_without_interval",
    "A value that is chosen has no interval of its own: the declared bounds stand for it. The ways auto and brackets "
    "have one.",
)
WAY = Parameter(
    "method",
    "choice",
    "how values are found: auto takes the way of the least expected error among those with an interval",
    default="auto",
    choices=("auto", *WAYS),
)
SAMPLE_SIZE = Parameter(
    "sample_size",
    "integer",
    "how many rows there are, about, as the comparison supposes",
    default=SUPPOSED_ROWS,
    lower=1,
    upper=10**12,
)
SPREAD = Parameter(
    "spread",
    "number",
    "the interquartile range, as an earlier release told it: without one, half of the declared range",
    lower=1e-12,
    upper=1e15,
)
_RAMP = 1e-9  # keeps equal ranks in order


@dataclass(frozen=True)
class Tree:
    """Bins of a column, and the coarser ones that are made of two, four, ... of them; one level is a histogram."""

    column: NumberColumn
    finest: int  # how many bins there are at most
    levels: int = 1

    @cached_property
    def bins(self) -> tuple[ColumnBins, ...]:
        """Those of all levels, the finest last."""
        edges = split_finely(self.column, self.finest).edges
        sizes = [2 ** (self.levels - 1 - level) for level in range(self.levels)]
        coarse = ((*edges[:-1:size], edges[-1]) for size in sizes)
        return tuple(ColumnBins(self.column, each) for each in coarse)

    @property
    def edges(self) -> Floats:
        """The ends of the finest bins."""
        return np.array([float(each) for each in self.bins[-1].edges])


@lru_cache(maxsize=32)
def weigh(leaves: int, levels: int) -> Floats:
    """What each noisy count adds to the number of rows in each of the finest bins: least squares, all equally noisy."""
    blocks = []
    for level in range(levels):
        size = 2 ** (levels - 1 - level)
        places = np.arange(leaves) // size
        blocks.append((np.arange(places[-1] + 1)[:, None] == places[None]).astype(np.float64))
    nodes = np.vstack(blocks)
    return np.asarray(np.linalg.solve(nodes.T @ nodes, nodes.T))


@dataclass(frozen=True)
class CountedQuantile:
    """Quantiles of one column from the noisy counts of a tree, coarsest level first."""

    tree: Tree
    shares: tuple[float, ...]
    counts: tuple[Measured, ...]
    population: bool

    @cached_property
    def _weights(self) -> Floats:
        return weigh(len(self.tree.bins[-1]), self.tree.levels)

    @cached_property
    def rows(self) -> Floats:
        """The number of rows in each bin."""
        noisy = np.concatenate([np.asarray(each.values, dtype=np.float64) for each in self.counts])
        return np.asarray(self._weights @ noisy)

    def estimate(self) -> Estimate:
        """All of them, in the order of their shares."""
        values = np.array(self._values())

        def interval(confidence: float, cells: int) -> Bounds:
            ends = np.array([self._bounds(share, confidence, cells) for share in self.shares])
            return np.minimum(ends[:, 0], values), np.maximum(ends[:, 1], values)

        limits = float(self.tree.column.domain.lower), float(self.tree.column.domain.upper)
        return Estimate(values, interval, "noisy counts of bins added up", limits=limits)

    def _values(self) -> list[float]:
        """Where the rows below reach each share, as if they lay evenly within a bin."""
        below = np.concatenate([[0.0], np.cumsum(self.rows)])
        rising = isotonic(below) + _RAMP * np.arange(len(below))
        wanted = np.array(self.shares) * max(float(below[-1]), 0.0)
        return self._inside(np.interp(wanted, rising, self.tree.edges))

    def _inside(self, numbers: Floats) -> list[float]:
        domain = self.tree.column.domain
        found: list[float] = np.clip(numbers, float(domain.lower), float(domain.upper)).tolist()
        return found

    def _bounds(self, share: float, confidence: float, cells: int) -> tuple[float, float]:
        """Between these edges the quantile lies: they are tested by their noisy ranks, from the outside in."""
        excess = np.cumsum(self.rows)[:-1] - share * self.rows.sum()
        far = self._reach(share, confidence, cells)
        below = np.logical_and.accumulate(excess <= -far)
        above = np.logical_and.accumulate((excess >= far)[::-1])[::-1]
        first, last = int(below.sum()), len(below) + 1 - int(above.sum())
        low, high = self._inside(self.tree.edges[[first, last]])
        return low, high

    def _reach(self, share: float, confidence: float, cells: int) -> Floats:
        """How far the number of rows below each inner edge is off, to either side."""
        noise = np.cumsum(self._weights, axis=0)[:-1] - share * self._weights.sum(axis=0)
        squares = np.square(noise)
        variance, fourth = self.counts[0].noise.continuous.cumulants
        sampled = max(float(self.rows.sum()), 1.0) * share * (1 - share) * self.population
        spread = variance * squares.sum(axis=1) + sampled
        heavy = fourth * np.square(squares).sum(axis=1)
        return np.asarray(deviations(spread, heavy, find_alpha(confidence, cells)) * np.sqrt(spread) + 0.5)


@dataclass(frozen=True)
class QuantilesByWay(Analysis):
    """Values that given shares of all rows are below or at.

    Method      the way that is named: values chosen by rank and rows counted between them (brackets), a choice by
                rank alone, counts in bins of one histogram or of a tree, or the exact value with noise of its smooth
                sensitivity; auto compares what each is expected to be off by, and takes one that has an interval.
    Guarantee   one round at the whole price.
    Bias        clamping; of counts, values are taken to lie evenly within their bin.
    Cite        McSherry & Talwar 2007; Hay et al. 2010 (trees); Nissim, Raskhodnikova & Smith 2007.
    """

    tag: ClassVar[str] = "QuantilesByWay"
    name: ClassVar[str] = "location"
    relation: Relation
    column: NumberColumn
    probs: tuple[Fraction, ...]
    way: str
    population: bool
    confidence: Fraction
    sample_size: int = SUPPOSED_ROWS
    spread: Fraction | None = None
    bins: int = _USUAL_BINS
    compared: str = ""
    with_interval: bool = field(default=False, metadata={LATER: True})  # False: auto as version 0.1.0 chose

    def specialize_for(self, price: Price) -> Self:
        facts = self._facts(price)
        compared = compare(facts, told=self.spread is not None)
        way = self.way if self.way != "auto" else next(filter(self._may_be_taken, compared))
        bins = (compared.get(way) or WAYS[way](facts)).bins or _USUAL_BINS
        return replace(self, way=way, bins=bins, compared=say(compared) if self.way == "auto" else self.compared)

    def _may_be_taken(self, way: str) -> bool:
        """Whether a way tells where the quantiles are: of a population, brackets do so of a single one."""
        if not self.with_interval:
            return way != "brackets"
        return way in WITH_INTERVAL and (way != "brackets" or not self.population or len(self.probs) == 1)

    def _facts(self, price: Price) -> QuantileFacts:
        domain = self.column.domain
        width = float(domain.upper - domain.lower) or float(domain.step)
        spread = width / 2 if self.spread is None else min(float(self.spread), width)
        per_person = self.relation.rows_per_person
        return QuantileFacts(self.probs, width, self.sample_size, spread, per_person, price)

    @property
    def comparison(self) -> Note | None:
        """What auto compared, in a sentence; nothing where the question named the way."""
        if not self.compared:
            return None
        told = f"an interquartile range of {float(self.spread):g}" if self.spread is not None else ""
        supposed = told or "values evenly over their bounds"
        return _CHOSE(way=self.way, rows=self.sample_size, supposed=supposed, errors=self.compared)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        queries = self._queries
        return tuple((query, Fraction(1, len(queries))) for query in queries)

    @property
    def _queries(self) -> tuple[Query, ...]:
        present = with_values(self.relation, self.column.value)
        if self.way in ("tree", "histogram"):
            return tuple(Query(present, (each.key,), Rows()) for each in self._tree.bins)
        query = Query(present, (), Histogram(self.column.value, self.column.domain, self.probs, self.confidence))
        laddered = self.way == "brackets" and self.population
        return (with_ladder(query, self.probs[0]) if laddered else query,)

    @property
    def _tree(self) -> Tree:
        return Tree(self.column, self.bins, count_levels(self.bins) if self.way == "tree" else 1)

    def planned_measures(self, price: Price) -> Round:
        asked = self.specialize_for(price) if self.way == "auto" else self
        by = _CHOSEN.get(asked.way, "")
        return tuple(Measure(query, price * part, by) for query, part in asked.shares)

    def steps(self, price: Price) -> Steps:
        asked = self.specialize_for(price) if self.way == "auto" else self
        measured = yield asked.planned_measures(price)
        return asked.tabulate(*measured)

    def tabulate(self, *measured: Measured) -> ResultTable:
        """The table of what was measured."""
        told = describe_inference(population=self.population) if self.way in WITH_INTERVAL else NO_INTERVAL
        estimate = self._counted(*measured) if self.way in ("tree", "histogram") else self._read(*measured)
        figure = {"kind": "points", "x": "prob", "y": "estimate"}
        about = name_about(population=self.population) if self.way in WITH_INTERVAL else None
        return ResultTable(
            {"prob": tuple(map(float, self.probs))}, {"estimate": estimate}, (told,), figure, about=about
        )

    def _read(self, measured: Measured) -> Estimate:
        return self._bracketed(measured) if self.way == "brackets" else self._chosen(measured)

    def _bracketed(self, measured: Measured) -> Estimate:
        (query,), kind = self._queries, PopulationQuantile if self.population else Quantile
        return stack_estimates([kind(query, share).estimate(measured) for share in self.probs])

    def _counted(self, *measured: Measured) -> Estimate:
        return CountedQuantile(self._tree, tuple(map(float, self.probs)), measured, self.population).estimate()

    def _chosen(self, measured: Measured) -> Estimate:
        query, many = self._queries[0], self.column.domain.width + 1
        values = measured.values.reshape(len(self.probs))
        ends = np.full(values.shape, -1), np.full(values.shape, many)
        return estimate_chosen(query, values, lambda _confidence, _cells: ends, VALUE_ALONE)


def _build(frame: Frame, arguments: Arguments) -> QuantilesByWay:
    probs, way = arguments["probs"], arguments["method"]
    check_probs(probs)
    if way == "smooth" and len(probs) > 1:
        raise BadArgument("probs", "are several, and the smooth way finds one", "name one, or another method")
    population = read_inference(frame, arguments, "location")
    if way == "brackets" and population and len(probs) > 1:
        fix = "name one, write inference => 'data', or ask the method quantiles"
        raise BadArgument("probs", "are several, and brackets find one quantile of a population", fix)
    asked = (frame.relation, arguments["column"], probs, way, population, frame.confidence)
    return QuantilesByWay(*asked, arguments["sample_size"], arguments["spread"], with_interval=way == "auto")


METHOD = Method(
    "location",
    "robust",
    "The median of a column, or other quantiles, by the way with an interval that has the least expected error.",
    (
        Parameter("column", "column", "the numbers", required=True),
        Parameter("probs", "numbers", "the shares of rows below each quantile, rising", default=(Fraction(1, 2),)),
        WAY,
        SAMPLE_SIZE,
        SPREAD,
        INFERENCE,
    ),
    _build,
    {"prob": "the share of rows below", "estimate": "the quantile"},
    "SELECT * FROM location(people, column => salary, sample_size => 20000)",
    {"R": "median", "SAS": "PROC UNIVARIATE", "SciPy": "stats.quantile"},
)
