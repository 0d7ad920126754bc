"""One quantile with noise of its smooth sensitivity."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from adomnia.mechanisms.quantiles import FINEST_SHARE
from adomnia.messages.texts import Note, define_note
from adomnia.methods.analysis import SingleRound, keys_of
from adomnia.methods.contract import BY, Arguments, BadArgument, Factor, Frame, Method, NumberColumn, Parameter
from adomnia.methods.parts.describe.cuts import is_whole
from adomnia.methods.parts.describe.noisy_ratios import BEYOND_BOUNDS
from adomnia.privacy.events import AnyPrice, Composed, Price, add_delta
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import Histogram
from adomnia.statistics.contract import Measure, Measured, ResultTable, Round

NOISES = ("cauchy", "student", "laplace")
NO_ERROR = define_note(
    "smooth_error_unknown", "How far off the value will be is not known before: its noise follows from the data."
)
NO_INTERVAL = define_note(
    "smooth_without_interval",
    "There is no interval: how much noise the value has follows from the data, and is private. For one that has an"
    " interval ask the method quantiles.",
)


@dataclass(frozen=True)
class SmoothQuantile(SingleRound):
    """The value that a share of all rows is below or at, with little noise where many values lie close to it.

    Method      the value of that rank, plus noise of the size by which people could move it, here and near here.
    Guarantee   one measurement at the whole price; with Laplace noise but for the delta.
    Bias        clamping, and half a step of rounding a value.
    Cite        Nissim, Raskhodnikova & Smith 2007; Bun & Steinke 2019 (Student's noise).
    """

    tag: ClassVar[str] = "SmoothQuantile"
    name: ClassVar[str] = "smooth_quantile"
    relation: Relation
    by: tuple[Factor, ...]
    column: NumberColumn
    prob: Fraction
    noise: str
    confidence: Fraction
    delta: Fraction | None = None

    @property
    def caveats(self) -> tuple[Note, ...]:
        return (NO_ERROR,)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        histogram = Histogram(self.column.value, self.column.domain, (self.prob,), self.confidence)
        return ((Query(self.relation, keys_of(*self.by), histogram), Fraction(1)),)

    @property
    def needs_delta(self) -> bool:
        return self.noise == "laplace"

    def event(self, price: Price) -> Composed:
        return Composed([self._with_delta(price)])

    def planned_measures(self, price: Price) -> Round:
        return (Measure(self.query, self._with_delta(price), f"smooth_{self.noise}"),)

    def _with_delta(self, price: Price) -> AnyPrice:
        if not self.needs_delta:
            return price
        if self.delta is None:
            raise TypeError("SmoothQuantile delta must be named before it is measured, got None.")
        return add_delta(price, self.delta)

    def tabulate(self, *measured: Measured) -> ResultTable:
        domain, place = self.column.domain, int(measured[0].values)
        value = domain.value(place + domain.grid_lower)
        value = min(max(value, float(domain.lower)), float(domain.upper))
        found = int(value) if is_whole(self.column.value, domain) else value
        return ResultTable(
            {"prob": (float(self.prob),)}, {}, (NO_INTERVAL, BEYOND_BOUNDS), facts={"value": lambda: (found,)}
        )


def _build(frame: Frame, arguments: Arguments) -> SmoothQuantile:
    prob = arguments["prob"]
    if FINEST_SHARE % prob.denominator:
        raise BadArgument("prob", "must have at most three digits", "write prob => 0.5")
    column, noise = arguments["column"], arguments["noise"]
    return SmoothQuantile(frame.relation, arguments["by"], column, prob, noise, frame.confidence)


METHOD = Method(
    "smooth_quantile",
    "robust",
    "A quantile with noise that follows from the data: little where many values lie close to it; no interval.",
    (
        Parameter("column", "column", "the numbers", required=True),
        Parameter("prob", "number", "the share of rows below it", default=Fraction(1, 2), lower=0.001, upper=0.999),
        Parameter(
            "noise",
            "choice",
            "cauchy is mostly nearest, at times far off; student seldom is; laplace, with a delta, has the most noise",
            default="cauchy",
            choices=NOISES,
        ),
        BY,
    ),
    _build,
    {"prob": "the share of rows below", "value": "the quantile"},
    "SELECT * FROM smooth_quantile(people, column => salary, prob => 0.5)",
    {"R": "quantile"},
    (
        "No interval is told, because the size of the noise is private: [`quantiles`](#quantiles) tells one.",
        "On most data `quantiles` is nearer too, above all below epsilon 1: this noise grows with 1 / epsilon squared.",
        "With `noise => 'laplace'` the question has to name a delta.",
    ),
)
