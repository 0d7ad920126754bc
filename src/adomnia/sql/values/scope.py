"""Scopes: what the names of columns mean in a SELECT, and which of its nodes are its own."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.privacy.expressions import Expression
from adomnia.sql.reading.refusals import refusal, refusal_of_name, render_node

_PARTS = {
    "expressions": "more than one argument",
    "columns": "names of columns",
    "db": "a schema",
    "catalog": "a database",
}
# Beside what they hold, nodes carry remarks of the parser. These change nothing here: division is of doubles, and by
# zero it is NULL; a type that the parser noted on a constant is checked again.
_REMARKS = {"typed", "safe", "nested"}


@dataclass(frozen=True)
class ScopeTable:
    """One table or subquery of a scope: its name, and what its columns mean."""

    name: str
    columns: Mapping[str, Expression]


@dataclass(frozen=True)
class Scope:
    """The names that are known in one SELECT.

    `shared` are the columns of USING. `given` are nodes whose meaning is known already, by their identity: subqueries,
    and aggregates of one person's rows.
    """

    sources: tuple[ScopeTable, ...]
    shared: frozenset[str] = frozenset()
    given: Mapping[int, Expression] = field(default_factory=dict)

    def column(self, node: exp.Column) -> Expression:
        """The expression that a column stands for; the case of names does not matter."""
        if isinstance(node.this, exp.Star):
            raise refusal("not_an_aggregate", node, "means all columns of single rows", "use COUNT(*)")
        check_parts(node, "this", "table")
        found = list(self._meanings(node))
        if len(found) > 1 and node.name.lower() not in self.shared:
            tables = " and ".join(source.name for source in self.sources if _find_column(source, node.name) is not None)
            fix = f"write the table before it: {self.sources[0].name}.{node.name}"
            raise refusal("ambiguous_column", node, f"is a column of {tables}", fix)
        if found:
            return found[0]
        raise self._refusal_of_column(node)

    def knows(self, node: exp.Column) -> bool:
        """Whether a column is known here."""
        return not isinstance(node.this, exp.Star) and any(True for _ in self._meanings(node))

    def has_column(self, name: str) -> bool:
        """Whether a column of this name is known here."""
        return any(_find_column(source, name) is not None for source in self.sources)

    def _meanings(self, node: exp.Column) -> Iterator[Expression]:
        for source in self.sources:
            meaning = _find_column(source, node.name)
            if meaning is not None and node.table.lower() in ("", source.name.lower()):
                yield meaning

    def _refusal_of_column(self, node: exp.Column) -> Refusal:
        names = [source.name for source in self.sources]
        if node.table and node.table.lower() not in [name.lower() for name in names]:
            return refusal_of_name("unknown_table", node, node.table, "tables of this question", names)
        owners = [source for source in self.sources if node.table.lower() in ("", source.name.lower())]
        columns = list(dict.fromkeys(name for source in owners for name in source.columns))
        whose = " and ".join(source.name for source in owners)
        return refusal_of_name("unknown_column", node, node.name, f"columns of {whose}", columns)


def check_parts(node: exp.Expr, *allowed: str) -> None:
    """Refuse a node that has other parts than those that are read."""
    extra = sorted(name for name, value in node.args.items() if value and name not in (*allowed, *_REMARKS))
    if extra:
        found = node.args[extra[0]]
        shown = render_node(found) if isinstance(found, exp.Expr) else extra[0].rstrip("_").replace("_", " ").upper()
        why, fix = (
            f"has {_PARTS.get(extra[0], shown)}, which is not supported",
            "write it without; that may ask something else",
        )
        raise refusal("syntax_not_allowed", node, why, fix)


def items_of_in(node: exp.In) -> list[exp.Expr]:
    """The items in the brackets of IN."""
    check_parts(node, "this", "expressions")
    found: list[exp.Expr] = node.expressions
    if not found:
        raise refusal("bad_literal", node, "has nothing in its brackets", "list constants there", "IN")
    return found


def own_nodes(node: exp.Expr, scope: Scope) -> Iterator[exp.Expr]:
    """The node and all below it, down to those whose meaning is known already."""
    return node.walk(prune=lambda each: id(each) in scope.given)


def strip_brackets(node: exp.Expr) -> exp.Expr:
    """Remove the brackets around a node; those of a subquery stay."""
    while type(node) is exp.Paren:
        node = node.this
    return node


def conjuncts(node: exp.Expr | None) -> list[exp.Expr]:
    """Split a condition at AND."""
    if node is None:
        return []
    inner = strip_brackets(node)
    return [part for each in inner.flatten() for part in conjuncts(each)] if isinstance(inner, exp.And) else [inner]


def find_call(select: exp.Select) -> exp.Func | None:
    """The function that stands in FROM of a question, if one does."""
    source = select.args.get("from_")
    table = None if source is None else source.this
    return table.this if isinstance(table, exp.Table) and isinstance(table.this, exp.Func) else None


def subqueries(select: exp.Select) -> Iterator[exp.Expr]:
    """The subqueries of a SELECT's own expressions, outermost first."""
    group = select.args.get("group")
    parts = [*select.expressions, select.args.get("where"), *(group.expressions if group is not None else ())]
    return find_subqueries(parts, select)


def find_subqueries(parts: Iterable[exp.Expr | None], select: exp.Select) -> Iterator[exp.Expr]:
    """The subqueries in some parts of a SELECT that belong to it, outermost first."""
    for part in parts:
        for node in part.find_all(exp.In, exp.Exists, exp.Subquery) if part is not None else ():
            inside = isinstance(node, exp.Subquery) and (node.arg_key == "query" or isinstance(node.parent, exp.Exists))
            asks = not isinstance(node, exp.In) or node.args.get("query")
            if asks and not inside and node.parent_select is select:
                yield node


def _find_column(source: ScopeTable, name: str) -> Expression | None:
    for column, meaning in source.columns.items():
        if column.lower() == name.lower():
            return meaning
    return None
