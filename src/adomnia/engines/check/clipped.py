"""Counts and sums of shortened vectors: the one form of statement with a window, read off the text to the letter.

Proof: docs/proofs/clipping.md.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from sqlglot import exp

from adomnia.engines.check.aggregates import counts, total
from adomnia.engines.check.columns import Range
from adomnia.engines.check.nodes import WIDTHS, integer, only, place, require, width
from adomnia.engines.check.relations import Rows, alias_of
from adomnia.engines.check.scalars import Row
from adomnia.engines.contract import PERSON
from adomnia.privacy.relations import MOST_ROWS
from adomnia.privacy.sensitivity import Sensitivity

_PARTS, _EXACT = 2**10, 2**52
_BELOW = 1 - Fraction(1, 2**40)  # of the bound: the factor's few roundings do not make up for what is missing
_SHELL = re.compile(
    r'SELECT ((?:k[0-9]+, )*)([^"]+) FROM \(SELECT (.+? OVER .+?) FROM \((.+)\) AS "rows"([^"]*)\) AS "rows"([^"]*)',
    re.DOTALL,
)
_OUTPUT = re.compile(
    r"CAST\(SUM\(CASE WHEN n([0-9]+) <= ([0-9]{1,40}) THEN v([0-9]+) \* 1024 ELSE "
    r"TRY_CAST\(TRUNC\(CAST\(v\3 AS DOUBLE\) \* \(([0-9]+\.[0-9]+e[+]?[0-9]{1,3}) / SQRT\(CAST\(n\1 AS DOUBLE\)\)\)\) "
    r"AS BIGINT\) END\) AS (BIGINT|DECIMAL\(38, 0\))\) AS m[0-9]+"
)


@dataclass(frozen=True)
class Shell:
    """What stands around the SELECT of each person's entries: the outputs, and how many keys and entries they use."""

    inner: str
    outputs: list[re.Match[str]]
    keys: int
    entries: int


def shell(text: str) -> Shell | None:
    """The outer two SELECTs of a statement, which say nothing but what is said here; None if it is of another form."""
    found = _SHELL.fullmatch(text)
    if found is None:
        return None
    keys, written, middle, inner, known, group = found.groups()
    count, outputs = keys.count(","), list(_OUTPUT.finditer(written))
    names = [f"k{place}" for place in range(count)]
    measured, shortened = ({int(output[part]) for output in outputs} for part in (1, 3))
    entries = [f"v{v}" for v in range(max(measured | shortened, default=0) + 1)]
    squares = [f'SUM({_wide(v)} * {_wide(v)}) OVER (PARTITION BY "{PERSON}") AS n{v}' for v in sorted(measured)]
    require(keys == "".join(f"{name}, " for name in names), "keys in their order")
    require(middle == keys + ", ".join([*entries, *squares]), "squares by person")
    require(written == ", ".join(output[0] for output in outputs), "shortened sums")
    require(all(output[0].endswith(f" AS m{place}") for place, output in enumerate(outputs)), "the names of outputs")
    require(known == (f" WHERE {' AND '.join(f'{name} IS NOT NULL' for name in names)}" if names else ""), "cells")
    require(group == (f" GROUP BY {', '.join(str(k + 1) for k in range(count))}" if names else ""), "GROUP BY")
    return Shell(inner, outputs, count, len(entries))


def keys_and_entries(select: exp.Select, rows: Rows, around: Shell) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """What the innermost SELECT computes for each person and cell."""
    require(0 < rows.per_person < MOST_ROWS and rows.has_people, "a cap on the rows of a person")
    names, nodes = list(map(alias_of, select.expressions)), [output.this for output in select.expressions]
    ours = [PERSON, *(f"k{k}" for k in range(around.keys)), *(f"v{v}" for v in range(around.entries))]
    require(names == ours and place(nodes[0]) == (rows.first, PERSON), "the person, keys and entries")
    group = select.args.get("group") or exp.Group(expressions=[])
    only(group, "expressions")
    require([*map(integer, group.expressions)] == [*range(1, around.keys + 2)], "GROUP BY the person and the keys")
    return nodes[1 : around.keys + 1], nodes[around.keys + 1 :]


@dataclass(frozen=True)
class Entries:
    """What each person has in a cell: a count or an exact sum. `ones`: every row adds 1."""

    added: Range  # by one row
    ones: bool


def entry(node: exp.Expr, rows: Rows, row: Row) -> Entries:
    """CAST(a count or an exact sum AS BIGINT), of one person's rows: small enough for all that is done with it."""
    require(type(node) is exp.Cast and width(node) == WIDTHS["BIGINT"], "entries of 64 bits")
    counted = counts(node.this, row)
    added = Range(0, 1) if counted else total(node.this, row, rows.per_person)
    require(rows.per_person * added.magnitude <= _EXACT, "entries that are doubles")
    return Entries(added, counted and type(node.this.this) is exp.Star)


def moved(output: re.Match[str], entries: list[Entries], rows: Rows, cells: int) -> Sensitivity:
    """How far one person moves an output: by the bound, or by what a row adds times the bound on numbers of rows."""
    measured, squared, shortened, numerator, kind = output.groups()
    added, bound = entries[int(shortened)].added, isqrt(int(squared))
    require(
        bound**2 == int(squared) > 0 and Fraction(float(numerator)) <= _PARTS * bound * _BELOW,
        "a factor below the bound",
    )
    own = measured == shortened
    require(own or entries[int(measured)].ones, "a length of the entries or of rows")
    require(rows.most * added.magnitude * _PARTS <= WIDTHS[kind], "the width of a result")
    length = _PARTS * bound * (1 if own else added.magnitude)
    # By Cauchy and Schwarz over the cells that a person can be in, rounded up.
    l1 = isqrt(length**2 * min(rows.per_person, cells) - 1) + 1
    return Sensitivity(l1, length**2, length, added.lowest >= 0)


def _wide(place: int) -> str:
    return f"CAST(v{place} AS HUGEINT)"
