"""The statistics there are, by what SQL calls them. A new one is its file and one line here."""

from typing import TypeAlias

from adomnia.statistics.correlation import Correlation
from adomnia.statistics.count import Count
from adomnia.statistics.covariance import COVARIANCES, Covariance
from adomnia.statistics.extreme import Extreme
from adomnia.statistics.mean import Mean
from adomnia.statistics.quantile import Quantile
from adomnia.statistics.sum import Sum
from adomnia.statistics.variance import VARIANCES, Variance

Registered: TypeAlias = type[Count | Sum | Mean | Variance | Covariance | Correlation | Quantile | Extreme]

STATISTICS: dict[str, Registered] = {
    "COUNT": Count,
    "SUM": Sum,
    "AVG": Mean,
    **dict.fromkeys(VARIANCES, Variance),
    **dict.fromkeys(COVARIANCES, Covariance),
    "CORR": Correlation,
    "QUANTILE": Quantile,
    "MIN": Extreme,
    "MAX": Extreme,
}
