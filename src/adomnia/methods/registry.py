"""All methods by their names: joining this tuple is how one is accepted, and contract tests find it here."""

from collections.abc import Mapping
from types import MappingProxyType

from adomnia.methods.contract import Method

_ALL: tuple[Method, ...] = ()
METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ALL})


def find_method(name: str) -> Method | None:
    """The method of that name, however it is spelled."""
    return METHODS.get(name.lower())
