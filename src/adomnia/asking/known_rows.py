"""How many rows a question is about, as far as its analyst may know: by what was given, a profile, or earlier answers.

All of it is public to whoever asks: they wrote it, it was released with the catalog, or it was released to them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from adomnia.asking.batch import Batch
from adomnia.errors import Failure, Refusal
from adomnia.messages.references import EarlierAnswer
from adomnia.messages.texts import Message
from adomnia.options import CONFIDENCE
from adomnia.plans.columns import ValueColumn
from adomnia.pricing.vacuity import UNKNOWN, KnownRows
from adomnia.privacy.keys import is_open, key_cells
from adomnia.privacy.relations import Named, Private, Select, Where
from adomnia.privacy.scans import Rows
from adomnia.statistics.count import Count
from adomnia.statistics.profile import Contributions
from adomnia.work import allow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adomnia.catalog.model import Catalog
    from adomnia.ledger import Ledger
    from adomnia.ledger.requests import KeptAnswer, Receipt
    from adomnia.plans.columns import DraftAnswer
    from adomnia.plans.plan import Plan
    from adomnia.pricing.questions import Priced
    from adomnia.privacy.keys import Key
    from adomnia.privacy.relations import Relation

MOST_READ = 20  # of an analyst's last answers
_LONGEST = 500  # characters of a question that is looked at again
_MOST_GROUPS = 10_000  # of an answer: memory is counted for larger ones
_MOST_KEPT = 10_000  # analysts

_Rows: TypeAlias = "tuple[Relation, tuple[Key, ...]]"  # what is counted, and in groups of which keys
Recall: TypeAlias = "Callable[[Receipt], DraftAnswer]"  # gives an answer again that was paid for before
Look: TypeAlias = "Callable[[str, Ledger, Catalog, Recall], EarlierAnswers]"  # of an analyst


def find_rows(plan: Plan, priced: Priced, given: int | None, catalog: Catalog) -> KnownRows:
    """The rows of a group: those that were given, or of a profile as many as groups can have on average."""
    if given is not None:
        return KnownRows(given, "as was given")
    table = _table(priced.plan.relation)
    profile = None if table is None else _profile(table, catalog)
    if profile is None or any(map(is_open, plan.keys)):
        return UNKNOWN
    groups = prod(len(key_cells(key)) for key in plan.keys)
    return KnownRows(
        max(1, round(profile / groups)),
        "on average by the profile of its table" if groups > 1 else "by the profile of its table",
    )


def _table(relation: Relation) -> Private | None:
    """The one table whose rows a question is about, filtered or not."""
    while isinstance(relation, Where | Named | Select):
        relation = relation.source
    return relation if isinstance(relation, Private) else None


def _profile(read: Private, catalog: Catalog) -> float | None:
    """The rows of a table that count, of the people who are seen in its profile."""
    table = catalog.table(read.name)
    if table is None or table.profile is None:
        return None
    seen = Contributions.seen(table.profile)
    return seen.rows - float(seen.dropped(np.array([read.rows_per_person]))[0]) if seen.rows else None


@dataclass(frozen=True)
class _Counted:
    """What an answer said: about so many rows, at most, in all its groups together; the number of its entry."""

    number: int
    request_id: str
    rows: float


@dataclass(frozen=True)
class EarlierAnswers:
    """An analyst's last answers: the numbers of their entries, the newest first, and which rows they counted.

    Of those that counted the same relation in groups of the same keys, the newest tells.
    """

    numbers: tuple[int, ...] = ()
    counted: Mapping[_Rows, _Counted] = field(default_factory=dict)

    @property
    def newest(self) -> int:
        """The number of the last one's entry; 0 if there is none."""
        return self.numbers[0] if self.numbers else 0

    def find(self, plan: Plan) -> KnownRows:
        """The rows of a group by the newest answer that tells them: of all rows, or of the table."""
        if any(map(is_open, plan.keys)):
            return UNKNOWN
        about = [plan.relation] if (table := _table(plan.relation)) is None else [plan.relation, table]
        found = [self.counted.get((relation, keys)) for relation in about for keys in ((), plan.keys)]
        newest = max(filter(None, found), key=_number, default=None)
        if newest is None:
            return UNKNOWN
        groups = prod(len(key_cells(key)) for key in plan.keys)
        how = Message("on average by " if groups > 1 else "by ", EarlierAnswer(newest.request_id))
        return KnownRows(max(1, round(newest.rows / groups)), how)

    def followed_by(self, number: int, request_id: str, found: tuple[_Rows, float] | None) -> EarlierAnswers:
        """With one answer more, and without those that are too old by then."""
        numbers = (number, *self.numbers[: MOST_READ - 1])
        counted = dict(self.counted)  # the oldest first
        if found is not None:
            counted.pop(found[0], None)
            counted[found[0]] = _Counted(number, request_id, found[1])
        while counted and next(iter(counted.values())).number < numbers[-1]:
            del counted[next(iter(counted))]
        return EarlierAnswers(numbers, counted)


