"""Reports as they arrive: one for each token, for ever. A SQLite file beside survey.toml that its owner alone may read.

Rows have neither time nor order: they lie by the hash of their token.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from contextlib import contextmanager
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Self

from adomnia.errors import Refusal
from adomnia.ledger.files import FilesReplacedError, identify, identify_open
from adomnia.ledger.sqlite import (
    FileFormat,
    Trouble,
    connect,
    connect_read_only,
    create_tables,
    execute_patiently,
    explain_error,
    is_new,
    write_transaction,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from adomnia.local.design import Report
    from adomnia.local.survey import Survey

__all__ = ["STORE", "ReportStore", "read_reports"]

STORE = "reports.sqlite"
_RESTORE = "put back a backup of it, then start the survey again"
_WAIT = "wait for that program or end it; your answer is kept on your device, so send it again later"
_TROUBLES = {
    sqlite3.SQLITE_FULL: Trouble("has no room left on its disk", "free some space, then send the answer again"),
    sqlite3.SQLITE_BUSY: Trouble("is locked by another program", _WAIT, "busy"),
    sqlite3.SQLITE_READONLY: Trouble("may not be written", "let the survey write it and its folder"),
    sqlite3.SQLITE_CANTOPEN: Trouble("cannot be opened or created", "let the survey write its folder"),
    sqlite3.SQLITE_PROTOCOL: Trouble("was removed or replaced while the survey ran", _RESTORE),
    sqlite3.SQLITE_NOTADB: Trouble("is not a database", _RESTORE),
    sqlite3.SQLITE_CORRUPT: Trouble("is damaged", _RESTORE),
}
FORMAT = FileFormat(
    name=f"The file of reports, {STORE},",
    application_id=0x41645252,  # "AdRR"
    version=1,
    tables=(
        "CREATE TABLE survey (digest TEXT NOT NULL)",
        "CREATE TABLE invitations (token BLOB PRIMARY KEY) WITHOUT ROWID",
        "CREATE TABLE reports (token BLOB PRIMARY KEY, report TEXT NOT NULL) WITHOUT ROWID",
    ),
    troubles=_TROUBLES,
    unknown_trouble=Trouble("cannot be used", "look at its disk, then start the survey again"),
    fix_if_foreign="move it away",
    busy_seconds=5.0,
)


class ReportStore:
    """The open file of one survey; a report is in it for good once `add` returns."""

    def __init__(self, connection: sqlite3.Connection, path: Path, survey: Survey) -> None:
        self._connection, self._path, self._survey = connection, path, survey
        self._lock, self._files = Lock(), identify_open(path)

    @classmethod
    def open(cls, folder: Path, survey: Survey) -> Self:
        """Open the file of a survey, or create it."""
        path = folder / STORE
        with _explained():
            connection = connect(path, FORMAT)
            try:
                with write_transaction(connection, FORMAT):
                    if is_new(connection, FORMAT):
                        create_tables(connection, FORMAT)
                        connection.execute("INSERT INTO survey VALUES (?)", (survey.digest,))
                    _check_survey(connection, survey)
                    # SQLite makes its log with the first change: from here on all files are there, and are watched.
                    connection.execute("UPDATE survey SET digest = digest")
                return cls(connection, path, survey)
            except BaseException:
                connection.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def invite(self, tokens: Iterable[str]) -> None:
        """Let these tokens report."""
        rows = [(self._hash(token),) for token in tokens]
        with self._changing():
            self._connection.executemany("INSERT INTO invitations VALUES (?)", rows)

    def add(self, token: str, report: Report) -> bool:
        """Keep the report of a token, and say whether it is its first; the same one again changes nothing.

        Another report of the same token is refused: whoever could report twice could be averaged.
        """
        if not self._survey.design.is_report(report):
            raise Refusal("The report", "is none that this survey can have", "load the page again", code="bad_report")
        digest, written = self._hash(token), json.dumps(report)
        with self._changing():
            if self._survey.invited and not self._has("invitations", digest):
                why, fix = "was not invited", "use the link that you were sent"
                raise Refusal("The token", why, fix, code="not_invited")
            kept = self._connection.execute("SELECT report FROM reports WHERE token = ?", (digest,)).fetchone()
            if kept is None:
                self._connection.execute("INSERT INTO reports VALUES (?, ?)", (digest, written))
            elif kept != (written,):
                why = "has reported already, and its first report counts"
                raise Refusal("The token", why, "nothing needs to be done", code="reported")
        return kept is None

    def counts(self) -> Counter[Report]:
        """How often each report came."""
        with _explained(), self._lock:
            return _count(self._connection)

    def _has(self, table: str, digest: bytes) -> bool:
        found = self._connection.execute(f"SELECT 1 FROM {table} WHERE token = ?", (digest,))  # noqa: S608 - ours
        return found.fetchone() is not None

    def _hash(self, token: str) -> bytes:
        return sha256(f"{self._survey.id} {token}".encode()).digest()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """A transaction in the files that stand at their names, before it and after it."""
        with _explained(), self._lock:
            self._check_files()
            with write_transaction(self._connection, FORMAT):
                yield
            self._check_files()  # else it went into a file that is gone; sent again, the report is not counted twice

    def _check_files(self) -> None:
        if identify(self._path) != self._files:
            raise FilesReplacedError
        if not os.access(self._path, os.W_OK, effective_ids=True):
            raise PermissionError(13, "may not be written")


def read_reports(folder: Path, survey: Survey) -> Counter[Report]:
    """How often each report came so far, also while the survey runs."""
    path = (folder / STORE).resolve()
    if not path.exists():
        return Counter()
    with _explained():
        connection = connect_read_only(path)
        try:
            if is_new(connection, FORMAT):
                return Counter()
            _check_survey(connection, survey)
            return _count(connection)
        finally:
            connection.close()


def _count(connection: sqlite3.Connection) -> Counter[Report]:
    rows = execute_patiently(connection, FORMAT, "SELECT report, COUNT(*) FROM reports GROUP BY report")
    return Counter({tuple(json.loads(report)): count for report, count in rows})


def _check_survey(connection: sqlite3.Connection, survey: Survey) -> None:
    rows = execute_patiently(connection, FORMAT, "SELECT digest FROM survey")
    if rows != [(survey.digest,)]:
        why = "holds reports to another survey than survey.toml describes"
        raise Refusal(FORMAT.name, why, "put survey.toml back as it was", code="survey_changed")


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise explain_error(error, FORMAT) from error
