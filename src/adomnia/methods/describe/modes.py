"""The most frequent values of a column."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.messages.texts import NoteTemplate
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.contract import (
    BY,
    INFERENCE,
    Arguments,
    BadArgument,
    Factor,
    Frame,
    Method,
    NumberColumn,
    Parameter,
)
from adomnia.methods.describe.frequencies import COUNTS_NOTE, note_shares
from adomnia.methods.parts.describe.cuts import EqualBins
from adomnia.methods.parts.describe.noisy_ratios import NoisyCounts, read_inference
from adomnia.privacy.keys import Key, Label
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Bounds, Estimate, Measured, ResultTable, name_about

_SELECTED = NoteTemplate(
    "chosen_among", "Intervals of counts and shares allow for the choice among {candidates:,} candidates."
)


@dataclass(frozen=True)
class Modes(SingleRound):
    """The declared values, or the bins of a range, that most rows hold, in every group.

    Method      noisy counts of all candidates, of which the greatest are chosen. As a row is in one of them, all counts
                together cost no more than a choice by itself would, and the count of the chosen one comes with it.
    Guarantee   one measurement at the whole price; the choice is post-processing.
    Bias        the count of a candidate that was chosen for its noise is too high: intervals hold for all at once.
    Cite        Dwork & Roth 2014, 3.3 (report noisy max).
    """

    tag: ClassVar[str] = "Modes"
    name: ClassVar[str] = "modes"
    relation: Relation
    by: tuple[Factor, ...]
    among: Factor | NumberColumn
    bins: int
    top: int
    population: bool

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((Query(self.relation, (*keys_of(*self.by), self._key), Rows()), Fraction(1)),)

    @property
    def _key(self) -> Key:
        return self.among.key if isinstance(self.among, Factor) else EqualBins(self.among, self.bins).key

    @cached_property
    def _candidates(self) -> tuple[tuple[Label, Label | None], ...]:
        """What may be chosen: values, or both ends of bins."""
        if isinstance(self.among, Factor):
            return tuple((level, None) for level in self.among.levels)
        return tuple((float(lower), float(upper)) for lower, upper in EqualBins(self.among, self.bins).ends)

    def tabulate(self, *measured: Measured) -> ResultTable:
        counts = np.asarray(measured[0].values, dtype=np.float64)
        cumulants, many = measured[0].noise.continuous.cumulants, len(counts)
        chosen = np.argsort(-counts, kind="stable")[: self.top]
        counted = NoisyCounts(counts[chosen], np.ones(len(chosen)), cumulants)
        whole = NoisyCounts(np.full(len(chosen), counts.sum()), np.full(len(chosen), float(many)), cumulants)
        share = counted.share_of(whole, population=self.population).estimate("noisy count / noisy count of all")
        held = [self._candidates[place] for place in chosen.tolist()]
        return ResultTable(
            {"rank": tuple(range(1, self.top + 1))},
            {"count": _after_choice(counted.estimate(), many), "share": _after_choice(share, many)},
            (COUNTS_NOTE, note_shares(population=self.population), _SELECTED(candidates=many)),
            {"kind": "bars", "x": "value", "y": "count"},
            {"value": lambda: tuple(value for value, _ in held), "upper": lambda: tuple(upper for _, upper in held)},
            about={"share": name_about(population=self.population)},
        )


def _after_choice(estimate: Estimate, candidates: int) -> Estimate:
    """The same with intervals that hold for all candidates at once, and so for whichever was chosen."""

    def interval(confidence: float, cells: int) -> Bounds:
        return estimate.interval(confidence, cells * candidates)

    return Estimate(estimate.values, interval, estimate.method, estimate.whole)


def _build(frame: Frame, arguments: Arguments) -> Modes:
    factor, column = arguments["factor"], arguments["column"]
    if (factor is None) == (column is None):
        why = "or column must be given, and not both"
        raise BadArgument("factor", why, "write factor => city, or column => age for bins of a range of numbers")
    among = factor or column
    relation = frame.relation if factor else with_values(frame.relation, column.value)
    candidates = len(factor.levels) if factor else EqualBins(column, arguments["bins"]).count
    if arguments["top"] > candidates:
        raise BadArgument("top", f"is more than the {candidates} candidates", f"write top => {candidates} or less")
    population = read_inference(frame, arguments, "modes")
    return Modes(relation, arguments["by"], among, arguments["bins"], arguments["top"], population)


METHOD = Method(
    "modes",
    "describe",
    "The most frequent values of a column, or the fullest bins of a range.",
    (
        Parameter("factor", "factor", "a column of declared values"),
        Parameter("column", "column", "or a column of numbers, whose range is divided into bins"),
        Parameter("bins", "integer", "into how many bins", default=20, lower=2, upper=1000),
        Parameter("top", "integer", "how many values to tell", default=1, lower=1, upper=100),
        BY,
        INFERENCE,
    ),
    _build,
    {
        "rank": "1 for the most frequent value",
        "count": "rows that hold it",
        "share": "their share of the rows that hold any",
        "value": "the value, or the lower end of the bin",
        "upper": "the upper end of the bin",
    },
    "SELECT * FROM modes(people, factor => city, top => 2)",
    {"R": "DescTools::Mode", "SAS": "PROC UNIVARIATE MODES", "SciPy": "stats.mode"},
    (
        "A bin holds its upper end and not its lower one, but for the first, which holds both.",
        "Bins of whole numbers hold both ends. A range of at most `bins` of them has a bin for each.",
    ),
)
