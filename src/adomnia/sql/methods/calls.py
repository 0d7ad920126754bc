"""Plans a question about a method: its rows, its arguments, its analysis, and what is shown of its table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from difflib import get_close_matches
from fractions import Fraction
from math import prod
from typing import TypeAlias

from sqlglot import exp

from adomnia.catalog.model import Catalog
from adomnia.errors import Refusal
from adomnia.messages.fixes import guess
from adomnia.messages.references import Setting
from adomnia.messages.texts import Message
from adomnia.methods.contract import Arguments, BadArgument, Method
from adomnia.methods.parts.testing.report import NONE
from adomnia.methods.registry import METHODS, find_method
from adomnia.methods.synthesis.attributes import list_left_out, show_columns
from adomnia.plans.plan import Output, Plan
from adomnia.plans.views import Constant, TableColumn, TableCondition, TableOrder, TableView
from adomnia.privacy.vectors import LargeEntryError
from adomnia.sql.methods.arguments import find_arguments, read_arguments, read_constant, refuse_at
from adomnia.sql.methods.frames import Given, read_rows
from adomnia.sql.reading.refusals import WRITTEN, check_name, refusal, refusal_of_name, render_node
from adomnia.sql.rows.derived import refuse_slow
from adomnia.sql.values.group_keys import output_index
from adomnia.sql.values.having import SIGNS
from adomnia.sql.values.scope import check_parts, items_of_in, strip_brackets
from adomnia.sql.values.terms import read_limit, read_offset
from adomnia.statistics.contract import Statistic
from adomnia.work import spend

MOST_NUMBERS = 10**6  # that a method measures
_STEPS_OF_A_QUERY = 25
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


def plan_method(select: exp.Select, call: exp.Func, catalog: Catalog, confidence: float) -> Plan:
    """Plan a question whose rows are those of a method."""
    method = _find(call)
    given = read_rows(select, call, method.name, catalog, confidence)
    arguments = read_arguments(call, method, given)
    analysis = _build(call, method, given, arguments)
    table = select.args["from_"].this
    _refuse_parts(table)
    by = [factor.name for factor in arguments.get("by") or ()]
    by += () if method.shows is None else method.shows(given.frame, arguments)
    if {name.lower() for name in by} & method.returns.keys():
        fix = "give it another name in the SELECT in brackets"
        raise refusal(
            "duplicate_alias", call, "has a column of its own called like one of its rows'", fix, f"{method.name}()"
        )
    view = ViewReader(table.alias or method.name, (*by, *method.returns)).read_view(select)
    view = replace(view, adjust=arguments.get("adjust", NONE), exponentiate=arguments.get("exponentiate", False))
    if method.shows is show_columns:
        view = replace(view, left_out=list_left_out(given.frame, arguments))
    _refuse_large(call, given, analysis)
    return Plan(
        given.frame.relation,
        (),
        (Output(method.name, analysis),),
        limit=read_limit(select),
        offset=read_offset(select),
        view=view,
    )


def name_of(call: exp.Func) -> str:
    """What a question calls a function."""
    return str(call.this) if isinstance(call, exp.Anonymous) else str(call.meta.get(WRITTEN, call.sql_name()))


def _find(call: exp.Func) -> Method:
    name = name_of(call)
    found = find_method(name)
    if found is None:
        close = get_close_matches(name.lower(), METHODS, n=1)
        hint = guess(close, "SHOW METHODS lists all") if close else Message(Setting("table"))
        raise refusal("function_not_allowed", call, "is not a table of the catalog", hint)
    return found


def _refuse_parts(table: exp.Table) -> None:
    """Refuse what stands behind a method and would change its rows: nothing is left out unsaid."""
    check_parts(table, "this", "alias")
    if table.args.get("alias") is not None:
        check_parts(table.args["alias"], "this")


def _build(call: exp.Func, method: Method, given: Given, arguments: Arguments) -> Statistic:
    """The analysis; what a method refuses has its place in the text."""
    nodes = find_arguments(call, method)
    try:
        return method.build(given.frame, arguments)
    except BadArgument as cause:
        raise refuse_at(cause, nodes.get(cause.argument, call), cause.offset) from None
    except Refusal as cause:
        raise refuse_at(cause, call) if cause.position is None else cause from None


def _refuse_large(call: exp.Func, given: Given, analysis: Statistic) -> None:
    try:
        queries = analysis.queries
    except LargeEntryError:
        why = "multiplies columns to numbers that are too large to be added up exactly"
        fix = "use lower powers, or fewer columns in a product"
        raise refusal("scale_out_of_range", call, why, fix, f"{name_of(call)}()") from None
    spend(_STEPS_OF_A_QUERY * len(queries))
    numbers = sum(prod(query.result_shape) for query in queries)
    if numbers > MOST_NUMBERS:
        why = f"measures {numbers:,} numbers, more than {MOST_NUMBERS:,}"
        raise refusal("too_many_cells", call, why, "use fewer levels, bins or groups", f"{name_of(call)}()")
    refuse_slow(
        call, given.block.weight, dict.fromkeys(value for query in queries for value in query.aggregate.expressions)
    )


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
