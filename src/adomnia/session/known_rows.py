"""How many rows a question is about, as far as its analyst may know: by what was given, a profile, or earlier answers.

All of it is public to whoever asks: they wrote it, it was released with the catalog, or it was released to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from adomnia.errors import Failure, Refusal
from adomnia.pricing.vacuity import UNKNOWN, KnownRows
from adomnia.privacy.aggregates import Rows
from adomnia.privacy.keys import is_open, key_cells
from adomnia.privacy.relations import Named, Private, Select, Where
from adomnia.session.batch import Batch
from adomnia.session.contract import CONFIDENCE
from adomnia.statistics.count import Count
from adomnia.statistics.profile import Contributions
from adomnia.work import allow

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adomnia.catalog.model import Catalog
    from adomnia.ledger.requests import Receipt
    from adomnia.plans.plan import Plan
    from adomnia.pricing.questions import Priced
    from adomnia.privacy.keys import Key
    from adomnia.privacy.relations import Relation
    from adomnia.session.answer import Answer

MOST_READ = 20  # of an analyst's last answers
_LONGEST = 500  # characters of a question that is looked at again
_MOST_GROUPS = 10_000  # of an answer: memory is counted for larger ones
_MOST_KEPT = 10_000

Recall: TypeAlias = "Callable[[Receipt], Answer]"  # gives an answer again that was paid for before


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
    """What an earlier answer said: about so many rows of a relation, at most, in all groups of its keys together."""

    relation: Relation
    keys: tuple[Key, ...]
    rows: float


class EarlierCounts:
    """Numbers of rows that answers have told their analysts, each answer read once."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, str], _Counted | None] = {}

    def find(self, plan: Plan, receipts: Sequence[Receipt], catalog: Catalog, recall: Recall) -> KnownRows:
        """The rows of a group by the newest of an analyst's answers that tells them: of all rows, or of the table."""
        about = (plan.relation, _table(plan.relation))
        if any(map(is_open, plan.keys)):
            return UNKNOWN
        for receipt in receipts:
            counted = self._counted(receipt, catalog, recall)
            if counted is not None and counted.relation in about and counted.keys in {(), plan.keys}:
                groups = prod(len(key_cells(key)) for key in plan.keys)
                how = f"{'on average ' if groups > 1 else ''}by your answer {receipt.request_id}"
                return KnownRows(max(1, round(counted.rows / groups)), how)
        return UNKNOWN

    def _counted(self, receipt: Receipt, catalog: Catalog, recall: Recall) -> _Counted | None:
        place = (str(receipt.analyst), receipt.request_id)
        if place not in self._read:
            if len(self._read) >= _MOST_KEPT:
                self._read.clear()
            with allow():  # of few and short questions
                self._read[place] = _read_count(receipt, catalog, recall)
        return self._read[place]


def _read_count(receipt: Receipt, catalog: Catalog, recall: Recall) -> _Counted | None:
    """What one answer says of the number of rows; None where it was about something else, or means that no more."""
    if not receipt.asked or len(receipt.asked) > _LONGEST or "count" not in receipt.asked.lower():
        return None
    batch = Batch.from_text(receipt.asked)
    try:
        (plan,) = batch.plans(catalog) if len(batch.questions) == 1 else (None,)
        counts = [] if plan is None else [each.name for each in plan.outputs if _counts_rows(each.source)]
        if plan is None or not counts or batch.version != catalog.version or not _shows_all(plan):
            return None
        if prod(len(key_cells(key)) for key in plan.keys) > _MOST_GROUPS:
            return None
        answer = recall(receipt)
    except (Refusal, Failure):
        return None
    # At most so many, as far as noise lets see: what is refused is then surely little.
    return _Counted(plan.relation, plan.keys, sum(upper for _, upper in answer.interval(counts[0], CONFIDENCE)))


def _shows_all(plan: Plan) -> bool:
    """Whether an answer has every group, and each of them once."""
    return not (plan.choices or plan.sets or plan.offset) and plan.limit is None


def _counts_rows(source: object) -> bool:
    return isinstance(source, Count) and isinstance(source.query.aggregate, Rows)
