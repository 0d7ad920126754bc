"""Finds entries of the ledger by what they say: an index of this process, extended by what is new at each use."""

from __future__ import annotations

import re
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import date, timedelta
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import finalize

from adomnia.errors import Unavailable
from adomnia.ledger import journal
from adomnia.ledger.accounts import account_name
from adomnia.ledger.chain import GENESIS, Head

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from adomnia.ledger.records import Records

_NUMBER = re.compile("[0-9]{1,18}")
_STEP = 1000  # entries that are taken in at once
# An empty name: a file of its own that nobody else can open, which SQLite keeps in memory while it is small.
_TEMPORARY = ""
_TABLE = "CREATE TABLE found (sequence INTEGER PRIMARY KEY, kind TEXT, account TEXT, at TEXT, words TEXT)"
_WHERE = """
    (:kind = '' OR kind = :kind) AND (:account = '' OR account = :account) AND at >= :first AND at < :beyond
    AND (:text = '' OR instr(words, :text) OR sequence = :number)
"""


@dataclass(frozen=True)
class EntryFilter:
    """Which entries are looked for; what is empty lets all pass.

    `text` stands in the name of who paid, in a request id, a hash or a reason, or is the number of the entry. `account`
    is "analyst:" with a name, or "dataset". Entries without a time, as answers are, count to the day of the one before.
    """

    text: str = ""
    kind: str = ""
    account: str = ""
    first_day: date | None = None
    last_day: date | None = None

    @property
    def is_empty(self) -> bool:
        """Whether all entries pass."""
        return not any(getattr(self, each.name) for each in fields(self))

    def as_parameters(self) -> dict[str, str | int]:
        """The filter as parameters of the query."""
        beyond = None if self.last_day is None or self.last_day == date.max else self.last_day + timedelta(days=1)
        return {
            "text": self.text.casefold(),
            "number": int(self.text) if _NUMBER.fullmatch(self.text) else 0,
            "kind": self.kind,
            "account": self.account,
            "first": "" if self.first_day is None else self.first_day.isoformat(),
            "beyond": "~" if beyond is None else beyond.isoformat(),  # behind all digits
        }


class LedgerIndex:
    """What entries of a ledger are found by, without questions and answers. Threads take turns."""

    def __init__(self) -> None:
        self._lock, self._head, self._time = Lock(), GENESIS, ""
        self._connection = sqlite3.connect(_TEMPORARY, isolation_level=None, check_same_thread=False)
        self._connection.execute(_TABLE)
        finalize(self, self._connection.close)

    def find(self, ledger: Records, wanted: EntryFilter, before: int, limit: int | None) -> tuple[list[int], int]:
        """Find the numbers of entries before one, newest first, and how many there are in all."""
        query = f"SELECT sequence FROM found WHERE sequence < :before AND {_WHERE} ORDER BY sequence DESC LIMIT :limit"  # noqa: S608 - our own text
        values = wanted.as_parameters()
        page = {**values, "before": before, "limit": -1 if limit is None else limit}
        with self._lock:
            self._catch_up(ledger)
            with _explain_errors():
                total = self._connection.execute(f"SELECT COUNT(*) FROM found WHERE {_WHERE}", values)  # noqa: S608 - likewise
                (count,) = total.fetchone()
                return [sequence for (sequence,) in self._connection.execute(query, page)], count

    def _catch_up(self, ledger: Records) -> None:
        """Take in what is new; all of it, if the ledger is another than before. Refuse what does not follow."""
        if not journal.is_on_chain(ledger, self._head):
            with _explain_errors():
                self._connection.execute("DELETE FROM found")
            self._head, self._time = GENESIS, ""
        entries = journal.read_entries(ledger, self._head)
        while step := list(islice(self._describe(entries), _STEP)):
            heads, rows = zip(*step, strict=True)
            with _explain_errors(), self._connection:
                self._connection.execute("BEGIN")
                self._connection.executemany("INSERT INTO found VALUES (?, ?, ?, ?, ?)", rows)
            self._head, (*_, self._time, _) = heads[-1], rows[-1]

    def _describe(self, entries: Iterator[tuple[Head, dict[str, Any]]]) -> Iterator[tuple[Head, tuple[Any, ...]]]:
        time = self._time  # of the last entry that is taken in: those that fail are described again
        for head, entry in entries:
            time = entry.get("at") or time
            account, request_id = _find_account(entry), entry.get("request_id", "").rpartition("\n")[2]
            said = (account.removeprefix("analyst:"), request_id, entry.get("reason", ""), head.hash)
            yield head, (head.sequence, entry["kind"], account, time, "\n".join(said).casefold())


@contextmanager
def _explain_errors() -> Iterator[None]:
    """Raise an error of the index's own file as one for the owner: the ledger has no part in it."""
    try:
        yield
    except sqlite3.Error as error:
        why, fix = "cannot be searched: its index does not fit, or cannot be written", "free room for temporary files"
        raise Unavailable("The list of entries", why, f"{fix}, then ask again") from error


def _find_account(entry: Mapping[str, Any]) -> str:
    """Whose account an entry is about; none where it is about several."""
    return account_name(entry["analyst"]) if "analyst" in entry else entry.get("account", "")
