"""Rows with a value and rows without it, side by side: two outputs of which every row moves one.

Proof: docs/proofs/check.md, 4.
"""

from sqlglot import exp

from adomnia.engines.check.aggregates import counts
from adomnia.engines.check.nodes import only, require
from adomnia.engines.check.scalars import Row


def split_outputs(names: list[str], nodes: list[exp.Expr]) -> tuple[list[exp.Expr], dict[int, exp.Expr]]:
    """The outputs m0, m1, ... in their order, and by number those of n0, n1, ..., each right behind its other half."""
    whole: list[exp.Expr] = []
    halves: dict[int, exp.Expr] = {}
    for name, node in zip(names, nodes, strict=True):
        last = len(whole) - 1
        if whole and name == f"n{last}" and last not in halves:
            halves[last] = node
        else:
            require(name == f"m{last + 1}", "the names of outputs")
            whole.append(node)
    return whole, halves


def check_halves(present: exp.Expr, absent: exp.Expr, row: Row) -> None:
    """COUNT(x) and COUNT(*) - COUNT(x), of one x: a row adds 1 to the first or to the second, and never to both."""
    require(type(present) is exp.Count and type(present.this) is not exp.Star, "a count of a value")
    require(counts(present, row), "a count of a value")
    require(type(absent) is exp.Sub and absent.expression == present, "a count of the rows without the value")
    only(absent, "this", "expression")
    require(type(absent.this) is exp.Count and type(absent.this.this) is exp.Star, "a count of all rows")
    require(counts(absent.this, row), "a count of all rows")
