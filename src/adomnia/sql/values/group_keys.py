"""Reads GROUP BY: the values of keys are declared or bounded, so that the groups do not depend on the data."""

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from fractions import Fraction
from itertools import combinations, product
from math import prod
from typing import NamedTuple

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.messages.references import Setting
from adomnia.messages.texts import Message
from adomnia.plans.undeclared import MOST_NAMED, limit_open_keys, open_key
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Call, Column, Expression, Literal, call, columns_of, conjuncts, number
from adomnia.privacy.keys import MOST_CELLS, Bucket, Key, is_open, key_cells
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity, Text
from adomnia.privacy.relations import Relation, Where
from adomnia.privacy.wall_time import count_seconds
from adomnia.sql.reading.refusals import refusal, render_node
from adomnia.sql.values.date_functions import SECONDS, count_days, count_moment_seconds
from adomnia.sql.values.narrowing import narrow_key
from adomnia.sql.values.possible_texts import find_whole_numbers, list_texts, number_texts
from adomnia.sql.values.scalars import read_expression
from adomnia.sql.values.scope import Scope, check_parts, own_nodes, strip_brackets

_NAMED_TO_CHOOSE_IN = 400  # groups that are found, where each takes a choice of values
_DECLARED = "group by a category, a boolean, or a number, date or timestamp with declared bounds"
_SHORT_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
MOST_GROUPINGS = 64
_MOST_IN_CUBE = 6

Grouping = tuple[exp.Expr, ...]
MOST_LISTED = 1_000

_DAYS_A_WEEK = 7


class WrittenKeys(NamedTuple):
    """The keys of GROUP BY, and those of each grouping where there are several."""

    keys: tuple[Key, ...] = ()
    sets: tuple[tuple[Key, ...], ...] = ()


def read_keys(select: exp.Select, scope: Scope, relation: Relation, lacking: Callable[[], str] | None) -> WrittenKeys:
    """Read the keys of GROUP BY; `lacking` tells what is needed to find undeclared values, None if nothing is."""
    group = select.args["group"]
    check_parts(group, "expressions", "all")
    written = [
        [resolve_key(strip_brackets(part), select, scope) for part in parts] for parts in list_groupings(select, group)
    ]
    found = {id(node): read_key(node, scope, relation, lacking) for parts in written for node in parts}
    sets = tuple(dict.fromkeys(tuple(dict.fromkeys(found[id(node)] for node in parts)) for parts in written))
    named = _NAMED_TO_CHOOSE_IN if select.find(exp.Median, exp.Quantile, exp.Min, exp.Max) else MOST_NAMED
    keys = tuple(dict.fromkeys(key for each in sets for key in each))
    finds = any(map(is_open, keys))
    if finds:
        keys = limit_open_keys(keys, named)
    cells = prod(len(key_cells(leave_values(key, relation))) for key in keys)
    if cells > MOST_CELLS:
        why = f"makes {cells:,} groups, more than {MOST_CELLS:,}"
        raise refusal("too_many_cells", group, why, "group by fewer keys", "GROUP BY")
    if len(sets) == 1:
        return WrittenKeys(keys)
    if finds:
        why = "adds up groups that are found in the data, of which some are not found"
        fix = "ask for each grouping by itself, or name the values: WHERE name IN ('a', 'b')"
        raise refusal("grouping_sets", group, why, fix, "GROUP BY with several groupings")
    return WrittenKeys(keys, sets)


def leave_values(key: Key, relation: Relation) -> Key:
    """The key with the values that the conditions on rows leave, if there are any."""
    return narrow_key(key, relation) if _has_conditions(relation) else key


def _has_conditions(relation: Relation) -> bool:
    return isinstance(relation, Where) or any(map(_has_conditions, relation.sources))


def refuse_grouping_sets(group: exp.Group) -> None:
    """Refuse ROLLUP, CUBE and GROUPING SETS."""
    for part in group.find_all(exp.Rollup, exp.Cube, exp.GroupingSets):
        why, fix = "puts every row into several groups at once", "ask for each grouping by itself"
        raise refusal("grouping_sets", part, why, fix)


def output_index(node: exp.Literal, outputs: int) -> int:
    """The index of the output that a number in GROUP BY or ORDER BY stands for."""
    if node.is_string or not _SHORT_NUMBER.fullmatch(str(node.this)) or not 1 <= int(node.this) <= outputs:
        raise refusal("bad_literal", node, "is not the number of an output", f"write a number from 1 to {outputs}")
    return int(node.this) - 1


def resolve_key(node: exp.Expr, select: exp.Select, scope: Scope) -> exp.Expr:
    """The node that a part of GROUP BY stands for: a column, or else the output of that number or name."""
    outputs: list[exp.Expr] = select.expressions
    if isinstance(node, exp.Literal):
        return outputs[output_index(node, len(outputs))].unalias()
    if isinstance(node, exp.Column) and not node.table and not scope.has_column(node.name):
        named = (item for item in outputs if isinstance(item, exp.Alias) and item.alias.lower() == node.name.lower())
        return next(named, node).unalias()
    return node


