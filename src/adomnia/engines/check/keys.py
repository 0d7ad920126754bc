"""Keys of our own making: the values of a histogram, in buckets or one by one, and blocks of people.

A SELECT with such values is first taken back to the one that counts every value; that one is proved like any other.
What was taken away only counts values together, or leaves rows out by their value. Proof: docs/proofs/quantiles.md, 5.
A block is told by the person of the row alone. Proof: docs/proofs/blocks.md.
"""

from dataclasses import dataclass

from sqlglot import exp

from adomnia.engines.check.nodes import conjuncts, integer, integer_type, only, place, require
from adomnia.engines.contract import PERSON
from adomnia.engines.dialect import Dialect

_WIDEST = 62


@dataclass(frozen=True)
class Reading:
    """What is read of a histogram: values counted from `start`, together where they share all but the last bits.

    Only in some buckets, where those are given. Two readings of one `whole` count the same rows by the same values.
    """

    start: int
    shift: int
    buckets: tuple[int, ...] | None
    whole: str


def count_every_value(select: exp.Select, dialect: Dialect) -> tuple[int, int, tuple[int, ...] | None]:
    """Make a SELECT count every value of the grid, and say what it read of those: start, shift and buckets."""
    key = select.expressions[-2].this if len(select.expressions) > 1 else exp.Null()
    buckets, filtered = _buckets(select)
    if filtered is None:
        key, shift = _shifted(key)
    else:
        value, shift = _shifted(filtered)
        require(value == key, "buckets of the values")
    require(type(key) is exp.Sub and type(key.this) is exp.Cast, "values counted from the first")
    long = integer_type(key.this, dialect) == dialect.types.long
    require(long and shift in range(_WIDEST), "values of 64 bits")
    select.expressions[-2].set("this", key.this.this)
    return integer(key.expression), shift, buckets


def _shifted(node: exp.Expr) -> tuple[exp.Expr, int]:
    """The value and the bits of (value) >> bits."""
    require(type(node) is exp.BitwiseRightShift and type(node.this) is exp.Paren, "buckets")
    return node.this.this, integer(node.expression)


def _buckets(select: exp.Select) -> tuple[tuple[int, ...] | None, exp.Expr | None]:
    """The last condition, ((bucket) IN (...)), removed, and of what."""
    where = select.args.get("where") or exp.Where(this=exp.Null())
    last = conjuncts(where.this)[-1]
    listed = last.this if type(last) is exp.Paren else exp.Null()
    if type(listed) is not exp.In or type(listed.this) is not exp.Paren:
        return None, None
    only(listed, "this", "expressions")
    found = tuple(map(integer, listed.expressions)), listed.this.this
    around = last.parent
    if isinstance(around, exp.And):
        around.replace(around.this)
    else:
        select.set("where", None)
    return found


BLOCK_NUMBER = "number of a block"  # the key that such an id is: no name of a table has spaces
_HASHES, _MOST = 2**24, 2**17


def is_block(key: exp.Expr) -> bool:
    """Whether a key is of the form of blocks, and of nothing else: a remainder."""
    return type(key) is exp.Mod


def count_blocks(key: exp.Expr, first: str, *, rises: bool) -> int:
    """The k of (person % 2**24) % k, of the person whose row it is: no number is negative, so they are 0 to k - 1.

    That is the one of the `first` side. Where rows are those of blocks, whose number stands there, nobody is.
    """
    require(rises and is_block(key) and type(key.this) is exp.Paren, "a block of people")
    hashed = key.this.this
    require(type(hashed) is exp.Mod and place(hashed.this) == (first, PERSON), "the person of every row")
    for node, allowed in ((key, ("this", "expression")), (key.this, ("this",)), (hashed, ("this", "expression"))):
        only(node, *allowed)
    count = integer(key.expression)
    require(integer(hashed.expression) == _HASHES and 2 <= count <= _MOST, "a number of blocks")
    return count
