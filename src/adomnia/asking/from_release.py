"""Answers to private questions from releases, at no price: which release has the least error, and what is saved."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adomnia.asking.releasing import find_release, list_releases
from adomnia.errors import Refusal
from adomnia.messages.texts import NoteTemplate
from adomnia.plans.columns import ValueColumn
from adomnia.pricing.bills import format_cost
from adomnia.pricing.notes import FREE_RELEASE
from adomnia.pricing.parts import cost
from adomnia.pricing.payment import check_confidence
from adomnia.pricing.policies import check_named
from adomnia.pricing.questions import Question
from adomnia.releases.answering import answer_from_counts
from adomnia.releases.covering import CoveringRelease, NotCoveredError, describe_uncovered
from adomnia.work import spend

if TYPE_CHECKING:
    from adomnia.asking.asker import Dataset
    from adomnia.asking.batch import Batch
    from adomnia.catalog.model import Analyst
    from adomnia.plans.columns import DraftAnswer
    from adomnia.plans.plan import Plan
    from adomnia.pricing.bills import Quote

_MOST_TRIED = 20  # releases; the newest first
_STEPS_OF_A_RELEASE = 200  # to read its question
_SAME_ROWS = NoteTemplate("rows_as_release", "It counts the rows that the release counts: at most {rows} of a person.")
_FRESH = NoteTemplate("fresh_answer_cost", "A fresh answer as exact as this (within {error:.4g}) would cost {cost}.")


@dataclass(frozen=True)
class FreeAnswer:
    """An answer from a release, and how far off it may be: the largest error of all that it says."""

    answer: DraftAnswer
    release: str
    error: float


def answer_from_release(dataset: Dataset, analyst: Analyst, batch: Batch, plan: Plan) -> DraftAnswer:
    """A private question answered from a release, beside the price of a fresh answer of the same error."""
    check_confidence(batch.confidence)
    free = find_free_answer(dataset, analyst.name, plan, batch.confidence)
    with suppress(Refusal):  # some errors cannot be bought, and some policies set the price
        check_named(analyst.policy, named=True)
        fresh = replace(batch, questions=(Question(batch.questions[0].text, error=free.error),))
        paid = format_cost(cost(fresh.price([plan], dataset.catalog)))
        first, *others = free.answer.notes
        return replace(free.answer, notes=(first, _FRESH(error=free.error, cost=paid), *others))
    return free.answer


def tell_free_answer(quote: Quote, dataset: Dataset, analyst: str, batch: Batch) -> Quote:
    """The quote with the release that would answer its one question for nothing, if there is one."""
    if len(batch.questions) > 1 or not list_releases(dataset, analyst):
        return quote
    with suppress(Refusal):
        (plan,) = batch.plans(dataset.catalog)
        free = find_free_answer(dataset, analyst, plan, batch.confidence, most=1)
        return replace(quote, notes=(*quote.notes, FREE_RELEASE(release=free.release, error=free.error)))
    return quote


def find_free_answer(
    dataset: Dataset, analyst: str, plan: Plan, confidence: float, most: int = _MOST_TRIED
) -> FreeAnswer:
    """The most exact answer of `most` releases that have one to a private question; a Refusal says why none has."""
    reasons: dict[str, str] = {}
    found: list[FreeAnswer] = []
    for entry in list(reversed(list_releases(dataset, analyst)))[:_MOST_TRIED]:
        spend(_STEPS_OF_A_RELEASE)
        try:
            translated = CoveringRelease(entry, dataset.catalog).translate(plan)
            release = find_release(dataset, entry.name, analyst)
            answer = answer_from_counts(translated, release, confidence)
        except NotCoveredError as reason:
            reasons[entry.name] = str(reason)
        except Refusal as refusal:
            reasons[entry.name] = f"does not answer it: {refusal.what} {refusal.why}"
        else:
            found.append(FreeAnswer(_tell_rows(answer, plan), entry.name, measure_error(answer)))
        if len(found) == most:
            break
    if not found:
        raise describe_uncovered(reasons)
    return min(found, key=lambda each: each.error)


def measure_error(answer: DraftAnswer) -> float:
    """Half the width of the widest interval of an answer."""
    widths = [0.0]
    for column in answer.columns:
        if isinstance(column, ValueColumn):
            lower, upper = column.estimate.interval(answer.confidence, 1)
            widths.append(float(np.max(np.subtract(upper, lower), initial=0.0)) / 2)
    return max(widths)


def _tell_rows(answer: DraftAnswer, plan: Plan) -> DraftAnswer:
    rows = plan.relation.rows_per_person
    return answer if rows <= 1 else replace(answer, notes=(*answer.notes, _SAME_ROWS(rows=rows)))
