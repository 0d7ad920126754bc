"""Reads expressions over one row: from the parser's tree to our own nodes, by a closed list."""

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isfinite

from sqlglot import exp

from adomnia.privacy.expressions import Call, Column, Expression, Literal, number, text, truth_as_number
from adomnia.privacy.kinds import LONGEST_TEXT, Boolean, Day, Identity, Kind, Moment, Quantity
from adomnia.sql.reading.refusals import refusal, refusal_of_node
from adomnia.sql.values.building import (
    MOST_NODES,
    build,
    check_size,
    read_dates,
    read_day,
    read_moment,
    refusal_of_arguments,
)
from adomnia.sql.values.casts import NUMBER_TYPES, TIMESTAMPS, cast, to_day
from adomnia.sql.values.conditions import chain, size
from adomnia.sql.values.date_functions import SECONDS, count_whole_years, date_part
from adomnia.sql.values.functions import CONDITIONAL, NAMES, call_function, divide_whole
from adomnia.sql.values.scope import Scope, check_parts, items_of_in
from adomnia.sql.values.text_functions import like_escaped, match_pattern

__all__ = ["MOST_NODES", "Scope", "check_parts", "read_constant", "read_expression", "read_number", "truth_as_number"]

_NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "mod",
    exp.Pow: "power",
    exp.DPipe: "||",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "same",
}
LONGEST_PATTERN = 256
_BETWEEN: dict[type[Kind], str] = {Day: "days between", Moment: "seconds between"}

_WHOLE = re.compile("[0-9]{1,9}", re.ASCII)
_DISPUTED = "%_.^$\\"
_DAYS = {"DAY": 1, "WEEK": 7}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_SECONDS = {**{unit.upper(): size for unit, size in SECONDS.items()}, "DAY": 86400, "WEEK": 7 * 86400}
# The functions that shift a value, with the units that each takes: of dates, and of timestamps.
_LENGTHS = ({"shift": _DAYS, "shift months": _MONTHS}, {"shift seconds": _SECONDS})


def read_expression(node: exp.Expr, scope: Scope) -> Expression:
    """Read an expression, or refuse it."""
    if id(node) in scope.given:
        return scope.given[id(node)]
    kind = type(node)
    if kind in _OPERATORS:
        check_parts(node, "this", "expression")
        left, right = (read_expression(part, scope) for part in (node.this, node.expression))
        return build(node, _OPERATORS[kind], *read_dates(node, left, right))
    if kind in _READERS:
        return _READERS[kind](node, scope)
    raise refusal_of_node(node)


def read_constant(node: exp.Expr, scope: Scope) -> Literal:
    """Read an expression that must be a constant."""
    value = read_expression(node, scope)
    if not isinstance(value, Literal):
        raise refusal("bad_literal", node, "is not a constant", "write a constant there")
    return value


def _brackets(node: exp.Expr, scope: Scope) -> Expression:
    check_parts(node, "this")
    return read_expression(node.this, scope)


def _column(node: exp.Expr, scope: Scope) -> Expression:
    assert isinstance(node, exp.Column)  # noqa: S101 - by the table of readers
    return scope.column(node)


def _literal(node: exp.Expr, _: Scope) -> Literal:
    if not node.args.get("is_string"):
        return read_number(node, str(node.this))
    if len(str(node.this)) > LONGEST_TEXT:
        raise refusal("bad_literal", node, f"is longer than {LONGEST_TEXT:,} characters", "shorten it")
    return text(str(node.this))


def read_number(node: exp.Expr, digits: str) -> Literal:
    """Read a number as the shortest decimal of its double: 0.10 and 1e-1 are the same constant."""
    if not _NUMBER.fullmatch(digits):
        raise refusal("bad_literal", node, "is not a number", "write a number such as 12.5")
    value = float(digits)
    if not isfinite(value) or (value == 0 and any(digit in "123456789" for digit in digits.lower().split("e")[0])):
        raise refusal("bad_literal", node, "is beyond the range of a double", "write a number between 1e-300 and 1e300")
    return number(Fraction(repr(value)))


def _boolean(node: exp.Expr, _: Scope) -> Literal:
    return Literal(bool(node.this), Boolean())


