"""Means between released bounds: what trimmed and winsorised means are made of.

W(a, b) is the mean of the values clamped between a and b. At the quantiles a and b of the shares t and 1 - t it is the
winsorised mean, and (W - t (a + b)) / (1 - 2 t) is the trimmed one. The derivative of the latter by a is F(a) - t,
which is zero there: a trimmed mean so computed hardly feels by how much the bounds miss the quantiles.
"""

from fractions import Fraction

from adomnia.methods.contract import NumberColumn, Parameter
from adomnia.methods.describe.column_sums import MEAN, ColumnSums, column_vector
from adomnia.methods.describe.robust import Robust
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Price
from adomnia.privacy.queries import Query
from adomnia.statistics.contract import Measure, Measured

TRIM = Parameter("trim", "number", "the share of rows at each end", default=Fraction(1, 10), lower=0.002, upper=0.45)


def released_domain(column: NumberColumn, low: int, high: int) -> Numbers:
    """The grid between two of its places that were chosen: at least two steps wide, and never all of it."""
    domain = column.domain
    first = min(max(low, 1), max(domain.width - 2, 0))
    last = max(min(high, domain.width - 1), first + 1)
    ends = ((place + domain.grid_lower) * domain.step for place in (first, min(last, domain.width)))
    return Numbers(*ends, domain.step)


def measure_clamped(asked: Robust, domain: Numbers, price: Price) -> Measure:
    """The sums of the values clamped between the ends of a grid, by which one row moves them."""
    vector = column_vector(asked.column.value, domain, MEAN, absent=False)
    return Measure(Query(asked.present, (), vector), price)


def read_clamped(asked: Robust, domain: Numbers, measured: Measured) -> ColumnSums:
    """The same, once measured."""
    return ColumnSums(asked.column.value, domain, MEAN, measured, asked.population)
