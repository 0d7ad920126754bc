"""A normal form for expressions: respelling a question must not buy a second draw of noise."""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce

from adomnia.plans.descriptions import describe
from adomnia.privacy.expressions import FUNCTIONS, Call, Column, Expression, Literal, call
from adomnia.privacy.kinds import Kind, Quantity, Text
from adomnia.sql.values.patterns import count_operations

_NEGATED = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_STEPS = 4  # nodes take as long as one character of a pattern, which is compared with each of a text
_TEXT = 16  # to compute a text takes as long as so many numbers
_CHARACTERS = 16  # of a text constant take an engine as long as another node
_SYMMETRIC = ("=", "<>", "same", "+", "*")


def apply(function: str, *arguments: Expression) -> Expression:  # noqa: PLR0911 - one for each form
    """Apply a function to arguments in normal form; the result is in normal form. ValueError if they do not fit."""
    match function, arguments:
        case "not", (Call(function="not", arguments=(inner,)),):
            return inner
        case "not", (Call(function=inner, arguments=(left, right)),) if inner in _NEGATED:
            return apply(_NEGATED[inner], left, right)
        case (("and" | "or" | "greatest" | "least"), (left, right)):
            return chain(function, (left, right))
        case (("<" | "<=" | ">" | ">="), (left, right)) if _is_mirrored(function, left, right):
            return call(_MIRRORED[function], right, left)
        case "clamp", (value, lower, upper) if _within(value.kind, lower.kind, upper.kind):
            return value
    if function in _SYMMETRIC:
        return call(function, *sorted(arguments, key=lambda each: (isinstance(each, Literal), describe(each))))
    return call(function, *arguments)


def chain(function: str, parts: Iterable[Expression]) -> Expression:
    """Chain parts by AND, OR or another function of two whose result depends on neither order nor repetition.

    The parts are flattened, sorted, each taken once, and nested as shallowly as possible.
    """
    flat, row = _flatten(function, parts), FUNCTIONS[function]
    if any(row.result(part.kind, part.kind) is None for part in flat):
        raise ValueError(f"{function} takes {row.signature}, got {', '.join(str(part.kind) for part in flat)}.")
    return fold(sorted(dict.fromkeys(flat), key=describe), lambda left, right: call(function, left, right))


def fold(parts: Sequence[Expression], join: Callable[[Expression, Expression], Expression]) -> Expression:
    """Join parts two by two, in their order, nested as shallowly as possible."""
    if len(parts) <= 2:
        return reduce(join, parts)
    half = len(parts) // 2
    return join(fold(parts[:half], join), fold(parts[half:], join))


def size(expression: Expression) -> int:
    """How many nodes an expression has when it is written out."""
    match expression:
        case Call() if _uses_codes(expression):
            return 1 + len(expression.arguments)
        case Call(function="like", arguments=(text, Literal(value=str(pattern)))):
            return _argument_size(text) + _STEPS * len(pattern)
        case Call(function="matches", arguments=(text, Literal(value=str(pattern)))):
            return _argument_size(text) + count_operations(pattern)
        case Call(function=function, arguments=arguments, kind=kind):
            own = _TEXT if isinstance(kind, Text) else 1
            return own + FUNCTIONS[function].copies * sum(map(_argument_size, arguments))
        case Literal(value=str(constant)):
            return 1 + len(constant) // _CHARACTERS
    return 1


def _argument_size(argument: Expression) -> int:
    """The size of an argument; a category is decoded from its stored position value by value."""
    match argument:
        case Column(kind=Text(values=tuple() as values)):
            return len(values)
    return size(argument)


def _uses_codes(call: Call) -> bool:
    """Whether a condition on a category compares stored positions, without decoding its values."""
    match call.function, call.arguments:
        case "is null", (Column(),):
            return True
        case (("=" | "<>" | "like"), (Column(kind=Text(values=tuple())), Literal())):
            return True
        case (("=" | "<>"), (Column(kind=Text(values=tuple() as values)), Column(kind=Text(values=others)))):
            return values == others
    return False


def _within(kind: Kind, lower: Kind, upper: Kind) -> bool:
    """Whether the bounds of a number are within two constants already."""
    match kind, lower, upper:
        case Quantity(bounded=True), Quantity(bounded=True), Quantity(bounded=True):
            return lower.upper <= kind.lower and kind.upper <= upper.lower  # type: ignore[operator]  # all are bounded
    return False


def _is_mirrored(function: str, left: Expression, right: Expression) -> bool:
    """Whether a comparison must be mirrored: constants stand on the right, and of two others the greater does."""
    if isinstance(left, Literal) or isinstance(right, Literal):
        return isinstance(left, Literal) and not isinstance(right, Literal)
    return function in (">", ">=")


def _flatten(function: str, parts: Iterable[Expression]) -> list[Expression]:
    flat: list[Expression] = []
    for part in parts:
        inner = isinstance(part, Call) and part.function == function
        flat += _flatten(function, part.arguments) if inner and isinstance(part, Call) else [part]
    return flat
