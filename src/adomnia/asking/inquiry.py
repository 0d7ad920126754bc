"""The one way of a text that is asked: the first gate that has an answer ends it; what passes them all is bought."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from adomnia.asking.batch import bind_question, check_text, plan_text
from adomnia.asking.from_release import answer_from_release
from adomnia.asking.listings import list_catalog
from adomnia.asking.purchase import Outcome, buy
from adomnia.asking.releasing import find_receipt, find_release, list_releases, publish
from adomnia.asking.sizes import size_of_rows
from adomnia.plans.columns import DraftAnswer
from adomnia.plans.public_columns import PublicRows, read_public_columns
from adomnia.pricing.notes import FROM_CATALOG
from adomnia.pricing.payment import check_confidence
from adomnia.pricing.questions import Question
from adomnia.releases.answering import answer_released
from adomnia.releases.page import describe_release
from adomnia.sql.lower import require_plan
from adomnia.sql.reading.parameters import translate_places
from adomnia.sql.reading.released import parse_released
from adomnia.sql.reading.statements import is_listing, may_name_release, read_creation

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import TypeAlias

    from adomnia.asking.asker import Asker
    from adomnia.engines.contract import Progress
    from adomnia.messages.texts import Note
    from adomnia.plans.columns import KeyColumn
    from adomnia.plans.plan import Plan
    from adomnia.pricing.questions import Payment
    from adomnia.releases.model import Release

    Gate: TypeAlias = Callable[["Inquiry"], Outcome | None]


@dataclass(frozen=True)
class Inquiry:
    """A text that is asked, and all that was named beside it; `watch` tells how far the making of a release is."""

    asker: Asker
    text: str
    confidence: float
    payment: Payment
    request_id: str | None
    replay: bool
    allow_uninformative: bool
    from_release: bool
    watch: Callable[[], AbstractContextManager[Progress]]

    @cached_property
    def question(self) -> Question:
        """What is asked, with constants in the places of its parameters."""
        return bind_question(Question(self.text, **self.payment))

    @cached_property
    def plan(self) -> Plan | PublicRows:
        """What it means."""
        return plan_text(self.question, self.asker.dataset.catalog, self.confidence)

    def give_free(self, draft: DraftAnswer) -> Outcome:
        """What cost nothing."""
        return Outcome([draft], None, replayed=False, left=self.asker.left)

    def give_rows(self, columns: tuple[KeyColumn, ...], *notes: Note) -> Outcome:
        """The same of columns that are public."""
        rows = np.arange(len(columns[0].values), dtype=np.intp)
        return self.give_free(DraftAnswer(columns, rows, self.confidence, notes=notes))


def ask(inquiry: Inquiry) -> Outcome:
    """What comes of a text: of the first gate that answers it, or else of its price."""
    check_text(Question(inquiry.text))
    for gate in GATES:
        outcome = gate(inquiry)
        if outcome is not None:
            return outcome
    asker, plan = inquiry.asker, require_plan(inquiry.plan)
    batch = asker.build_batch((inquiry.question,), inquiry.confidence, replay=inquiry.replay)
    return buy(asker, batch, [plan], inquiry.request_id, allow_uninformative=inquiry.allow_uninformative)


def _make_release(inquiry: Inquiry) -> Outcome | None:
    """`CREATE TABLE releases.NAME AS ...` is told of in one row, with the receipt of the dataset."""
    creation, asker = read_creation(inquiry.text), inquiry.asker
    if creation is None:
        return None
    replayed = find_receipt(asker.dataset, creation.name) is not None
    with inquiry.watch() as progress:
        batch = asker.build_batch((Question(creation.question, **inquiry.payment),), inquiry.confidence)
        release = publish(asker.dataset, creation.name, batch, asker.declared, progress)
    told = inquiry.give_rows(describe_release(release))
    return Outcome(told.drafts, find_receipt(asker.dataset, release.name), replayed, told.left)


def _list_public(inquiry: Inquiry) -> Outcome | None:
    """`SHOW TABLES`, `SHOW METHODS` and `DESCRIBE name` are answered from the catalog."""
    if not is_listing(inquiry.text):
        return None
    dataset = inquiry.asker.dataset
    releases = list_releases(dataset, inquiry.asker.name)
    return inquiry.give_rows(list_catalog(inquiry.text, dataset.catalog, releases), FROM_CATALOG)


def _ask_release(inquiry: Inquiry) -> Outcome | None:
    """A question about a release is answered from it: no table of the dataset is read."""
    text = inquiry.question.text
    if not may_name_release(text):
        return None
    check_confidence(inquiry.confidence)

    def find(name: str) -> Release:
        return find_release(inquiry.asker.dataset, name, inquiry.asker.name)

    with translate_places(text):
        select = parse_released(text)
        return None if select is None else inquiry.give_free(answer_released(select, find, inquiry.confidence))


def _read_public(inquiry: Inquiry) -> Outcome | None:
    """Public tables are read as they are: nothing is reserved, and no private table is read."""
    if not isinstance(inquiry.plan, PublicRows):
        return None
    dataset = inquiry.asker.dataset
    columns = read_public_columns(inquiry.plan, dataset.engine, dataset.catalog)
    dataset.admit(size_of_rows(columns))
    return inquiry.give_rows(columns)


def _ask_covering_release(inquiry: Inquiry) -> Outcome | None:
    """A private question that a release is to answer costs nothing either."""
    said, asker = inquiry.question.from_release, inquiry.asker
    if not (inquiry.from_release if said is None else said):
        return None
    batch = asker.build_batch((inquiry.question,), inquiry.confidence)
    draft = answer_from_release(asker.dataset, asker.declared, batch, require_plan(inquiry.plan))
    return inquiry.give_free(draft)


GATES: tuple[Gate, ...] = (_make_release, _list_public, _ask_release, _read_public, _ask_covering_release)
