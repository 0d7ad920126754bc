"""All methods by their names: joining this tuple is how one is accepted, and contract tests find it here."""

from collections.abc import Mapping
from types import MappingProxyType

from adomnia.methods.contract import Method
from adomnia.methods.densities import density, fit_distribution, histogram
from adomnia.methods.survival import kaplan_meier, log_rank

_ALL: tuple[Method, ...] = (
    histogram.METHOD,
    density.METHOD,
    fit_distribution.METHOD,
    kaplan_meier.METHOD,
    log_rank.METHOD,
)
METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ALL})


def find_method(name: str) -> Method | None:
    """The method of that name, however it is spelled."""
    return METHODS.get(name.lower())
