"""From a priced question to its noisy measurements: prove, pay, read, keep. Nothing is ever paid back.

A `Kernel` is what that is done with: the data behind its engine, the budgets in their ledger, and random bits.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from adomnia.curator.executor import Executor, Statements, drive
from adomnia.curator.measurements import ChangedRoundError, Record, Replayer
from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.ledger import Hold, Ledger
from adomnia.ledger.requests import UnpaidAnswer
from adomnia.plans.undeclared import resolve_open_keys
from adomnia.pricing.parts import cost, split_price
from adomnia.pricing.questions import list_findings
from adomnia.pricing.quotes import list_measures
from adomnia.work import allow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adomnia.catalog.model import Catalog
    from adomnia.curator.executor import Measurer
    from adomnia.engines.contract import Engine
    from adomnia.ledger import Storage, StoredAnswer
    from adomnia.ledger.requests import Receipt
    from adomnia.noise import Bits
    from adomnia.pricing.questions import Priced
    from adomnia.privacy.events import Event
    from adomnia.privacy.queries import Query
    from adomnia.statistics.contract import Result, Statistic


def at_once(_started: float) -> None:
    """Wait for nothing: whoever asks may see how long an answer took."""


@dataclass(frozen=True)
class Kernel:
    """One dataset, as the kernel sees it.

    `wait` is called with the time at which data began to be read, before the answer is kept or its failure told: a
    server waits there until the edge of a time bucket.
    """

    catalog: Catalog
    engine: Engine
    ledger: Ledger
    bits: Bits
    wait: Callable[[float], None] = at_once


_log = logging.getLogger("adomnia.curator")

_Shown = TypeVar("_Shown")
Show: TypeAlias = "Callable[[list[Evaluated]], tuple[_Shown, list[Any] | None]]"
"""Makes of what was measured what is shown, and the plain data by which that is kept as it was answered, if it is."""


@dataclass(frozen=True)
class PaymentRequest:
    """Who asks, under which request id, what the answer is stored under, the question as it was put, and its size.

    Nobody (None) asks what is published: the dataset alone pays for it. `source` is the key of the debit of somebody
    else whose answer alone is wanted, if it is. `seen` is the analyst's newest answer by which the question was judged.
    """

    analyst: str | None
    request_id: str
    identity: bytes
    asked: str
    storage: Storage | None = None
    source: str = ""
    seen: int | None = None


@dataclass(frozen=True)
class Reservation:
    """A question that is paid for, and may now be measured once."""

    hold: Hold
    priced: Sequence[Priced]
    statements: Statements


@dataclass(frozen=True)
class SharedForm:
    """All that may be known of another analyst's answer before it is paid for; nothing of it depends on its numbers.

    Which version of the program gave it, the hashes of its columns and of which rows it shows, one for each question
    (None for the first records, which hold measurements alone), and what it cost.
    """

    version: str
    layouts: tuple[str, ...] | None
    event: Event


@dataclass(frozen=True)
class Evaluated:
    """A question whose keys are known, and the results of its statistics."""

    priced: Priced
    results: Mapping[Statistic, Result]


def pay(
    kernel: Kernel, request: PaymentRequest, priced: Sequence[Priced], check: Callable[[SharedForm], None] | None = None
) -> Reservation | StoredAnswer:
    """Debit whoever pays, once the second look has proved what will run; or the answer that was paid for before.

    `check` refuses another analyst's answer that might not be shown as it is asked for, while nothing is paid for it.
    """
    statements = prove(kernel, priced)
    paid = reserve(kernel, request, cost(priced), check)
    return Reservation(paid, priced, statements) if isinstance(paid, Hold) else paid


def reserve(
    kernel: Kernel, request: PaymentRequest, event: Event, check: Callable[[SharedForm], None] | None = None
) -> Hold | StoredAnswer:
    """Debit whoever pays; or the answer that was paid for before."""
    if not kernel.engine.is_reachable():  # what fails after the debit is paid for, whatever the reason
        fix = "ask again in a moment; nothing was paid"
        raise Unavailable("The database of the index", "cannot be reached", fix)
    debit = partial(
        kernel.ledger.reserve,
        request.analyst,
        request.request_id,
        request.identity,
        event,
        asked=request.asked,
        storage=request.storage,
        seen=request.seen,
    )
    paid = debit(source=request.source, check_first=check is not None)
    if check is not None and isinstance(paid, UnpaidAnswer):
        check(_describe_form(paid, request.request_id))  # outside of the transaction, which others wait for
        paid = debit(source=paid.receipt.key)
    assert not isinstance(paid, UnpaidAnswer)  # noqa: S101 - nobody else is given one
    return paid


def _describe_form(unpaid: UnpaidAnswer, request_id: str) -> SharedForm:
    """Leave out of an answer what depends on its numbers, such as whether it was too large to be kept."""
    try:
        record = Record.from_bytes(unpaid.payload)
        layouts = None if record.results is None else tuple(each["layout"] for each in record.results)
    except (LookupError, TypeError, ValueError):
        raise Failure(request_id) from None
    return SharedForm(record.version, layouts, unpaid.receipt.event)


def measure(kernel: Kernel, paid: Reservation, show: Show[_Shown]) -> tuple[_Shown, Receipt]:
    """What is shown of what was measured, once both are kept."""

    def work() -> tuple[_Shown, Record]:
        executor = Executor(kernel.engine, paid.statements, paid.hold.event, kernel.bits)
        shown, results = show(evaluate(paid.priced, executor))
        return shown, replace(executor.record, results=results)

    return keep(kernel, paid.hold, work)


def keep(kernel: Kernel, hold: Hold, work: Callable[[], tuple[_Shown, Record]]) -> tuple[_Shown, Receipt]:
    """What work that is paid for gives, once its record is kept.

    A Failure where anything went wrong: what did may depend on data.
    """
    request, started = hold.receipt.request_id, monotonic()
    with allow():  # what is paid for is measured to its end
        released, receipt = _try(request, work), None
    kernel.wait(started)  # before the answer is kept: once it is, anybody who asks again sees that it ended
    try:
        receipt = None if released is None else hold.commit(released[1].to_bytes())
    except Exception as fault:  # noqa: BLE001 - see _try
        _log.error("Request %s was not committed: %s", request, type(fault).__name__)
    if released is None or receipt is None:
        # Outside of every except block: a cause would travel with it, and causes may quote data.
        raise Failure(request)
    return released[0], receipt


def _try(request: str, work: Callable[[], _Shown]) -> _Shown | None:
    try:
        return work()
    except Exception as fault:  # noqa: BLE001 - whatever it is, only the operator's log hears its name
        _log.error("Request %s failed: %s", request, type(fault).__name__)
        return None


def read_record(stored: StoredAnswer) -> Record:
    """The record of an answer; a Failure where it is none."""
    try:
        return Record.from_bytes(stored.payload)
    except (LookupError, TypeError, ValueError):
        raise Failure(stored.receipt.request_id) from None


def replay(priced: Sequence[Priced], record: Record) -> list[Evaluated] | None:
    """What was measured before, from its record; None where these are other measurements than the recorded ones."""
    replayer = Replayer(record)
    try:
        found = evaluate(priced, replayer)
        replayer.finish()
    except (ChangedRoundError, LookupError, ValueError):
        return None
    return found


def prove(kernel: Kernel, priced: Sequence[Priced]) -> Statements:
    """The second look, taken before anything is paid: what it cannot prove is refused, not charged."""
    wanted = [measure.query for each in priced for measure in list_measures(each.plan, each.price)]
    return prove_queries(kernel, [*wanted, *(finding.query for finding in list_findings(priced))])


def prove_queries(kernel: Kernel, queries: Sequence[Query]) -> Statements:
    """The same for queries that are not of a question."""
    statements = Statements(kernel.engine, kernel.catalog)
    try:
        statements.of(queries)
    except (ValueError, Failure):
        why = "cannot be proved private by a second look at it"
        fix = "use smaller constants or a simpler expression"
        raise Refusal("The question", why, fix, code="not_proved") from None
    return statements


def evaluate(priced: Sequence[Priced], measurer: Measurer) -> list[Evaluated]:
    """The questions, once the values of their open keys are found, and their results, measured in lock-step."""
    named = {finding: measurer.find(finding) for finding in list_findings(priced)}
    known = [
        each if each.finding is None else replace(each, plan=resolve_open_keys(each.plan, named[each.finding]))
        for each in priced
    ]
    values = iter(drive([pair for each in known for pair in split_price(each.plan, each.price)], measurer))
    return [Evaluated(each, {statistic: next(values) for statistic in each.plan.statistics}) for each in known]
