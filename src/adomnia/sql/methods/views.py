"""Reads the SELECT around a method: which columns of its table are shown, which rows, and in what order."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from adomnia.plans.views import Constant, TableColumn, TableCondition, TableOrder, TableView
from adomnia.sql.methods.arguments import read_constant
from adomnia.sql.reading.refusals import check_name, refusal, refusal_of_name, render_node
from adomnia.sql.values.group_keys import output_index
from adomnia.sql.values.having import SIGNS
from adomnia.sql.values.scope import check_parts, items_of_in, strip_brackets

_COMPARISONS: dict[type[exp.Expr], str] = {**SIGNS, exp.Like: "like"}
_JOINED: dict[type[exp.Expr], str] = {exp.And: "and", exp.Or: "or"}
_FREE = "choose columns, WHERE, ORDER BY and LIMIT; compute the rest from the answer"
_REFUSED = {
    "joins": ("A method", "is not joined", "ask it alone, and put answers together yourself"),
    "group": ("GROUP BY", "is not answered around a method", "repeat the method for each group: by => city"),
    "having": ("HAVING", "is not answered around a method", "use WHERE"),
    "distinct": ("DISTINCT", "is not answered around a method", "leave it out"),
    "windows": ("WINDOW", "is not answered around a method", "leave it out"),
    "qualify": ("QUALIFY", "is not answered around a method", "use WHERE"),
}

Operand: TypeAlias = TableColumn | Constant


@dataclass(frozen=True)
class ViewReader:
    """Reads names of the columns of a table, which may itself be named."""

    table: str
    columns: Sequence[str]

    def read_view(self, select: exp.Select) -> TableView:
        """What the SELECT shows."""
        for part, (what, why, fix) in _REFUSED.items():
            if select.args.get(part):
                node = select.args[part]
                raise refusal("around_method", node[0] if isinstance(node, list) else node, why, fix, what)
        shown = self._outputs(select)
        where, order = select.args.get("where"), select.args.get("order")
        condition = None if where is None else self._condition(where.this)
        return TableView(shown, condition, tuple(() if order is None else map(self._order(shown), order.expressions)))

    def _outputs(self, select: exp.Select) -> tuple[tuple[str, str], ...]:
        found: list[tuple[str, str]] = []
        for item in select.expressions:
            inner = strip_brackets(item.unalias())
            if isinstance(inner, exp.Star) or (isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star)):
                check_parts(inner, "this", "table")
                found += [(name, name) for name in self.columns]
                continue
            name = self._column(inner)
            if isinstance(item, exp.Alias):
                check_name(item.alias, item.args["alias"])
            found.append((item.alias if isinstance(item, exp.Alias) else name, name))
        names = [name.lower() for name, _ in found]
        if len(set(names)) < len(names):
            raise refusal("duplicate_alias", select, "shows two columns of one name", "give each its own name with AS")
        return tuple(found)

    def _column(self, node: exp.Expr) -> str:
        if not isinstance(node, exp.Column):
            raise refusal("around_method", node, "is computed from the table of a method", _FREE)
        if node.table and node.table.lower() != self.table.lower():
            raise refusal_of_name("unknown_table", node, node.table, "tables of this question", [self.table])
        known = {name.lower(): name for name in self.columns}
        if node.name.lower() not in known:
            things = f"columns of {self.table}"
            raise refusal_of_name("unknown_column", node, node.name, things, list(self.columns))
        return known[node.name.lower()]

    def _order(self, shown: tuple[tuple[str, str], ...]) -> "_OrderReader":
        return _OrderReader(self, shown)

    def _condition(self, node: exp.Expr) -> TableCondition:
        node = strip_brackets(node)
        match node:
            case exp.And() | exp.Or():
                return TableCondition(
                    _JOINED[type(node)], (self._condition(node.this), self._condition(node.expression))
                )
            case exp.Not():
                return TableCondition("not", (self._condition(node.this),))
            case exp.Is(expression=exp.Null()):
                return TableCondition("is null", (TableColumn(self._column(node.this)),))
            case exp.In():
                items = tuple(self._operand(each) for each in items_of_in(node))
                return TableCondition("in", (self._operand(node.this), *items))
            case exp.Between():
                value = self._operand(node.this)
                low, high = (self._operand(node.args[end]) for end in ("low", "high"))
                return TableCondition("and", (TableCondition(">=", (value, low)), TableCondition("<=", (value, high))))
        if type(node) in _COMPARISONS:
            return TableCondition(_COMPARISONS[type(node)], (self._operand(node.this), self._operand(node.expression)))
        raise refusal("around_method", node, "is no condition that is answered around a method", "compare columns")

    def _operand(self, node: exp.Expr) -> Operand:
        node = strip_brackets(node)
        match node:
            case exp.Literal(is_string=True):
                return str(node.this)
            case exp.Literal() | exp.Neg(this=exp.Literal()):
                return _read_number(node)
            case exp.Boolean():
                return bool(node.this)
            case exp.Cast(this=exp.Literal(is_string=True)) if node.to.this == exp.DType.DATE:
                return _day(node)
        return TableColumn(self._column(node))


@dataclass(frozen=True)
class _OrderReader:
    reader: ViewReader
    shown: tuple[tuple[str, str], ...]

    def __call__(self, ordered: exp.Expr) -> TableOrder:
        check_parts(ordered, "this", "desc", "nulls_first")
        flags = (bool(ordered.args.get("desc")), bool(ordered.args.get("nulls_first")))
        node = strip_brackets(ordered.this)
        if isinstance(node, exp.Literal):
            return TableOrder(self.shown[output_index(node, len(self.shown))][1], *flags)
        named = {name.lower(): column for name, column in self.shown}
        if isinstance(node, exp.Column) and not node.table and node.name.lower() in named:
            return TableOrder(named[node.name.lower()], *flags)
        return TableOrder(self.reader._column(node), *flags)


def _read_number(node: exp.Expr) -> Fraction:
    value = read_constant(node)
    if value is None:
        raise refusal("bad_literal", node, "is no number", "write it like 0.05")
    return value


def _day(node: exp.Cast) -> date:
    try:
        return date.fromisoformat(str(node.this.this))
    except ValueError:
        raise refusal("bad_literal", node, "is no date", "write it like DATE '2024-01-31'", render_node(node)) from None
