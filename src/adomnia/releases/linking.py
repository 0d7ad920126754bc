"""People with several rows: a release of people and one of their rows, put together into two tables that agree.

It is post-processing of what is published: it costs nothing, and everybody gets the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adomnia.errors import Refusal
from adomnia.noise.afterwards import follow
from adomnia.releases.rows import ReleaseRows
from adomnia.releases.tables import AttributeTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from adomnia.noise.afterwards import Generator
    from adomnia.releases.model import Release
    from adomnia.statistics.products import Places

_ID = "person_id"
_MOST_ROWS = 10**7


@dataclass(frozen=True, eq=False)
class LinkedTables:
    """People, and the rows of each by its id. `matched` says how many rows were drawn by how many shared columns."""

    people: pa.Table
    rows: pa.Table
    matched: dict[int, int]


def link_releases(people: Release, rows: Release, *, count: str, on: Sequence[str] | None = None) -> LinkedTables:
    """Give every person of a release as many rows of another as its column `count` says.

    Rows are drawn among those that have the same values in all shared columns, or in fewer of them where there are
    none: the last of `on` is given up first. If `on` is not said, all columns that both have are shared.
    """
    frames = [_read_frame(release) for release in (people, rows)]
    shared = _find_shared(people, rows, count, on)
    numbers = _count_rows(people, frames[0], count)
    owners = np.repeat(np.arange(len(numbers)), numbers)
    generator = follow((*people.measurements, *rows.measurements), "link")
    drawn, matched = _Drawing(_place(people, shared), _place(rows, shared), generator).draw(owners)
    return LinkedTables(
        _add_ids(frames[0], np.arange(len(numbers))), _build_rows(frames, shared, owners, drawn), matched
    )


class _Drawing:
    """Draws a row for each owner, by as many of the shared columns as can be had."""

    def __init__(self, people: Places, rows: Places, generator: Generator) -> None:
        self._people, self._rows, self._generator = people, rows, generator

    def draw(self, owners: NDArray[np.intp]) -> tuple[NDArray[np.intp], dict[int, int]]:
        drawn = np.full(len(owners), -1, dtype=np.intp)
        matched: dict[int, int] = {}
        for many in range(self._people.shape[1], -1, -1):
            open_places = np.flatnonzero(drawn < 0)
            found = self._draw_by(many, owners[open_places])
            drawn[open_places] = found
            if (found >= 0).any():
                matched[many] = int((found >= 0).sum())
        return drawn, matched

    def _draw_by(self, many: int, owners: NDArray[np.intp]) -> NDArray[np.intp]:
        """A row with the same values in the first so many columns; -1 where there is none."""
        both = np.concatenate([self._rows[:, :many], self._people[:, :many]])
        keys = np.unique(both, axis=0, return_inverse=True)[1].ravel() if many else np.zeros(len(both), dtype=np.intp)
        of_rows, of_people = keys[: len(self._rows)], keys[len(self._rows) :]
        order = np.argsort(of_rows, kind="stable")
        counts = np.bincount(of_rows, minlength=int(keys.max(initial=0)) + 1)
        starts, wanted = np.cumsum(counts) - counts, of_people[owners]
        chance = self._generator.random(len(owners))
        found = starts[wanted] + np.floor(chance * counts[wanted]).astype(np.intp)
        return np.where(counts[wanted] > 0, order[np.minimum(found, len(order) - 1)], -1)


def _read_frame(release: Release) -> pa.Table:
    if release.product.rows is None or len(release.product.rows) == 0:
        fix = "make it with a method that draws rows, such as aim"
        raise Refusal(f"Release {release.name}", "has no rows to link", fix, code="release_without_rows")
    table = AttributeTable(release.name, release.product.attributes)
    return ReleaseRows(table, release.table, release.product.rows).frame.select(list(release.columns))


def _find_shared(people: Release, rows: Release, count: str, on: Sequence[str] | None) -> tuple[str, ...]:
    """The columns by which rows find their people; both must have the same values of them."""
    both = [name for name in people.columns if name in rows.columns and name != count]
    shared = tuple(both if on is None else on)
    for name in shared:
        if isinstance(on, str) or name not in both:
            raise Refusal(f"on={on!r}", "is not a list of columns that both have", f"both have {', '.join(both)}")
        one, other = (_find_attribute(release, name) for release in (people, rows))
        if (one.levels, one.edges) != (other.levels, other.edges):
            fix = "make both releases with the same values, bins and missing values"
            raise Refusal(f"Column {name}", "has other values in one release than in the other", fix)
    return shared


def _find_attribute(release: Release, name: str) -> Any:  # noqa: ANN401 - an attribute
    return release.product.attributes[release.columns.index(name)]


def _count_rows(people: Release, frame: pa.Table, count: str) -> NDArray[np.intp]:
    """How many rows each person has; none where that is missing."""
    if count not in people.columns or _find_attribute(people, count).sort != "integer":
        numbers = [each.name for each in people.product.attributes if each.sort == "integer"]
        fix = f"name a column of whole numbers: {', '.join(numbers) or 'count rows in the SELECT in brackets'}"
        raise Refusal(f"count={count!r}", f"is not how many rows people of {people.name} have", fix)
    found = np.array([max(0, value or 0) for value in frame.column(count).to_pylist()], dtype=np.intp)
    if found.sum() > _MOST_ROWS:
        why = f"says {int(found.sum()):,} rows, more than {_MOST_ROWS:,}"
        raise Refusal(f"Column {count}", why, "make a smaller release of people: size => 10000")
    return found


def _place(release: Release, shared: Sequence[str]) -> Places:
    assert release.product.rows is not None  # noqa: S101 - it was read
    return release.product.rows[:, [release.columns.index(name) for name in shared]]


def _add_ids(frame: pa.Table, owners: NDArray[np.intp]) -> pa.Table:
    import pyarrow as pa

    name = _ID
    while name in frame.column_names:
        name += "_"
    return frame.add_column(0, name, pa.array(owners + 1, pa.int64()))


def _build_rows(
    frames: Sequence[pa.Table], shared: Sequence[str], owners: NDArray[np.intp], drawn: NDArray[np.intp]
) -> pa.Table:
    """The rows that were drawn; what they share with their person is as the person has it."""
    people, rows = frames
    found = rows.take(drawn)
    for name in shared:
        found = found.set_column(found.column_names.index(name), name, people.column(name).take(owners))
    return _add_ids(found, owners)
