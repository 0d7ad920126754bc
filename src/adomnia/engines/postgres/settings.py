"""The settings of a session, pinned from its first statement on and read back: a result may depend on any of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adomnia.errors import Refusal
from adomnia.postgres import asking, check_settings, connect, describe, driver

if TYPE_CHECKING:
    from collections.abc import Mapping

    import psycopg

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
