"""The journal: runs a group of requests in one transaction, then moves the anchor to the newest entry."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from adomnia.errors import AdomniaError, Refusal
from adomnia.ledger.accounts import Accounts, apply_entry, encode_accounts
from adomnia.ledger.chain import (
    GENESIS,
    Anchor,
    Head,
    LockedAnchor,
    MemoryAnchor,
    damage_refusal,
    decode_entry,
    digest,
    encode_entry,
)
from adomnia.ledger.failpoints import failpoint
from adomnia.ledger.records import NO_END, Records, RecordStore, Wanted

_CHECKPOINT_EVERY = 4096  # entries, or as many as there are accounts: what an open reads, and what checkpoints weigh


def read_entries(records: Records, head: Head, last: int = NO_END) -> Iterator[tuple[Head, dict[str, Any]]]:
    """Read the entries after a head, each with the head that it makes; refuses one that does not follow."""
    for body in records.read_bodies(head.sequence, last):
        head, entry = decode_entry(head, body)
        yield head, entry


def find_newest(records: Records) -> Head:
    """Find the end of the chain."""
    found = records.find_newest()
    return GENESIS if found is None else Head(found[0], digest(found[1].encode()))


def is_on_chain(records: Records, head: Head) -> bool:
    """Whether the chain goes through this head."""
    body = records.find_body(head.sequence)
    return head == GENESIS or (body is not None and digest(body.encode()) == head.hash)


def check_anchor(records: Records, head: Head, anchor: Head) -> None:
    """Refuse a chain, which ends at `head`, unless it goes through the head that the anchor remembers."""
    if anchor.sequence > head.sequence or not is_on_chain(records, anchor):
        raise _fork_refusal(head, anchor)


def _fork_refusal(head: Head, anchor: Head) -> Refusal:
    """The refusal of a chain that leads to `head` and not through the head that the anchor remembers."""
    if anchor.sequence <= head.sequence:
        return damage_refusal(f"was changed: its entry {anchor.sequence} is not the one that its anchor remembers")
    ends = f"ends at entry {head.sequence}, but its anchor remembers entry {anchor.sequence}"
    causes = "entries were removed, an older database was put back, or another process writes to other files"
    return damage_refusal(f"{ends}: {causes}")


def _find_start(records: Records, anchor: Head) -> Head:
    """Find the place before the newest checkpoint that the anchor vouches for; without one, the beginning.

    A checkpoint after the anchor would be believed without anybody's word.
    """
    found = records.find_checkpoint(anchor.sequence)
    return GENESIS if found is None else Head(found[0] - 1, found[1] or "")


@dataclass
class Position:
    """A place in the chain, the accounts there, and the number of the newest checkpoint up to it.

    `answered` has the number of the entry with each analyst's newest answer, of those that this process has read.
    """

    head: Head = GENESIS
    accounts: Accounts = field(default_factory=dict)
    checkpoint: int = 0
    answered: dict[str | None, int] = field(default_factory=dict)


class Transaction:
    """A transaction in progress: the end of the chain, the accounts at that point, and a way to append entries."""

    def __init__(self, records: Records, position: Position) -> None:
        self.records = records
        self.lifetime: Lifetime | None = None
        self.head = position.head
        self.accounts = dict(position.accounts)
        self.answered = dict(position.answered)
        self._checkpoint = position.checkpoint

    @property
    def position(self) -> Position:
        """Where the transaction stands now."""
        return Position(self.head, self.accounts, self._checkpoint, self.answered)

    def follow(self, anchor: Head) -> None:
        """Read the chain from where it was left to the anchor, by hash: an entry of another branch is not that one."""
        if anchor.sequence < self.head.sequence:
            raise damage_refusal(f"had entry {self.head.sequence}, but its anchor went back to entry {anchor.sequence}")
        if not is_on_chain(self.records, self.head):
            raise damage_refusal(f"lost or changed entry {self.head.sequence}")
        self._read(anchor.sequence)
        if self.head != anchor:
            raise _fork_refusal(self.head, anchor)

    def catch_up(self, anchor: Head) -> None:
        """Read the entries that other processes have written since; refuses unless they lead through the anchor."""
        self.follow(anchor)
        self._read()

    def _read(self, last: int = NO_END) -> None:
        for head, entry in read_entries(self.records, self.head, last):
            self._apply(head, entry)

    def append(self, kind: str, **fields: Any) -> Head:  # noqa: ANN401 - whatever JSON can hold
        """Write one entry at the end of the chain."""
        body = encode_entry(self.head, kind, fields)
        head, entry = decode_entry(self.head, body)
        self.records.add_entry(head.sequence, body, entry)
        self._apply(head, entry)
        return self.head

    def keep_checkpoint(self) -> None:
        """State all accounts in an entry, if that was long ago: the next open reads the chain from there."""
        if self.head.sequence - self._checkpoint >= max(_CHECKPOINT_EVERY, len(self.accounts)):
            self.append("checkpoint", accounts=encode_accounts(self.accounts))

    def _apply(self, head: Head, entry: dict[str, Any]) -> None:
        apply_entry(self.accounts, entry)
        self.head = head
        if entry["kind"] == "checkpoint":
            self._checkpoint = head.sequence
        elif entry["kind"] == "commit":
            self.answered[entry.get("analyst")] = head.sequence


@dataclass(frozen=True)
class Lifetime:
    """The chain of an account that several datasets about the same people pay from, what it calls this one, its name.

    In it the datasets are what analysts are in their own ledgers, and the account of all people is the dataset's.
    """

    chain: Transaction
    dataset: str
    name: str


Work: TypeAlias = Callable[[Transaction], Any]


@dataclass(frozen=True)
class Foreseen:
    """A work, and what it is going to look up."""

    work: Work
    wanted: Wanted

    def __call__(self, transaction: Transaction) -> Any:  # noqa: ANN401 - whatever the work gives
        return self.work(transaction)


class Journal:
    """The store, its anchors, and how far this process has read each chain."""

    def __init__(self, store: RecordStore) -> None:
        self._store = store
        self._positions: list[Position] = []

    def open(self, first: Work) -> None:
        """Read the chain from a checkpoint to its anchor, keeping nobody from writing; then do the first work."""
        self._store.create()
        self._positions = self._read_chains([None] * len(self._store.anchors))
        with self._transaction() as transaction:
            first(transaction)

    def run(self, works: Sequence[Work]) -> list[Any]:
        """Do all works in one durable transaction; a work that was refused gives the error as its outcome.

        Works refuse before they write, so a refused one leaves nothing behind. Any other error undoes them all.
        """
        with self._transaction([work.wanted for work in works if isinstance(work, Foreseen)]) as transaction:
            return [_do(work, transaction) for work in works]

    def maintain(self) -> None:
        """What is due after a transaction, and concerns no caller."""
        self._store.maintain()

    def recover(self, doubtful: bool) -> None:
        """Find out whether the store can be written again; after an error that left doubt, write all of it again first.

        The chain must still go through the last entry that this process knows, and through the anchor.
        """
        if doubtful:
            self._store.reopen()
            self._positions = self._read_chains(self._positions)
            self._store.rewrite()
        with self._transaction() as transaction:
            transaction.records.touch()

    def check_same(self) -> None:
        """Raise an error if something else is in the place of the store that was opened."""
        self._store.check_same()

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()

    def _read_chains(self, starts: Sequence[Position | None]) -> list[Position]:
        """Read on to the anchors in a snapshot, from places that are known or from the newest checkpoints."""
        anchors = [anchor.read() for anchor in self._store.anchors]  # read after the entries they could be ahead
        positions = []
        with self._store.read() as chains:
            for records, start, anchor in zip(chains, starts, anchors, strict=True):
                transaction = Transaction(records, start or Position(_find_start(records, anchor)))
                transaction.follow(anchor)
                positions.append(transaction.position)
        return positions

    @contextmanager
    def _transaction(self, wanted: Sequence[Wanted] = ()) -> Iterator[Transaction]:
        """A transaction that has read the whole chain; once it is durable, the anchor remembers its end.

        Nobody hears of what was granted before the anchor does, and nobody else can move the anchor meanwhile.
        """
        with ExitStack() as held:
            anchored = [held.enter_context(_lock(anchor)) for anchor in self._store.anchors]
            with self._store.write([position.head.sequence for position in self._positions], wanted) as chains:
                parts = [Transaction(*each) for each in zip(chains, self._positions, strict=True)]
                for part, known in zip(parts, anchored, strict=True):
                    part.catch_up(known.head)
                own, *shared = parts
                own.lifetime = Lifetime(shared[0], *self._store.shared) if shared else None
                yield own
                for part in parts:
                    part.keep_checkpoint()
            failpoint("after-commit")
            for part, known in zip(parts, anchored, strict=True):
                if part.head != known.head:
                    known.advance(part.head)
            self._positions = [part.position for part in parts]
        failpoint("after-anchor")


def _lock(anchor: Anchor | MemoryAnchor) -> AbstractContextManager[LockedAnchor | MemoryAnchor]:
    return anchor.lock()


def _do(work: Work, transaction: Transaction) -> Any:  # noqa: ANN401 - whatever the work gives
    try:
        return work(transaction)
    except AdomniaError as error:
        return error
