"""The releases of a dataset as a page, and what is told of one that was just made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.plans.columns import KeyColumn
from adomnia.releases.store import ReleaseEntry
from adomnia.tables import TextTable

if TYPE_CHECKING:
    from adomnia.releases.model import Release

_HEADINGS = ("Release", "Method", "Columns", "Paid", "Made by", "Version", "Read by")


class ReleaseList(list[ReleaseEntry]):
    """Releases that print as a table."""

    def __repr__(self) -> str:
        return str(self._table())

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> TextTable:
        return TextTable(_HEADINGS, tuple(map(_describe, self)))


def describe_release(release: Release) -> tuple[KeyColumn, ...]:
    """What CREATE TABLE answers: one row."""
    told = {
        "release": f"releases.{release.name}",
        "rows": release.table.num_rows,
        "columns": ", ".join(release.columns),
        "paid": release.facts.price or "",
        "paid_by": release.facts.paid_by or "",
        "guarantee": release.facts.guarantee or "",
    }
    return tuple(KeyColumn(name, (value,)) for name, value in told.items())


def _describe(entry: ReleaseEntry) -> tuple[str, ...]:
    facts = entry.facts
    columns = ", ".join(each.name for each in entry.attributes)
    made_by, version = facts.made_by or "", "" if facts.version is None else str(facts.version)
    told = (facts.mechanism or "", columns, facts.price or "", made_by, version)
    return (f"releases.{entry.name}", *told, made_by if entry.private else "everybody")
