"""Reads functions of noisy values: what each of them takes, and the formula that it becomes."""

import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from sqlglot import exp

from adomnia.plans.formulas import Formula, Term, count_nodes, may_be_null
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.values.casts import DOUBLES, INTEGERS, decimal_range, integer_range
from adomnia.statistics.count import Count

MOST_TERMS = 100
NULL = Formula("null", ())

_MANY = 100
_DIGITS = re.compile("[0-9]|1[0-5]", re.ASCII)
_LARGEST_EXPONENT = 64

Builder: TypeAlias = Callable[[exp.Expr, list[Term]], Term]


def build_function(node: exp.Expr, name: str, arguments: list[Term]) -> Term:
    """The formula of a function; its name must be in FUNCTIONS."""
    return check_size(node, FUNCTIONS[name][2](node, arguments))


def check_call(node: exp.Expr, name: str) -> None:
    """Refuse a call with another number of arguments than the function takes, and digits that are none."""
    least, most, _ = FUNCTIONS[name]
    number = len(node.expressions)
    if name == "ROUND" and (number not in (1, 2) or not _has_digits(node)):
        raise refusal("bad_literal", node, "takes a value and 0 to 15 digits", "write ROUND(AVG(...), 2)", "ROUND")
    if not least <= number <= most:
        wanted = str(least) if least == most else f"{least} or more"
        raise refusal("type_error", node, f"has {number} arguments", f"give it {wanted}", name)


def _has_digits(node: exp.Expr) -> bool:
    digits = [*node.expressions, exp.Literal.number(0)][1]
    return isinstance(digits, exp.Literal) and not digits.is_string and bool(_DIGITS.fullmatch(str(digits.this)))


def build_cast(node: exp.Expr, value: Term, target: exp.DataType) -> Term:
    """A noisy value as a number of another type; NULL where the type does not hold it."""
    kind = target.this
    if kind in DOUBLES:
        return value
    if kind in INTEGERS:
        if isinstance(value, Count):
            return value
        return check_size(node, _within(_round(value, 0), *integer_range(kind)))
    if kind == exp.DType.DECIMAL:
        digits, limit = decimal_range(node, target)
        return check_size(node, _within(_round(value, digits), -limit, limit))
    fix = "cast to INTEGER, BIGINT, DOUBLE or DECIMAL"
    raise refusal("function_not_allowed", node, "makes something else than a number of an answer", fix)


def check_size(node: exp.Expr, term: Term) -> Term:
    """Return a term, or refuse it if it is too long."""
    if count_nodes(term) > MOST_TERMS:
        why = f"has more than {MOST_TERMS} operations, aggregates and constants"
        raise refusal("too_complex", node, why, "ask for its parts", "This formula")
    return term


def _round(value: Term, digits: int) -> Term:
    return Formula("round", (value, Fraction(digits)))


def _within(value: Term, least: Fraction, most: Fraction) -> Term:
    return Formula("inside", (value, least, most))


def _plain(function: str, _node: exp.Expr, arguments: list[Term]) -> Term:
    return Formula(function, tuple(arguments))


def _rounded(node: exp.Expr, arguments: list[Term]) -> Term:
    value, digits = (*arguments, Fraction(0))[:2]
    if isinstance(value, Fraction):
        raise refusal("not_an_aggregate", node, "rounds a constant", "write it rounded")
    return Formula("round", (value, digits))


def _power(node: exp.Expr, arguments: list[Term]) -> Term:
    exponent = arguments[1]
    if not isinstance(exponent, Fraction) or abs(exponent) > _LARGEST_EXPONENT:
        why = f"takes a constant from -{_LARGEST_EXPONENT} to {_LARGEST_EXPONENT} as its exponent"
        raise refusal("bad_literal", node, why, "write POWER(AVG(...), 2)", "POWER")
    return Formula("power", tuple(arguments))


def _coalesce(_node: exp.Expr, arguments: list[Term]) -> Term:
    """The arguments up to the first that is never NULL; alone, if that is the first."""
    needed = [*map(may_be_null, arguments), False].index(False) + 1
    return arguments[0] if needed == 1 else Formula("coalesce", tuple(arguments[:needed]))


def _extreme(function: str, _node: exp.Expr, arguments: list[Term]) -> Term:
    return arguments[0] if len(arguments) == 1 else Formula(function, tuple(arguments))


def _clamp(_node: exp.Expr, arguments: list[Term]) -> Term:
    value, least, most = arguments
    return Formula("least", (Formula("greatest", (value, least)), most))


FUNCTIONS: dict[str, tuple[int, int, Builder]] = {
    **{name: (1, 1, partial(_plain, name.lower())) for name in ("ABS", "SQRT", "LN", "LOG10", "EXP", "FLOOR", "CEIL")},
    "CEILING": (1, 1, partial(_plain, "ceil")),
    "LOG": (1, 1, partial(_plain, "log10")),
    "ROUND": (1, 2, _rounded),
    "POWER": (2, 2, _power),
    "POW": (2, 2, _power),
    "GREATEST": (1, _MANY, partial(_extreme, "greatest")),
    "LEAST": (1, _MANY, partial(_extreme, "least")),
    "COALESCE": (1, _MANY, _coalesce),
    "IFNULL": (2, 2, _coalesce),
    "NULLIF": (2, 2, partial(_plain, "nullif")),
    "CLAMP": (3, 3, _clamp),
}
