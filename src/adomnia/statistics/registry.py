"""The statistics there are, by what SQL calls them. A new one is its file and one line here."""

from typing import TypeAlias

from adomnia.statistics.count import Count
from adomnia.statistics.mean import Mean
from adomnia.statistics.sum import Sum

Registered: TypeAlias = type[Count] | type[Sum] | type[Mean]

STATISTICS: dict[str, Registered] = {
    "COUNT": Count,
    "SUM": Sum,
    "AVG": Mean,
}
