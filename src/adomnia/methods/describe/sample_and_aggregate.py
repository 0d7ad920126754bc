"""The average or the median, over blocks of people, of whatever a question computes in each block."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from adomnia.distributions.margins import deviations
from adomnia.errors import Refusal
from adomnia.mechanisms.contract import find_alpha
from adomnia.messages.texts import NoteTemplate, define_note
from adomnia.methods.analysis import SingleRound
from adomnia.methods.contract import INFERENCE, Arguments, Factor, Frame, Method, NumberColumn, Parameter
from adomnia.methods.describe.quantiles import BOUNDS_NOTE, find_quantiles
from adomnia.methods.parts.describe.column_sums import MEAN, ColumnSums, column_vector
from adomnia.methods.parts.describe.cut_quantiles import Robust, estimate_quantiles
from adomnia.methods.parts.describe.noisy_ratios import describe_inference
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import PerBlock, Relation, Select, Where
from adomnia.privacy.scans import Total
from adomnia.statistics.contract import Bounds, Estimate, Measured, ResultTable, Steps, name_about

_FIGURE = {"kind": "points", "x": "column", "y": "estimate"}
_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class BlockAverage(SingleRound):
    """The average of a number over all blocks of people; a block without one counts as the middle of its bounds.

    Method      the noisy sum of distances from the middle, over the public number of blocks; about the population also
                the noisy sum of squares, whose spread over the blocks says how far a sample may be off.
    Guarantee   one measurement at the whole price: a person changes the row of one block.
    Bias        clamping; that of the number itself where a block has few people; towards the middle by empty blocks.
    Cite        Nissim, Raskhodnikova & Smith 2007; Smith 2011 (the average).
    """

    tag: ClassVar[str] = "BlockAverage"
    name: ClassVar[str] = "sample_and_aggregate"
    relation: Relation
    column: NumberColumn
    blocks: int
    population: bool
    by: tuple[Factor, ...] = ()

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        value, domain = self.column.value, self.column.domain
        if self.population:
            return ((Query(self.relation, (), column_vector(value, domain, MEAN, absent=False)), Fraction(1)),)
        return ((Query(self.relation, (), Total(value, domain, domain.middle)), Fraction(1)),)

    def tabulate(self, *measured: Measured) -> ResultTable:
        estimate = self._infer(measured[0]) if self.population else self._describe(measured[0])
        about = [describe_inference(population=self.population), *([_UNEVEN] if self.population else [])]
        notes = (*about, _BLOCKS(blocks=self.blocks), _BIASED, _EMPTY)
        labels, inference = {"column": (self.column.name,)}, name_about(population=self.population)
        return ResultTable(labels, {"estimate": estimate}, notes, _FIGURE, about=inference)

    def _describe(self, measured: Measured) -> Estimate:
        """The average over the blocks that there are: noise alone."""
        domain = self.column.domain
        step = float(domain.step)
        average = (domain.middle + float(measured.values) / self.blocks) * step
        variance, fourth = measured.noise.continuous.cumulants
        scale = step / self.blocks
        return self._estimate(average, variance * scale**2, fourth * scale**4, 0.0)

    def _infer(self, measured: Measured) -> Estimate:
        """The same, as one of many samples of people: blocks differ by chance, as far as they are seen to differ."""
        sums = ColumnSums(self.column.value, self.column.domain, MEAN, measured, population=True)
        below, between, above = sums.sums
        noise, fourth = sums.cumulants
        # Of u from 0 to 1, and (1 - u)**2, 2 u (1 - u), u**2: the sums of u - 1/2 and of its square.
        off = float(above - below) / 2 / self.blocks
        square = float(below - between + above) / 4 / self.blocks
        unsure = np.sqrt(3 * noise / 16) / self.blocks  # of the mean square: one standard deviation more is allowed for
        spread = float(np.clip(square + unsure - off**2, 0.0, 0.25)) / max(self.blocks - 1, 1)
        scale, reach = sums.scale, 1 / self.blocks
        variance = scale**2 * (spread + noise / 2 * reach**2)
        return self._estimate(
            sums.offset + scale * (0.5 + off), variance, scale**4 * fourth / 8 * reach**4, sums.rounding
        )

    def _estimate(self, average: float, variance: float, fourth: float, rounding: float) -> Estimate:
        limits = float(self.column.domain.lower), float(self.column.domain.upper)
        value = float(np.clip(average, *limits))

        def interval(confidence: float, cells: int) -> Bounds:
            alpha = find_alpha(confidence, cells)
            far = float(deviations(np.array([variance]), np.array([fourth]), alpha)[0]) * np.sqrt(variance)
            reach = far * (_widen_by_student(self.blocks, alpha) if self.population else 1.0) + rounding
            return np.clip([average - reach], limits[0], value), np.clip([average + reach], value, limits[1])

        return Estimate(np.array([value]), interval, "noisy sum over blocks / number of blocks")


def _widen_by_student(blocks: int, alpha: float) -> float:
    """How much wider an interval is because the spread of so many blocks is estimated."""
    from scipy.special import ndtri, stdtrit  # slow to import

    tail = max(alpha, 1e-12) / 2
    return float(stdtrit(max(blocks - 1, 1), 1 - tail) / ndtri(1 - tail))


@dataclass(frozen=True)
class BlockMedian(Robust):
    """The median of a number over the blocks of people that have one.

    Method      a noisy number of blocks; values chosen by rank, and blocks counted between cuts around them.
    Guarantee   three rounds composed: a person changes the row of one block.
    Bias        clamping, half a step of rounding, and that of the number itself where a block has few people.
    Cite        Nissim, Raskhodnikova & Smith 2007; Kaplan, Schnapp & Stemmer 2022 (the choice).
    """

    tag: ClassVar[str] = "BlockMedian"
    name: ClassVar[str] = "sample_and_aggregate"
    blocks: int

    def steps(self, price: Price) -> Steps:
        (found,) = yield from find_quantiles(self, (_HALF,), price)
        return self.tabulate(estimate_quantiles(found), _BLOCKS(blocks=self.blocks), _BIASED, BOUNDS_NOTE)


_EMPTY = define_note("empty_blocks_in_middle", "A block without a value counts as the middle of the bounds.")
_UNEVEN = define_note(
    "blocks_nearly_normal",
    "They take the numbers of blocks for nearly normal: too short where only a few of few blocks differ from others.",
)


_BLOCKS = NoteTemplate(
    "made_of_blocks",
    "It is about what is computed in each of {blocks:,} blocks, each of about 1/{blocks:,} of the people.",
)
_BIASED = define_note(
    "biased_as_blocks",
    "What is biased where people are few is as biased here: mostly by a part that grows with blocks / people.",
)


def _build(frame: Frame, arguments: Arguments) -> BlockAverage | BlockMedian:
    blocks = count_blocks(frame.relation, "sample_and_aggregate")
    column, population = arguments["column"], arguments["inference"] == "population"
    if arguments["aggregate"] == "median":
        return BlockMedian(frame.relation, column, population, frame.confidence, blocks)
    return BlockAverage(frame.relation, column, blocks, population)


def count_blocks(relation: Relation, method: str) -> int:
    """How many blocks rows are of; what is left of them by conditions is still of so many."""
    while isinstance(relation, Where | Select):
        relation = relation.source
    if not isinstance(relation, PerBlock):
        why = "takes one row of each block of people, and these rows are others"
        fix = f"group them in the brackets: {method}((SELECT AVG(x) AS z FROM t GROUP BY BLOCK(200)), ...)"  # noqa: S608
        raise Refusal(f"{method}()", why, fix, code="blocks")
    return relation.blocks.count


METHOD = Method(
    "sample_and_aggregate",
    "describe",
    "The average or median, over blocks of people, of a number that is computed in each block.",
    (
        Parameter("column", "column", "the number of each block", required=True),
        Parameter(
            "aggregate",
            "choice",
            "what is made of the numbers of all blocks",
            default="average",
            choices=("average", "median"),
        ),
        INFERENCE,
    ),
    _build,
    {"column": "which number", "estimate": "its average or median over the blocks"},
    "SELECT * FROM sample_and_aggregate((SELECT MEDIAN(salary) AS z FROM people GROUP BY BLOCK(40)), column => z)",
)
