"""Rows under a name: a table, a subquery or a view, and what each of its columns means over them.

A projection leaves no trace: `SELECT a + b AS c` is the expression itself wherever c is used. Only what is computed
before rows are joined by LEFT JOIN, joined again or put together by UNION ALL has to be computed there.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from adomnia.privacy.expressions import Call, Column, Expression
from adomnia.privacy.kinds import Identity, Truth
from adomnia.privacy.relations import (
    Join,
    Named,
    PerPerson,
    Private,
    Public,
    Relation,
    Select,
    Selected,
    Union,
    Where,
    is_public,
)
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.values.conditions import chained, size
from adomnia.sql.values.scalars import MOST_NODES
from adomnia.sql.values.scope import Source

MOST_WORK = 2**16


@dataclass(frozen=True)
class Derived:
    """Rows, and their columns as the question calls them.

    `tables` counts the tables read and the steps between. `weight` is how much it takes to read a column: of how many
    nodes it is once an engine has put the steps together, times the pairs that joins make of one person's rows.
    """

    relation: Relation
    columns: Mapping[str, Expression]
    tables: int = 1
    weight: int = 1

    @property
    def public(self) -> bool:
        return is_public(self.relation)


@dataclass(frozen=True)
class Side:
    """One side of a join: the rows under a label of ours, its columns there under the name that the question gives."""

    node: exp.Expr
    source: Source
    relation: Named
    tables: int
    weight: int

    @property
    def label(self) -> str:
        return self.relation.name

    @property
    def public(self) -> bool:
        return is_public(self.relation)

    def optional(self) -> "Side":
        """The same side above a LEFT JOIN that may leave it out."""
        columns = {name: _marked(meaning) for name, meaning in self.source.columns.items()}
        return replace(self, source=Source(self.source.name, columns))


def side(node: exp.Expr, name: str, rows: Derived, label: str, outer: bool) -> Side:
    """Rows as a side of a join."""
    computed = any(not isinstance(meaning, Column) for meaning in rows.columns.values())
    if _is_join(rows.relation) or (outer and computed):
        rows = selected(node, rows)
    columns = {column: under(meaning, label) for column, meaning in rows.columns.items()}
    return Side(node, Source(name, columns), Named(rows.relation, label), rows.tables, rows.weight)


def selected(node: exp.Expr, rows: Derived) -> Derived:
    """The rows with their columns computed, each under a name of ours."""
    columns: dict[str, Expression] = {}
    outputs: list[Selected] = []
    for name, meaning in rows.columns.items():
        if not _is_kept(meaning):
            columns[name] = meaning if isinstance(meaning, Column) and not meaning.source else Column(name, Identity())
            continue
        refuse_missing(node, meaning)
        outputs.append(Selected(f"c{len(outputs)}", meaning))
        columns[name] = outputs[-1].column
    return Derived(Select(rows.relation, tuple(outputs)), columns, rows.tables + 1, grown(rows))


def united(node: exp.Expr, parts: Sequence[Derived]) -> Derived:
    """UNION ALL: columns by their place, named by the first part."""
    if len({len(part.columns) for part in parts}) != 1:
        why, fix = "has parts of different width", "select the same columns in each"
        raise refusal("type_error", node, why, fix, "UNION ALL")
    if len({part.public for part in parts}) != 1:
        why = "puts rows about people and rows about nobody together"
        raise refusal("set_operation", node, why, "unite private tables only", "UNION ALL")
    places = list(zip(*(part.columns.values() for part in parts), strict=True))
    for meaning in (meaning for meanings in places for meaning in meanings):
        refuse_missing(node, meaning)
    alike = [len({_form(meaning) for meaning in meanings}) == 1 for meanings in places]
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
    return Derived(union, columns, sum(part.tables for part in parts) + 1, max(map(grown, parts)))


def grown(rows: Derived) -> int:
    """The weight of rows whose columns are computed there."""
    return rows.weight * max(map(size, rows.columns.values()), default=1)


def label_of(relation: Relation) -> str:
    """What rows are called in a join, however the question calls them."""
    match relation:
        case Private(name=name) | Public(name=name):
            return name
        case Where(source=source) | Select(source=source):
            return label_of(source)
        case PerPerson():
            return "own"
        case Union():
            return "union"
    return "joined"


def under(expression: Expression, label: str) -> Expression:
    """An expression over the columns of a side of a join."""
    return _moved(expression, lambda column: replace(column, source=label))


def refuse_missing(node: exp.Expr, meaning: Expression) -> None:
    """Refuse a person whom a LEFT JOIN may leave out, where the person of every row is needed."""
    if isinstance(meaning, Column) and isinstance(meaning.kind, Identity) and meaning.optional:
        why = "selects an id that LEFT JOIN may leave out"
        raise refusal("identifier_column", node, why, "select the person of the first table", "This subquery")


def _marked(expression: Expression) -> Expression:
    return _moved(expression, lambda column: replace(column, optional=True))


def _moved(expression: Expression, move: Callable[[Column], Column]) -> Expression:
    match expression:
        case Column():
            return move(expression)
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(_moved(argument, move) for argument in arguments))
    return expression


def _is_kept(meaning: Expression) -> bool:
    return not isinstance(meaning.kind, Identity) or meaning.kind.person or bool(meaning.kind.linked)


def _is_join(relation: Relation) -> bool:
    return isinstance(relation, Join) or (isinstance(relation, Where) and _is_join(relation.source))


def _form(meaning: Expression) -> object:
    """How a value is stored: columns of one form can be put together as they are."""
    return (meaning.kind, meaning.domain) if isinstance(meaning, Column) else type(meaning)


def is_person(meaning: Expression) -> bool:
    """Whether a value is the person of its row, whom no LEFT JOIN may leave out."""
    return isinstance(meaning, Column) and meaning.kind == Identity(person=True) and not meaning.optional


def free_label(stem: str, taken: set[str]) -> str:
    """A label that no other side of a join has, in upper or lower case."""
    label, number = stem, 1
    while label.lower() in taken:
        number += 1
        label = f"{stem}_{number}"
    taken.add(label.lower())
    return label


def refuse_slow(node: exp.Expr, weight: int, meanings: Iterable[Expression]) -> None:
    """Refuse expressions over rows of a weight that would take an engine, or the pairs of one person's rows, too long.

    How long an answer takes may tell something of a person whose rows are many or long: what they can add is bounded.
    """
    if weight * sum(map(size, meanings)) > MOST_WORK:
        why = "computes too much for every row, or for every pair of rows"
        raise refusal("too_complex", node, why, "compute less, or join fewer tables", "The question")


def filtered(relation: Relation, meanings: list[Expression], nodes: Sequence[exp.Expr], weight: int = 1) -> Relation:
    """The rows for which all conditions hold."""
    if not meanings:
        return relation
    refuse_slow(nodes[0] if nodes else exp.Null(), weight, meanings)
    for meaning, node in zip(meanings, nodes, strict=False):
        if not isinstance(meaning.kind, Truth):
            why = f"is of type {meaning.kind} and WHERE takes a condition"
            raise refusal("type_error", node, why, "compare it with something")
    if sum(map(size, meanings)) > MOST_NODES:
        raise refusal("too_complex", nodes[0], "becomes too long", "take it apart", "WHERE")
    condition = chained("and", meanings)
    if isinstance(relation, Where):
        return Where(relation.source, chained("and", [relation.condition, condition]))
    return Where(relation, condition)
