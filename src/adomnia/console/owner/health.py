"""Whether all is well: the ledger, the workers, the catalog, and how questions end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.api.access import Role
from adomnia.api.actions.ledger_pages import check_chain, find_trouble
from adomnia.console.words import show_count, show_time
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from adomnia.api.requests import Visit
    from adomnia.api.running.metrics import QuestionCounts

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
