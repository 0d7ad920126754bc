"""Reads what a SELECT over an answer shows: its outputs with their names, its order, its limit."""

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from adomnia.plans.formulas import Order, Term
from adomnia.plans.plan import Output
from adomnia.privacy.keys import Key
from adomnia.sql.reading.refusals import check_name, refusal
from adomnia.sql.values.aggregates import AGGREGATES
from adomnia.sql.values.group_keys import output_index
from adomnia.sql.values.scope import check_parts, strip_brackets
from adomnia.sql.values.terms import TermReader
from adomnia.statistics.count import Count

MOST_OUTPUTS = 100

_DIGITS = re.compile("[0-9]{1,18}")
_LIMIT = re.compile(r"0*[1-9][0-9]{0,17}", re.ASCII)
LONGEST_STEM = 55
_CALLED = (exp.Floor, exp.Year, exp.Quarter, exp.Month, exp.Week, exp.Day, exp.DayOfWeek)


def read_outputs(select: exp.Select, values: TermReader, declared: frozenset[str]) -> tuple[Output, ...]:
    """Read the outputs of a SELECT and name them.

    One may be called after any of the `declared` columns, whatever their letters: the owner named those.
    """
    if len(select.expressions) > MOST_OUTPUTS:
        why = f"has {len(select.expressions):,} outputs, more than {MOST_OUTPUTS}"
        raise refusal("too_complex", select, why, "ask for fewer", "The question")
    items: list[exp.Expr] = [strip_brackets(item.unalias()) for item in select.expressions]
    sources = [values.source(item) for item in items]
    names = list(_names(select, items, sources, declared))
    return tuple(Output(name, source) for name, source in zip(names, sources, strict=True))


def read_sorting(select: exp.Select, values: TermReader, outputs: tuple[Output, ...]) -> Iterator[Order]:
    """Read ORDER BY: names, numbers and values; `values` know the outputs by their names."""
    order = select.args.get("order")
    if order is None:
        return
    check_parts(order, "expressions")
    for ordered in order.expressions:
        check_parts(ordered, "this", "desc", "nulls_first")
        flags = (bool(ordered.args.get("desc")), bool(ordered.args.get("nulls_first")))
        yield Order(_sort_source(strip_brackets(ordered.this), values, outputs), *flags)


def _sort_source(node: exp.Expr, values: TermReader, outputs: tuple[Output, ...]) -> Key | Term:
    if isinstance(node, exp.Literal):
        return outputs[output_index(node, len(outputs))].source
    if isinstance(node, exp.Column) and not node.table:  # by itself, the name of an output goes before all others
        named = [output for output in outputs if output.name.lower() == node.name.lower()]
        if named:
            return named[0].source
    if isinstance(node, exp.Var):
        raise refusal("syntax_not_allowed", node, "does not say by what", "name the outputs to sort by", "ORDER BY ALL")
    return values.source(node)


def _names(
    select: exp.Select, items: list[exp.Expr], sources: Sequence[Key | Term], declared: frozenset[str]
) -> Iterator[str]:
    """The aliases, and default names for outputs that have none."""
    taken: set[str] = set()
    for selected in select.expressions:
        if isinstance(selected, exp.Alias):
            _check_alias(selected, taken)
    for selected, item, source in zip(select.expressions, items, sources, strict=True):
        if isinstance(selected, exp.Alias):
            yield selected.alias
        else:
            made_up = _default_name(item, source)[:LONGEST_STEM]
            if not all(column.name.lower() in declared for column in item.find_all(exp.Column)):
                check_name(made_up, selected)
            yield free_name(made_up, taken)


def read_limit(select: exp.Select) -> int | None:
    """Read LIMIT."""
    limit = select.args.get("limit")
    if limit is None:
        return None
    rows = limit.args.get("expression")
    plain = isinstance(limit, exp.Limit) and isinstance(rows, exp.Literal) and not limit.args.get("limit_options")
    if not plain or rows.is_string or not _LIMIT.fullmatch(str(rows.this)):
        raise refusal("bad_literal", limit, "takes a whole number of at least 1", "write LIMIT 10", "LIMIT")
    check_parts(limit, "expression")
    return int(rows.this)


def read_offset(select: exp.Select) -> int:
    """Read OFFSET."""
    offset = select.args.get("offset")
    if offset is None:
        return 0
    rows = offset.args.get("expression")
    if not isinstance(rows, exp.Literal) or rows.is_string or not _DIGITS.fullmatch(str(rows.this)):
        raise refusal("bad_literal", offset, "takes a whole number", "write OFFSET 10", "OFFSET")
    check_parts(offset, "expression")
    return int(rows.this)


def _check_alias(selected: exp.Alias, taken: set[str]) -> None:
    name = selected.alias
    check_name(name, selected.args["alias"])
    if name.lower() in taken:
        raise refusal("duplicate_alias", selected.args["alias"], "names two outputs", "give each its own name", name)
    taken.add(name.lower())


def _default_name(node: exp.Expr, source: Key | Term) -> str:
    if isinstance(source, Count) and source.query.aggregate.of_people and type(node) in AGGREGATES:
        return f"{AGGREGATES[type(node)].name.lower()}_people"
    return default_name(node)


def default_name(node: exp.Expr) -> str:
    """`city`, `avg_salary`, `count` for COUNT(*), `sum` for a sum of anything longer, `value` for arithmetic."""
    if isinstance(node, exp.Column):
        return node.name
    if isinstance(node, exp.Window):
        return str(node.this.sql_name()).lower() if isinstance(node.this, exp.Func) else "value"
    if type(node) not in AGGREGATES:
        return node.key if type(node) in _CALLED else "value"
    name = AGGREGATES[type(node)].name.lower()
    values = [node.this, node.expression] if "expression" in node.args else [node.this]
    if isinstance(node.this, exp.Distinct):
        name, values = f"{name}_distinct", node.this.expressions
    plain = all(isinstance(value, exp.Column) for value in values)
    return "_".join([name, *(value.name for value in values)]) if plain else name


def free_name(name: str, taken: set[str]) -> str:
    """The name, or the first of name_2, name_3, ... that no output has."""
    free, number = name[:LONGEST_STEM], 1
    while free.lower() in taken:
        number += 1
        free = f"{name[:LONGEST_STEM]}_{number}"
    taken.add(free.lower())
    return free
