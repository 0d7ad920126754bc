"""What statistics that are made around another one take over from it."""

from fractions import Fraction

from adomnia.privacy.queries import Aggregate, Query
from adomnia.statistics.contract import Statistic


class Wrapper:
    """A statistic that starts from what its `inner` one starts from, and is called like it."""

    inner: Statistic

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def query(self) -> Query:
        return self.inner.query

    @property
    def operands(self) -> tuple[Aggregate | Fraction, ...]:
        return self.inner.operands

    @property
    def queries(self) -> tuple[Query, ...]:
        return self.inner.queries
