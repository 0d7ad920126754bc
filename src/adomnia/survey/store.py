"""Reports as they arrive: one for each token, for ever. A SQLite file beside survey.toml that its owner alone may read.

Rows have no time, and are found by the hash of their token. Within a page SQLite puts new ones where there is room, so
that the file shows in which order they came: it is written anew, by the hashes alone, whenever it is opened or closed.
All reports of a survey are as long as its longest one.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections import Counter
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Self

from adomnia.anchored_file import MARKS, AnchoredFile
from adomnia.errors import Refusal
from adomnia.ledger.sqlite import FileFormat, Trouble, explain_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from adomnia.survey.design import Report
    from adomnia.survey.survey import Survey

STORE = "reports.sqlite"
_log = logging.getLogger("adomnia.survey")
_COUNT = "SELECT report, COUNT(*) FROM reports GROUP BY report"
_RESTORE = "put back a backup of it"
_WAIT = "wait for that program or end it; your answer is kept on your device, so send it again later"
_TROUBLES = {
    sqlite3.SQLITE_FULL: Trouble("has no room left on its disk", "free some space, then send the answer again"),
    sqlite3.SQLITE_BUSY: Trouble("is locked by another program", _WAIT, "busy"),
    sqlite3.SQLITE_READONLY: Trouble("may not be written", "let the survey write it and its folder"),
    sqlite3.SQLITE_CANTOPEN: Trouble("cannot be opened or created", "let the survey write its folder"),
    sqlite3.SQLITE_PROTOCOL: Trouble(
        "was moved, removed or replaced by an older copy, or an old -wal file was put beside it",
        "put back the file that was last in use; docs/local.md says how to go on with an older one",
    ),
    sqlite3.SQLITE_NOTADB: Trouble("is not a database", _RESTORE),
    sqlite3.SQLITE_CORRUPT: Trouble("is damaged", _RESTORE),
}
FORMAT = FileFormat(
    name=f"The file of reports, {STORE},",
    application_id=0x41645252,  # "AdRR"
    version=3,
    tables=(
        "CREATE TABLE survey (digest TEXT NOT NULL)",
        "CREATE TABLE invitations (token BLOB PRIMARY KEY) WITHOUT ROWID",
        "CREATE TABLE reports (token BLOB PRIMARY KEY, report TEXT NOT NULL) WITHOUT ROWID",
        MARKS,
    ),
    upgrades={1: (MARKS,), 2: ()},  # of 2, reports are of different lengths: `_belong` makes them alike
    troubles=_TROUBLES,
    unknown_trouble=Trouble("cannot be used", "look at its disk, then start the survey again"),
    fix_if_foreign="move it away",
    busy_seconds=5.0,
)


class ReportStore:
    """The open file of one survey; a report is in it for good once `add` returns."""

    def __init__(self, file: AnchoredFile, survey: Survey) -> None:
        self._file, self._survey, self._closed = file, survey, False

    @classmethod
    def open(cls, folder: Path, survey: Survey) -> Self:
        """Open the file of a survey, or create it."""
        with _explained():
            file = AnchoredFile(folder / STORE, FORMAT, lambda file: _belong(file, survey))
        store = cls(file, survey)
        store.forget_order()  # as a process left it that was killed
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, which does not show the order of arrival then."""
        if not self._closed:
            self.forget_order()
        self._closed = True
        self._file.close()

    def forget_order(self) -> None:
        """Write the file so that nothing in it depends on the order in which reports came.

        Where that cannot be, because the disk is full or others read all the time, it is left for the next time.
        """
        try:
            self._file.rewrite()
        except (OSError, sqlite3.Error) as error:
            _log.warning("%s still shows the order of arrival: it %s.", STORE, explain_error(error, FORMAT).why)

    def invite(self, tokens: Iterable[str]) -> None:
        """Let these tokens report."""
        rows = [(self._hash(token),) for token in tokens]
        with _explained(), self._file.write() as file:
            file.executemany("INSERT INTO invitations VALUES (?)", rows)

    def add(self, token: str, report: Report) -> bool:
        """Keep the report of a token, and say whether it is its first; the same one again changes nothing.

        Another report of the same token is refused: whoever could report twice could be averaged.
        """
        if not self._survey.design.is_report(report):
            raise Refusal("The report", "is none that this survey can have", "load the page again", code="bad_report")
        digest, written = self._hash(token), _write(report, self._survey)
        with _explained(), self._file.write() as file:
            if self._survey.invited and _find(file, "SELECT 1 FROM invitations WHERE token = ?", digest) is None:
                why, fix = "was not invited", "use the link that you were sent"
                raise Refusal("The token", why, fix, code="not_invited")
            kept = _find(file, "SELECT report FROM reports WHERE token = ?", digest)
            if kept is None:
                file.execute("INSERT INTO reports VALUES (?, ?)", (digest, written))
            elif kept != (written,):
                why = "has reported already, and its first report counts"
                raise Refusal("The token", why, "nothing needs to be done", code="reported")
        return kept is None

    def counts(self) -> Counter[Report]:
        """How often each report came."""
        with _explained():
            rows = self._file.read(lambda file: file.execute(_COUNT).fetchall())
        return Counter({tuple(json.loads(report)): count for report, count in rows})

    def _hash(self, token: str) -> bytes:
        return sha256(f"{self._survey.id} {token}".encode()).digest()


def read_reports(folder: Path, survey: Survey) -> Counter[Report]:
    """How often each report came so far, also while the survey runs."""
    if not (folder / STORE).exists():
        return Counter()
    with ReportStore.open(folder, survey) as store:
        return store.counts()


def _write(report: Report, survey: Survey) -> str:
    """A report as text, with spaces behind it: as long as the longest one of the survey."""
    return json.dumps(report).ljust(len(json.dumps(survey.design.longest_report)))


def _belong(file: sqlite3.Connection, survey: Survey) -> None:
    """Make a new file one of this survey; refuse one of another."""
    file.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten in the file
    kept = _find(file, "SELECT digest FROM survey")
    if kept is None:
        file.execute("INSERT INTO survey VALUES (?)", (survey.digest,))
    elif kept != (survey.digest,):
        why = "holds reports to another survey than survey.toml describes"
        raise Refusal(FORMAT.name, why, "put survey.toml back as it was", code="survey_changed")
    length = len(_write(survey.design.longest_report, survey))
    pad = "UPDATE reports SET report = report || SUBSTR(?, 1, ? - LENGTH(report)) WHERE LENGTH(report) < ?"
    file.execute(pad, (" " * length, length, length))


def _find(file: sqlite3.Connection, query: str, *values: bytes) -> tuple[object, ...] | None:
    found: tuple[object, ...] | None = file.execute(query, values).fetchone()
    return found


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise explain_error(error, FORMAT) from error