def read_key(node: exp.Expr, scope: Scope, relation: Relation, lacking: Callable[[], str] | None) -> Key:
    """Read one key; `lacking` tells what is needed to find undeclared values, None if nothing is."""
    own = list(own_nodes(node, scope))
    meanings = [scope.column(each) for each in own if isinstance(each, exp.Column)]
    columns = {column for meaning in meanings for column in columns_of(meaning)}
    if any(isinstance(column.kind, Identity) and column.kind.person for column in columns):
        raise refusal("group_by_privacy_unit", node, "makes a group of every person", "group by a declared category")
    written = read_expression(node, scope)
    columns |= {column for each in own if id(each) in scope.given for column in columns_of(scope.given[id(each)])}
    match written:
        case Column(kind=Boolean() | Text(values=tuple())):
            return written
    any_values = open_key(written) if columns else None  # of no id
    if columns and not isinstance(written.kind, Identity):
        found = find_bucket(written, relation, computes=lacking is not None)
        if found is not None:
            return found
    if any_values is None or lacking is not None:
        raise _refusal_of_key(node, written, "" if any_values is None or lacking is None else ", or " + lacking())
    return any_values


def _refusal_of_key(  # noqa: PLR0911 - one for each kind
    node: exp.Expr, written: Expression, otherwise: str
) -> Refusal:
    listed = f"name the groups: WHERE {render_node(node)} IN ('a', 'b')"
    match written:
        case Column(kind=Identity() | Text()):
            why = "may identify people, and its values are not declared"
            name = render_node(node).strip('"')
            declared = Setting("categories", (("name", name),))
            ways = (declared, f", or {listed}") if isinstance(written.kind, Text) else ("group by a declared category",)
            return refusal("identifier_column", node, why, Message(*ways, otherwise))
    match written, written.kind:
        case Call(function="format"), _:
            fix = "group by fewer fields, or by DATE_TRUNC('month', ...)" + otherwise
            return refusal("needs_key_domain", node, f"makes more than {MOST_LISTED:,} texts, or any number", fix)
        case _, Text():
            return refusal(
                "needs_key_domain",
                node,
                f"is a text without declared values, or one of over {MOST_LISTED:,}",
                listed + otherwise,
            )
        case _, Moment(lower=datetime(), upper=datetime()):
            fix = "group by DATE_TRUNC('hour', {0}), DATE({0}) or HOUR({0})".format(render_node(node))
            return refusal("too_many_cells", node, f"makes more than {MOST_CELLS:,} groups", fix)
        case _, Quantity(lower=Fraction(), upper=Fraction(), whole=True):
            why = f"makes more than {MOST_CELLS:,} groups"
            return refusal(
                "too_many_cells", node, why, f"group by wider steps: FLOOR({render_node(node)} / 1000)" + otherwise
            )
        case _, Quantity(lower=Fraction(), upper=Fraction()):
            how = "make it whole" if node.find(exp.Div) is None else "divide without a rest"
            fix = f"{how}: {render_node(_floor_quotients(node))}"
            return refusal("needs_key_domain", node, "is not made of whole numbers", fix)
    return refusal("needs_key_domain", node, "has no declared values to make groups of", _DECLARED + otherwise)


def _floor_quotients(node: exp.Expr) -> exp.Expr:
    """The same, each quotient without the part behind the point; of none, all of it."""
    if node.find(exp.Div) is None:
        return exp.Floor(this=node.copy())
    return node.transform(
        lambda each: exp.Floor(this=each) if type(each) is exp.Div and not isinstance(each.parent, exp.Floor) else each
    )


def list_groupings(select: exp.Select, group: exp.Group) -> list[Grouping]:
    """The parts of each grouping: one, or those of every combination of what is listed."""
    if group.args.get("all"):
        return [tuple(item.unalias() for item in select.expressions if not _is_aggregated(item))]
    listed = [_expand(strip_brackets(part)) for part in group.expressions]
    if prod(map(len, listed)) > MOST_GROUPINGS:
        raise _refusal_of_many(group)
    return [tuple(part for each in chosen for part in each) for chosen in product(*listed)]


def _is_aggregated(item: exp.Expr) -> bool:
    return item.find(exp.AggFunc, exp.Window, exp.Grouping, exp.GroupingId) is not None


def _expand(part: exp.Expr) -> list[Grouping]:
    """The groupings that one part of GROUP BY stands for."""
    match part:
        case exp.Rollup():
            check_parts(part, "expressions")
            keys = [_group(each) for each in part.expressions]
            return [_join(keys[:length]) for length in range(len(keys), -1, -1)]
        case exp.Cube():
            check_parts(part, "expressions")
            keys = [_group(each) for each in part.expressions]
            if len(keys) > _MOST_IN_CUBE:
                raise _refusal_of_many(part)
            return [_join(some) for length in range(len(keys), -1, -1) for some in combinations(keys, length)]
        case exp.GroupingSets():
            check_parts(part, "expressions")
            return [each for inner in part.expressions for each in _expand(strip_brackets(inner))]
    return [_group(part)]


