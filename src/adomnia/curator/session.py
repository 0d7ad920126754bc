"""A session: one analyst's questions, from text to answer. Pay, then read, never refund."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from adomnia.curator.answer import Answer
from adomnia.curator.columns import KeyColumn, ValueColumn
from adomnia.curator.executor import Executor, Statements, estimates
from adomnia.curator.measurements import Record, Replay
from adomnia.curator.public import public_columns
from adomnia.curator.table import PrivateTable, private_table
from adomnia.errors import Failure, Refusal
from adomnia.ledger import Hold
from adomnia.noise import SystemBits
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.queries import key_values
from adomnia.sql.finish import finished
from adomnia.sql.formulas import estimated
from adomnia.sql.lower import priced, understood
from adomnia.sql.parse import parsed
from adomnia.sql.price import Quote, event, measures, price_for_error, quote, shares
from adomnia.sql.public import PublicRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from adomnia.catalog.model import Catalog
    from adomnia.curator.curator import Curator
    from adomnia.curator.executor import Measurer
    from adomnia.ledger.requests import Receipt
    from adomnia.privacy.amounts import Number
    from adomnia.privacy.events import Event, Price
    from adomnia.privacy.filters import Filter, Left
    from adomnia.sql.plan import Plan
    from adomnia.statistics.contract import Estimate, Statistic

CONFIDENCE = 0.95

_log = logging.getLogger("adomnia.curator")


@dataclass(frozen=True)
class Question:
    """A text and what to pay for it: epsilon, rho, or the error that the answer may have."""

    text: str
    epsilon: Number | None = None
    rho: Number | None = None
    error: float | None = None


@dataclass(frozen=True)
class _Priced:
    plan: Plan
    price: Price

    def event(self) -> Event:
        return event(self.plan, self.price)


@dataclass(frozen=True)
class Budgets:
    """What an analyst has left, and what the dataset has left for everybody."""

    personal: Filter
    dataset: Filter


class Session:
    """Everything one analyst may do."""

    def __init__(self, curator: Curator, analyst: str) -> None:
        self._curator, self.analyst = curator, analyst

    def sql(  # noqa: PLR0913 - the public face
        self,
        text: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        error: float | None = None,
        confidence: float = CONFIDENCE,
        request_id: str | None = None,
        replay: bool = True,
    ) -> Answer:
        """The answer to a question. An equal question at the same price gets the same answer, free, if `replay`."""
        question = Question(text, epsilon, rho, error)
        meaning = _meaning(question, self._curator.catalog)
        if isinstance(meaning, PublicRows):
            return self._public(meaning, confidence)
        return self._asked([self._priced(question, meaning, confidence)], confidence, request_id, replay)[0]

    def batch(
        self, questions: Iterable[Question], *, confidence: float = CONFIDENCE, request_id: str | None = None
    ) -> list[Answer]:
        """Several questions paid for at once: one reserve, one look at the data; one refusal refuses all."""
        asked = [(question, priced(_meaning(question, self._curator.catalog))) for question in questions]
        return self._asked([self._priced(*each, confidence) for each in asked], confidence, request_id, replay=True)

    def price(
        self,
        text: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        error: float | None = None,
        confidence: float = CONFIDENCE,
    ) -> Quote:
        """What a question would cost and how far off its answer may be; no data is read and nothing is spent."""
        question = Question(text, epsilon, rho, error)
        asked = self._priced(question, priced(_meaning(question, self._curator.catalog)), confidence)
        self._proved([asked])
        return quote(asked.plan, asked.price, confidence)

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

    def _priced(self, question: Question, plan: Plan, confidence: float) -> _Priced:
        if not 0 < confidence < 1:
            raise Refusal(f"Confidence {confidence}", "is not between 0 and 1", "write 0.95 for 95%", code="confidence")
        match question:
            case Question(epsilon=amount, rho=None, error=None) if amount is not None:
                return _Priced(plan, _price(Pure, amount))
            case Question(epsilon=None, rho=amount, error=None) if amount is not None:
                return _Priced(plan, _price(Concentrated, amount))
            case Question(epsilon=None, rho=None, error=amount) if amount is not None:
                return _Priced(plan, price_for_error(plan, amount, confidence))
        why, fix = "needs exactly one price", "pay with one of epsilon=, rho= or error="
        raise Refusal("The question", why, fix, code="bad_price")

    def _asked(
        self, priced: Sequence[_Priced], confidence: float, request_id: str | None, replay: bool
    ) -> list[Answer]:
        if not priced:
            raise Refusal("The batch", "is empty", "put at least one question into it", code="empty")
        request = SystemBits().words(2).tobytes().hex() if request_id is None else request_id
        identity = _identity(priced, self._curator.catalog.version, None if replay else request)
        with self._curator.ledger.turn(identity):
            record, receipt, replayed = self._measured(priced, request, identity)
        left = self._curator.ledger.left(self.analyst)
        found = _estimated(priced, Replay(record))
        paid = (receipt, replayed, left)
        return [_answer(each.plan, one, confidence, paid) for each, one in zip(priced, found, strict=True)]

    def _measured(self, priced: Sequence[_Priced], request: str, identity: bytes) -> tuple[Record, Receipt, bool]:
        curator, statements = self._curator, self._proved(priced)
        cost = Composed(each.event() for each in priced)
        paid = curator.ledger.reserve(self.analyst, request, identity, cost)
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

    def _proved(self, priced: Sequence[_Priced]) -> Statements:
        """The second look, taken before anything is paid: what it cannot prove is refused, not charged."""
        statements = Statements(self._curator.engine, self._curator.catalog)
        wanted = [measure.query for each in priced for measure in measures(each.plan, each.price)]
        try:
            statements.of(wanted)
        except (ValueError, Failure):
            why = "cannot be proved private by a second look at it"
            fix = "use smaller constants or a simpler expression"
            raise Refusal("The question", why, fix, code="not_proved") from None
        return statements

    def _released(self, priced: Sequence[_Priced], paid: Hold, statements: Statements) -> Record | None:
        """The noisy measurements, or None where anything went wrong: what did may depend on the data."""
        executor = Executor(self._curator.engine, statements, paid.event, self._curator.bits)
        try:
            _estimated(priced, executor)
        except Exception as fault:  # noqa: BLE001 - whatever it is, only the operator's log hears its name
            _log.error("Request %s failed: %s", paid.receipt.request_id, type(fault).__name__)
            return None
        return executor.record


def _meaning(question: Question, catalog: Catalog) -> Plan | PublicRows:
    if not isinstance(question, Question) or not isinstance(question.text, str):
        raise TypeError(f"Session takes questions as text, got {type(getattr(question, 'text', question)).__name__}.")
    return understood(parsed(question.text), catalog)


def _price(kind: type[Pure | Concentrated], amount: Number | None) -> Price:
    try:
        return kind(amount)  # type: ignore[arg-type]  # None was ruled out by the caller
    except ValueError as error:
        raise Refusal(
            "The price", str(error).rstrip("."), "name a positive number, such as 0.5", code="price"
        ) from None


def _identity(priced: Sequence[_Priced], version: int, fresh: str | None) -> bytes:
    """What an answer is stored under. A question that must be measured afresh is stored under its own request."""
    identities = [each.plan.identity(each.price, version) for each in priced]
    if len(identities) == 1 and fresh is None:
        return identities[0]
    tag = b"batch" if fresh is None else b"fresh" + sha256(fresh.encode(errors="replace")).digest()
    return sha256(tag + b"".join(identities)).digest()


def _estimated(priced: Sequence[_Priced], measurer: Measurer) -> list[dict[Statistic, Estimate]]:
    """The estimates of every question, all measured in lock-step."""
    asked = [shares(each.plan, each.price) for each in priced]
    found = iter(estimates([pair for pairs in asked for pair in pairs], measurer))
    return [{statistic: next(found) for statistic, _ in pairs} for pairs in asked]


def _answer(
    plan: Plan, found: dict[Statistic, Estimate], confidence: float, paid: tuple[Receipt, bool, Left]
) -> Answer:
    columns: list[KeyColumn | ValueColumn] = []
    for output in plan.outputs:
        if isinstance(output.source, Column):
            columns.append(KeyColumn(output.name, _cells(plan, output.source)))
        else:
            columns.append(ValueColumn(output.name, estimated(output.source, found)))
    return Answer(tuple(columns), finished(plan, found), confidence, *paid)


def _cells(plan: Plan, key: Column) -> tuple[str | bool, ...]:
    """The value of a key in each cell, cells counted with the last key fastest."""
    values = [key_values(each) for each in plan.keys]
    place = plan.keys.index(key)
    return tuple(cell[place] for cell in product(*values))
