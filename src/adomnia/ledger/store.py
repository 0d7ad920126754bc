"""The ledger's face: reserve before data is read, commit the answer, never pay back; docs/proofs/ledger.md."""

import fcntl
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from struct import pack
from threading import Lock
from typing import Self, TypeVar
from weakref import WeakValueDictionary, finalize

from adomnia.errors import Failure, Refusal
from adomnia.ledger.audit import backup, examine
from adomnia.ledger.chain import GENESIS, Anchor, Head, digest
from adomnia.ledger.failpoints import reach
from adomnia.ledger.journal import Journal
from adomnia.ledger.owner import TopUp, declare, top_up
from adomnia.ledger.requests import Receipt, Replay, Request, answer, answered, answers, commit, filter_of, reserve
from adomnia.ledger.schema import explained, reading
from adomnia.ledger.writer import Writer
from adomnia.privacy.amounts import Number, exact
from adomnia.privacy.events import Event, Pure
from adomnia.privacy.filters import Budget, Filter, Left, Spent

__all__ = ["Hold", "Ledger"]

_LARGEST_PAYLOAD = 2**28
_Seen = TypeVar("_Seen")
_DIGITS = 15  # of a hash, for one of 2**60 places
_log = logging.getLogger("adomnia.ledger")


class Hold:
    """A question that is paid for: its answer can be committed once; without one its request id fails for ever.

    Once it is committed, `left` is what its payer has left.
    """

    __slots__ = ("_ledgers", "left", "receipt")

    def __init__(self, ledger: "Ledger", receipt: Receipt) -> None:
        self.receipt = receipt
        self.left: Left | None = None
        self._ledgers = [ledger]

    @property
    def event(self) -> Event:
        """What was reserved, and so the most that may happen."""
        return self.receipt.event

    def commit(self, payload: bytes) -> Receipt:
        """Keep the answer durably; only afterwards may anybody see it."""
        if not isinstance(payload, bytes) or len(payload) > _LARGEST_PAYLOAD:
            raise ValueError(f"Hold payload must be at most {_LARGEST_PAYLOAD} bytes, got {type(payload).__name__}.")
        try:
            ledger = self._ledgers.pop()  # one atomic step: two threads cannot both have it
        except IndexError:
            raise ValueError(f"Hold {self.receipt.request_id} commits once, and it was committed before.") from None
        self.left = ledger._keep(self.receipt, payload)
        return self.receipt


