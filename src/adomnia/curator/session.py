"""A session: one analyst's questions, from text to answer. Pay, then read, never refund."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Unpack

import numpy as np

from adomnia.curator.answer import Answer
from adomnia.curator.columns import answer_columns
from adomnia.curator.executor import Executor, Statements, estimates
from adomnia.curator.explanation import explanation
from adomnia.curator.measurements import Record, Replay
from adomnia.curator.public import public_columns
from adomnia.curator.table import PrivateTable, private_table
from adomnia.errors import Failure, Refusal
from adomnia.ledger import Hold
from adomnia.noise import SystemBits
from adomnia.sql.effort import usual
from adomnia.sql.explained import explained, is_explain, without_explain
from adomnia.sql.finish import finished
from adomnia.sql.lower import priced, understood
from adomnia.sql.parse import parsed
from adomnia.sql.parts import identity, shares
from adomnia.sql.payment import Payment, Question, check_confidence, is_free, paid_batch, paid_for, unpriced
from adomnia.sql.price import Quote, bill, measures
from adomnia.sql.public import PublicRows
from adomnia.sql.undeclared import cost, findings, resolved

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from adomnia.catalog.model import Catalog
    from adomnia.curator.curator import Curator
    from adomnia.curator.executor import Measurer
    from adomnia.curator.explanation import Explanation
    from adomnia.ledger.requests import Receipt
    from adomnia.privacy.filters import Filter, Left
    from adomnia.sql.payment import Priced
    from adomnia.sql.plan import Plan
    from adomnia.sql.undeclared import Values
    from adomnia.statistics.contract import Estimate, Statistic

CONFIDENCE = 0.95

_log = logging.getLogger("adomnia.curator")


@dataclass(frozen=True)
class Budgets:
    """What an analyst has left, and what the dataset has left for everybody."""

    personal: Filter
    dataset: Filter


class Session:
    """Everything one analyst may do."""

    def __init__(self, curator: Curator, analyst: str) -> None:
        self._curator, self.analyst = curator, analyst

    def sql(
        self,
        text: str,
        *,
        confidence: float = CONFIDENCE,
        request_id: str | None = None,
        replay: bool = True,
        **payment: Unpack[Payment],
    ) -> Answer:
        """The answer to a question. An equal question at the same price gets the same answer, free, if `replay`.

        `EXPLAIN SELECT ...` is answered with the explanation, and costs nothing.
        """
        if isinstance(text, str) and is_explain(text):
            return self.explain(text, confidence=confidence, **payment)
        question = Question(text, **payment)
        meaning = _meaning(question, self._curator.catalog, confidence)
        if isinstance(meaning, PublicRows):
            return self._public(meaning, confidence)
        asked = paid_for(question, meaning, self._curator.catalog, confidence)
        return self._asked([asked], confidence, request_id, replay)[0]

    def batch(
        self,
        questions: Iterable[Question | str],
        *,
        confidence: float = CONFIDENCE,
        request_id: str | None = None,
        **payment: Unpack[Payment],
    ) -> list[Answer]:
        """Several questions paid for at once: one reserve, one look at the data; one refusal refuses all.

        Each names its price, or one price is split over all that they measure. What is equal is paid once.
        """
        return self._asked(self._batch(questions, confidence, payment), confidence, request_id, replay=True)

    def price(
        self,
        text: str | Iterable[Question | str],
        *,
        confidence: float = CONFIDENCE,
        together: bool = False,
        **payment: Unpack[Payment],
    ) -> Quote:
        """What a question or a batch would cost, and how far off its answers may be; nothing is read or spent.

        `together`: errors that are kept in all groups at once.
        """
        questions, common = ([Question(text, **payment)], Payment()) if isinstance(text, str) else (text, payment)
        asked = self._batch(questions, confidence, common)
        self._proved(asked)
        return bill(asked, confidence, together, payment.get("rows"))

    def explain(self, text: str, *, confidence: float = CONFIDENCE, **payment: Unpack[Payment]) -> Explanation:
        """What a question means and measures, and if a price is named what it buys; nothing is read or spent."""
        question = Question(without_explain(text), **payment)
        meaning = _meaning(question, self._curator.catalog, confidence)
        if isinstance(meaning, PublicRows):
            tree = explained(meaning)
        elif is_free(question):
            tree = explained(unpriced(question, meaning))
        else:
            asked = paid_for(question, meaning, self._curator.catalog, confidence)
            self._proved([asked])
            tree = explained(usual(asked.plan), bill([asked], confidence, False, question.rows))
        return explanation(tree, confidence, self._curator.ledger.left(self.analyst))

    def table(self, name: str) -> PrivateTable:
        """The rows of a table or view, to filter, join and ask about in Python."""
        return private_table(self, name)

    def budget(self) -> Budgets:
        """What is left."""
        ledger = self._curator.ledger
        return Budgets(ledger.account(self.analyst), ledger.account())

    def catalog(self) -> Catalog:
        """What may be asked about: all of it is public."""
        return self._curator.catalog

    def answers(self) -> list[Receipt]:
        """The receipts of everything this analyst has paid for and got, oldest first."""
        return [replay.receipt for replay in self._curator.ledger.answers(self.analyst)]

    def mock(self) -> Session:
        """The same session on made-up rows, to try questions out: nothing is read and nothing is spent."""
        return self._curator.mock().session(self.analyst)

    def _public(self, meaning: PublicRows, confidence: float) -> Answer:
        """Public rows: nothing is reserved, and no private table is read."""
        columns = public_columns(meaning, self._curator.engine, self._curator.catalog)
        rows = np.arange(len(columns[0].values), dtype=np.intp)
        return Answer(columns, rows, confidence, None, False, self._curator.ledger.left(self.analyst))

    def _batch(self, questions: Iterable[Question | str], confidence: float, payment: Payment) -> list[Priced]:
        asked = [Question(each) if isinstance(each, str) else each for each in questions]
        plans = [priced(_meaning(each, self._curator.catalog, confidence)) for each in asked]
        return paid_batch(asked, plans, payment, self._curator.catalog, confidence)

    def _asked(self, priced: Sequence[Priced], confidence: float, request_id: str | None, replay: bool) -> list[Answer]:
        if not priced:
            raise Refusal("The batch", "is empty", "put at least one question into it", code="empty")
        request = SystemBits().words(2).tobytes().hex() if request_id is None else request_id
        identity = _identity(priced, self._curator.catalog.version, None if replay else request)
        with self._curator.ledger.turn(identity):
            record, receipt, replayed = self._measured(priced, request, identity)
        left = self._curator.ledger.left(self.analyst)
        again = Replay(record)
        priced = _resolved(priced, again)
        found = _estimated(priced, again)
        paid = (receipt, replayed, left)
        return [
            replace(_answer(each.plan, one, confidence, paid), caps=each.caps)
            for each, one in zip(priced, found, strict=True)
        ]

    def _measured(self, priced: Sequence[Priced], request: str, identity: bytes) -> tuple[Record, Receipt, bool]:
        curator, statements = self._curator, self._proved(priced)
        paid = curator.ledger.reserve(self.analyst, request, identity, cost(priced))
        if not isinstance(paid, Hold):
            return Record.from_bytes(paid.payload), paid.receipt, True
        record = self._released(priced, paid, statements)
        try:
            receipt = None if record is None else paid.commit(record.to_bytes())
        except Exception as fault:  # noqa: BLE001 - see _released
            _log.error("Request %s was not committed: %s", request, type(fault).__name__)
            receipt = None
        if record is None or receipt is None:
            # Outside of every except block: a cause would travel with it, and causes may quote data.
            raise Failure(request)
        return record, receipt, False

    def _proved(self, priced: Sequence[Priced]) -> Statements:
        """The second look, taken before anything is paid: what it cannot prove is refused, not charged."""
        statements = Statements(self._curator.engine, self._curator.catalog)
        wanted = [measure.query for each in priced for measure in measures(each.plan, each.price)]
        wanted += [finding.query for finding in findings(priced)]
        try:
            statements.of(wanted)
        except (ValueError, Failure):
            why = "cannot be proved private by a second look at it"
            fix = "use smaller constants or a simpler expression"
            raise Refusal("The question", why, fix, code="not_proved") from None
        return statements

    def _released(self, priced: Sequence[Priced], paid: Hold, statements: Statements) -> Record | None:
        """The noisy measurements, or None where anything went wrong: what did may depend on the data."""
        executor = Executor(self._curator.engine, statements, paid.event, self._curator.bits)
        try:
            _estimated(_resolved(priced, executor), executor)
        except Exception as fault:  # noqa: BLE001 - whatever it is, only the operator's log hears its name
            _log.error("Request %s failed: %s", paid.receipt.request_id, type(fault).__name__)
            return None
        return executor.record


def _meaning(question: Question, catalog: Catalog, confidence: float) -> Plan | PublicRows:
    if not isinstance(question, Question) or not isinstance(question.text, str):
        raise TypeError(f"Session takes questions as text, got {type(getattr(question, 'text', question)).__name__}.")
    check_confidence(confidence)
    return understood(parsed(question.text), catalog, finds=question.delta is not None, confidence=confidence)


def _identity(priced: Sequence[Priced], version: int, fresh: str | None) -> bytes:
    """What an answer is stored under. A question that must be measured afresh is stored under its own request."""
    identities = [identity(each.plan, each.price, version) for each in priced]
    if len(identities) == 1 and fresh is None:
        return identities[0]
    tag = b"batch" if fresh is None else b"fresh" + sha256(fresh.encode(errors="replace")).digest()
    return sha256(tag + b"".join(identities)).digest()


def _resolved(priced: Sequence[Priced], measurer: Measurer) -> list[Priced]:
    """The questions once the values of their open keys are found."""
    named = {finding: measurer.find(finding) for finding in findings(priced)}
    return [each if each.finding is None else _with(each, named[each.finding]) for each in priced]


def _with(asked: Priced, named: tuple[Values, ...]) -> Priced:
    return replace(asked, plan=resolved(asked.plan, named))


def _estimated(priced: Sequence[Priced], measurer: Measurer) -> list[dict[Statistic, Estimate]]:
    """The estimates of every question, all measured in lock-step."""
    found = iter(estimates([pair for each in priced for pair in shares(each.plan, each.price)], measurer))
    return [{statistic: next(found) for statistic in each.plan.statistics} for each in priced]


def _answer(
    plan: Plan, found: dict[Statistic, Estimate], confidence: float, paid: tuple[Receipt, bool, Left]
) -> Answer:
    answer = Answer(answer_columns(plan, found), finished(plan, found), confidence, *paid)
    # What was not named was measured all the same, if only beside what was; of nothing, the made-up value has a type.
    return answer if plan.named is None else answer.only(plan.named or (0,))
