"""Names of a question: what each column means over the rows that it is about."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.privacy.expressions import Expression
from adomnia.sql.reading.refusals import refusal, unknown

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
class Source:
    """One name in FROM, and the meaning of its columns."""

    name: str
    columns: Mapping[str, Expression]


@dataclass(frozen=True)
class Scope:
    """Everything that a name can stand for in one SELECT.

    `shared` are columns that USING made one. `given` are parts of the text whose meaning is known already, by the
    identity of their node: subqueries, and the aggregates of one person's rows.
    """

    sources: tuple[Source, ...]
    shared: frozenset[str] = frozenset()
    given: Mapping[int, Expression] = field(default_factory=dict)

    def column(self, node: exp.Column) -> Expression:
        """What a name stands for; names are the same in upper and lower case."""
        if isinstance(node.this, exp.Star):
            raise refusal("not_an_aggregate", node, "means all columns of single rows", "use COUNT(*)")
        only(node, "this", "table")
        found = list(self._meanings(node))
        if len(found) > 1 and node.name.lower() not in self.shared:
            tables = " and ".join(source.name for source in self.sources if _named(source, node.name) is not None)
            fix = f"write the table before it: {self.sources[0].name}.{node.name}"
            raise refusal("ambiguous_column", node, f"is a column of {tables}", fix)
        if found:
            return found[0]
        raise self._unknown(node)

    def knows(self, node: exp.Column) -> bool:
        """Whether a name stands for something here."""
        return not isinstance(node.this, exp.Star) and any(True for _ in self._meanings(node))

    def named(self, name: str) -> bool:
        """Whether a word is the name of a column here."""
        return any(_named(source, name) is not None for source in self.sources)

    def _meanings(self, node: exp.Column) -> Iterator[Expression]:
        for source in self.sources:
            meaning = _named(source, node.name)
            if meaning is not None and node.table.lower() in ("", source.name.lower()):
                yield meaning

    def _unknown(self, node: exp.Column) -> Refusal:
        names = [source.name for source in self.sources]
        if node.table and node.table.lower() not in [name.lower() for name in names]:
            return unknown("unknown_table", node, node.table, "tables of this question", names)
        owners = [source for source in self.sources if node.table.lower() in ("", source.name.lower())]
        columns = list(dict.fromkeys(name for source in owners for name in source.columns))
        whose = " and ".join(source.name for source in owners)
        return unknown("unknown_column", node, node.name, f"columns of {whose}", columns)


def only(node: exp.Expr, *allowed: str) -> None:
    """Refuse a node that holds more than what is understood of it."""
    extra = sorted(name for name, value in node.args.items() if value and name not in (*allowed, *_REMARKS))
    if extra:
        part = _PARTS.get(extra[0], extra[0].rstrip("_").replace("_", " ").upper())
        raise refusal("syntax_not_allowed", node, f"has a part that is not answered ({part})", "leave that part out")


def listed(node: exp.In) -> list[exp.Expr]:
    """What stands in the brackets of IN."""
    only(node, "this", "expressions")
    found: list[exp.Expr] = node.expressions
    if not found:
        raise refusal("bad_literal", node, "has nothing in its brackets", "list constants there", "IN")
    return found


def bare(node: exp.Expr) -> exp.Expr:
    """A node without the brackets around it; a subquery is not a bracket."""
    while type(node) is exp.Paren:
        node = node.this
    return node


def _named(source: Source, name: str) -> Expression | None:
    for column, meaning in source.columns.items():
        if column.lower() == name.lower():
            return meaning
    return None
