"""What a ledger keeps and where: the port behind which a SQLite file and PostgreSQL are the same to all other parts.

Beside the entries stands how much of the ledger each analyst fills: counted with every debit, from public facts, and
never given back. What was written before there was a count is not in it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast

from adomnia.errors import Refusal
from adomnia.ledger.chain import Anchor, MemoryAnchor
from adomnia.ledger.sqlite import Trouble

NO_END = 2**63 - 1
_OF_A_COPY = "save"  # its errors may be those of another disk: whoever asks for a copy explains them


@dataclass(frozen=True)
class Wanted:
    """What a work is going to look up: a distant store fetches that for a whole group at once."""

    analyst: str | None
    keys: tuple[str, ...]
    plan: str


class StoreError(Exception):
    """An error of a store that is no file: a name for the log, and what its owner is told.

    `unwritten`: nothing was written, for certain. `transient`: nor need the store be opened again before the next try.
    `full`: there was no room.
    """

    def __init__(
        self, name: str, trouble: Trouble, *, unwritten: bool = True, transient: bool = False, full: bool = False
    ) -> None:
        super().__init__(name)
        self.name, self.trouble = name, trouble
        self.unwritten, self.transient, self.full = unwritten, transient, full


class Records(Protocol):
    """The entries, stored answers and counts of one ledger, as one transaction sees them.

    Entries are found by number, and debits and answers also by what their request is called in them (its key).
    """

    def read_bodies(self, after: int, last: int = NO_END) -> Iterator[str]:
        """The texts of the entries after a number up to another, in order."""

    def find_body(self, sequence: int) -> str | None:
        """The text of the entry with this number."""

    def find_newest(self) -> tuple[int, str] | None:
        """Number and text of the last entry."""

    def find_checkpoint(self, last: int) -> tuple[int, str | None] | None:
        """The number of the last checkpoint up to a number, and what it says is the hash of the entry before it."""

    def find_previous(self, sequence: int) -> str | None:
        """What the entry with this number says is the hash of the one before it; None if there is none."""

    def find_debit(self, key: str) -> tuple[int, str] | None:
        """Number and text of the debit of a request."""

    def find_commit(self, key: str) -> tuple[int, str] | None:
        """Number and text of the entry that keeps the answer to a request."""

    def find_answered(self, plan: str, analyst: str | None) -> str | None:
        """The key of an answered request with this plan: the analyst's own, or else the first of anybody."""

    def find_payload(self, name: str) -> bytes | None:
        """A stored answer by its hash."""

    def count_payloads(self) -> int:
        """How many answers are stored."""

    def list_restorations(self) -> list[str]:
        """The texts of all entries that say that a backup was put in place, in order."""

    def list_answered(self, analyst: str, after: int, limit: int) -> Iterator[str]:
        """The texts of the debits that an analyst has answers to, those kept after a number, oldest first."""

    def list_latest(self, analyst: str, after: int, limit: int) -> list[tuple[int, str]]:
        """The same, newest first, and the numbers that they are kept under."""

    def list_unanswered(self, first: str, beyond: str, limit: int) -> list[str]:
        """The texts of debits without an answer whose keys lie between two texts, newest first."""

    def list_debits(self, first: str, beyond: str, limit: int) -> list[str]:
        """The texts of debits whose keys lie between two texts, oldest first."""

    def count_answers(self, analyst: str) -> int:
        """How many answers an analyst has."""

    def find_storage(self, analyst: str) -> int:
        """The bytes that an analyst's questions count for."""

    def add_entry(self, sequence: int, body: str, entry: dict[str, Any]) -> None:
        """Write the next entry, whose text says this."""

    def add_payload(self, name: str, payload: bytes) -> None:
        """RecordStore an answer under its hash, if it is not there yet."""

    def add_storage(self, analyst: str, count: int) -> None:
        """Count so many bytes more."""

    def prepare_storage(self) -> None:
        """Make room for the counts, in a ledger that has none yet."""

    def touch(self) -> None:
        """Write something that changes nothing: where that becomes durable, entries do too."""

    def check(self) -> None:
        """Refuse records that are damaged below what their texts can tell."""

    def save(self, target: Path) -> None:
        """Write all of it durably into a new file of SQLite."""


class RecordStore(Protocol):
    """Where the records of a ledger are: one transaction at a time writes, over all processes."""

    @property
    def shared(self) -> tuple[str, str]:
        """What the dataset is called in an account that it shares with others, and the name of that, if it does."""

    @property
    def anchors(self) -> Sequence[Anchor | MemoryAnchor]:
        """What remembers the newest entry on this machine, for each of its chains.

        The first is the ledger's own. The second, if there is one, has the account that several datasets share.
        """

    def create(self) -> None:
        """Make the anchor and the tables of a ledger that is new."""

    def write(
        self, since: Sequence[int] = (), wanted: Sequence[Wanted] = ()
    ) -> AbstractContextManager[Sequence[Records]]:
        """The only write transaction that there is, anywhere: durable at its end, or undone as a whole.

        The entries from these numbers on, one for each chain, and what is `wanted` of the first, are going to be read.
        """

    def read(self) -> AbstractContextManager[Sequence[Records]]:
        """A snapshot of all chains."""

    def check_same(self) -> None:
        """Raise an error if something else is in the place of what was opened."""

    def maintain(self) -> None:
        """Do what is due after a transaction, and concerns no caller."""

    def reopen(self) -> None:
        """Open it anew, after an error that left doubt."""

    def rewrite(self) -> None:
        """Make sure that everything which it shows is durable, after an error that left doubt."""

    def close(self) -> None:
        """Let go of it, without harm to those who go on using it."""


@dataclass(frozen=True)
class Storage:
    """The bytes that a question counts for, and the most that all questions of its analyst may."""

    needed: int
    most: int


def charge(records: Records, analyst: str, storage: Storage) -> None:
    """Count what a question needs; a Refusal, and nothing is counted, where that is more than is left."""
    left = storage.most - records.find_storage(analyst)
    if storage.needed > left:
        needs = f"needs {storage.needed:,} bytes of the ledger, and {analyst} has {max(0, left):,} left"
        fix = f"ask for fewer groups or aggregates, or have the owner raise storage under [analysts.{analyst}]"
        raise Refusal("The question", f"{needs} of {storage.most:,}", fix, code="storage")
    records.add_storage(analyst, storage.needed)


def watch_records(records: Records, notice: Callable[[], AbstractContextManager[None]]) -> Records:
    """The same records; what goes wrong while they are read goes wrong within `notice`."""
    return cast("Records", _WatchedRecords(records, notice))


class _WatchedRecords:
    def __init__(self, records: Records, notice: Callable[[], AbstractContextManager[None]]) -> None:
        self._records, self._notice = records, notice

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self._records, name)
        return method if name == _OF_A_COPY else partial(self._call, method)

    def _call(self, method: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401 - whatever the records give
        with self._notice():
            found = method(*arguments)
        return self._read_on(found) if isinstance(found, Iterator) else found

    def _read_on(self, rows: Iterator[Any]) -> Iterator[Any]:
        with self._notice():
            yield from rows
