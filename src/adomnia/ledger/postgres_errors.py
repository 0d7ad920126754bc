"""Errors of PostgreSQL as a ledger tells of them: by name alone, because the driver's words may quote statements."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from adomnia.ledger.postgres_schema import Connection
from adomnia.ledger.records import StoreError
from adomnia.ledger.sqlite import Trouble
from adomnia.postgres import driver

_AGAIN = "then ask again"
UNREACHABLE = Trouble(
    "cannot be reached in its database",
    f"see that PostgreSQL runs, can be reached and takes more connections, {_AGAIN}",
)
_FULL = Trouble("has no room left in its database", f"free some space on the disk of PostgreSQL, {_AGAIN}")
_BUSY = Trouble("is locked by another program", f"wait for that program or end it, {_AGAIN}")
_READ_ONLY = Trouble(
    "may not be written", f"give its role all rights to its schema, on a server that takes writes, {_AGAIN}"
)
_UNKNOWN = Trouble("met an error that only its log names", f"find the cause in the log, {_AGAIN}")
_LATE = "55P03"
_TROUBLES = {"53": _FULL, _LATE: _BUSY, "57014": _BUSY, "40": _BUSY, "42501": _READ_ONLY, "25006": _READ_ONLY}
_LOST = ("08", "57P", "25P03")  # the connection is gone, or about to be


def is_lost(error: Exception, connection: Connection) -> bool:
    """Whether an error ended the connection; a wait that was too long counts, because nothing can follow it."""
    state = getattr(error, "sqlstate", None)
    return state is None or state.startswith(_LOST) or connection.closed


def is_late(error: Exception) -> bool:
    """Whether a lock was waited for in vain."""
    return getattr(error, "sqlstate", None) == _LATE


def _translate(error: Exception, connection: Connection) -> StoreError:
    """The error of the store. Nothing was written: the transaction was undone, or the server undoes it."""
    name, state = type(error).__name__, getattr(error, "sqlstate", None) or ""
    if is_lost(error, connection):
        return StoreError(name, UNREACHABLE)
    trouble = next((trouble for start, trouble in _TROUBLES.items() if state.startswith(start)), _UNKNOWN)
    return StoreError(name, trouble, transient=trouble in (_FULL, _BUSY), full=trouble is _FULL)


@contextmanager
def translate_errors(find_connection: Callable[[], Connection]) -> Iterator[None]:
    """Raise errors of the driver as those of the store, without their words: not even as a cause."""
    told = None
    try:
        yield
    except driver().Error as error:
        told = _translate(error, find_connection())
    if told is not None:
        raise told
