"""All methods by their names: joining this tuple is how one is accepted, and contract tests find it here."""

from collections.abc import Mapping
from types import MappingProxyType

from adomnia.methods.contract import Method
from adomnia.methods.models import anova, lm, logit, poisson, ridge

_ALL: tuple[Method, ...] = (lm.METHOD, ridge.METHOD, anova.METHOD, logit.METHOD, poisson.METHOD)
METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ALL})


def find_method(name: str) -> Method | None:
    """The method of that name, however it is spelled."""
    return METHODS.get(name.lower())
