"""Answers that were paid for before: computed again from their measurements, and held to what was answered then."""

from __future__ import annotations

import logging
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from adomnia.asking.sizes import bound_results
from adomnia.asking.stored_answers import StoredResult, describe_form, mark
from adomnia.curator.paying import read_record, replay
from adomnia.errors import Failure, Refusal
from adomnia.messages.texts import NoteTemplate, write
from adomnia.plans.columns import draft_answer
from adomnia.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from adomnia.curator.measurements import Record
    from adomnia.curator.paying import Evaluated, SharedForm
    from adomnia.ledger import StoredAnswer
    from adomnia.plans.columns import DraftAnswer
    from adomnia.pricing.questions import Priced

_OTHER_CODE = NoteTemplate(
    "given_by_other_code",
    "Version {version} of Ad Omnia gave this answer. This installation computes other numbers from the same "
    "measurements, if only in their last digits, so the answer is shown as it was given.",
)
_OTHER_CATALOG = NoteTemplate(
    "given_under_other_catalog",
    "This answer is shown as version {version} of Ad Omnia gave it: the catalog means something else by its question "
    "now.",
)
_log = logging.getLogger("adomnia.session")


def show_answers(
    priced: Sequence[Priced], confidence: float
) -> Callable[[list[Evaluated]], tuple[list[DraftAnswer], list[Any]]]:
    """What makes answers of measurements, and the plain data by which these are kept as they were given."""

    def show(evaluated: list[Evaluated]) -> tuple[list[DraftAnswer], list[Any]]:
        drafts = [_draft(each, confidence) for each in evaluated]
        return drafts, [
            StoredResult.of(draft, describe_form(each.plan), most).to_record()
            for draft, each, most in zip(drafts, priced, bound_results(priced), strict=True)
        ]

    return show


def check_form(shared: SharedForm, find_priced: Callable[[], Sequence[Priced]]) -> None:
    """Refuse another analyst's answer, before it is paid for, that this version might not be able to show.

    An answer of another version is certain to be shown in its own columns and rows alone. Whether this version computes
    the same numbers from its measurements depends on these, so that nobody may learn it who has not paid.
    """
    if shared.layouts is None or shared.version == __version__:
        return
    if shared.layouts != tuple(describe_form(each.plan).layout for each in find_priced()):
        why = f"was answered for another analyst by version {shared.version}, with other columns or rows"
        alone = write("alone with {replay=False}, which is paid for anew")
        fix = "ask without HAVING, ORDER BY, LIMIT and formulas, or " + alone
        raise Refusal("This question", f"{why}; nothing was paid", fix, code="other_version")


def replay_answers(priced: Sequence[Priced], stored: StoredAnswer, confidence: float) -> list[DraftAnswer]:
    """The answers again: as this version computes them if that is what was answered, and else as they were given."""
    record = read_record(stored)
    if record.results is None:  # one of the first records, which hold measurements alone
        drafts = _compute(priced, record, confidence)
        if drafts is None:
            raise Failure(stored.receipt.request_id)
        return drafts
    with _fail_if_damaged(stored):
        kept = list(map(StoredResult.from_record, record.results))
        same = _compute_same(priced, record, kept, confidence)
        if same is not None:
            return same
        shown = [each.show(one.plan, record.version) for each, one in zip(kept, priced, strict=True)]
        return [mark(draft, _OTHER_CODE(version=record.version)) for draft in shown]


def recall_stored(stored: StoredAnswer) -> list[DraftAnswer] | None:
    """The answers as they were given, whatever their questions mean today; None where none were kept.

    Nor is an answer given whose keys were found in the data: the owner may have raised the minimum frequency since. Nor
    one that somebody else paid for first: it is kept as they asked for it, perhaps with other columns and names.
    """
    record = read_record(stored)
    if record.results is None or record.names or stored.receipt.shared:
        return None
    with _fail_if_damaged(stored):
        shown = [StoredResult.from_record(each).show(None, record.version) for each in record.results]
        return [mark(draft, _OTHER_CATALOG(version=record.version)) for draft in shown]


def _compute(priced: Sequence[Priced], record: Record, confidence: float) -> list[DraftAnswer] | None:
    evaluated = replay(priced, record)
    return None if evaluated is None else [_draft(each, confidence) for each in evaluated]


def _draft(evaluated: Evaluated, confidence: float) -> DraftAnswer:
    priced = evaluated.priced
    return draft_answer(priced.plan, evaluated.results, confidence, priced.caps, priced.notes)


def _compute_same(
    priced: Sequence[Priced], record: Record, kept: Sequence[StoredResult], confidence: float
) -> list[DraftAnswer] | None:
    """What this version computes from the measurements; None where that is not what was answered."""
    try:
        drafts = _compute(priced, record, confidence)
        checks = zip(kept, drafts or (), priced, strict=True)
        same = drafts is not None and all(each.agrees(draft, describe_form(one.plan)) for each, draft, one in checks)
    except Exception as fault:  # noqa: BLE001 - whatever this version makes of it, the answer was given
        _log.warning("An answer of version %s cannot be computed again: %s", record.version, type(fault).__name__)
        return None
    return drafts if same else None


@contextmanager
def _fail_if_damaged(stored: StoredAnswer) -> Iterator[None]:
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError, zlib.error):
        raise Failure(stored.receipt.request_id) from None
