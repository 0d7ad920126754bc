"""All methods by their names: joining this tuple is how one is accepted, and contract tests find it here."""

from collections.abc import Mapping
from types import MappingProxyType

from adomnia.methods.contract import Method
from adomnia.methods.testing import (
    chi_square_test,
    correlation_test,
    goodness_of_fit,
    ks_test,
    mann_whitney,
    oneway_anova,
    proportion_test,
    t_test,
)

_ALL: tuple[Method, ...] = (
    t_test.METHOD,
    proportion_test.METHOD,
    chi_square_test.METHOD,
    goodness_of_fit.METHOD,
    ks_test.METHOD,
    mann_whitney.METHOD,
    correlation_test.METHOD,
    oneway_anova.METHOD,
)
METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ALL})


def find_method(name: str) -> Method | None:
    """The method of that name, however it is spelled."""
    return METHODS.get(name.lower())
