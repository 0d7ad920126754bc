"""SQLite files that many threads and processes share: creating, recognizing and opening them, and naming their errors.

Nothing but SQLite may open such a file. POSIX ends all locks of a process on a file when the process closes any
descriptor of it, and the next process to close the database would then delete the log that this one still writes.
"""

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple, TypeVar

from adomnia.errors import Refusal, Unavailable

_POLL_SECONDS = 0.0005  # SQLite's own waiting sleeps up to 100 ms, a hundred times as long as a transaction takes
_ERRNO = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), sqlite3.SQLITE_FULL),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), sqlite3.SQLITE_READONLY),
    **dict.fromkeys((errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST), sqlite3.SQLITE_CANTOPEN),
    **dict.fromkeys((errno.EIO, errno.EFBIG), sqlite3.SQLITE_IOERR),
    errno.ETIMEDOUT: sqlite3.SQLITE_BUSY,
    errno.ESTALE: sqlite3.SQLITE_PROTOCOL,
}
_TRANSIENT = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY}
_Result = TypeVar("_Result")


class Trouble(NamedTuple):
    """Why a file cannot be used, what its owner can do about it, and the code of the error that says so."""

    why: str
    fix: str
    code: str = "unavailable"


@dataclass(frozen=True)
class FileFormat:
    """One kind of file: what marks it, which tables it has, and what its owner is told when it cannot be used.

    `troubles` has SQLite's primary result codes as keys; errors of the operating system are translated to them.
    `upgrades` has, for each earlier version that can be opened, the statements that make it one of this version.
    """

    name: str
    application_id: int
    version: int
    tables: tuple[str, ...]
    troubles: Mapping[int, Trouble]
    unknown_trouble: Trouble
    fix_if_foreign: str
    code: str = "refused"
    busy_seconds: float = 30.0
    upgrades: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


def explain_error(error: Exception, file_format: FileFormat) -> Unavailable:
    """Turn an error into one for the owner; the error's own text is for the log alone."""
    if isinstance(error, Unavailable):
        return Unavailable(*error.args)
    if isinstance(error, Refusal):  # of the file as a whole, whatever was asked
        return Unavailable(error.what, error.why, error.fix)
    return Unavailable(file_format.name, *file_format.troubles.get(_result_code(error), file_format.unknown_trouble))


def name_error(error: Exception) -> str:
    """The name that SQLite or the operating system has for an error, such as SQLITE_IOERR_FSYNC or ENOSPC."""
    if isinstance(error, OSError) and error.errno is not None:
        return errno.errorcode.get(error.errno, "OSError")
    return str(getattr(error, "sqlite_errorname", type(error).__name__))


def name_file(error: Exception, usual: str) -> str:
    """The name, without its folder, of the file that an error is about; SQLite does not tell."""
    return Path(os.fsdecode(error.filename)).name if isinstance(error, OSError) and error.filename else usual


def is_transient(error: Exception) -> bool:
    """Whether nothing was written and trying again is sound; after a failed fsync, say, it is not."""
    return isinstance(error, sqlite3.Error) and _result_code(error) in _TRANSIENT


def is_busy(error: Exception) -> bool:
    """Whether another process holds a lock."""
    return isinstance(error, sqlite3.Error) and _result_code(error) == sqlite3.SQLITE_BUSY


def is_full(error: Exception) -> bool:
    """Whether there was no room; what needs less may still find some, and what is there can be read."""
    return isinstance(error, sqlite3.Error) and _result_code(error) == sqlite3.SQLITE_FULL


def is_damage(error: Exception) -> bool:
    """Whether the file itself is wrong, and trying again is of no use."""
    return isinstance(error, sqlite3.Error) and _result_code(error) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def leaves_doubt(error: Exception) -> bool:
    """Whether it is unknown which of the last writes are on the disk."""
    return isinstance(error, sqlite3.Error | OSError) and not is_transient(error)


def _result_code(error: Exception) -> int:
    if isinstance(error, OSError):
        return _ERRNO.get(error.errno or 0, 0)
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF  # the rest of an extended code is a detail


def connect(path: Path | None, file_format: FileFormat) -> sqlite3.Connection:
    """Open a file, empty if it is new, for durable commits; None is a database in memory.

    The caller lets one thread at a time use the connection, and creates the tables.
    """
    if path is None:
        return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    return connect_checked(path, file_format, _keep_log)


