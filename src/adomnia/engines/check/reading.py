"""Reads a dialect's own phrases as what they mean, so that one set of rules proves the statements of all engines.

A phrase of the dialect's table becomes the phrase of DuckDB beside it; whatever is in no such phrase stays as it was
parsed. Nothing here proves anything: that two phrases mean the same on every value is what the contract of engines
tests.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp, parse_one

from adomnia.engines.dialect import Dialect

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
