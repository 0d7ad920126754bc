"""What is asked of a whole relation, node by node."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from adomnia.privacy.relations.groups import PerBlock, PerPerson, PublicGroups
from adomnia.privacy.relations.joins import Join, Lookup
from adomnia.privacy.relations.tables import MOST_PEOPLE, MOST_ROWS, Named, Private, Public, Select, Union, Where

if TYPE_CHECKING:
    from collections.abc import Mapping

Relation: TypeAlias = (
    Private | Public | Where | Select | Named | Join | Lookup | Union | PerPerson | PerBlock | PublicGroups
)


def recap(relation: Relation, caps: Mapping[str, int]) -> Relation:
    """The relation with other caps for the tables that are named; what reads all rows of a person still does."""
    match relation:
        case Private(name=name, rows_per_person=rows):
            return relation if rows == MOST_ROWS else replace(relation, rows_per_person=caps.get(name, rows))
        case Public():
            return relation
        case Join() | Lookup():
            left, right = recap(relation.left, caps), recap(relation.right, caps)
            return replace(relation, left=left, right=right)  # type: ignore[arg-type]  # nodes stay what they are
        case Union(parts=parts):
            return Union(tuple(recap(part, caps) for part in parts))  # type: ignore[misc]  # as above
    return replace(relation, source=recap(relation.source, caps))


def is_public(relation: Relation) -> bool:
    """Whether every table in it is about nobody."""
    match relation:
        case Private():
            return False
        case Public():
            return True
        case Join(left=left, right=right) | Lookup(left=left, right=right):
            return is_public(left) and is_public(right)
        case Union(parts=parts):
            return all(map(is_public, parts))
    return is_public(relation.source)


def most_rows(relation: Relation) -> int:
    """A bound on the rows of a relation, from public facts: those of its people, or what its tables can hold."""
    rows = relation.rows_per_person
    if rows >= MOST_ROWS:
        match relation:
            case Private():
                return MOST_ROWS
            case Where(source=source) | Select(source=source) | Named(source=source):
                return most_rows(source)
            case Union(parts=parts):
                return sum(map(most_rows, parts))
    return max(MOST_ROWS, MOST_PEOPLE * rows)