def connect_checked(
    path: Path, file_format: FileFormat, make_durable: Callable[[sqlite3.Connection, FileFormat], None]
) -> sqlite3.Connection:
    """Open a file, empty if it is new; before anything else is changed it is known to be of this format."""
    _create_file(path)
    connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        check_format(connection, file_format)
        make_durable(connection, file_format)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_read_only(path: Path) -> sqlite3.Connection:
    """Open a file for reading: every query sees it as it was at the first one."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)
    connection.execute("BEGIN")
    return connection


def _create_file(path: Path) -> None:
    """Create a file that its owner alone may read, if there is none; SQLite gives its other files the same mode."""
    with suppress(FileExistsError):
        os.mknod(path)  # not open(): closing its descriptor would end the locks of this process
    check_writable(path)


def check_writable(path: Path) -> None:
    """Raise an error for a file that this process may not write, also if it was opened before that."""
    if not os.access(path, os.R_OK | os.W_OK, effective_ids=True):
        raise PermissionError(errno.EACCES, "may not be written")


def check_format(connection: sqlite3.Connection, file_format: FileFormat) -> bool:
    """Refuse a file of another format before the first change, so that it stays as it was; gives whether it is new."""
    connection.execute("BEGIN")  # one view of the file: another process may be creating it
    try:
        return is_new(connection, file_format)
    finally:
        connection.execute("COMMIT")


def _keep_log(connection: sqlite3.Connection, file_format: FileFormat) -> None:
    if execute_patiently(connection, file_format, "PRAGMA journal_mode = WAL") != [("wal",)]:
        # With the same `synchronous` but another mode a power cut can undo a transaction that was reported as done.
        why, fix = "is on a disk that cannot keep a write-ahead log", "put it on a local disk"
        raise Refusal(file_format.name, why, fix, code=file_format.code)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # of effect on macOS alone, where an fsync does not reach the disk


def is_new(connection: sqlite3.Connection, file_format: FileFormat) -> bool:
    """Whether the file is empty; a refusal if it is of another format. To be asked inside a transaction."""
    facts = "application_id", "user_version", "schema_version"
    rows = [execute_patiently(connection, file_format, f"PRAGMA {fact}") for fact in facts]
    application_id, version, changes = (row[0] for (row,) in rows)
    ours = application_id == file_format.application_id
    if ours and version not in {file_format.version, *file_format.upgrades}:
        why, fix = f"has format {version}, not {file_format.version}", "open it with the version that wrote it"
        raise Refusal(file_format.name, why, fix, code=file_format.code)
    if not ours and (application_id or version or changes):
        why = "is another program's database"
        raise Refusal(file_format.name, why, file_format.fix_if_foreign, code=file_format.code)
    return not ours


def create_tables(connection: sqlite3.Connection, file_format: FileFormat) -> None:
    """Make an empty file one of this format. To be called in the transaction that found it empty."""
    for statement in file_format.tables:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {file_format.application_id}")
    connection.execute(f"PRAGMA user_version = {file_format.version}")


def upgrade_tables(connection: sqlite3.Connection, file_format: FileFormat) -> None:
    """Make a file of an earlier version one of this version. To be called in a transaction that found it not new."""
    ((version,),) = connection.execute("PRAGMA user_version").fetchall()
    for statement in file_format.upgrades.get(version, ()):
        connection.execute(statement)
    if version != file_format.version:
        connection.execute(f"PRAGMA user_version = {file_format.version}")


@contextmanager
def write_transaction(connection: sqlite3.Connection, file_format: FileFormat) -> Iterator[None]:
    """Hold the only write transaction there is, in any process: durable at its end, or undone as a whole."""
    execute_patiently(connection, file_format, "BEGIN IMMEDIATE")
    try:
        yield
        execute_patiently(connection, file_format, "COMMIT")  # with a rollback journal it waits for readers
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def execute_patiently(
    connection: sqlite3.Connection, file_format: FileFormat, statement: str, *values: object
) -> list[tuple[Any, ...]]:
    """All rows of a statement that may have to wait for another process."""
    return retry_while_busy(lambda: connection.execute(statement, values).fetchall(), file_format)


def retry_while_busy(work: Callable[[], _Result], file_format: FileFormat) -> _Result:
    """Do something that another process may keep from being done for a while, and that then did nothing."""
    deadline = monotonic() + file_format.busy_seconds
    while True:
        try:
            return work()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or monotonic() >= deadline:
                raise
            sleep(_POLL_SECONDS)
