"""The interface of the ledger: reserve before data is read, commit the answer, never refund; docs/proofs/ledger.md."""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Self, TypeVar
from weakref import WeakValueDictionary, finalize

from adomnia.errors import AdomniaError, Failure, Refusal, Unavailable
from adomnia.ledger import history, lifetimes, requests
from adomnia.ledger.accounts import DATASET
from adomnia.ledger.audit import backup, examine
from adomnia.ledger.chain import Head, digest
from adomnia.ledger.failpoints import failpoint
from adomnia.ledger.journal import Foreseen, Journal, Transaction
from adomnia.ledger.ledger_places import LedgerPlace, Locks, SnapshotReader, find_place
from adomnia.ledger.owner import DeclaredPeople, TopUp, declare, top_up
from adomnia.ledger.records import Records, Storage, watch_records
from adomnia.ledger.requests import KeptAnswer, Receipt, SpendRequest, StoredAnswer, UnpaidAnswer
from adomnia.ledger.schema import ERRORS, explain_error, explain_errors, name_error, name_file
from adomnia.ledger.writer import Writer
from adomnia.privacy.amounts import Number, exact
from adomnia.privacy.events import Event, Pure
from adomnia.privacy.filters import Budget, Filter, Left, Spent

_MAX_PAYLOAD_BYTES = 2**28
_Found = TypeVar("_Found")
_LOCK_DIGITS = 15  # of a hash: 2**60 bytes to choose from
_FIRST_FREE_TURN = 2**60 + 1
_TOUCH_SECONDS = 10.0  # between two writes of those who only try whether they could
_PATIENCE_SECONDS = 1.0  # of the collector with the thread of a forgotten ledger
_log = logging.getLogger("adomnia.ledger")


class Hold:
    """A question that is paid for. Its answer can be committed once; without one its request id fails for ever.

    After the commit, `left` is what its payer has left, and `kept` where in the ledger the answer is.
    """

    __slots__ = ("_ledgers", "kept", "receipt")

    def __init__(self, ledger: "Ledger", receipt: Receipt) -> None:
        self.receipt = receipt
        self.kept: KeptAnswer | None = None
        self._ledgers = [ledger]

    @property
    def event(self) -> Event:
        """What was reserved: the most that the question may release."""
        return self.receipt.event

    @property
    def left(self) -> Left | None:
        return None if self.kept is None else self.kept.left

    def commit(self, payload: bytes) -> Receipt:
        """Store the answer durably; only afterwards may anybody see it."""
        if not isinstance(payload, bytes) or len(payload) > _MAX_PAYLOAD_BYTES:
            raise ValueError(f"Hold payload must be at most {_MAX_PAYLOAD_BYTES} bytes, got {type(payload).__name__}.")
        try:
            ledger = self._ledgers.pop()  # one atomic step: two threads cannot both have it
        except IndexError:
            raise ValueError(f"Hold {self.receipt.request_id} commits once, and it was committed before.") from None
        self.kept = ledger._commit(self.receipt, payload)
        return self.receipt


