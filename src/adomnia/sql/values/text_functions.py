"""Reads calls of functions of texts: those with optional arguments, and those whose constants are patterns."""

from sqlglot import exp

from adomnia.errors import Refusal
from adomnia.privacy.expressions import Expression, Literal, number, text
from adomnia.privacy.kinds import LONGEST_TEXT
from adomnia.sql.reading.refusals import refusal
from adomnia.sql.values.building import Arguments, Builder, build, check_number, two_arguments, whole_number
from adomnia.sql.values.conditions import fold
from adomnia.sql.values.patterns import MOST_ATOMS, Pattern, PatternError, match_whole, read_like, read_pattern

MOST_GROWTH = 8  # how many times longer REPLACE may make a text before it is cut
_TO_THE_END = 2**31 - 1


def _concat(node: exp.Expr, arguments: Arguments) -> Expression:
    check_number(1, node, "||", arguments)
    parts = [build(node, "coalesce", part, text("")) for part in arguments]
    return fold(parts, lambda left, right: build(node, "||", left, right))


def _left(node: exp.Expr, arguments: Arguments) -> Expression:
    value, length = two_arguments(node, arguments)
    return build(node, "substring", value, number(1), length)


def _substring(node: exp.Expr, arguments: Arguments) -> Expression:
    to_the_end = (number(_TO_THE_END),) if len(arguments) == 2 else ()
    return build(node, "substring", *arguments, *to_the_end)


def _replace(node: exp.Expr, arguments: Arguments) -> Expression:
    constants = [part.value if isinstance(part, Literal) else None for part in arguments[1:]]
    match constants:
        case [str(part), str(other)] if not part or len(other) > MOST_GROWTH * len(part):
            why = f"replaces nothing, or by a text that is more than {MOST_GROWTH} times as long"
            raise refusal("bad_literal", node, why, "replace longer parts, or by shorter ones", "REPLACE")
    return build(node, "replace", *arguments)


def match_pattern(node: exp.Expr, value: Expression, written: Expression, whole: bool = False) -> Expression:
    """Whether a regular expression describes a part of a text, or all of it if `whole`."""
    pattern = read_regular_expression(node, written)
    return _matches(node, value, match_whole(pattern) if whole else pattern)


def read_regular_expression(node: exp.Expr, written: Expression) -> Pattern:
    """Read a constant regular expression, or refuse it."""
    if not isinstance(written, Literal):
        why = "has a value of the row where only a constant may stand"
        raise refusal("function_not_allowed", node, why, "write the pattern as a constant")
    if not isinstance(written.value, str):
        raise refusal("type_error", node, f"has a pattern of type {written.kind}", "write the pattern as a text")
    try:
        return read_pattern(written.value)
    except PatternError as error:
        raise refusal_of_pattern(node, error) from None


def refusal_of_pattern(node: exp.Expr, error: PatternError) -> Refusal:
    """The refusal of a pattern that is not read."""
    fix = (
        "use characters, classes, groups, |, ^, $ and repetitions up to 255; a sign itself is written with \\ before it"
    )
    return refusal("bad_literal", node, str(error), fix, "The pattern")


def like_escaped(node: exp.Expr, value: Expression, pattern: str, escape: str) -> Expression:
    """LIKE with an escape character."""
    try:
        return _matches(node, value, read_like(pattern, escape))
    except PatternError as error:
        raise refusal("bad_literal", node, str(error), f"write {escape} twice for itself", "The pattern") from None


def _matches(node: exp.Expr, value: Expression, pattern: Pattern) -> Expression:
    if len(pattern.text) > LONGEST_TEXT or pattern.atoms > MOST_ATOMS:
        raise refusal("bad_literal", node, "becomes too long when it is written out", "shorten it", "The pattern")
    return build(node, "matches", value, text(pattern.text))


def _searched(whole: bool) -> Builder:
    def builder(node: exp.Expr, arguments: Arguments) -> Expression:
        value, pattern = two_arguments(node, arguments)
        return match_pattern(node, value, pattern, whole)

    return builder


def _padded(before: bool) -> Builder:
    """LPAD and RPAD: a text filled up to a length, or cut to it."""

    def builder(node: exp.Expr, arguments: Arguments) -> Expression:
        value, length, fill = arguments if len(arguments) == 3 else (*two_arguments(node, arguments), text(" "))
        characters, sign = whole_number(node, length), fill.value if isinstance(fill, Literal) else None
        if not isinstance(sign, str) or len(sign) != 1 or not 0 <= characters <= LONGEST_TEXT // 2:
            fix = f"write a length up to {LONGEST_TEXT // 2} and one character: LPAD(a, 5, '0')"
            raise refusal("bad_literal", node, "fills up in a way that is not answered", fix)
        cut, filled = build(node, "substring", value, number(1), length), text(sign * characters)
        if not before:
            return build(node, "substring", build(node, "||", cut, filled), number(1), length)
        return build(node, "right", build(node, "||", filled, cut), length)

    return builder


TEXT_FUNCTIONS: dict[str, Builder] = {
    "CONCAT": _concat,
    "LEFT": _left,
    "SUBSTRING": _substring,
    "SUBSTR": _substring,
    "REPLACE": _replace,
    "REGEXP_MATCHES": _searched(whole=False),
    "REGEXP_LIKE": _searched(whole=False),
    "REGEXP_FULL_MATCH": _searched(whole=True),
    "LPAD": _padded(before=True),
    "RPAD": _padded(before=False),
}
