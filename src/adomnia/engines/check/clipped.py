# ruff: noqa: S608 - SQL is what this module recognises
"""Counts and sums of shortened vectors: the one form of statement with a window, read off the text to the letter.

Proof: docs/proofs/clipping.md.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt

from sqlglot import exp

from adomnia.engines.check.aggregates import counts, total
from adomnia.engines.check.columns import Range
from adomnia.engines.check.nodes import integer, integer_type, only, place, require
from adomnia.engines.check.relations import ProvedRows, alias_of
from adomnia.engines.check.scalars import Row
from adomnia.engines.contract import PERSON
from adomnia.engines.dialect import Dialect, Types
from adomnia.privacy.relations import MOST_ROWS
from adomnia.privacy.sensitivity import Sensitivity

_PARTS, _EXACT = 2**10, 2**52
_OUTPUT_PARTS = {
    "length": "[0-9]+",
    "square": "[0-9]{1,40}",
    "entry": "[0-9]+",
    "numerator": r"[0-9]+\.[0-9]+e[+]?[0-9]{1,3}",
    "place": "[0-9]+",
}
_BELOW = 1 - Fraction(1, 2**40)  # of the bound: the factor's few roundings do not make up for what is missing


@lru_cache
def _outer_selects(dialect: Dialect) -> re.Pattern[str]:
    """Keys, outputs, entries, the SELECT of the entries, what cells are kept, and GROUP BY."""
    rows, unquoted = re.escape(dialect.quote("rows")), f"[^{re.escape(dialect.quotation)}]"
    inner = rf"SELECT (.+? OVER .+?) FROM \((.+)\) AS {rows}({unquoted}*)"
    return re.compile(rf"SELECT ((?:k[0-9]+, )*)({unquoted}+) FROM \({inner}\) AS {rows}({unquoted}*)", re.DOTALL)


@lru_cache
def _output(dialect: Dialect) -> re.Pattern[str]:
    """One output: by which length it is shortened, the square of the bound, which entry it is, and its type."""
    types = dialect.types
    factor = f"{dialect.double.format('<numerator>')} / SQRT({dialect.aggregates['wide as double']('n<length>')})"
    shorter = dialect.truncating(f"CAST(v<entry> AS {types.double}) * ({factor})", types.long.name)
    shortened = f"CASE WHEN n<length> <= <square> THEN v<entry> * 1024 ELSE {shorter} END"
    if types.sum != types.wide:  # a sum is of the type of what is added up, which then has to hold it
        shortened = f"CAST({shortened} AS <type>)"
    kinds = "|".join(re.escape(kind.name) for kind in (types.long, types.decimal))
    pattern = re.escape(f"CAST(SUM({shortened}) AS <type>) AS m<place>")
    for name, part in (*_OUTPUT_PARTS.items(), ("type", kinds)):
        # A group at its first mark, and the same text at every later one.
        before, *behind = pattern.split(f"<{name}>")
        pattern = f"{before}(?P<{name}>{part}){f'(?P={name})'.join(behind)}"
    return re.compile(pattern)


@dataclass(frozen=True)
class ClippedForm:
    """What stands around the SELECT of each person's entries: the outputs, and how many keys and entries they use."""

    inner: str
    outputs: list[re.Match[str]]
    keys: int
    entries: int


def match_clipped_form(text: str, dialect: Dialect) -> ClippedForm | None:
    """The outer two SELECTs of a statement, which say nothing but what is said here; None if it is of another form."""
    found = _outer_selects(dialect).fullmatch(text)
    if found is None:
        return None
    keys, written, middle, inner, known, group = found.groups()
    count, outputs = keys.count(","), list(_output(dialect).finditer(written))
    names = [f"k{place}" for place in range(count)]
    measured, shortened = ({int(output[part]) for output in outputs} for part in ("length", "entry"))
    entries = [f"v{v}" for v in range(max(measured | shortened, default=0) + 1)]
    squares = [_squares(v, dialect) for v in sorted(measured)]
    require(keys == "".join(f"{name}, " for name in names), "keys in their order")
    require(middle == keys + ", ".join([*entries, *squares]), "squares by person")
    require(written == ", ".join(output[0] for output in outputs), "shortened sums")
    require(all(output[0].endswith(f" AS m{place}") for place, output in enumerate(outputs)), "the names of outputs")
    require(known == (f" WHERE {' AND '.join(f'{name} IS NOT NULL' for name in names)}" if names else ""), "cells")
    require(group == (f" GROUP BY {', '.join(str(k + 1) for k in range(count))}" if names else ""), "GROUP BY")
    return ClippedForm(inner, outputs, count, len(entries))


def keys_and_entries(
    select: exp.Select, rows: ProvedRows, around: ClippedForm
) -> tuple[list[exp.Expr], list[exp.Expr]]:
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


def read_entry(node: exp.Expr, rows: ProvedRows, row: Row) -> Entries:
    """CAST(a count or an exact sum AS BIGINT), of one person's rows: small enough for all that is done with it."""
    long = row.dialect.types.long
    require(type(node) is exp.Cast and integer_type(node, row.dialect) == long, "entries of 64 bits")
    counted = counts(node.this, row)
    added = Range(0, 1) if counted else total(node.this, row, rows.per_person)
    require(rows.per_person * added.magnitude <= _EXACT, "entries that are doubles")
    return Entries(added, counted and type(node.this.this) is exp.Star)


def derive_move(
    output: re.Match[str], entries: list[Entries], rows: ProvedRows, cells: int, types: Types
) -> Sensitivity:
    """How far one person moves an output: by the bound, or by what a row adds times the bound on numbers of rows."""
    squared, numerator = int(output["square"]), Fraction(float(output["numerator"]))
    added, bound = entries[int(output["entry"])].added, isqrt(squared)
    require(bound**2 == squared > 0 and numerator <= _PARTS * bound * _BELOW, "a factor below the bound")
    own = output["length"] == output["entry"]
    require(own or entries[int(output["length"])].ones, "a length of the entries or of rows")
    largest = next(kind.largest for kind in (types.long, types.decimal) if kind.name == output["type"])
    require(rows.most * added.magnitude * _PARTS <= largest, "the width of a result")
    length = _PARTS * bound * (1 if own else added.magnitude)
    # By Cauchy and Schwarz over the cells that a person can be in, rounded up.
    l1 = isqrt(length**2 * min(rows.per_person, cells) - 1) + 1
    return Sensitivity(l1, length**2, length, added.lowest >= 0)


def _squares(place: int, dialect: Dialect) -> str:
    wide = f"CAST(v{place} AS {dialect.types.wide.name})"
    return f"SUM({wide} * {wide}) OVER (PARTITION BY {dialect.quote(PERSON)}) AS n{place}"