def _null(node: exp.Expr, _: Scope) -> Expression:
    raise refusal("bad_literal", node, "is equal to nothing, not even to itself", "use IS NULL or IS NOT NULL", "NULL")


def _negative(node: exp.Expr, scope: Scope) -> Expression:
    check_parts(node, "this")
    return _negate(node, read_expression(node.this, scope))


def _negate(node: exp.Expr, value: Expression) -> Expression:
    if isinstance(value, Literal) and isinstance(value.value, Fraction):
        return number(-value.value)
    return build(node, "negative", value)


def _not(node: exp.Expr, scope: Scope) -> Expression:
    check_parts(node, "this")
    return build(node, "not", read_expression(node.this, scope))


def _chain(node: exp.Expr, scope: Scope) -> Expression:
    function = "and" if isinstance(node, exp.And) else "or"
    parts = [read_expression(part, scope) for part in node.flatten()]
    try:
        return check_size(node, chain(function, parts))
    except ValueError:
        raise refusal_of_arguments(node, function, parts) from None


def _in(node: exp.Expr, scope: Scope) -> Expression:
    if node.args.get("query"):
        raise refusal_of_node(node.args["query"])
    assert isinstance(node, exp.In)  # noqa: S101 - by the table of readers
    items, value = items_of_in(node), read_expression(node.this, scope)
    equal = [build(node, "=", *read_dates(item, value, read_constant(item, scope))) for item in items]
    if sum(map(size, equal)) > MOST_NODES:
        raise refusal("too_complex", node, "has too many cases", "shorten the list", "IN")
    return chain("or", equal)


def _between(node: exp.Expr, scope: Scope) -> Expression:
    check_parts(node, "this", "low", "high")
    value, low, high = (read_expression(node.args[part], scope) for part in ("this", "low", "high"))
    above = build(node, ">=", *read_dates(node, value, low))
    below = build(node, "<=", *read_dates(node, value, high))
    return build(node, "and", above, below)


def _is(node: exp.Expr, scope: Scope) -> Expression:
    check_parts(node, "this", "expression")
    match node.expression:
        case exp.Null():
            value = read_expression(node.this, scope)
            if isinstance(value, Column) and isinstance(value.kind, Identity) and value.optional:
                return Call("is null", (value,), Boolean())  # whether LEFT JOIN found somebody says nothing of the id
            return build(node, "is null", value)
        case exp.Boolean(this=true):
            value = read_expression(node.this, scope)
            return build(node, "coalesce", value if true else build(node, "not", value), Literal(False, Boolean()))
    raise refusal("syntax_not_allowed", node, "is asked with IS", "use IS NULL, IS TRUE or IS FALSE, or compare with =")


def _distinct_from(node: exp.Expr, scope: Scope) -> Expression:
    """IS DISTINCT FROM."""
    check_parts(node, "this", "expression")
    parts = (read_expression(part, scope) for part in (node.this, node.expression))
    return build(node, "not", build(node, "same", *read_dates(node, *parts)))


def _like(node: exp.Expr, scope: Scope) -> Expression:
    check_parts(node, "this", "expression", "negate")
    value, pattern = read_expression(node.this, scope), read_constant(node.expression, scope)
    if len(str(pattern.value)) > LONGEST_PATTERN:
        raise refusal("bad_literal", node.expression, f"is longer than {LONGEST_PATTERN} characters", "shorten it")
    sides = [build(node, "lower", side) for side in (value, pattern)] if type(node) is exp.ILike else [value, pattern]
    matches = build(node, "like", *sides)
    return build(node, "not", matches) if node.args.get("negate") else matches


def _escape(node: exp.Expr, scope: Scope) -> Expression:
    """LIKE or ILIKE with an escape character; where the pattern has none, it is as if there were no ESCAPE."""
    check_parts(node, "this", "expression")
    character, like = read_constant(node.expression, scope).value, node.this
    if not isinstance(character, str) or len(character) != 1 or character in "%_":
        raise refusal("bad_literal", node.expression, "is not one character that escapes", "write ESCAPE '!'")
    pattern = read_constant(like.expression, scope).value
    if not isinstance(pattern, str) or character not in pattern or len(pattern) > LONGEST_PATTERN:
        return _like(like, scope)
    check_parts(like, "this", "expression", "negate")
    value = read_expression(like.this, scope)
    if type(like) is exp.ILike:
        if not pattern.isascii():
            fix = "compare with LOWER(...) and LIKE"
            raise refusal("bad_literal", like.expression, "has other letters than those of ASCII beside ESCAPE", fix)
        value, pattern = build(node, "lower", value), pattern.lower()
        character = character.lower()
    matches = like_escaped(like.expression, value, pattern, character)
    return build(node, "not", matches) if like.args.get("negate") else matches


