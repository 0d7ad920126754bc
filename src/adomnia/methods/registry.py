"""All methods by their names: joining this tuple is how one is accepted, and contract tests find it here."""

from collections.abc import Mapping
from types import MappingProxyType

from adomnia.methods.contract import Method
from adomnia.methods.describe import (
    association,
    correlations,
    covariances,
    crosstab,
    ecdf,
    frequencies,
    iqr,
    mad,
    modes,
    quantiles,
    summary,
    trimmed_mean,
    winsorized_mean,
)

_ALL: tuple[Method, ...] = (
    summary.METHOD,
    quantiles.METHOD,
    iqr.METHOD,
    mad.METHOD,
    trimmed_mean.METHOD,
    winsorized_mean.METHOD,
    modes.METHOD,
    ecdf.METHOD,
    frequencies.METHOD,
    crosstab.METHOD,
    association.METHOD,
    covariances.METHOD,
    correlations.METHOD,
)
METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ALL})


def find_method(name: str) -> Method | None:
    """The method of that name, however it is spelled."""
    return METHODS.get(name.lower())
