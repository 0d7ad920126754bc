"""Derived tables: a table, a subquery or a view, and what each of its columns means over its rows.

A projection is not a step of its own: `SELECT a + b AS c` is replaced by the expression wherever c is used. Columns are
computed earlier only before a LEFT JOIN, before a join is joined again, and before UNION ALL.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from adomnia.privacy.expressions import Column, Expression, map_columns
from adomnia.privacy.kinds import Boolean, Identity
from adomnia.privacy.relations import (
    Join,
    Lookup,
    Named,
    PerBlock,
    PerPerson,
    Private,
    Public,
    PublicGroups,
    Relation,
    Select,
    Selected,
    Union,
    Where,
)
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.values.conditions import chain, size
from adomnia.sql.values.scalars import MOST_NODES
from adomnia.sql.values.scope import ScopeTable

MOST_WORK = 2**16


@dataclass(frozen=True)
class Derived:
    """Rows, and their columns by the names that the question uses.

    `tables` counts the tables that are read and the steps between them. `weight` bounds the work to read a column: its
    nodes after an engine has merged all steps, times the pairs that joins make of one person's rows.
    """

    relation: Relation
    columns: Mapping[str, Expression]
    tables: int = 1
    weight: int = 1

    @property
    def public(self) -> bool:
        return self.relation.is_public


@dataclass(frozen=True)
class Side:
    """One side of a join: its rows under a label of ours, and its columns under the name that the question uses."""

    node: exp.Expr
    source: ScopeTable
    relation: Named
    tables: int
    weight: int

    @property
    def label(self) -> str:
        return self.relation.name

    @property
    def public(self) -> bool:
        return self.relation.is_public

    def optional(self) -> "Side":
        """The side as the result of a LEFT JOIN, where its columns may be missing."""
        columns = {name: _mark_optional(meaning) for name, meaning in self.source.columns.items()}
        return replace(self, source=ScopeTable(self.source.name, columns))


def make_side(node: exp.Expr, name: str, rows: Derived, label: str, outer: bool) -> Side:
    """Make a side of a join from rows."""
    computed = any(not isinstance(meaning, Column) for meaning in rows.columns.values())
    if _is_join(rows.relation) or (outer and computed):
        rows = compute_columns(node, rows)
    columns = {column: qualify(meaning, label) for column, meaning in rows.columns.items()}
    return Side(node, ScopeTable(name, columns), Named(rows.relation, label), rows.tables, rows.weight)


def compute_columns(node: exp.Expr, rows: Derived) -> Derived:
    """Add a step that computes the columns of rows, each under a name of ours."""
    columns: dict[str, Expression] = {}
    outputs: list[Selected] = []
    for name, meaning in rows.columns.items():
        if not _is_kept(meaning):
            columns[name] = meaning if isinstance(meaning, Column) and not meaning.source else Column(name, Identity())
            continue
        refuse_missing(node, meaning)
        outputs.append(Selected(f"c{len(outputs)}", meaning))
        columns[name] = outputs[-1].column
    return Derived(Select(rows.relation, tuple(outputs)), columns, rows.tables + 1, computed_weight(rows))


def unite(node: exp.Expr, parts: Sequence[Derived]) -> Derived:
    """Read UNION ALL: columns are matched by position and named by the first part."""
    if len({len(part.columns) for part in parts}) != 1:
        why, fix = "has parts of different width", "select the same columns in each"
        raise refusal("type_error", node, why, fix, "UNION ALL")
    if len({part.public for part in parts}) != 1:
        why = "puts rows about people and rows about nobody together"
        raise refusal("set_operation", node, why, "unite private tables only", "UNION ALL")
    places = list(zip(*(part.columns.values() for part in parts), strict=True))
    for meaning in (meaning for meanings in places for meaning in meanings):
        refuse_missing(node, meaning)
    alike = [len({_storage_form(meaning) for meaning in meanings}) == 1 for meanings in places]
    selects = [
        Select(
            part.relation,
            tuple(
                Selected(f"c{place}", meaning, stored)
                for place, (meaning, stored) in enumerate(zip(part.columns.values(), alike, strict=True))
                if _is_kept(meaning)
            ),
        )
        for part in parts
    ]
    try:
        union = Union(tuple(selects))
    except ValueError:
        why, fix = "has columns of different types in one place", "select the same types in each part"
        raise refusal("type_error", node, why, fix, "UNION ALL") from None
    known = {column.name: column for column in union.columns}
    columns = {name: known.get(f"c{place}", Column(name, Identity())) for place, name in enumerate(parts[0].columns)}
    return Derived(union, columns, sum(part.tables for part in parts) + 1, max(map(computed_weight, parts)))


def computed_weight(rows: Derived) -> int:
    """The weight of rows after a step that computes their columns."""
    return rows.weight * max(map(size, rows.columns.values()), default=1)


def label_of(relation: Relation) -> str:  # noqa: PLR0911 - one for each node
    """The label of rows in a join, which does not depend on how the question names them."""
    match relation:
        case Private(name=name) | Public(name=name):
            return name
        case Where(source=source) | Select(source=source):
            return label_of(source)
        case PerPerson():
            return "own"
        case PerBlock():
            return "blocks"
        case PublicGroups():
            return "groups"
        case Union():
            return "union"
    return "joined"


def qualify(expression: Expression, label: str) -> Expression:
    """Qualify the columns of an expression with the label of a side of a join."""
    return map_columns(expression, lambda column: replace(column, source=label))


def refuse_missing(node: exp.Expr, meaning: Expression) -> None:
    """Refuse an id that may be missing after a LEFT JOIN, where every row needs its person."""
    if isinstance(meaning, Column) and isinstance(meaning.kind, Identity) and meaning.optional:
        why = "selects an id that LEFT JOIN may leave out"
        raise refusal("identifier_column", node, why, "select the person of the first table", "This subquery")


def _mark_optional(expression: Expression) -> Expression:
    return map_columns(expression, lambda column: replace(column, optional=True))


def _is_kept(meaning: Expression) -> bool:
    return not isinstance(meaning.kind, Identity) or meaning.kind.person or bool(meaning.kind.linked)


def _is_join(relation: Relation) -> bool:
    return isinstance(relation, Join | Lookup) or (isinstance(relation, Where) and _is_join(relation.source))


def _storage_form(meaning: Expression) -> object:
    """How a value is stored: UNION ALL need not convert columns of one form."""
    return (meaning.kind, meaning.domain) if isinstance(meaning, Column) else type(meaning)


def is_person(meaning: Expression) -> bool:
    """Whether a value is the person of its row, and not missing after a LEFT JOIN."""
    return isinstance(meaning, Column) and meaning.kind == Identity(person=True) and not meaning.optional


def free_label(stem: str, taken: set[str]) -> str:
    """A label that no other side of a join has, whatever its case."""
    label, number = stem, 1
    while label.lower() in taken:
        number += 1
        label = f"{stem}_{number}"
    taken.add(label.lower())
    return label


def refuse_slow(node: exp.Expr, weight: int, meanings: Iterable[Expression]) -> None:
    """Refuse expressions that take too long to compute over rows of this weight.

    The time of an answer could reveal a person who has many or long rows, so the work for one person is bounded.
    """
    if weight * sum(map(size, meanings)) > MOST_WORK:
        why = "computes too much for every row, or for every pair of rows"
        raise refusal("too_complex", node, why, "compute less, or join fewer tables", "The question")


def filter_rows(relation: Relation, meanings: list[Expression], nodes: Sequence[exp.Expr], weight: int = 1) -> Relation:
    """Keep the rows for which all conditions hold."""
    if not meanings:
        return relation
    refuse_slow(nodes[0] if nodes else exp.Null(), weight, meanings)
    for meaning, node in zip(meanings, nodes, strict=False):
        if not isinstance(meaning.kind, Boolean):
            why = f"is of type {meaning.kind} and WHERE takes a condition"
            raise refusal("type_error", node, why, "compare it with something")
    if sum(map(size, meanings)) > MOST_NODES:
        raise refusal("too_complex", nodes[0], "becomes too long", "take it apart", "WHERE")
    condition = chain("and", meanings)
    if isinstance(relation, Where):
        return Where(relation.source, chain("and", [relation.condition, condition]))
    return Where(relation, condition)
