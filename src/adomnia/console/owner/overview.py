"""The first page of owners and auditors: what was given out, to whom, and whether all is well."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import RedirectResponse, Response

from adomnia.accounting.meaning import posterior
from adomnia.api.access import Role
from adomnia.api.actions.accounts import list_coalitions
from adomnia.api.actions.ledger_pages import check_chain, find_trouble
from adomnia.api.ledger_view import verify_ledger
from adomnia.api.requests import read_dataset
from adomnia.console.forms import read_form
from adomnia.console.frame import show
from adomnia.console.owner.accounts import list_rows
from adomnia.console.owner.meaning import PRIOR, ChanceMeaning, explain_amounts
from adomnia.console.rendering import Page, show_count, show_time
from adomnia.errors import Refusal, Unavailable
from adomnia.explaining.promises import format_probability, list_sizes
from adomnia.explaining.refusal_reasons import REASONS, RefusalReason
from adomnia.privacy.amounts import show_down, show_up

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.api.requests import Visit
    from adomnia.api.running.metrics import QuestionCounts
    from adomnia.catalog.model import Catalog
    from adomnia.explaining.promises import Coalition


_BACK = frozenset({"/owner", "/owner/ledger"})


async def overview(request: Request) -> Response:
    """Ledger, workers, catalog, questions; budgets, refusals, coalitions."""
    return await show(request, _read)


async def verify(request: Request) -> Response:
    """Redo every hash, admission and total of the ledger, and go back to the page that asked for it."""
    form = await read_form(request)
    await read_dataset(request, None, verify_ledger)
    back = form.get("back", "")
    return RedirectResponse(back if back in _BACK else "/owner", 303)


def _read(visit: Visit) -> Page:
    counts, accounts, collusion = visit.services.metrics.read_questions(), None, None
    with suppress(Refusal, Unavailable):  # of a ledger that cannot be used: its sign says why
        accounts, collusion = list_rows(visit), report_collusion(visit)
    filling = {
        "signs": list_signs(visit, counts),
        "accounts": accounts,
        "refusals": report_refusals(counts.refusals),
        "collusion": collusion,
    }
    return Page("owner_overview.html", filling)


_MOST_BARS = 8


@dataclass(frozen=True)
class RefusalBar:
    """A reason, how often it was told, the codes it was told with, and the length of its bar."""

    says: str
    count: int
    codes: str
    share: float


@dataclass(frozen=True)
class RefusalReport:
    """All refusals: the most frequent reasons as bars, how many are beyond them, and advice about the first."""

    total: int
    bars: tuple[RefusalBar, ...]
    beyond: int
    advice: RefusalReason | None


def report_refusals(by_code: Mapping[str, int]) -> RefusalReport:
    """Put codes of one reason together, the most frequent reason first."""
    counts: Counter[RefusalReason] = Counter()
    codes: dict[RefusalReason, list[str]] = {}
    for code, count in by_code.items():
        counts[REASONS[code]] += count
        codes.setdefault(REASONS[code], []).append(code)
    listed = counts.most_common(_MOST_BARS)
    bars = tuple(
        RefusalBar(reason.says, count, ", ".join(codes[reason]), count / listed[0][1]) for reason, count in listed
    )
    beyond = counts.total() - sum(bar.count for bar in bars)
    return RefusalReport(counts.total(), bars, beyond, listed[0][0] if listed else None)


@dataclass(frozen=True)
class CoalitionRow:
    """The most that so many analysts can spend together, and what a guess of 1 in 100 can become by it."""

    who: str
    epsilon: str
    delta: str
    share: float
    chance: str


@dataclass(frozen=True)
class Collusion:
    """The report: coalitions by size, whether budgets fit into the dataset's, and what the largest means."""

    rows: tuple[CoalitionRow, ...]
    whole: str
    verdict: str
    warning: bool
    meaning: ChanceMeaning


def report_collusion(visit: Visit) -> Collusion:
    """Report on the budgets as they are now, top-ups included."""
    found, verdict, catalog = list_coalitions(visit)
    listed = [one for one in found if one.size in list_sizes(len(found))]
    most = found[-1]
    return Collusion(
        tuple(_describe(one, len(found), catalog) for one in listed),
        show_down(catalog.budget.epsilon),
        verdict.says,
        verdict.warning,
        explain_amounts(most.epsilon, most.delta),
    )