def _regular_expression(node: exp.Expr, scope: Scope) -> Expression:
    """~, RLIKE and REGEXP look for a part of the text."""
    check_parts(node, "this", "expression")
    value, pattern = (read_expression(part, scope) for part in (node.this, node.expression))
    return match_pattern(node, value, pattern)


def _similar(node: exp.Expr, scope: Scope) -> Expression:
    """SIMILAR TO describes the whole text; signs that some engines take for those of LIKE are refused."""
    check_parts(node, "this", "expression")
    value, pattern = read_expression(node.this, scope), read_constant(node.expression, scope)
    if isinstance(pattern.value, str) and any(sign in pattern.value.replace("[^", "[") for sign in _DISPUTED):
        why = "has a sign that means different things in different databases (% _ . ^ $ \\)"
        raise refusal("bad_literal", node.expression, why, "use LIKE, or REGEXP_FULL_MATCH(a, 'pattern')", "SIMILAR TO")
    return match_pattern(node, value, pattern, whole=True)


def _cast(node: exp.Expr, scope: Scope) -> Expression:
    check_parts(node, "this", "to")
    target, inner = node.args["to"], node.this
    if isinstance(inner, exp.Literal) and inner.is_string and target.this == exp.DType.DATE:
        return read_day(node, inner.this)
    if isinstance(inner, exp.Literal) and inner.is_string and target.this in TIMESTAMPS:
        return read_moment(node, inner.this)
    if isinstance(inner, exp.Literal) and target.this in NUMBER_TYPES:
        return cast(node, read_number(node, str(inner.this).strip()), target)
    return cast(node, read_expression(inner, scope), target)


def _extract(node: exp.Expr, scope: Scope) -> Expression:
    check_parts(node, "this", "expression")
    aged = node.expression
    called = str(aged.this).upper() if isinstance(aged, exp.Anonymous) else ""
    if node.name.lower() == "year" and called == "AGE" and len(aged.expressions) == 2:
        return count_whole_years(node, *(read_expression(part, scope) for part in aged.expressions))
    return date_part(node, node.name, read_expression(node.expression, scope))


def _function(node: exp.Expr, scope: Scope) -> Expression:
    name = str(node.this).upper()
    if name in CONDITIONAL and len(node.expressions) == 3:
        condition, *outcomes = node.expressions
        return _choose(node, [read_expression(condition, scope)], outcomes, scope)
    if name not in NAMES:
        raise refusal_of_node(node)
    match name, node.expressions:
        case "POSITION", [exp.In() as found]:
            return _position(node, found, scope)
        case "DATE", [value]:
            return to_day(node, read_expression(value, scope))
        case "DATE_ADD" | "DATE_SUB", [day, exp.Interval() as interval]:
            return _shift(node, read_expression(day, scope), interval, subtracts=name == "DATE_SUB")
    return call_function(node, name, [read_expression(part, scope) for part in node.expressions])


def _whole_division(node: exp.Expr, scope: Scope) -> Expression:
    check_parts(node, "this", "expression")
    return divide_whole(node, *(read_expression(part, scope) for part in (node.this, node.expression)))


def _position(node: exp.Expr, found: exp.In, scope: Scope) -> Expression:
    """POSITION(part IN text), which the parser takes for a list."""
    check_parts(found, "this", "field", "expressions")
    texts = [found.args["field"]] if found.args.get("field") else found.expressions
    if len(texts) != 1:
        raise refusal("type_error", node, "has more than one text", "write POSITION('a' IN name)", "POSITION")
    return build(node, "position", read_expression(texts[0], scope), read_expression(found.this, scope))


