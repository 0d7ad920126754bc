"""One form for expressions that mean the same: respelling a question must not buy a second draw of noise."""

from collections.abc import Iterable
from functools import reduce

from adomnia.privacy.expressions import Call, Expression, Literal, call
from adomnia.privacy.kinds import Truth
from adomnia.sql.explain import describe

_NEGATED = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_SYMMETRIC = ("=", "<>", "+", "*")


def applied(function: str, *arguments: Expression) -> Expression:
    """A function of arguments that are in their one form, in its one form; ValueError where they do not fit."""
    match function, arguments:
        case "not", (Call(function="not", arguments=(inner,)),):
            return inner
        case "not", (Call(function=inner, arguments=(left, right)),) if inner in _NEGATED:
            return applied(_NEGATED[inner], left, right)
        case (("and" | "or"), (left, right)):
            return chained(function, (left, right))
        case (("<" | "<=" | ">" | ">="), (left, right)) if _stands_wrong(function, left, right):
            return call(_MIRRORED[function], right, left)
    if function in _SYMMETRIC:
        return call(function, *sorted(arguments, key=lambda each: (isinstance(each, Literal), describe(each))))
    return call(function, *arguments)


def chained(function: str, parts: Iterable[Expression]) -> Expression:
    """A chain of AND or of OR: flat, each part once, sorted, and as shallow as it can be."""
    flat = _flattened(function, parts)
    if not all(isinstance(part.kind, Truth) for part in flat):
        raise ValueError(f"{function} takes booleans, got {', '.join(str(part.kind) for part in flat)}.")
    return _balanced(function, sorted(dict.fromkeys(flat), key=describe))


def size(expression: Expression) -> int:
    """How many nodes an expression has."""
    return 1 + sum(map(size, expression.arguments)) if isinstance(expression, Call) else 1


def _stands_wrong(function: str, left: Expression, right: Expression) -> bool:
    """Constants stand on the right, where engines look for them; of two others the greater does."""
    if isinstance(left, Literal) or isinstance(right, Literal):
        return isinstance(left, Literal) and not isinstance(right, Literal)
    return function in (">", ">=")


def _flattened(function: str, parts: Iterable[Expression]) -> list[Expression]:
    flat: list[Expression] = []
    for part in parts:
        inner = isinstance(part, Call) and part.function == function
        flat += _flattened(function, part.arguments) if inner and isinstance(part, Call) else [part]
    return flat


def _balanced(function: str, parts: list[Expression]) -> Expression:
    if len(parts) <= 2:
        return reduce(lambda left, right: call(function, left, right), parts)
    half = len(parts) // 2
    return call(function, _balanced(function, parts[:half]), _balanced(function, parts[half:]))
