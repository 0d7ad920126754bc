"""Blocks of people: which keys are one, by the person of the row alone. Proof: docs/proofs/blocks.md."""

from sqlglot import exp

from adomnia.engines.check.nodes import integer, only, place, require
from adomnia.engines.check.relations import ProvedRows
from adomnia.engines.contract import PERSON

_HASHES, _MOST = 2**24, 2**17


def is_block(key: exp.Expr) -> bool:
    """Whether a key is of the form of blocks, and of nothing else: a remainder."""
    return type(key) is exp.Mod


def count_blocks(key: exp.Expr, rows: ProvedRows) -> int:
    """The k of (person % 2**24) % k, of the person whose row it is: no number is negative, so they are 0 to k - 1."""
    require(is_block(key) and type(key.this) is exp.Paren and type(key.this.this) is exp.Mod, "a block of people")
    hashed, count = key.this.this, integer(key.expression)
    for node, allowed in ((key, ("this", "expression")), (key.this, ("this",)), (hashed, ("this", "expression"))):
        only(node, *allowed)
    require(place(hashed.this) == (rows.first, PERSON) and rows.per_person > 0, "the person of every row")
    require(integer(hashed.expression) == _HASHES and 2 <= count <= _MOST, "a number of blocks")
    return count
