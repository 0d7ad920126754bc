"""From text to plan: one private table, declared keys, aggregates, and the order of the answer's rows."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from adomnia.catalog.model import Catalog
from adomnia.privacy import relations
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Truth
from adomnia.privacy.relations import Relation
from adomnia.sql.aggregates import AGGREGATES, Groups
from adomnia.sql.keys import numbered, written_keys
from adomnia.sql.parse import parsed
from adomnia.sql.plan import Order, Output, Plan
from adomnia.sql.refusals import refusal, shortened, unanswerable
from adomnia.sql.scalars import Scope, expression, only
from adomnia.sql.sources import scope_of
from adomnia.statistics.contract import Statistic

_ALIAS = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_DIGITS = re.compile("[0-9]{1,18}")
_LONGEST_STEM = 55
_LIMIT = re.compile(r"0*[1-9][0-9]{0,17}", re.ASCII)


def lower(text: str, catalog: Catalog) -> Plan:
    """The plan of a question; a Refusal where it cannot be answered, from the text and the catalog alone."""
    select = parsed(text)
    scope = scope_of(select, catalog)
    written = written_keys(select, scope)
    # One order of the keys however GROUP BY lists them: it is the answer's rows that are sorted as written.
    keys = tuple(column for column in scope.table.columns if column in written)
    question = _Question(select, Groups(_relation(select, scope), keys, scope))
    outputs = question.outputs()
    order = tuple(question.order(outputs))
    if written != keys:
        order += tuple(Order(key) for key in written)
    return Plan(question.groups.relation, keys, outputs, order, _limit(select))


def _relation(select: exp.Select, scope: Scope) -> Relation:
    table = relations.Table(scope.table.name, scope.table.rows_per_person, scope.table.columns)
    where = select.args.get("where")
    if where is None:
        return table
    only(where, "this")
    for found in where.find_all(*AGGREGATES):
        if found.parent_select is select and not found.find_ancestor(exp.Window):
            raise refusal("aggregate_in_where", found, "stands in WHERE, which sees one row at a time", "leave it out")
    condition = expression(where.this, scope)
    if not isinstance(condition.kind, Truth):
        why = f"is of type {condition.kind} and WHERE takes a condition"
        raise refusal("type_error", where.this, why, "compare it with something")
    return relations.Where(table, condition)


@dataclass(frozen=True)
class _Question:
    """The outputs and the order of a SELECT, over the groups that it makes."""

    select: exp.Select
    groups: Groups

    def outputs(self) -> tuple[Output, ...]:
        items: list[exp.Expr] = [item.unalias().unnest() for item in self.select.expressions]
        names = list(self._names(items))
        sources = [self._source(item) for item in items]
        if all(isinstance(source, Column) for source in sources):
            why, fix = "measures nothing", "add an aggregate such as COUNT(*)"
            raise refusal("not_an_aggregate", self.select, why, fix, "The question")
        return tuple(Output(name, source) for name, source in zip(names, sources, strict=True))

    def order(self, outputs: tuple[Output, ...]) -> Iterator[Order]:
        order = self.select.args.get("order")
        if order is None:
            return
        only(order, "expressions")
        for ordered in order.expressions:
            only(ordered, "this", "desc", "nulls_first")  # no value is NULL, so where NULL goes changes nothing
            yield Order(self._sorted_by(ordered.this.unnest(), outputs), bool(ordered.args.get("desc")))

    def _names(self, items: list[exp.Expr]) -> Iterator[str]:
        """The aliases, and names made up for outputs without one that no other output has."""
        taken: set[str] = set()
        for selected in self.select.expressions:
            if isinstance(selected, exp.Alias):
                _check_alias(selected, taken)
        for selected, item in zip(self.select.expressions, items, strict=True):
            yield selected.alias if isinstance(selected, exp.Alias) else _free(_made_up(item), taken)

    def _source(self, node: exp.Expr) -> Column | Statistic:
        if type(node) in AGGREGATES:
            return self.groups.statistic(node)
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            column = self.groups.scope.column(node)
            if column in self.groups.keys:
                return column
            fix = f"use COUNT, SUM or AVG, or GROUP BY {column.name}"
            raise refusal("not_an_aggregate", node, "would show values of single rows", fix)
        if isinstance(node, exp.Binary | exp.Unary) and node.find(*AGGREGATES) and not node.find(exp.Window):
            why, fix = "computes with aggregates", "ask for each of them and compute with the answers"
            raise refusal("arithmetic_on_aggregates", node, why, fix)
        if isinstance(node, exp.Func | exp.Query | exp.Window | exp.Filter | exp.IgnoreNulls):
            raise unanswerable(node)
        raise refusal("not_an_aggregate", node, "would show values of single rows", "use COUNT, SUM or AVG")

    def _sorted_by(self, node: exp.Expr, outputs: tuple[Output, ...]) -> Column | Statistic:
        if isinstance(node, exp.Literal):
            return outputs[numbered(node, self.select)].source
        if isinstance(node, exp.Var):
            raise refusal(
                "syntax_not_allowed", node, "does not say by what", "name the outputs to sort by", "ORDER BY ALL"
            )
        if isinstance(node, exp.Column) and not node.table:
            for output in outputs:
                if output.name.lower() == node.name.lower():
                    return output.source
        return self._source(node)


def _limit(select: exp.Select) -> int | None:
    limit = select.args.get("limit")
    if limit is None:
        return None
    rows = limit.args.get("expression")
    plain = isinstance(limit, exp.Limit) and isinstance(rows, exp.Literal) and not limit.args.get("limit_options")
    if not plain or rows.is_string or not _LIMIT.fullmatch(str(rows.this)):
        raise refusal("bad_literal", limit, "takes a whole number of at least 1", "write LIMIT 10", "LIMIT")
    only(limit, "expression")
    return int(rows.this)


def _check_alias(selected: exp.Alias, taken: set[str]) -> None:
    name = selected.alias
    if not _ALIAS.fullmatch(name):
        fix = "use a letter or _, then at most 62 letters, digits or _"
        raise refusal("bad_alias", selected.args["alias"], "cannot name an output", fix, shortened(name))
    if name.lower() in taken:
        raise refusal("duplicate_alias", selected.args["alias"], "names two outputs", "give each its own name", name)
    taken.add(name.lower())


def _made_up(node: exp.Expr) -> str:
    """`city` for a key, `avg_salary` for AVG(salary), `count` for COUNT(*), `sum` for a sum of anything longer."""
    if type(node) not in AGGREGATES:
        return node.name
    name = AGGREGATES[type(node)].lower()
    if isinstance(node.this, exp.Distinct):
        return f"{name}_people"
    return f"{name}_{node.this.name}" if isinstance(node.this, exp.Column) else name


def _free(name: str, taken: set[str]) -> str:
    """The name, or the first of name_2, name_3, ... that no output has."""
    free, number = name[:_LONGEST_STEM], 1
    while free.lower() in taken:
        number += 1
        free = f"{name[:_LONGEST_STEM]}_{number}"
    taken.add(free.lower())
    return free