class EarlierCounts:
    """Numbers of rows that answers have told their analysts, each answer read once.

    What this process has answered is noted by itself. Others may have answered since: `read` finds that, and so does
    the payment for a question that was judged by what it can `remember`, which then is not made.
    """

    def __init__(self) -> None:
        self._known: dict[str, EarlierAnswers] = {}

    def remember(self, analyst: str, ledger: Ledger, catalog: Catalog, recall: Recall) -> EarlierAnswers:
        """What an analyst was told as far as this process knows; it reads the ledger once."""
        return self._known.get(analyst) or self.read(analyst, ledger, catalog, recall)

    def read(self, analyst: str, ledger: Ledger, catalog: Catalog, recall: Recall) -> EarlierAnswers:
        """What an analyst was told by now: what is new in the ledger is read."""
        known = self._known.get(analyst, EarlierAnswers())
        for number, receipt in reversed(ledger.latest_answers(analyst, MOST_READ, known.newest)):
            with allow():  # of few and short questions
                known = known.followed_by(number, receipt.request_id, _read_count(receipt, catalog, recall))
        self._keep(analyst, known)
        return known

    def note(  # noqa: PLR0913, PLR0917 - all that an answer is of
        self, analyst: str, kept: KeptAnswer, receipt: Receipt, batch: Batch, plans: Sequence[Plan], draft: DraftAnswer
    ) -> None:
        """An answer that was just given, unless something before it was not read yet."""
        known = self._known.get(analyst)
        if known is not None and kept.before <= known.newest < kept.number:
            told = _can_count(receipt) and _counts_alone(batch, plans)
            found = _count_rows(plans[0], draft) if told else None
            self._keep(analyst, known.followed_by(kept.number, receipt.request_id, found))

    def _keep(self, analyst: str, known: EarlierAnswers) -> None:
        if len(self._known) >= _MOST_KEPT:
            self._known.clear()
        self._known[analyst] = known


def _number(counted: _Counted) -> int:
    return counted.number


def _read_count(receipt: Receipt, catalog: Catalog, recall: Recall) -> tuple[_Rows, float] | None:
    """What one answer says of the number of rows; None where it was about something else, or means that no more."""
    if not _can_count(receipt):
        return None
    batch = Batch.from_text(receipt.asked)
    try:
        plans = batch.plans(catalog) if len(batch.questions) == 1 else []
        if batch.version != catalog.version or not _counts_alone(batch, plans):
            return None
        return _count_rows(plans[0], recall(receipt))
    except (Refusal, Failure):
        return None


def _can_count(receipt: Receipt) -> bool:
    """Whether a question is short enough to be looked at again, and may count anything."""
    return 0 < len(receipt.asked) <= _LONGEST and "count" in receipt.asked.lower()


def _counts_alone(batch: Batch, plans: Sequence[Plan]) -> bool:
    """Whether one question was asked, whose answer has the number of rows of few groups, and of all there are."""
    if len(batch.questions) > 1 or not plans:
        return False
    (plan,) = plans
    counts = any(_counts_rows(each.source) for each in plan.outputs)
    return counts and _shows_all(plan) and prod(len(key_cells(key)) for key in plan.keys) <= _MOST_GROUPS


def _count_rows(plan: Plan, draft: DraftAnswer) -> tuple[_Rows, float]:
    """The rows that an answer is about, and about how many they are.

    At most so many, as far as noise lets see: what is refused is then surely little.
    """
    name = next(each.name for each in plan.outputs if _counts_rows(each.source))
    column = next(each for each in draft.columns if each.name == name)
    assert isinstance(column, ValueColumn)  # noqa: S101 - it is a statistic's
    return (plan.relation, plan.keys), sum(column.bounds(draft.rows, CONFIDENCE)[1].tolist())


def _shows_all(plan: Plan) -> bool:
    """Whether an answer has every group, and each of them once."""
    return not (plan.choices or plan.sets or plan.offset) and plan.limit is None


def _counts_rows(source: object) -> bool:
    return isinstance(source, Count) and source.query.aggregate == Rows()
