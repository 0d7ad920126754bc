"""Questions about releases: answered from what was published, at no price and without any look at the data."""

from __future__ import annotations

from functools import lru_cache
from textwrap import shorten
from typing import TYPE_CHECKING

import numpy as np

from adomnia.errors import Refusal
from adomnia.messages.texts import Note, NoteTemplate
from adomnia.plans.columns import DraftAnswer, build_columns, finish
from adomnia.plans.descriptions import describe
from adomnia.plans.public_columns import PublicRows, read_public_columns
from adomnia.pricing.notes import MISSING, keys_without_value
from adomnia.privacy.expressions import columns_of
from adomnia.privacy.keys import Bucket
from adomnia.releases.counting import ReleaseCounts
from adomnia.releases.rows import ReleaseRows
from adomnia.releases.tables import AttributeTable, build_catalog
from adomnia.sql.lower import plan_question
from adomnia.sql.reading.released import list_released, refuse_several

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlglot import exp

    from adomnia.plans.columns import KeyColumn, ValueColumn
    from adomnia.plans.plan import Plan
    from adomnia.releases.model import Release

_MADE_UP = "this was read from rows that are made up"
_ORIGIN = NoteTemplate(
    "from_release", "From the release {release}, made{made}{of}: it was paid for then, and costs nothing now."
)
_GUARANTEE = NoteTemplate("guarantee_of_release", "{guarantee}")
_ROWS = NoteTemplate("rows_of_release", "It is about the rows of: {question}")
_NO_INTERVAL = NoteTemplate("no_interval_of_release", "No interval is known: {reason}.")
_LONGEST_QUESTION = 300
_OPEN = 8  # releases whose levels stay in an engine


def answer_released(select: exp.Select, find: Callable[[str], Release], confidence: float) -> DraftAnswer:
    """Answer a question whose tables are releases; `find` opens one by its name, or refuses."""
    releases = [find(name) for name in list_released(select)]
    if len({release.name.lower() for release in releases}) > 1:
        names = ", ".join(release.name for release in releases)
        fix = "ask each by itself, and put the answers together yourself"
        raise Refusal(f"A question about {names}", "joins releases", fix, code="release_join")
    (release, *_) = releases
    if release.product.rows is None:
        return answer_from_counts(_plan_counts(select, release, confidence), release, confidence)
    return _answer_from_rows(select, release, confidence)


def answer_from_counts(plan: Plan, release: Release, confidence: float) -> DraftAnswer:
    """The answer to a plan over the table of a release, from its measurements."""
    changed, results = _count(release).answer(plan)
    columns, rows = build_columns(changed, results), finish(changed, results)
    notes = (*describe_origin(release), *_tell_missing(plan, release))
    return DraftAnswer(columns, rows, confidence, notes=notes)


def describe_origin(release: Release) -> tuple[Note, ...]:
    """From which release an answer is, of which data, and with which guarantee."""
    facts = release.facts
    made = f" by {facts.mechanism}" if facts.mechanism else ""
    of = f", of version {facts.version} of the data" if facts.version is not None else ""
    origin = _ORIGIN(release=release.name, made=made, of=of)
    guarantee = facts.made_with or facts.guarantee  # folders of before have all of it in one text
    rows = _ROWS(question=shorten(release.question, _LONGEST_QUESTION, placeholder=" ..."))
    return (origin, *((_GUARANTEE(guarantee=guarantee),) if guarantee else ()), rows)


def _plan_counts(select: exp.Select, release: Release, confidence: float) -> Plan:
    """The plan of a question over the table of a release, whose rows count as those of people do."""
    refuse_several(select)
    table = _count(release).table
    try:
        plan = plan_question(select, build_catalog([table]), confidence=confidence)
    except Refusal as refusal:
        raise _suit_refusal(refusal, release, table) from None
    assert not isinstance(plan, PublicRows)  # noqa: S101 - no table of it is public
    return plan


def _suit_refusal(refusal: Refusal, release: Release, table: AttributeTable) -> Refusal:
    """The same refusal with what to do about a release: rows of nobody can be read, and bins have names."""
    fix: str = refusal.fix
    if refusal.code == "not_an_aggregate" and refusal.what == "*":
        fix = f"use COUNT, SUM or AVG, or read the published table: open_release('{release.name}').to_pandas()"
    if refusal.code == "needs_key_domain":
        bins = {
            table.attributes[place].name.lower(): column.name
            for column, place in table.columns.items()
            if column.name != table.attributes[place].name
        }
        fix = f"group by {bins[refusal.what.lower()]}" if refusal.what.lower() in bins else fix
    return Refusal(refusal.what, refusal.why, fix, refusal.position, code=refusal.code, others=refusal.others)


def _answer_from_rows(select: exp.Select, release: Release, confidence: float) -> DraftAnswer:
    """Counts that were measured together have intervals; all else is read from the rows as it is."""
    reason = _MADE_UP
    if release.product.estimates is not None:
        try:
            return answer_from_counts(_plan_counts(select.copy(), release, confidence), release, confidence)
        except Refusal as refusal:  # the rows may have an answer all the same, or a better reason for none
            reason = f"{refusal.what} {refusal.why}" if refusal.code.startswith("release_") else _MADE_UP
    rows = _read_rows(release)
    plan = plan_question(select, rows.catalog, confidence=confidence)
    assert isinstance(plan, PublicRows)  # noqa: S101 - all tables of it are public
    columns: tuple[KeyColumn | ValueColumn, ...] = read_public_columns(plan, rows.engine, rows.catalog)
    shown = np.arange(len(columns[0].values), dtype=np.intp)  # type: ignore[union-attr]  # public columns have values
    notes = (*describe_origin(release), _NO_INTERVAL(reason=reason))
    return DraftAnswer(columns, shown, confidence, notes=notes)


@lru_cache(maxsize=_OPEN)
def _count(release: Release) -> ReleaseCounts:
    return ReleaseCounts(release.name, release.product)


@lru_cache(maxsize=_OPEN)
def _read_rows(release: Release) -> ReleaseRows:
    return ReleaseRows(AttributeTable(release.name, release.product.attributes), release.table, release.product.rows)


def _tell_missing(plan: Plan, release: Release) -> tuple[Note, ...]:
    """Which rows of a release are in no group, if it has such rows."""
    written = [key.written if isinstance(key, Bucket) else key for key in keys_without_value(plan)]
    attributes, columns = release.product.attributes, _count(release).table.columns
    names = [
        describe(key) for key in written if any(None in attributes[columns[each]].levels for each in columns_of(key))
    ]
    return (MISSING(columns=" or ".join(names)),) if names else ()
