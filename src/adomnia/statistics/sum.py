"""Adding up."""

from dataclasses import dataclass
from typing import ClassVar

from adomnia.privacy.events import Composed, Event, Price
from adomnia.privacy.expressions import Expression
from adomnia.privacy.queries import Query
from adomnia.statistics.centred import distances_and_values, plain_total
from adomnia.statistics.contract import Measure, Steps
from adomnia.statistics.linear import linear
from adomnia.statistics.presence import parted, with_value
from adomnia.statistics.scaled import in_steps


@dataclass(frozen=True)
class Sum:
    """The sum of a bounded expression, in every cell.

    Method      the exact sum of values clamped to their bounds and rounded to their grid, plus noise. `centred`: from
                the noisy sum of their distances from the middle and their noisy number, if these are measured anyway.
    Guarantee   one measurement at the whole price, or two at half of it each. `parted` by a value: of rows that have
                it, where those without it are counted too.
    Bias        the cap on rows per person, clamping, and half a step of rounding a value; none from the noise.
    Cite        Dwork, McSherry, Nissim & Smith 2006; Mironov 2012 (why on a grid).
    """

    tag: ClassVar[str] = "Sum"
    query: Query
    centred: bool = False
    parted: Expression | None = None

    def __post_init__(self) -> None:
        plain_total(self.query, "Sum")

    def steps(self, price: Price) -> Steps:
        domain = plain_total(self.query, "Sum").domain
        if not self.centred:
            (total,) = yield (Measure(parted(self.query, self.parted), price),)
            return in_steps(with_value(total, self.parted), domain.step, "noisy sum")
        distances, values = (parted(each, self.parted) for each in distances_and_values(self.query, "Sum"))
        total, count = yield (Measure(distances, price / 2), Measure(values, price / 2))
        total, count = with_value(total, self.parted), with_value(count, self.parted)
        parts = ((total, domain.step), (count, domain.middle * domain.step))
        return linear(parts, "noisy sum of distances from the middle + middle x noisy count")

    def event(self, price: Price) -> Event:
        return Composed((price / 2, price / 2)) if self.centred else price
