"""Blocks of people: which keys are one, by the person of the row alone. Proof: docs/proofs/blocks.md."""

from sqlglot import exp

from adomnia.engines.check.nodes import integer, only, place, require
from adomnia.engines.contract import PERSON

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