def _group(part: exp.Expr) -> Grouping:
    """Keys in brackets, which count as one, or a single one."""
    part = strip_brackets(part)
    return tuple(map(strip_brackets, part.expressions)) if isinstance(part, exp.Tuple) else (part,)


def _join(parts: "list[Grouping] | tuple[Grouping, ...]") -> Grouping:
    return tuple(key for part in parts for key in part)


def _refusal_of_many(node: exp.Expr) -> Exception:
    why = f"makes more than {MOST_GROUPINGS} groupings"
    return refusal("too_complex", node, why, "list those that you need: GROUPING SETS ((a, b), (a))")


def find_bucket(written: Expression, relation: Relation, *, computes: bool = True) -> Bucket | None:
    """The groups that an expression makes; None where its values are not known before data is read.

    Texts that follow from declared values are listed if it `computes` them: with a delta, they are found instead.
    """
    match written.kind:
        case Boolean():
            return Bucket(written, None, written)
        case Text():
            listed = _texts_of_case(written) or _texts_of_where(written, relation)
            if 0 < len(listed) <= MOST_LISTED:
                return Bucket(written, tuple(listed), written)
            texts = list_texts(written, MOST_LISTED) if computes else []
            return Bucket(number_texts(written, texts) or written, tuple(texts), written) if texts else None
        case Day():
            return _days(written)
        case Moment(lower=lower, upper=upper):
            return None if lower is None or upper is None else _moments(written, lower, upper)
    numbers = find_whole_numbers(written, MOST_CELLS)
    return None if numbers is None else Bucket(written, numbers, written)


def _days(written: Expression) -> Bucket | None:
    """Groups of days; those of the first days of weeks, months, quarters or years are numbered by these."""
    if not isinstance(written.kind, Day) or written.kind.lower is None or written.kind.upper is None:
        return None
    value, shown = _date_number(written)
    return Bucket(value, _date_range(shown, written.kind.lower, written.kind.upper), written, shown)


def _date_number(written: Expression) -> tuple[Expression, str]:
    match written:
        case Call(function="start of year", arguments=(day,)):
            return call("year", day), "year"
        case Call(function="start of quarter", arguments=(day,)):
            return _part_number(day, "quarter", 4), "quarter"
        case Call(function="start of month", arguments=(day,)):
            return _part_number(day, "month", 12), "month"
        case Call(function="start of week", arguments=(_,)):
            return call("/", count_days(written), number(_DAYS_A_WEEK)), "week"
    return count_days(written), "day"


def _moments(written: Expression, lower: datetime, upper: datetime) -> Bucket | None:
    """Groups of seconds, or of minutes or hours; None where there are too many."""
    shown = written.function.removeprefix("start of ") if isinstance(written, Call) else "second"
    shown = shown if shown in SECONDS else "second"
    first, last = (count_seconds(end) // SECONDS[shown] for end in (lower, upper))
    if last - first >= MOST_CELLS:
        return None
    value = call("/", count_moment_seconds(written), number(SECONDS[shown]))
    return Bucket(value, Numbers.integers(first, last), written, shown)


def _part_number(day: Expression, part: str, parts: int) -> Expression:
    return call("-", call("+", call("*", call("year", day), number(parts)), call(part, day)), number(1))


def _date_range(shown: str, lower: date, upper: date) -> Numbers:
    def place(day: date) -> int:
        days = day.toordinal() - 1
        months = 12 * day.year + day.month - 1
        return {"day": days, "week": days // _DAYS_A_WEEK, "month": months, "quarter": months // 3}.get(shown, day.year)

    return Numbers.integers(place(lower), place(upper))


def _texts_of_case(value: Expression) -> list[str]:
    """The texts that a CASE can give, if all of them are constants; NULL is no group."""
    match value:
        case Call(function="case", arguments=arguments):
            outcomes = (*arguments[1:-1:2], arguments[-1])
            texts = [each.value for each in outcomes if isinstance(each, Literal)]
            return sorted({text for text in texts if isinstance(text, str)}) if len(texts) == len(outcomes) else []
    return []


def _texts_of_where(value: Expression, relation: Relation) -> list[str]:
    """The texts that a condition allows: WHERE value IN ('a', 'b') lists its groups."""
    for condition in _conditions(relation):
        parts = list(_alternatives(condition))
        found = [_equal_text(part, value) for part in parts]
        if None not in found:
            return sorted({each for each in found if each is not None})
    return []


def _conditions(relation: Relation) -> Iterator[Expression]:
    while isinstance(relation, Where):
        yield from conjuncts(relation.condition)
        relation = relation.source


def _alternatives(condition: Expression) -> Iterator[Expression]:
    if isinstance(condition, Call) and condition.function == "or":
        for part in condition.arguments:
            yield from _alternatives(part)
    else:
        yield condition


def _equal_text(condition: Expression, value: Expression) -> str | None:
    match condition:
        case Call(function="=", arguments=(left, Literal(value=str(constant)))) if left == value:
            return constant
    return None
