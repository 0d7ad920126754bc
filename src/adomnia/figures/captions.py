"""What stands above a picture: what it shows, and what its intervals mean."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from adomnia.figures.marks import are_written
from adomnia.tables import show_plainly

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adomnia.figures.columns import Drawable
    from adomnia.figures.rows import DrawnRows

_WIDTH = 84
_LONGEST_TITLE = 90
_INTERVALS = {
    "data": "intervals of the noise",
    "population": "intervals about the population",
    "credible": "credible intervals",
}
_VACUOUS = "says_nothing"  # the code of a note


def write_title(drawable: Drawable, rows: DrawnRows) -> str:
    """The title that the method gives, or the values and the keys."""
    given = drawable.figure.get("title")
    layout = rows.layout
    across = layout.across if layout.shape == "heat" else None
    keys = [column.title for column in (layout.axis, across, layout.colour, layout.panel) if column is not None]
    named = _list([value.title for value in layout.values])
    by = _list([name for name in keys if name])
    title = show_plainly(str(given)) if given else f"{named} by {by}" if by else named
    return title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 3]}..."


def write_caption(drawable: Drawable, rows: DrawnRows) -> list[str]:
    """Lines below the title: the confidence, what is not drawn, and values that say almost nothing."""
    return [line for sentence in _sentences(drawable, rows) for line in wrap(show_plainly(sentence), _WIDTH)]


def _sentences(drawable: Drawable, rows: DrawnRows) -> Iterator[str]:
    layout = rows.layout
    drawn = _name_intervals(rows)
    about = {_INTERVALS[value.about]: None for value in layout.values if value.has_intervals and value.about}
    if drawn and about:
        yield f"{drawn}: {100 * drawable.confidence:g}% {_list(list(about))}."
    if not layout.axis.values:
        yield "No rows."
    yield from rows.remarks
    yield from (note for note in drawable.notes if note.code == _VACUOUS)


def _name_intervals(rows: DrawnRows) -> str:
    """How intervals are drawn, if they are."""
    if rows.layout.shape == "heat":
        return "Small numbers" if are_written(rows) else ""
    return "Bands" if rows.layout.shape in {"line", "steps"} else "Lines"


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""
