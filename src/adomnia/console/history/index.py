"""What analysts have paid for, kept in memory: read from the ledger once, then only what is new.

Answers come from a session oldest first, page by page. So many are read in one visit; the next goes on from there.
Only the newest are kept of very many.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.wire.amounts import count_cost
from adomnia.work import spend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request

    from adomnia.privacy.filters import Spent
    from adomnia.session.accounts import Past
    from adomnia.session.contract import Session

_PAGES_OF_A_VISIT = 12  # of a thousand answers, or of eight million bytes: within the steps of a free request
_OVERHEAD = 500  # bytes of an answer beside its question
_CHARACTERS_OF_A_STEP = 5000  # of questions, to be searched
MOST_OF_ONE = 20_000_000  # bytes that one analyst's questions may fill
MOST_OF_ALL = 100_000_000


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """Something that was paid for and answered: `texts` are its questions, `cost` is in whole units.

    `asked` is all that was named beside the questions, as the ledger keeps it.
    """

    request_id: str
    texts: tuple[str, ...]
    version: int
    at: str
    cost: Spent
    asked: str

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return _OVERHEAD + len(self.asked) + sum(map(len, self.texts))

    def has(self, words: Sequence[str]) -> bool:
        """Whether all words, which are in lower case, stand somewhere in the questions or the request id."""
        whole = "\n".join((*self.texts, self.request_id)).casefold()
        return all(word in whole for word in words)


class History:
    """The answers of one analyst, as far as they were read."""

    def __init__(self) -> None:
        self.forgotten = 0  # of the oldest, because there are too many
        self.complete = False
        self.size = 0
        self._kept: deque[PastQuestion] = deque()
        self._lock = Lock()

    def extend(self, session: Session) -> None:
        """Read what has come since, or as much of it as one visit may."""
        with self._lock:
            self.complete = any(self._read_page(session) for _ in range(_PAGES_OF_A_VISIT))

    def newest_first(self) -> list[PastQuestion]:
        """All that are kept."""
        with self._lock:
            return list(reversed(self._kept))

    def search(self, text: str) -> list[PastQuestion]:
        """Those with all words of a text, newest first."""
        words, kept = text.casefold().split(), self.newest_first()
        if not words:
            return kept
        spend(len(kept) + self.size * len(words) // _CHARACTERS_OF_A_STEP)
        return [past for past in kept if past.has(words)]

    def _read_page(self, session: Session) -> bool:
        """Read one page more; whether it was the last, which is empty."""
        try:
            page = session.answers(after=self._kept[-1].request_id if self._kept else None)
        except Refusal as refusal:
            if refusal.code != "unknown_answer":
                raise
            self._forget_all()  # an older ledger was put in the place of the one that was read
            return False
        for past in page:
            self._keep(_read(past))
        return not page

    def _keep(self, past: PastQuestion) -> None:
        self._kept.append(past)
        self.size += past.size
        while self.size > MOST_OF_ONE and len(self._kept) > 1:
            self.size -= self._kept.popleft().size
            self.forgotten += 1

    def _forget_all(self) -> None:
        self._kept.clear()
        self.size = self.forgotten = 0


class Histories:
    """The histories of those who looked at theirs last, in the memory of one process."""

    def __init__(self) -> None:
        self._of: OrderedDict[str, History] = OrderedDict()
        self._lock = Lock()

    def read(self, session: Session) -> History:
        """The history of a session's analyst, with what is new."""
        with self._lock:
            history = self._of.setdefault(session.analyst, History())
            self._of.move_to_end(session.analyst)
        history.extend(session)
        self._make_room()
        return history

    def _make_room(self) -> None:
        with self._lock:
            while len(self._of) > 1 and sum(each.size for each in self._of.values()) > MOST_OF_ALL:
                self._of.popitem(last=False)


def histories_of(request: Request) -> Histories:
    """The histories that this process keeps."""
    kept: Histories = request.app.state.histories
    return kept


def _read(past: Past) -> PastQuestion:
    receipt = past.receipt
    paid = count_cost(receipt.event)
    return PastQuestion(past.request_id, past.questions, past.version, receipt.at, paid, receipt.asked)
