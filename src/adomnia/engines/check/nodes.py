"""Reading phrases and single nodes of a statement by the words of its dialect, and giving up on what is not expected.

A phrase of the dialect's table becomes the phrase of DuckDB beside it, so that one set of rules proves the statements
of all engines; whatever is in no such phrase stays as it was parsed. Nothing in that proves anything: that two phrases
mean the same on every value is what the contract of engines tests.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from sqlglot import exp, parse_one

from adomnia.engines.dialect import Dialect, IntegerType
from adomnia.errors import Failure
from adomnia.privacy.kinds import LONGEST_TEXT

_CANONICAL = "duckdb"
_MARK = "total"
# Holes: for anything, for a number that is written out, and for a double above 0 and at most 1.
_HOLE, _DIGITS, _AT_MOST_ONE = " part ", " number ", " at most one "
_MOST_PARTS = 10
_BOUND = (exp.Parameter, exp.Placeholder)


class Marked:
    """What nodes of a phrase are marked with. No text: a comment of a statement can mark nodes with those."""


@dataclass(frozen=True)
class _Phrase:
    """A tree with holes, and the tree that it is read as."""

    written: exp.Expr
    meant: exp.Expr


def read_phrases(tree: exp.Expr, dialect: Dialect) -> exp.Expr:
    """The tree with every phrase of the dialect's own read as what it means, from the outside to the inside."""
    phrases, parameter = _phrases(dialect), _parameter(dialect)
    top = exp.Paren(this=tree)
    left = [tree]
    while left:
        node = left.pop()
        parts: dict[str, exp.Expr] = {}
        meant = next((each.meant for each in phrases.get(type(node), ()) if _fits(each.written, node, parts)), None)
        if (number := _bound_number(node, parameter)) is not None:
            node.replace(exp.Placeholder(this=number))
        elif meant is not None:
            left.extend(_put(node, meant, parts))
        else:
            left.extend(node.iter_expressions())
    found: exp.Expr = top.this.pop()
    return found


def is_marked(node: exp.Expr) -> bool:
    """Whether a node is of a phrase, which no row can make fail."""
    return node.meta.get(_MARK) is Marked


def needs_reading(dialect: Dialect) -> bool:
    """Whether a dialect has phrases of its own at all."""
    return bool(_phrases(dialect)) or _parameter(dialect) != exp.Placeholder(this="1")


@lru_cache
def _phrases(dialect: Dialect) -> Mapping[type[exp.Expr], tuple[_Phrase, ...]]:
    """The phrases of a dialect by the class of their outermost node."""
    found: dict[type[exp.Expr], tuple[_Phrase, ...]] = {}
    numbers = {dialect.double.format(dialect.quote(_DIGITS)): f'"{_DIGITS}"'} if dialect.double != "{0}" else {}
    ours = [dialect.quote(f"{_HOLE}{place}") for place in range(_MOST_PARTS)]
    others = [f'"{_HOLE}{place}"' for place in range(_MOST_PARTS)]
    small, meant_small = dialect.quote(_AT_MOST_ONE), f'"{_AT_MOST_ONE}"'
    listed = {
        written.format(*ours, at_most_one=small): meant.format(*others, at_most_one=meant_small)
        for written, meant in dialect.readings.items()
    }
    for written, meant in (numbers | listed).items():
        phrase = _Phrase(parse_one(written, dialect=dialect.name), parse_one(meant, dialect=_CANONICAL))
        found[type(phrase.written)] = (*found.get(type(phrase.written), ()), phrase)
    return found


@lru_cache
def _parameter(dialect: Dialect) -> exp.Expr:
    """The first parameter as the dialect writes it."""
    return parse_one(dialect.parameter.format(1), dialect=dialect.name)


def _bound_number(node: exp.Expr, first: exp.Expr) -> str | None:
    """The number of a parameter, if a node is one as the dialect writes them."""
    if type(node) is not type(first):
        return None
    if type(node) in (exp.Cast, exp.Collate):
        inner = _bound_number(node.this, first.this)
        return inner if node.args == {**first.args, "this": node.this} else None
    if type(node) not in _BOUND or len(node.args) != len(first.args):
        return None
    return str(node.name).removeprefix(str(first.name).removesuffix("1"))


def _fits(pattern: exp.Expr, node: object, parts: dict[str, exp.Expr]) -> bool:
    """Whether a node is of a pattern; what stands in its holes is kept, and one hole holds one thing wherever it is."""
    if not isinstance(node, exp.Expr):
        return False
    if _is_hole(pattern):
        kept = parts.setdefault(pattern.name, node)
        return (kept is node or kept == node) and _HOLDS.get(pattern.name, _is_anything)(node)
    fits = type(pattern) is type(node) and all(
        _alike(pattern.args.get(name), node.args.get(name), parts) for name in {*pattern.args, *node.args}
    )
    if not fits:
        parts.clear()
    return fits


def _alike(one: object, other: object, parts: dict[str, exp.Expr]) -> bool:
    if isinstance(one, exp.Expr):
        return _fits(one, other, parts)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(_alike(*pair, parts) for pair in zip(one, other, strict=True))
    return (one or None) == (other or None)


def _is_hole(node: exp.Expr) -> bool:
    return type(node) is exp.Column and node.name.startswith((_HOLE, *_HOLDS))


def _is_number(node: exp.Expr) -> bool:
    inner = node.this if type(node) is exp.Neg else node
    return type(inner) is exp.Literal and not inner.is_string


def _is_at_most_one(node: exp.Expr) -> bool:
    """Whether a node is a constant, cast to whatever type: that it is a double is looked at where it is read."""
    digits = node.this if type(node) is exp.Cast else node
    return type(digits) is exp.Literal and not digits.is_string and 0 < float(digits.this) <= 1


def _is_anything(_: exp.Expr) -> bool:
    return True


_HOLDS = {_DIGITS: _is_number, _AT_MOST_ONE: _is_at_most_one}


def _put(node: exp.Expr, meant: exp.Expr, parts: Mapping[str, exp.Expr]) -> Iterator[exp.Expr]:
    """Put what is meant in the place of a node; gives what now stands in the holes, each to be read by itself."""
    around = exp.Paren(this=meant.copy())
    holes = [part for part in around.this.dfs() if _is_hole(part)]
    for part in around.this.dfs():
        part.meta[_MARK] = Marked
    for hole in holes:
        own = parts[hole.name].copy()
        hole.replace(own)
        yield own
    node.replace(around.this.pop())


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
