"""A regression line by propose-test-release: medians of the lines of blocks of people."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import product
from typing import ClassVar

import numpy as np

from adomnia.errors import Refusal
from adomnia.messages.texts import NoteTemplate, define_note
from adomnia.methods.analysis import with_values
from adomnia.methods.contract import Arguments, BadArgument, Frame, Method, NumberColumn, Parameter
from adomnia.methods.parts.describe.noisy_ratios import DATA
from adomnia.methods.parts.robust.proposals import NOT_REPLIED, Allotting, ProposalReply, parallel
from adomnia.methods.robust.ptr_iqr import GIVEN_A_REPLY
from adomnia.methods.robust.ptr_median import PtrMedian, ReleasedMedian
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price
from adomnia.privacy.expressions import Expression, call, number
from adomnia.privacy.keys import MOST_BLOCKS, Blocks
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import OwnValue, PerBlock, PerPerson, Relation, Select, Selected, Where
from adomnia.privacy.scans import Average, NonNull, OwnSpread, Rows
from adomnia.statistics.contract import Bounds, Estimate, ResultTable, Steps

# The noise of a median goes with the distance between the quartiles over the number of blocks that have a line. Over
# blocks of Poisson sizes it is least at 4 people, for normal, even and exponential predictors alike.
_PEOPLE = 4
_FULL = 0.9  # of such blocks have a line: the others have nobody, or one person
_LEAST_BLOCKS = 10
_STEEPEST = 8  # times the slope from corner to corner of the bounds
_LARGEST = Fraction(10**100)  # bounds beyond it are not for doubles
_FINEST = 2**40  # nor are those that are nearer to each other than such a part of their size


_BLOCKS = NoteTemplate(
    "median_over_blocks",
    "A coefficient is the median over {blocks:,} blocks of people, each with a line of least squares of its own.",
)
_MEDIAN = define_note(
    "about_median_of_blocks", "The interval is about that median. One person moves the line of one block."
)
_STEP = Fraction(1, 2**30)  # of the bounds: what is multiplied is rounded to it, and stays exact over 2**48 rows
_STILL = Fraction(1, 2**40)  # variance of the predictor, in squared bounds, at which rounding would be the slope
_SLOPE, _INTERCEPT = "slope", "intercept"


@dataclass(frozen=True)
class BlockLines:
    """Rows of blocks, each with the slope and the intercept of its line; a block whose predictor is still has none.

    Both columns are scaled to run from 0 to 1 within their bounds. Four times their covariance is the variance of their
    sum less that of their difference, each made of exact integers.
    """

    tag: ClassVar[str] = "BlockLines"
    response: NumberColumn
    predictor: NumberColumn
    slopes: Numbers

    def rows(self, relation: Relation, blocks: int) -> Relation:
        """One row for each block that has a line."""
        inside = PerBlock(relation, Blocks(blocks), self._outputs)
        spread, together, apart, mean, level = inside.columns
        scale = number(_width(self.response) / (4 * _width(self.predictor)))
        slope = call("*", call("/", call("-", together, apart), spread), scale)
        intercept = call("-", level, call("*", slope, mean))
        moving = Where(inside, call(">", spread, number(_STILL)))
        return Select(moving, (Selected(_SLOPE, slope), Selected(_INTERCEPT, intercept)))

    @property
    def _outputs(self) -> tuple[OwnValue, ...]:
        x, y = (_scale(each) for each in (self.predictor, self.response))
        return (
            OwnValue("spread", _vary(x, 0, 1)),
            OwnValue("together", _vary(call("+", x, y), 0, 2)),
            OwnValue("apart", _vary(call("-", x, y), -1, 1)),
            OwnValue("mean", Average(self.predictor.value, self.predictor.domain)),
            OwnValue("level", Average(self.response.value, self.response.domain)),
        )

    def coefficients(self, rows: Relation) -> tuple[NumberColumn, NumberColumn]:
        """The intercept and the slope as columns of such rows, each within its bounds."""
        slope, intercept = rows.columns
        return NumberColumn("(Intercept)", intercept, self.intercepts), NumberColumn(
            self.predictor.name, slope, self.slopes
        )

    @property
    def intercepts(self) -> Numbers:
        """Where lines of such slopes that meet the bounds of both columns may be at zero."""
        x, y = self.predictor.domain, self.response.domain
        rises = [one * other for one, other in product((self.slopes.lower, self.slopes.upper), (x.lower, x.upper))]
        return Numbers.bounded(y.lower - max(rises), y.upper - min(rises))


def _width(column: NumberColumn) -> Fraction:
    return column.domain.upper - column.domain.lower


def _scale(column: NumberColumn) -> Expression:
    """From 0 to 1 within its bounds; what is beyond them is clamped before it is added to another."""
    lower = number(column.domain.lower)
    clamped = call("clamp", column.value, lower, number(column.domain.upper))
    return call("/", call("-", clamped, lower), number(_width(column)))


def _vary(value: Expression, lower: int, upper: int) -> OwnSpread:
    return OwnSpread(value, Numbers.bounded(lower, upper, _STEP), root=False, sample=False)


@dataclass(frozen=True)
class RobustLm(Allotting):
    """The line of one column on another, where few people could have moved it far.

    Method      a noisy number of people, and blocks of about four of them; in each block the line of least squares; of
                the slopes, and of the intercepts, the scale and then the median as ptr_median finds them. Half of the
                price and of delta is for each coefficient.
    Guarantee   all rounds composed: (epsilon, delta)-differential privacy. A person changes the row of one block.
    Bias        clamping; towards outliers by the share of blocks that have one; none else for symmetric errors.
    Cite        Dwork & Lei 2009; Nissim, Raskhodnikova & Smith 2007 (the blocks).
    """

    tag: ClassVar[str] = "RobustLm"
    name: ClassVar[str] = "robust_lm"
    relation: Relation
    lines: BlockLines
    blocks: int | None
    delta: Fraction | None = field(default=None, kw_only=True)

    @property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        """The number of people, or where blocks are given that of those with a line."""
        if self.blocks is None:
            return ((Query(PerPerson(self.relation, (), ()), (), Rows()), Fraction(1)),)
        rows = self.lines.rows(self.relation, self.blocks)
        return ((Query(rows, (), NonNull(self.lines.coefficients(rows)[1].value)), Fraction(1)),)

    def steps(self, price: Price) -> Steps:
        counted, left = yield from self.count_rows(price)
        blocks = self.blocks or choose_blocks(counted)
        known = counted if self.blocks else _FULL * blocks
        rows = self.lines.rows(self.relation, blocks)
        medians = [PtrMedian(rows, column, None, 1) for column in self.lines.coefficients(rows)]
        replies = yield from parallel(left, [partial(median.find, known) for median in medians])
        return _tabulate(medians, replies, blocks)


def choose_blocks(people: float) -> int:
    """How many blocks about so many people are divided into."""
    return int(min(max(people / _PEOPLE, _LEAST_BLOCKS), MOST_BLOCKS))


def _tabulate(medians: list[PtrMedian], replies: list[ProposalReply], blocks: int) -> ResultTable:
    released = [ReleasedMedian(median.column, reply) for median, reply in zip(medians, replies, strict=True)]

    def interval(confidence: float, cells: int) -> Bounds:
        lower, upper = zip(*(each.bounds(confidence, cells) for each in released), strict=True)
        return np.concatenate(lower), np.concatenate(upper)

    values = np.array([each.value for each in released])
    notes = [
        DATA,
        _BLOCKS(blocks=blocks),
        _MEDIAN,
        GIVEN_A_REPLY,
    ]
    silent = [each.column.name for each in released if each.reply.value is None]
    notes += [NOT_REPLIED(what=f"median of {' and of '.join(silent)}", instead="lm")] if silent else []
    return ResultTable(
        {"term": tuple(each.column.name for each in released)},
        {"estimate": Estimate(values, interval, "a median over blocks with Laplace noise, if a test passes")},
        tuple(notes),
        {"kind": "points", "x": "term", "y": "estimate"},
        {"replied": lambda: [each.value is not None for each in replies]},
    )


def _build(frame: Frame, arguments: Arguments) -> RobustLm:
    response, predictor = arguments["response"], arguments["predictor"]
    if frame.relation.has_blocks:
        why, fix = "makes blocks of people itself, and these rows are of blocks already", "give it the rows of people"
        raise Refusal("robust_lm()", why, fix, code="blocks")
    for name in ("response", "predictor"):
        _check_room(name, arguments[name].domain)
    corners = (response.domain.upper - response.domain.lower) / (predictor.domain.upper - predictor.domain.lower)
    slopes = arguments["slope_bounds"] or (-_STEEPEST * corners, _STEEPEST * corners)
    relation = with_values(frame.relation, response.value, predictor.value)
    return RobustLm(relation, BlockLines(response, predictor, _bound(slopes)), arguments["blocks"])


def _check_room(name: str, domain: Numbers) -> None:
    """A line needs two bounds apart, and doubles that tell numbers between them from each other."""
    largest, width = max(abs(domain.lower), abs(domain.upper)), domain.upper - domain.lower
    if largest > _LARGEST or width <= max(largest / _FINEST, 1 / _LARGEST):
        why, fix = "has bounds that leave no room for a line", "declare others, or subtract a constant from it"
        raise BadArgument(name, why, fix)


def _bound(slopes: tuple[Fraction, ...]) -> Numbers:
    fix = "write the least slope that is possible, then the greatest: slope_bounds => (-10, 10)"
    if len(slopes) != 2 or not slopes[0] < slopes[1]:
        raise BadArgument("slope_bounds", "are not two numbers that rise", fix)
    largest = max(map(abs, slopes))
    if largest > _LARGEST or slopes[1] - slopes[0] < largest / _FINEST:
        raise BadArgument("slope_bounds", "are too large, or too near to each other, to tell slopes apart", fix)
    return Numbers.bounded(*slopes)


METHOD = Method(
    "robust_lm",
    "robust",
    "The regression line of a column on another by medians over blocks of people: with a delta, and sometimes without "
    "a reply.",
    (
        Parameter("response", "column", "the numbers that the line is to meet", required=True),
        Parameter("predictor", "column", "the numbers that it runs along", required=True),
        Parameter(
            "blocks",
            "integer",
            "how many blocks of people there are; without it one for about four people, whose number is found first",
            lower=2,
            upper=MOST_BLOCKS,
        ),
        Parameter(
            "slope_bounds",
            "numbers",
            "the least and the greatest slope; without them 8 times the one from corner to corner of the bounds",
        ),
    ),
    _build,
    {
        "term": "(Intercept), or the predictor",
        "estimate": "the median of its coefficients over the blocks",
        "replied": "whether there is a reply; without one there is no estimate",
    },
    "SELECT * FROM robust_lm(people, response => salary, predictor => age)",
    {"R": "robustbase::lmrob", "SAS": "PROC ROBUSTREG", "statsmodels": "RLM", "SciPy": "stats.theilslopes"},
    (
        "It needs `delta=` beside its price, and many people: about 200,000 at epsilon 1, and 20,000 at epsilon 4.",
        "`lm` needs no delta and always replies, but rows that are far off move it further.",
        "A predictor with few different values needs larger blocks, hence fewer: in some blocks nobody differs.",
    ),
)
