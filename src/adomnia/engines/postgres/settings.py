"""The settings of a session, pinned from its first statement on and read back: a result may depend on any of them.

Nothing promises that the C library of a server computes logarithms and powers to the same last bit as DuckDB. The
engine asks the statement below when it is opened, and offers these functions only where all bits are the expected ones;
the numbers go through all sizes of doubles, and to the places where these end.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from struct import pack
from typing import TYPE_CHECKING, Any

from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.postgres.functions import FUNCTIONS
from adomnia.errors import Refusal
from adomnia.postgres import asking, check_settings, connect, describe, driver

if TYPE_CHECKING:
    from collections.abc import Mapping

    import psycopg

    from adomnia.engines.dialect import Spelling


OLDEST = 140000  # the first version in which functions of ours are bound when they are made
_PINNED = {
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "client_encoding": "UTF8",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "array_nulls": "on",
    "row_security": "off",  # an error where a policy would leave rows out in silence
    "lc_monetary": "C",
    "lc_numeric": "C",
    "lc_time": "C",
    # Compiled are only statements that are long beside it, and of them only what calls the functions of the server:
    # those themselves compute as they do elsewhere.
    "jit": "on",
    "jit_above_cost": "100000",
    "jit_optimize_above_cost": "500000",
    "jit_inline_above_cost": "-1",
    "quote_all_identifiers": "off",  # else types have other names
    "default_transaction_isolation": "read committed",  # another may fail, or wait, because of what others do
    "default_transaction_deferrable": "off",
    "idle_session_timeout": "0",
}


def open_session(
    url: str, program: str, settings: Mapping[str, str], *, hidden: Mapping[str, str] | None = None
) -> psycopg.Connection[Any]:
    """A connection in which every transaction is ours alone, with all settings in force.

    The `hidden` ones are no settings of the server's, and are told nobody.
    """
    pinned = {**_PINNED, **settings}
    session = connect(url, program=program, settings={**pinned, **(hidden or {})})
    session.prepare_threshold = None  # what is sent is the text itself
    session.cursor_factory = driver().RawCursor
    try:
        _refuse_server(session, url)
        with asking(session):
            check_settings(session, url, pinned)
    except BaseException:
        session.close()
        raise
    return session


def _refuse_server(session: psycopg.Connection[Any], url: str) -> None:
    if session.info.server_version < OLDEST:
        raise Refusal(describe(url), "is older than version 14", "use a newer one, or name the engine duckdb")
    if session.info.parameter_status("server_encoding") != "UTF8":
        why = "keeps its texts in another encoding than UTF8"
        raise Refusal(describe(url), why, "copy the data to a database in UTF8, or name the engine duckdb")


_STEP = 0.6180339887498949  # of the golden section: its multiples lie evenly, whatever they are scaled by
_BASES = [(1 + place * _STEP % 1) * 2.0 ** (place * 11 % 2045 - 1022) for place in range(1, 201)]
_BASES += [1 + (place * _STEP % 1 - 0.5) / 8 for place in range(1, 101)]
_EXPONENTS = [(place * _STEP % 1 - 0.5) * 1480 for place in range(1, 201)]
_EXPONENTS += [709.782712893384, 709.7827128933841, -745.1332191019411, -745.1332191019412, -708.5, 1e-300, -0.5]
_POWERS = [*product(_BASES[::9], (2.0, 3.0, 0.5, -1.0, 1.7, -2.5, 10.0))]
_POWERS += [
    (2.0, 1024.0),
    (2.0, 1023.5),
    (2.0, -1074.0),
    (2.0, -1074.5),
    (2.0, -1075.5),
    (10.0, 308.25),
    (10.0, -323.2),
]
_INPUTS: dict[str, list[tuple[float, ...]]] = {
    "ln": [(x,) for x in _BASES],
    "log10": [(x,) for x in _BASES],
    "exp": [(x,) for x in _EXPONENTS],
    "power": [*_POWERS, *((1 + x / 2000, y) for x, y in zip(_BASES[-100:], _EXPONENTS, strict=False))],
}


def render_same_bits(function: str) -> str:
    """The statement: one row with one text, the bits of all values in hexadecimal digits."""
    firsts, seconds = (",".join(map(repr, numbers)) for numbers in _columns(function))
    given = f"unnest(CAST('{{{firsts}}}' AS float8[]), CAST('{{{seconds}}}' AS float8[]))"
    bits = f"pg_catalog.encode(pg_catalog.float8send({_spell(function, FUNCTIONS)}), 'hex')"
    return f"SELECT pg_catalog.string_agg({bits}, ',' ORDER BY n) FROM {given} WITH ORDINALITY AS given(x, y, n)"  # noqa: S608


@lru_cache
def expect_bits(function: str) -> str:
    """What the statement must give: the same values from DuckDB, on this machine."""
    import duckdb

    given = "(SELECT UNNEST(CAST($1 AS DOUBLE[])) AS x, UNNEST(CAST($2 AS DOUBLE[])) AS y)"
    with duckdb.connect() as connection:
        connection.execute("SET ieee_floating_point_ops = true")
        text = f"SELECT {_spell(function, DUCKDB.functions)} FROM {given}"  # noqa: S608 - a phrase of a dialect
        values = connection.execute(text, [list(numbers) for numbers in _columns(function)]).fetchall()
    return ",".join(pack(">d", value).hex() for (value,) in values)


def _columns(function: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The first and the second arguments; of a function of one, the first twice."""
    rows = _INPUTS[function]
    return tuple(row[0] for row in rows), tuple(row[-1] for row in rows)


def _spell(function: str, spellings: Mapping[str, Spelling]) -> str:
    return spellings[function](*("x", "y")[: len(_INPUTS[function][0])])
