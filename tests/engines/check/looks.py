"""How the second look is asked in tests."""

from __future__ import annotations

import re
from itertools import accumulate, product

import duckdb
import pytest

from adomnia.engines.check import check_statement
from adomnia.engines.contract import Statement
from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.errors import Failure
from sql.hospital import HOSPITAL


def check(text, parameters=(), shape=None, catalog=HOSPITAL, columns=None):
    return check_statement(Statement(text, tuple(parameters)), catalog, DUCKDB, shape, columns)


def refused(text, parameters=(), shape=None, catalog=HOSPITAL, columns=None):
    """The reason for which a text is not run; a Failure tells nobody else."""
    with pytest.raises(Failure) as failure:
        check(text, parameters, shape, catalog, columns)
    assert str(failure.value) == "The request failed."
    return str(failure.value.__cause__)


def mutants_of(text, traps):
    """The text with one piece left out, doubled, or replaced by another piece of it or by a trap; each text once."""
    pieces = re.findall(r"'[^']*'|\"[^\"]*\"|\$?\w+(?:\.\w+)?(?:[+-]\d+)?|<=|>=|<>|\S", text)
    others = [*traps, "OR", "NOT", "-", "*", "TRUE", "NULL", "DISTINCT", *dict.fromkeys(pieces)]
    spoiled = [
        " ".join([*pieces[:place], *other, *pieces[place + 1 :]])
        for place, piece in enumerate(pieces)
        for other in ([], [piece, piece], *([each] for each in others))
    ]
    return list(dict.fromkeys(spoiled))


def is_measured(text, parameters, databases, catalog=HOSPITAL, columns=None):
    """Whether a text is run at all, on pairs of neighbours; then no output moves by more than the second look says.

    Outputs move one by one, or so many together as `columns` says.
    """
    try:
        allowed = check(text, parameters, catalog=catalog, columns=columns)
        pairs = [[outputs(text, parameters, connection) for connection in pair] for pair in databases]
    except (Failure, duckdb.ParserException, duckdb.BinderException):
        return False  # not by us, or not by any database: nothing of the data is seen
    for before, after in pairs:
        sizes = columns or (1,) * len(allowed)
        for sensitivity, size, stop in zip(allowed, sizes, accumulate(sizes), strict=True):
            cells = product(before | after, range(stop - size, stop))
            moves = [abs(value_of(before, *cell) - value_of(after, *cell)) for cell in cells]
            assert sum(moves) <= sensitivity.l1, text
            assert sum(move**2 for move in moves) <= sensitivity.l2_squared, text
            assert max(moves, default=0) <= sensitivity.linf, text
    return True


def outputs(text, parameters, connection):
    """The aggregates of each cell; rows without a key are dropped, as the engine does."""
    bound = [value for place, value in enumerate(parameters, 1) if re.search(rf"\${place}\b", text)]
    ran = connection.execute(text, bound)
    keys = sum(name.startswith("k") for name, *_ in ran.description)
    rows = ran.fetchall()
    return {row[:keys]: row[keys:] for row in rows if None not in row[:keys]}


def value_of(cells, key, place):
    return int(cells[key][place] or 0) if key in cells else 0