class Ledger:
    """Budgets and what was spent of them, shared by every thread, process and machine that opens the same one.

    >>> from adomnia.privacy.events import Pure
    >>> with Ledger.open(":memory:", Budget(epsilon=1), {"alice": Budget(epsilon=0.5)}) as ledger:
    ...     hold = ledger.reserve("alice", "first", b"a plan", Pure(0.2))
    ...     receipt = hold.commit(b"an answer")
    ...     ledger.reserve("alice", "again", b"a plan", Pure(0.2)).payload, float(ledger.left("alice").epsilon)
    (b'an answer', 0.3)
    """

    def __init__(self, place: LedgerPlace, journal: Journal) -> None:
        self.place = place
        self._reader, self._turns = place.open_reader(), place.open_locks()
        self._look = partial(_look, self._reader, self._turns, journal.check_same)
        self._check_same = journal.check_same
        self._writer = Writer(journal, self._look)
        self._touched = monotonic()
        self._forget = finalize(self, _end, self._writer, self._reader, self._turns, _PATIENCE_SECONDS)
        self._locks: WeakValueDictionary[str, Lock] = WeakValueDictionary()
        self._locks_guard, self._dataset_lock = Lock(), Lock()

    @classmethod
    def open(
        cls,
        place: str | Path | LedgerPlace,
        budget: Budget,
        analysts: Mapping[str, Budget],
        lifetime: Budget | None = None,
        people: DeclaredPeople | None = None,
    ) -> Self:
        """Open or create the ledger of a dataset, or refuse (":memory:": a ledger that ends with the process).

        The chain is read from its newest checkpoint and compared with the anchor; `verify` reads all of it. Budgets are
        what the catalog says now, plus top-ups; what was spent stays spent. `lifetime` is the budget of the account
        that the place shares with other datasets, if it does. Other `people` than a version of the data was first asked
        about are refused.
        """
        place = find_place(place)
        try:
            journal = Journal(place.open_store())
            try:
                journal.open(partial(declare, dataset=budget, analysts=analysts, lifetime=lifetime, people=people))
            except BaseException:
                journal.close()
                raise
        except ERRORS as error:
            _log.error("The ledger could not be opened: %s, %s", name_error(error), name_file(error))
            raise explain_error(error) from error
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
        storage: Storage | None = None,
        source: str = "",
        seen: int | None = None,
        check_first: bool = False,
    ) -> Hold | StoredAnswer | UnpaidAnswer:
        """Pay for a question before any data is read, or get its answer if it has one.

        Two filters must admit the price at once, the dataset's and the analyst's; for a request of the dataset itself
        (None) only its own. An analyst gets the answer to an equal plan of their own free, and that of another analyst
        at the expense of the personal budget alone; with `personal_only` anything dearer is refused. Each analyst has
        request ids of their own, and each id belongs to the plan it was first used with. `asked` is stored with the
        debit. With `storage`, what would fill more of the ledger than is left to its analyst is refused. With `source`,
        the key of somebody's debit, nothing but one's own answer or that of this debit is given. With `seen`, the
        number of the newest answer of the analyst that `latest_answers` gave, a newer one raises NewerAnswer, and
        nothing is paid or given. With `check_first`, the answer of another analyst is given as an UnpaidAnswer instead
        of being paid for; to pay for it, name its debit as `source`.
        """
        request = SpendRequest(
            analyst, request_id, plan, event, personal_only, asked, storage, source, seen, check_first
        )
        outcome: Receipt | StoredAnswer | UnpaidAnswer = self._writer.submit(
            Foreseen(partial(requests.reserve, request=request), request.wanted)
        )
        failpoint("reserve-durable")
        return Hold(self, outcome) if isinstance(outcome, Receipt) else outcome

    @contextmanager
    def lock(self, *about: str) -> Iterator[None]:
        """Lock a subject against all other threads and processes.

        Held from reserve to commit, it lets whoever asks the same question wait for the first answer.
        """
        name = digest(repr(about).encode())
        with self._locks_guard:
            lock = self._locks.setdefault(name, Lock())
        with lock, self._hold_turn(1 + int(name[:_LOCK_DIGITS], 16)):
            yield

    @contextmanager
    def lock_dataset(self) -> Iterator[None]:
        """Lock what concerns the dataset as a whole against all other threads and processes."""
        with self._dataset_lock, self._hold_turn(0):
            yield

    def account(self, analyst: str | None = None) -> Filter:
        """The budget of an analyst, or of the dataset (None), and what was spent of it."""
        found: Filter = self._writer.submit(partial(requests.find_filter, analyst=analyst))
        return found

    def spent(self, analyst: str | None = None) -> Spent:
        return self.account(analyst).spent

    def left(self, analyst: str | None = None) -> Left:
        return self.account(analyst).left()

    def answers(self, analyst: str, after: str | None = None, limit: int = 1000) -> list[Receipt]:
        """A page of the receipts of an analyst's answers, oldest first, those after a request id; none at the end."""
        self.account(analyst)
        return self._inspect(partial(history.list_answers, analyst=analyst, after=after, limit=limit))

    def latest_answers(self, analyst: str, limit: int, after: int = 0) -> list[tuple[int, Receipt]]:
        """The receipts of an analyst's last answers, newest first, and the numbers of their entries: those after one.

        The numbers are for whoever pays: they would tell an analyst how much others have asked.
        """
        return self._inspect(partial(history.list_latest, analyst=analyst, limit=limit, after=after))

    def unanswered(self, analyst: str, limit: int) -> list[Receipt]:
        """The receipts of what an analyst paid for and has no answer to, newest first."""
        return self._inspect(partial(history.list_unanswered, analyst=analyst, limit=limit))

    def dataset_requests(self, start: str, limit: int) -> list[Receipt]:
        """The receipts of what the dataset itself paid for under request ids that begin so, oldest first."""
        return self._inspect(partial(history.list_requests, start=start, limit=limit))

    def dataset_request(self, request_id: str) -> Receipt | None:
        """The receipt of what the dataset itself paid for under a request id, whether it has an answer or not."""
        return self._inspect(partial(history.find_request, request_id=request_id))

    def receipt(self, analyst: str | None, request_id: str) -> Receipt | None:
        """The receipt of an answer of an analyst, or of the dataset (None); None if there is none under that id."""
        return self._inspect(partial(history.find_receipt, analyst=analyst, request_id=request_id))

    def count_answers(self, analyst: str) -> int:
        """How many answers an analyst has."""
        return self._inspect(partial(history.count_answers, analyst=analyst))

    def answer(self, analyst: str | None, request_id: str) -> StoredAnswer | None:
        """The answer that an analyst, or the dataset (None), got under a request id.

        A Failure if it was paid for and has no answer.
        """
        try:
            request = SpendRequest(analyst, request_id, b"any", Pure(1))
        except Refusal:  # nothing can have been paid for under an id that is not valid
            return None
        found: StoredAnswer | None = self._writer.submit(partial(requests.find_answer_by_id, request=request))
        return found

    def find_answer(self, analyst: str, request_id: str, plan: bytes) -> StoredAnswer | None:
        """Find the answer that an analyst got under a request id, or for a plan under another, at any price."""
        request = SpendRequest(analyst, request_id, plan, Pure(1))  # a price that nobody pays
        found: StoredAnswer | None = self._writer.submit(partial(requests.find_answer, request=request))
        return found

    def top_up(self, analyst: str | None, reason: str, epsilon: Number = 0, delta: Number = 0) -> Filter:
        """Add to the budget of an analyst, or of the dataset (None), for good and in every process at once."""
        more = TopUp(analyst, exact(epsilon, "TopUp", "epsilon"), exact(delta, "TopUp", "delta"), reason)
        topped: Filter = self._writer.submit(partial(top_up, more=more))
        return topped

    def lifetime(self) -> dict[str | None, Filter]:
        """What each dataset has spent of the account that they share, by name, and (None) all of them together."""
        found: dict[str | None, Filter] = self._writer.submit(lifetimes.list_filters)
        return found

    def top_up_lifetime(self, reason: str, epsilon: Number = 0, delta: Number = 0) -> Filter:
        """Add to the budget of the account that several datasets share, for all of them."""
        more = TopUp(None, exact(epsilon, "TopUp", "epsilon"), exact(delta, "TopUp", "delta"), reason)
        topped: Filter = self._writer.submit(lambda transaction: top_up(lifetimes.find_shared(transaction), more))
        return topped

    def restored(self) -> str | None:
        """When a backup was last put in the place of this ledger; None if that never happened."""
        when: str | None = self._writer.submit(lambda transaction: transaction.accounts[DATASET].restored)
        return when

    def verify(self) -> Head:
        """Check every hash, admission and total again; gives the head of the chain, or says what is wrong."""
        anchor = self.read_anchor()  # before the entries: read after them, it could be ahead of them
        return self._inspect(partial(examine, anchor=anchor))

    def read_anchor(self) -> Head:
        """The newest entry that this machine remembers."""
        with self._writer.watch():
            return self.place.anchor.read()

    @contextmanager
    def snapshot(self) -> Iterator[Records]:
        """Everything that is kept, as it is now, while others go on paying; not of a ledger in memory.

        Errors of other files, which whoever reads it may meet, are no trouble of the ledger.
        """
        assert self._reader is not None  # noqa: S101 - what is in memory is its writer's alone
        foreign = None
        with self._writer.watch(), self._reader.snapshot() as records:
            self._check_same()
            try:
                yield watch_records(records, self._writer.notice)
            except ERRORS as error:  # those of the records are noticed, and are others by now
                foreign = error
        if foreign is not None:
            raise foreign

    def backup(self, path: str | Path) -> Head:
        """Copy the ledger to a new file with its own anchor, also while it is in use; gives the head of the copy."""

        def save(records: Records) -> Head:
            with explain_errors():  # of the copy's disk, and not of the ledger's
                return backup(records, Path(path).resolve())

        return self._inspect(save)

    def probe(self) -> None:
        """Do what every question does, but ask and pay nothing; an Unavailable if a question would fail now.

        An error is told, and recovered from, as if a question had met it. Nothing is written, except something that
        changes nothing every ten seconds: this may be called twice a second, and no disk should wear out by it.
        """
        with self._writer.watch():
            self._look()
        is_due = monotonic() - self._touched >= _TOUCH_SECONDS
        self._writer.submit(_touch if is_due else _pass)
        self._touched = monotonic() if is_due else self._touched

    @property
    def trouble(self) -> Unavailable | None:
        """Why nothing can be paid for now, if so; it ends by itself once the cause has."""
        return self._writer.trouble

    def report_errors(self, report: Callable[[str], None]) -> None:
        """Have the name of every error of what it is kept in reported from now on, such as SQLITE_IOERR_FSYNC."""
        self._writer.on_error = report

    def close(self) -> None:
        """Finish the requests that are waiting, and let go of where it is."""
        if self._forget.detach() is not None:
            _end(self._writer, self._reader, self._turns)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _hold_turn(self, number: int) -> Iterator[None]:
        """What is done meanwhile has errors of its own."""
        with ExitStack() as held:
            with self._writer.watch():
                held.enter_context(self._turns.hold(number))
            yield

    def _commit(self, receipt: Receipt, payload: bytes) -> KeptAnswer:
        work = partial(requests.commit, receipt=receipt, payload=payload)
        try:
            kept: KeptAnswer = self._writer.submit(work, urgent=True)
        except AdomniaError as error:
            raise Failure(receipt.request_id) from error
        failpoint("answer-durable")
        return kept

    def _inspect(self, read: Callable[[Records], _Found]) -> _Found:
        """Read the ledger; where it is in a file, without keeping its writer from writing."""
        if self._reader is None:
            found: _Found = self._writer.submit(lambda transaction: read(transaction.records))
            return found
        with self.snapshot() as records:
            return read(records)


def _look(reader: SnapshotReader | None, turns: Locks, check_same: Callable[[], None]) -> None:
    """Try what questions do beside paying: take a turn and read."""
    with turns.hold(_FIRST_FREE_TURN + os.getpid()):  # one that nobody waits for
        pass
    if reader is not None:
        with reader.snapshot() as records:
            check_same()
            records.find_newest()


def _touch(transaction: Transaction) -> None:
    transaction.records.touch()


def _pass(_: Transaction) -> None:
    """A transaction that reads on, and writes nothing."""


def _end(writer: Writer, reader: SnapshotReader | None, turns: Locks, patience: float | None = None) -> None:
    """End what a ledger has open, in the process that opened it: a forked child has the same connections."""
    if writer.is_own():
        writer.stop(patience)
        turns.close()
        if reader is not None:
            reader.close()
