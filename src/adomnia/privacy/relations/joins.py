"""Joins: pairs of rows, and what is looked up for each row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from adomnia.privacy.expressions import Call, Column, Expression
from adomnia.privacy.hashing import hashed_once
from adomnia.privacy.kinds import Boolean
from adomnia.privacy.relations.groups import PerPerson, PublicGroups
from adomnia.privacy.relations.tables import Named, Relation, Where


@hashed_once
@dataclass(frozen=True)
class Join(Relation):
    """Pairs of rows for which all conditions hold; `outer` keeps rows of the left side that find none (LEFT JOIN).

    Two private sides are always paired person by person, whatever the conditions say. A public side needs an equality
    with one of its columns. Rows per person: each row of the left side meets at most `matches` of the right one, and
    each of the right one at most `matched` of the left; with `outer` those of the left that meet none are kept too.
    """

    tag: ClassVar[str] = "Join"
    left: Join | Lookup | Named
    right: Named
    on: tuple[Expression, ...]
    outer: bool = False

    def __post_init__(self) -> None:
        if self._matches is None:
            raise ValueError(f"Join with {self.right.name} must equate a column of each side, got none.")
        if self.right.rows_per_person and (self.left.has_blocks or self.right.has_blocks):
            raise ValueError(f"Join with {self.right.name} must be of rows of people, got those of blocks.")
        if self.right.rows_per_person and not self.left.rows_per_person:
            raise ValueError(f"Join must begin with a private side, got a public one before {self.right.name}.")

    @cached_property
    def equal(self) -> tuple[tuple[Column, Column], ...]:
        """The columns of the left and the right side that must be equal."""
        pairs = (call.arguments for call in self.on if isinstance(call, Call) and call.function == "=")
        columns = ((one, other) for one, other in pairs if isinstance(one, Column) and isinstance(other, Column))
        turned = (pair if pair[1].source == self.right.name else pair[::-1] for pair in columns)
        return tuple(
            (left, right) for left, right in turned if right.source == self.right.name and left.source != right.source
        )

    @property
    def matches(self) -> int:
        """How many rows of the right side one row of the left meets at most."""
        assert self._matches is not None  # noqa: S101 - as constructed
        return self._matches

    @cached_property
    def _matches(self) -> int | None:
        return _least([self.right.repeats(right) for _, right in self.equal] + [self.right.rows_per_person or None])

    @cached_property
    def matched(self) -> int | None:
        """How many rows of the left side, of one person if it is private, one row of the right meets at most."""
        return _least([self.left.repeats(left) for left, _ in self.equal] + [self.left.rows_per_person or None])

    @cached_property
    def rows_per_person(self) -> int:
        rows = self.left.rows_per_person
        pairs, met = rows * self.matches, _times(self.right.rows_per_person or None, self.matched)
        return pairs if met is None else min(pairs, met + self.outer * rows)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        right = (replace(column, optional=True) for column in self.right.columns) if self.outer else self.right.columns
        return (*self.left.columns, *right)

    def repeats(self, column: Column) -> int | None:
        """A row that meets one other at most is not repeated."""
        of_right = column.source == self.right.name
        side, meets = (self.right, self.matched) if of_right else (self.left, max(1, self.matches))
        return _least([_times(side.repeats(column), meets), self.rows_per_person or None])


@hashed_once
@dataclass(frozen=True)
class Lookup(Relation):
    """Each row of the left side with the row of the right one that has its values, or with none (LEFT JOIN).

    The right side has one row at most for each combination of its keys, of one person if it is private, and all of
    them are compared with `keys`, NULL being like NULL. Two private sides are always compared person by person. Rows
    per person: those of the left side.
    """

    tag: ClassVar[str] = "Lookup"
    left: Join | Lookup | Named
    right: Named
    keys: tuple[Expression, ...] = ()

    def __post_init__(self) -> None:
        if len(self._groups.keys) != len(self.keys):
            raise ValueError(f"Lookup in {self.right.name} must compare all of its keys, got {len(self.keys)}.")
        if self.right.rows_per_person and self.left.has_blocks:
            raise ValueError(f"Lookup in {self.right.name} must be of rows of people, got those of blocks.")
        if self.right.rows_per_person and not self.left.rows_per_person:
            raise ValueError(f"Lookup must begin with a private side, got a public one before {self.right.name}.")

    @property
    def _groups(self) -> PerPerson | PublicGroups:
        source = self.right.source
        while isinstance(source, Where):
            source = source.source
        if not isinstance(source, PerPerson | PublicGroups):
            raise ValueError(f"Lookup in {self.right.name} must be in groups, got {type(source).__name__}.")  # noqa: TRY004 - as all others
        return source

    @cached_property
    def on(self) -> tuple[Expression, ...]:
        """The comparisons of all keys."""
        columns = (replace(key.column, source=self.right.name) for key in self._groups.keys)
        return tuple(Call("same", (value, column), Boolean()) for value, column in zip(self.keys, columns, strict=True))

    @property
    def rows_per_person(self) -> int:
        return self.left.rows_per_person

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return (*self.left.columns, *(replace(column, optional=True) for column in self.right.columns))

    def repeats(self, column: Column) -> int | None:
        return self.rows_per_person or None if column.source == self.right.name else self.left.repeats(column)


def _least(bounds: list[int | None]) -> int | None:
    return min((bound for bound in bounds if bound is not None), default=None)


def _times(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one * other
