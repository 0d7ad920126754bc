"""The rows of one SELECT, and what its WHERE says about the row around it: equalities, and other conditions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from adomnia.privacy.kinds import Identity
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.rows.derived import Derived, is_person
from adomnia.sql.rows.joins import is_joinable_id
from adomnia.sql.values.building import build, read_dates
from adomnia.sql.values.scalars import read_expression
from adomnia.sql.values.scope import Scope, strip_brackets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adomnia.privacy.expressions import Expression
    from adomnia.privacy.relations import Relation


@dataclass(frozen=True)
class OuterConditions:
    """What a subquery says about the row around it.

    `person` says whether it is about the same person. `equal` are values of a row inside and of the row around that
    must be equal, `mixed` the conditions that look at both in any other way, and `compared` both of these as written.
    """

    person: bool = False
    equal: tuple[tuple[Expression, Expression], ...] = ()
    mixed: tuple[exp.Expr, ...] = ()
    compared: tuple[exp.Expr, ...] = ()

    @property
    def links(self) -> bool:
        """Whether rows of one person alone can meet: the person is equal, or an id along a declared link is."""
        return self.person or any(isinstance(inner.kind, Identity) for inner, _ in self.equal)


def split_correlation(
    conditions: Sequence[exp.Expr], scope: Scope, outer: Scope
) -> tuple[list[exp.Expr], OuterConditions]:
    """The conditions about the rows inside alone, and what the others say."""
    own: list[exp.Expr] = []
    compared: list[exp.Expr] = []
    equal: list[tuple[Expression, Expression]] = []
    mixed: list[exp.Expr] = []
    person = False
    for node in conditions:
        if not any(is_around(column, scope, outer) for column in _own_columns(node)):
            own.append(node)
            continue
        pair = _read_pair(node, scope, outer)
        if pair is not None and all(map(is_person, pair)):
            person = True
            continue
        compared.append(node)
        if pair is None:
            mixed.append(node)
        else:
            equal.append(pair)
    return own, OuterConditions(person, tuple(dict.fromkeys(equal)), tuple(mixed), tuple(compared))


def _own_columns(node: exp.Expr) -> Iterator[exp.Column]:
    """The columns of a condition; a subquery in it has names of its own."""
    return (column for column in node.find_all(exp.Column) if column.parent_select is node.parent_select)


def is_around(column: exp.Column, scope: Scope, outer: Scope) -> bool:
    """Whether a column is one of the row around: a name that is known inside means the column there."""
    return not scope.knows(column) and outer.knows(column)


def _read_pair(node: exp.Expr, scope: Scope, outer: Scope) -> tuple[Expression, Expression] | None:
    """The value inside and the one around that an equality compares, if each side looks at one of them alone."""
    if not isinstance(node, exp.EQ) or node.find(exp.Query):
        return None
    sides = [strip_brackets(part) for part in (node.this, node.expression)]
    around = [{is_around(column, scope, outer) for column in part.find_all(exp.Column)} for part in sides]
    if around == [{True}, {False}]:
        sides.reverse()
    elif around != [{False}, {True}]:
        return None
    inner, beside = _read_side(sides[0], scope), _read_side(sides[1], outer)
    if Identity(person=True) in (inner.kind, beside.kind) and not (is_person(inner) and is_person(beside)):
        why, fix = "may be missing after a LEFT JOIN, or is another id", "equate the person of the first table"
        raise refusal("private_subquery", sides[1], why, fix)
    if is_joinable_id(inner) or is_joinable_id(beside):
        if inner.kind != beside.kind:
            fix = "equate the ids of the person, or the two ends of one declared link"
            raise refusal("private_join", node, "equates ids of different things", fix)
        return inner, beside
    build(node, "=", *read_dates(node, inner, beside))  # refused where they are not alike
    return inner, beside


def _read_side(node: exp.Expr, scope: Scope) -> Expression:
    return scope.column(node) if isinstance(node, exp.Column) else read_expression(node, scope)


@dataclass(frozen=True)
class Block:
    """The rows of one SELECT after FROM, joins and WHERE, and the scope of its names.

    `correlation` is what it says about the row around it, where it stands inside another SELECT.
    """

    relation: Relation
    scope: Scope
    tables: int
    weight: int
    correlation: OuterConditions = field(default_factory=OuterConditions)


class RowReader(Protocol):
    """Reads SELECTs within a SELECT, which is where whoever reads a SELECT meets the next one."""

    @property
    def exact(self) -> bool:
        """Whether questions are about public tables alone."""
        ...

    def inside(self, outer: Scope | None) -> RowReader:
        """The reader of a subquery, with the names of the SELECT around it if it is about one person."""
        ...

    def read_block(self, select: exp.Select) -> Block:
        """The rows of a SELECT."""
        ...

    def read_rows(self, query: exp.Expr) -> Derived:
        """The rows and columns of a SELECT or a UNION ALL."""
        ...
