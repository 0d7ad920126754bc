"""Adding up."""

from dataclasses import dataclass

from adomnia.privacy.aggregates import Total
from adomnia.privacy.events import Event, Price
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Measure, Steps
from adomnia.statistics.scaled import in_steps


@dataclass(frozen=True)
class Sum:
    """The sum of a bounded expression, in every cell.

    Method      the exact sum of values clamped to their bounds and rounded to their grid, plus noise.
    Guarantee   one measurement at the whole price.
    Bias        the cap on rows per person, clamping, and half a step of rounding a value; none from the noise.
    Cite        Dwork, McSherry, Nissim & Smith 2006; Mironov 2012 (why on a grid).
    """

    query: Query

    def __post_init__(self) -> None:
        if not isinstance(self.query.aggregate, Total) or self.query.aggregate.centre:
            raise ValueError(f"Sum query must be a Total from centre 0, got {self.query.aggregate}.")

    def steps(self, price: Price) -> Steps:
        (total,) = yield (Measure(self.query, price),)
        assert isinstance(self.query.aggregate, Total)  # noqa: S101 - as constructed
        return in_steps(total, self.query.aggregate.domain.step, "noisy sum")

    def event(self, price: Price) -> Event:
        return price
