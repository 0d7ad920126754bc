"""Releases that a visitor may read: analysts what is published and their own, owners and auditors what is published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.asking.releasing import find_release
from adomnia.asking.releasing import list_releases as list_published
from adomnia.releases.answering import describe_origin
from adomnia.releases.archive import pack_archive
from adomnia.releases.checks import check_release_name
from adomnia.releases.tables import SCHEMA, AttributeTable, make_table
from adomnia.session.askable import make_askable
from adomnia.sql.reading.released import list_released, parse_released

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.api.requests import Visit
    from adomnia.releases.store import ReleaseEntry
    from adomnia.session.answer import Answer
    from adomnia.session.askable import AskableRelease
    from adomnia.session.contract import Session

__all__ = [
    "SCHEMA",
    "check_named",
    "check_release_name",
    "list_columns",
    "list_keys",
    "list_own_notes",
    "list_releases",
    "open_release",
    "pack_archive",
]


def list_releases(visit: Visit) -> Sequence[ReleaseEntry]:
    """All that a visitor may read, what is published first, oldest first."""
    return visit.session.releases() if visit.is_analyst else list_published(visit.curator.dataset, None)


def open_release(visit: Visit, name: str) -> AskableRelease:
    """A release that a visitor may read; a Refusal where there is none of that name."""
    if visit.is_analyst:
        return visit.session.open_release(name)
    return make_askable(find_release(visit.curator.dataset, name, None))


def list_columns(entry: ReleaseEntry) -> dict[str, str]:
    """The columns that questions about a release may name, and what each holds."""
    table = AttributeTable(entry.name, entry.attributes)
    return {column.name: table.attributes[place].sort for column, place in table.columns.items()}


def list_own_notes(release: AskableRelease, answer: Answer) -> tuple[str, ...]:
    """What an answer of a release says beside where it comes from."""
    return tuple(answer.notes[len(describe_origin(release)) :])


def list_keys(release: AskableRelease) -> tuple[str, ...]:
    """The columns that rows can be counted by: of numbers and days in bins, the bins."""
    table = make_table(release.name, release.product)
    keys = [column for column in table.columns if not table.shows_bins(column)]
    return tuple(column.name for column in sorted(keys, key=table.columns.__getitem__))


def check_named(session: Session, sql: str) -> None:
    """Refuse a question that names a release which is not there: before it is asked, because that is free to know."""
    known = {entry.name.lower() for entry in session.releases()}
    select = parse_released(sql)
    for name in () if select is None else list_released(select):
        if name.lower() not in known:
            session.open_release(name)
