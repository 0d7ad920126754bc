"""What every relation says of itself: how many rows of one person reach its output, and with which columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.privacy.expressions import Column


class Relation(ABC):
    """Rows that a question is about: a node over others, which are its fields."""

    tag: ClassVar[str]

    if TYPE_CHECKING:  # fields of some nodes, which have no such attribute to take the place of an abstract one

        @property
        def rows_per_person(self) -> int:
            """How many rows of one person there are at most; none of public rows."""

        @property
        def columns(self) -> tuple[Column, ...]:
            """What a row has."""

    @abstractmethod
    def repeats(self, column: Column) -> int | None:
        """How many rows, of one person or of a public relation, share a value of the column at most; None: unknown."""

    @cached_property
    def sources(self) -> tuple[Relation, ...]:
        """The relations that it is made of."""
        held = (getattr(self, name) for name in _list_fields(self))
        return tuple(each for value in held for each in (value if isinstance(value, tuple) else (value,)))

    @cached_property
    def has_blocks(self) -> bool:
        """Whether rows are those of blocks of people, or made of them: they are no one's, and a person changes two."""
        return any(source.has_blocks for source in self.sources)

    @cached_property
    def is_public(self) -> bool:
        """Whether every table in it is about nobody."""
        return bool(self.sources) and all(source.is_public for source in self.sources)

    def map_sources(self, change: Callable[[Relation], Relation]) -> Relation:
        """The same node over others."""
        changed: dict[str, Any] = {}
        for name in _list_fields(self):
            value = getattr(self, name)
            changed[name] = tuple(map(change, value)) if isinstance(value, tuple) else change(value)
        return replace(self, **changed) if changed else self  # type: ignore[type-var]  # all nodes are dataclasses


def _list_fields(relation: Relation) -> list[str]:
    """Those that hold a relation, or several."""
    held = ((field.name, getattr(relation, field.name)) for field in fields(relation))  # type: ignore[arg-type]  # as above
    return [
        name
        for name, value in held
        if isinstance(value, Relation) or (isinstance(value, tuple) and value and isinstance(value[0], Relation))
    ]
