"""Reading single nodes of a parsed statement by the words of its dialect, and giving up on what is not expected."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from sqlglot import exp, parse_one

from adomnia.engines.check.reading import read_phrases
from adomnia.engines.dialect import Dialect, IntegerType
from adomnia.errors import Failure
from adomnia.privacy.kinds import LONGEST_TEXT

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


# The type of what a cast gives, and the texts that can be written as constants of it.
CastTarget: TypeAlias = tuple[str, re.Pattern[str] | None]
TypeKey: TypeAlias = exp.DType | tuple[exp.DType | str, ...] | str  # what `type_key` tells types apart by

_NOT_FINITE = re.compile("NaN|-?Infinity")
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True)
class Vocabulary:
    """Types by how SQLGlot writes or names them; `cut` is what a text is shortened to, ends are the calendar's."""

    integers: Mapping[TypeKey, IntegerType]
    targets: Mapping[exp.DType, CastTarget]
    long: exp.DType
    days: exp.DType
    double: exp.DType
    small: exp.DataType
    cut: exp.Expr
    days_ends: tuple[exp.Expr, exp.Expr]
    seconds_ends: tuple[exp.Expr, exp.Expr]
    epoch: exp.Expr
    seconds_a_day: exp.Expr


def type_key(kind: exp.DataType) -> TypeKey:
    """What a type is told apart by: its word, its word and digits, or all of its text where more is said."""
    bare: exp.DType = kind.this
    more = [name for name, value in kind.args.items() if value and name != "this"]
    if more == ["expressions"] and all(map(_is_size, kind.expressions)):  # to write it would take ten times as long
        return bare, *(str(size.this.this) for size in kind.expressions)
    return kind.sql() if more else bare


def _is_size(node: exp.Expr) -> bool:
    """Whether a node is one of the digits of DECIMAL(38, 0), and nothing beside them."""
    alone = type(node) is exp.DataTypeParam and not node.args.get("expression")
    return alone and type(node.this) is exp.Literal and not node.this.is_string


@lru_cache
def vocabulary_of(dialect: Dialect) -> Vocabulary:
    """What a dialect's table says, parsed once."""
    types = dialect.types

    def kind(name: str) -> exp.DataType:
        return exp.DataType.build(name, dialect=dialect.name)

    def constant(sql: str) -> exp.Expr:
        return read_phrases(parse_one(sql, dialect=dialect.name), dialect)

    def seconds(number: int) -> exp.Expr:
        return constant(dialect.double.format(f"{number}e0"))

    first, last, epoch = (
        constant(f"CAST('{day}' AS {types.date})") for day in ("0001-01-01", "9999-12-31", "1970-01-01")
    )
    return Vocabulary(
        integers={type_key(kind(each.name)): each for each in (types.decimal, types.wide, types.long)},
        targets={
            kind(types.double).this: ("double", _NOT_FINITE),
            kind(types.date).this: ("day", _DAY),
            kind(types.boolean).this: ("boolean", None),
            kind(types.text).this: ("text", None),
            exp.DType.VARCHAR: ("text", None),  # in what a phrase is read as
        },
        long=kind(types.long.name).this,
        days=kind(types.days).this,
        double=kind(types.double).this,
        small=kind(types.small),
        cut=constant(f"CAST({dialect.double.format(f'{LONGEST_TEXT}e0')} AS {types.long.name})"),
        days_ends=(first, last),
        seconds_ends=(seconds(-62135596800), seconds(253402300799)),  # of those days, since 1970
        epoch=epoch,
        seconds_a_day=seconds(86400),
    )
