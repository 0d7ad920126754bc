"""Reading single nodes of a parsed statement, and giving up on whatever is not expected there."""

import re

from sqlglot import exp

from adomnia.engines.check.vocabulary import type_key, vocabulary_of
from adomnia.engines.dialect import Dialect, IntegerType
from adomnia.errors import Failure

INTEGER = re.compile("[0-9]{1,40}")
DOUBLE = re.compile(r"[0-9]+(\.[0-9]+)?e[+-]?[0-9]{1,3}")
_REMARKS = {"typed", "safe", "big_int"}  # of the parser; they say how it would write the node for another engine


def only(node: exp.Expr, *allowed: str) -> None:
    """Nothing but these arguments may be given."""
    for name, value in node.args.items():
        if value and name not in allowed and name not in _REMARKS:
            raise not_proved(f"{type(node).__name__} without {name}")


def require(holds: bool, what: str) -> None:
    if not holds:
        raise not_proved(what)


def not_proved(what: str) -> Failure:
    # The reason is for whoever reads the operator's log: the caller of a question learns that it failed, and no more.
    failure = Failure()
    failure.__cause__ = ValueError(f"Statement must have {what}; nothing else is proved.")
    return failure


def place(node: exp.Expr) -> tuple[str, str] | None:
    """The label, if any, and the name of a bare column."""
    if type(node) is not exp.Column or not isinstance(node.this, exp.Identifier):
        return None
    only(node, "this", "table")
    return str(node.table), str(node.name)


def conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """What must all be true: the parts of a chain of AND, brackets kept closed."""
    return list(node.flatten(unnest=False)) if type(node) is exp.And else [node]


def integer_type(cast: exp.Expr, dialect: Dialect) -> IntegerType | None:
    """The type of integers that is cast to, if it is one that carries or holds sums."""
    only(cast, "this", "to")
    return vocabulary_of(dialect).integers.get(type_key(cast.args["to"]))


def integer(node: exp.Expr) -> int:
    sign, digits = _number(node)
    if INTEGER.fullmatch(digits) is None:
        raise not_proved("a whole number")
    return sign * int(digits)


def double(node: exp.Expr) -> float:
    sign, digits = _number(node)
    require(DOUBLE.fullmatch(digits) is not None, "a double")
    return sign * float(digits)


def _number(node: exp.Expr) -> tuple[int, str]:
    """Sign and digits of a constant such as 12, 0.5e0 or (-3)."""
    inner = node.unnest()
    negative = type(inner) is exp.Neg
    inner = inner.this if negative else inner
    if type(inner) is not exp.Literal or inner.is_string:
        raise not_proved("a number")
    return -1 if negative else 1, str(inner.this)