def _case(node: exp.Expr, scope: Scope) -> Expression:
    """CASE WHEN condition THEN ..., or CASE value WHEN value THEN ..., which compares."""
    check_parts(node, "this", "ifs", "default")
    branches = node.args["ifs"]
    tests = [read_expression(branch.this, scope) for branch in branches]
    if node.this is not None:
        value = read_expression(node.this, scope)
        if size(value) * len(tests) > MOST_NODES:
            raise refusal("too_complex", node, "has too many cases", "take it apart", "CASE")
        tests = [build(node, "=", *read_dates(node, value, test)) for test in tests]
    outcomes = [branch.args["true"] for branch in branches]
    return _choose(node, tests, [*outcomes, node.args.get("default") or exp.Null()], scope)


def _choose(node: exp.Expr, tests: Sequence[Expression], outcomes: Sequence[exp.Expr], scope: Scope) -> Expression:
    """The outcome of the first test that is true; an outcome of NULL has the type of the others."""
    values = [None if isinstance(part, exp.Null) else read_expression(part, scope) for part in outcomes]
    kinds = [value.kind for value in values if value is not None]
    if not kinds:
        raise refusal("bad_literal", node, "is always NULL", "give it an outcome that is a value", "CASE")
    given = read_dates(node, *(Literal(None, kinds[0]) if value is None else value for value in values))
    pairs = (part for pair in zip(tests, given, strict=False) for part in pair)
    return build(node, "case", *pairs, given[-1])


def _sum(node: exp.Expr, scope: Scope) -> Expression:
    """+ and - of numbers, of two dates or timestamps, or of one of these and a constant length of time."""
    check_parts(node, "this", "expression")
    subtracts = isinstance(node, exp.Sub)
    if type(node.expression) is exp.Interval:
        return _shift(node, read_expression(node.this, scope), node.expression, subtracts)
    if type(node.this) is exp.Interval and not subtracts:
        return _shift(node, read_expression(node.expression, scope), node.this)
    left, right = (read_expression(part, scope) for part in (node.this, node.expression))
    if isinstance(right.kind, Day) and not subtracts:
        left, right = right, left
    if isinstance(left.kind, Day) and isinstance(right.kind, Quantity):
        return build(node, "shift", left, _negate(node, right) if subtracts else right)
    if subtracts:
        left, right = read_dates(node, left, right)
    if {type(left.kind), type(right.kind)} == {Moment, Quantity}:
        why, fix = "computes with a timestamp and a number", "write at + INTERVAL 3 HOUR, or compute with HOUR(at)"
        raise refusal("type_error", node, why, fix)
    return build(node, _BETWEEN.get(type(left.kind), "-") if subtracts else "+", left, right)


def _shift(node: exp.Expr, value: Expression, interval: exp.Expr, subtracts: bool = False) -> Expression:
    """A date or a timestamp that is a constant number of days, months, hours, ... later or earlier."""
    unit, amount = str(interval.args.get("unit") or "").upper().removesuffix("S"), interval.this
    lengths = _LENGTHS[type(value.kind) is Moment]
    function, units = next(((name, units) for name, units in lengths.items() if unit in units), ("", {}))
    if not isinstance(amount, exp.Literal) or not _WHOLE.fullmatch(amount.name) or not function:
        *known, last = (f"{each.lower()}s" for units in lengths.values() for each in units)
        why, fix = f"is not a whole number of {', '.join(known)} or {last}", f"write INTERVAL 3 {last[:-1].upper()}"
        raise refusal("bad_literal", interval, why, fix, "INTERVAL")
    length = units[unit] * int(amount.name)
    return build(node, function, value, number(-length if subtracts else length))


_READERS: dict[type[exp.Expr], Callable[[exp.Expr, Scope], Expression]] = {
    exp.Paren: _brackets,
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: _boolean,
    exp.Null: _null,
    exp.Neg: _negative,
    exp.Not: _not,
    exp.And: _chain,
    exp.Or: _chain,
    exp.In: _in,
    exp.Between: _between,
    exp.Is: _is,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Escape: _escape,
    exp.RegexpLike: _regular_expression,
    exp.SimilarTo: _similar,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Add: _sum,
    exp.Sub: _sum,
    exp.NullSafeNEQ: _distinct_from,
    exp.Case: _case,
    exp.Extract: _extract,
    exp.IntDiv: _whole_division,
    exp.Anonymous: _function,
}