def _describe(one: Coalition, number: int, catalog: Catalog) -> CoalitionRow:
    return CoalitionRow(
        _name(one.size, number),
        show_up(one.epsilon),
        show_up(one.delta) if one.delta else "",
        float(one.epsilon / catalog.budget.epsilon),
        format_probability(posterior(PRIOR, one.epsilon)),
    )


def _name(size: int, number: int) -> str:
    if number == 1:
        return "the only analyst"
    if size == number:
        return "both analysts" if number == 2 else f"all {number:,} analysts"
    return "any one analyst" if size == 1 else f"any {size:,} analysts"


GOOD, UNKNOWN, BAD = "good", "unknown", "bad"


@dataclass(frozen=True)
class Sign:
    """One thing that is looked at: how it stands in a few words, and what there is to say about it."""

    about: str
    state: str
    says: str
    details: tuple[str, ...]
    hash: str = ""


def list_signs(visit: Visit, counts: QuestionCounts) -> tuple[Sign, ...]:
    """Everything that is looked at."""
    return (_ledger_sign(visit), _worker_sign(visit, counts), _catalog_sign(visit), _question_sign(counts))


def _ledger_sign(visit: Visit) -> Sign:
    trouble = find_trouble(visit)
    if trouble is not None:
        return Sign("Ledger", BAD, "Nothing can be paid for", (str(trouble),))
    try:
        newest, last, is_same = check_chain(visit)
    except Refusal as refusal:
        return Sign("Ledger", BAD, "Not sound", (str(refusal),))
    if last is not None and not is_same:
        why = f"is not the one that was verified {show_time(last.at)} UTC: entry {last.entries} is another"
        fix = "verify it, and compare it with a head or a backup that you keep elsewhere"
        return Sign("Ledger", BAD, "Not sound", (str(Refusal("The ledger", why, fix)),))
    entries = "1 entry" if newest.sequence == 1 else f"{show_count(newest.sequence)} entries"
    if last is None:
        return Sign("Ledger", UNKNOWN, entries, ("Never verified on this machine",), newest.hash)
    if last.problem:
        return Sign("Ledger", BAD, "Not sound", (f"Verified {show_time(last.at)} UTC: {last.problem}",), newest.hash)
    newer = newest.sequence - last.entries
    since = f", {show_count(newer)} newer since" if newer else ""
    return Sign("Ledger", GOOD, f"Sound, {entries}", (f"Verified {show_time(last.at)} UTC{since}",), newest.hash)


def _worker_sign(visit: Visit, counts: QuestionCounts) -> Sign:
    readiness = visit.services.readiness
    serving, places = readiness.count_workers()
    troubles = tuple(f"{trouble[:1].upper()}{trouble[1:]}" for trouble in readiness.list_problems())
    load = _say_load(counts.running, counts.waiting)
    return Sign("Workers", BAD if troubles else GOOD, f"{serving} of {places} up", (*troubles, load))


def _catalog_sign(visit: Visit) -> Sign:
    version, problem = f"Version {visit.catalog.version}", visit.services.dataset.problem
    if problem is None:
        return Sign("Catalog", GOOD, f"{version}, no problem", ("What is on disk is what is served",))
    told = problem if visit.visitor.role is Role.OWNER else "Its owner sees why"
    return Sign("Catalog", BAD, f"{version}, not the one on disk", (told,))


def _question_sign(counts: QuestionCounts) -> Sign:
    ends = counts.outcomes
    failed = ends.get("failed", 0) + ends.get("unavailable", 0)
    parts = (
        f"{show_count(ends.get('replayed', 0))} seen again",
        f"{show_count(ends.get('refused', 0))} refused",
        f"{show_count(failed)} failed",
    )
    answered = f"{show_count(ends.get('answered', 0))} answered"
    return Sign("Questions", BAD if failed else GOOD, answered, (", ".join(parts), "Since the server started"))


def _say_load(running: int, waiting: int) -> str:
    """How many questions run and wait.

    >>> _say_load(0, 0), _say_load(1, 2)
    ('No question runs, none waits', '1 question runs, 2 wait')
    """
    runs = f"{show_count(running)} questions run" if running > 1 else f"{running or 'No'} question runs"
    return f"{runs}, {show_count(waiting) if waiting else 'none'} {'wait' if waiting > 1 else 'waits'}"
