"""Other ways to measure the same statistics: what pricing chooses from, without knowing of which class one is."""

from dataclasses import dataclass, replace

from adomnia.privacy.expressions import Expression
from adomnia.privacy.kinds import Identity
from adomnia.privacy.scans import Rows
from adomnia.statistics.contract import Statistic
from adomnia.statistics.count import Count
from adomnia.statistics.mean import Mean
from adomnia.statistics.sum import Sum


@dataclass(frozen=True)
class Counted:
    """What a statistic counts: rows, values that are there, or neither, and the value that it is about if any."""

    value: Expression | None
    rows: bool = False
    values: bool = False


def alternatives(statistic: Statistic) -> tuple[Statistic, ...]:
    """The same statistic put together from what others may measure anyway.

    A sum is the values' distances from the middle of their bounds, added up, and the middle times their number: what a
    mean measures. Where the middle is zero, that is the sum itself.
    """
    if isinstance(statistic, Sum) and not statistic.centred:
        other = replace(statistic, centred=True)
        return () if statistic.query in other.queries else (other,)
    return ()


def find_counted(statistic: Statistic) -> Counted | None:
    """What a statistic counts, if it can be had from rows with a value and rows without."""
    if not isinstance(statistic, Count | Sum | Mean):
        return None
    if not isinstance(statistic, Count):  # a sum counts its values only if it is put together from them
        return Counted(statistic.query.total.value, values=not isinstance(statistic, Sum) or statistic.centred)
    value = statistic.query.aggregate.counted
    if value is None:
        return Counted(None, rows=True) if statistic.query.aggregate == Rows() else None
    # Whether an id is NULL is not a key.
    return None if isinstance(value.kind, Identity) else Counted(value, values=True)


def part_by(statistic: Statistic, value: Expression) -> Statistic:
    """The same of rows with a value and rows without it, counted as one."""
    assert isinstance(statistic, Count | Sum | Mean)  # noqa: S101 - as found by find_counted
    return replace(statistic, parted=value)