class Ledger:
    """Budgets and what was spent of them, shared by every thread and process that opens the same file.

    >>> from adomnia.privacy.events import Pure
    >>> with Ledger.open(":memory:", Budget(epsilon=1), {"alice": Budget(epsilon=0.5)}) as ledger:
    ...     hold = ledger.reserve("alice", "first", b"a plan", Pure(0.2))
    ...     receipt = hold.commit(b"an answer")
    ...     ledger.reserve("alice", "again", b"a plan", Pure(0.2)).payload, float(ledger.left("alice").epsilon)
    (b'an answer', 0.3)
    """

    def __init__(self, path: Path | None, journal: Journal) -> None:
        self._path = path
        self._writer = Writer(journal.run, journal.close)
        self._forgotten = finalize(self, self._writer.stop)
        self._turns: WeakValueDictionary[str, Lock] = WeakValueDictionary()
        self._turning = Lock()

    @classmethod
    def open(cls, path: str | Path, budget: Budget, analysts: Mapping[str, Budget]) -> Self:
        """Open or create the ledger of a dataset (":memory:": one that ends with the process), or refuse.

        The whole chain is walked and compared with its anchor. Budgets are what the catalog says now, plus top-ups;
        what was spent stays spent.
        """
        place = None if str(path) == ":memory:" else Path(path).resolve()
        try:
            journal = Journal(place)
            try:
                journal.open(partial(declare, dataset=budget, analysts=analysts))
            except BaseException:
                journal.close()
                raise
        except (sqlite3.Error, OSError) as error:
            _log.error("The ledger %s could not be opened: %r", place, error)
            raise explained(error) from error
        return cls(place, journal)

    def reserve(  # noqa: PLR0913 - all of it is written into the entry
        self,
        analyst: str | None,
        request_id: str,
        plan: bytes,
        event: Event,
        *,
        personal_only: bool = False,
        asked: str = "",
    ) -> Hold | Replay:
        """Pay for a question before any data is read, through both filters at once; or get the answer it has already.

        The same analyst gets an equal plan's answer free, another one for their personal budget alone (and with
        `personal_only` in no other way). Each analyst's request ids are their own, and each belongs to the plan it was
        first used with. `asked` is kept beside the debit. None: the dataset asks for itself, and alone pays.
        """
        request = Request(analyst, request_id, plan, event, personal_only, asked)
        outcome: Receipt | Replay = self._writer.submit(partial(reserve, request=request))
        reach("reserve-durable")
        return outcome if isinstance(outcome, Replay) else Hold(self, outcome)

    @contextmanager
    def turn(self, *about: str) -> Iterator[None]:
        """To be held from reserve to commit: who asks the same, in any process, waits for the answer of the first."""
        name = digest(repr(about).encode())
        with self._turning:
            lock = self._turns.setdefault(name, Lock())
        with lock, self.alone(1 + int(name[:_DIGITS], 16)):
            yield

    @contextmanager
    def alone(self, place: int = 0) -> Iterator[None]:
        """One thread of one process at a time; the lock ends with the process, however it ends.

        It is on one byte of a file that has none, and on the open file rather than on the process: what another thread
        of it opens and closes does not matter.
        """
        if self._path is None:
            yield
            return
        with open(os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT, 0o600)) as lock:  # noqa: PTH123 - a mode
            fcntl.fcntl(lock, fcntl.F_OFD_SETLKW, pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, place, 1, 0))
            yield

    def account(self, analyst: str | None = None) -> Filter:
        """The budget of an analyst, or of the dataset, and what was spent of it."""
        found: Filter = self._writer.submit(partial(filter_of, analyst=analyst))
        return found

    def spent(self, analyst: str | None = None) -> Spent:
        return self.account(analyst).spent

    def left(self, analyst: str | None = None) -> Left:
        return self.account(analyst).left()

    def answers(self, analyst: str) -> list[Receipt]:
        """Everything an analyst has paid for and got, oldest first."""
        self.account(analyst)
        return self._inspect(partial(answers, analyst=analyst))

    def answer(self, analyst: str, request_id: str) -> Replay | None:
        """What an analyst got under a request id; a Failure if it was paid for and failed."""
        try:
            request = Request(analyst, request_id, b"any", Pure(1))
        except Refusal:  # what cannot be a request id was none
            return None
        found: Replay | None = self._writer.submit(partial(answer, request=request))
        return found

    def answered(self, analyst: str, request_id: str, plan: bytes) -> Replay | None:
        """What an analyst got under a request id, or for a plan under another, at whatever price."""
        request = Request(analyst, request_id, plan, Pure(1))  # it is not to be paid
        found: Replay | None = self._writer.submit(partial(answered, request=request))
        return found

    def top_up(self, analyst: str | None, reason: str, epsilon: Number = 0, delta: Number = 0) -> Filter:
        """Add to the budget of an analyst, or of the dataset (None), in every process at once and for good."""
        more = TopUp(analyst, exact(epsilon, "TopUp", "epsilon"), exact(delta, "TopUp", "delta"), reason)
        topped: Filter = self._writer.submit(partial(top_up, more=more))
        return topped

    def verify(self) -> Head:
        """Redo every hash, admission and total; the head of the chain, or a Refusal that says what is wrong."""
        anchor = GENESIS if self._path is None else Anchor(self._path).read()
        return self._inspect(partial(examine, anchor=anchor))

    def backup(self, path: str | Path) -> Head:
        """Copy the ledger, while it is in use, to a new file with an anchor of its own; the head that was copied."""
        return self._inspect(partial(backup, target=Path(path).resolve()))

    def close(self) -> None:
        """Finish what is waiting and let go of the file."""
        self._forgotten()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _keep(self, receipt: Receipt, payload: bytes) -> Left:
        try:
            left: Left = self._writer.submit(partial(commit, receipt=receipt, payload=payload), urgent=True)
        except Refusal as refusal:
            raise Failure(receipt.request_id) from refusal
        reach("answer-durable")
        return left

    def _inspect(self, look: Callable[[sqlite3.Connection], _Seen]) -> _Seen:
        """Look at the ledger without keeping its writer from writing, where it is in a file."""
        if self._path is None:
            seen: _Seen = self._writer.submit(lambda page: look(page.connection))
            return seen
        try:
            with closing(reading(self._path)) as connection:
                return look(connection)
        except (sqlite3.Error, OSError) as error:
            raise explained(error) from error
