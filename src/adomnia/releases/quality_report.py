"""The quality of a release as a report: tables of numbers, a picture of all pairs, and sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from adomnia.figures.columns import Drawable, DrawnColumn
from adomnia.tables import TextTable, html_lines

if TYPE_CHECKING:
    from pathlib import Path

    import altair as alt
    import pandas as pd

    from adomnia.messages.texts import Note

_HEADINGS = ("columns", "cells", "measured", "off the measurements", "noise alone", "rough cells")
_HELD_BACK = ("held back", "cells", "off by, with noise", "at least", "at most", "error of a cell")
_PERCENT = "off by, %"


@dataclass(frozen=True)
class TableQuality:
    """A table of one or two columns: how far what is published is from what was measured, as a share of all rows.

    `distance` is their total variation, `noise` what noise alone makes of it on average; None where a table was not
    measured, nothing of it is published, or it is too large. `rough` cells have an error above half their count.
    """

    columns: tuple[str, ...]
    cells: int
    measured: bool
    distance: float | None = None
    noise: float | None = None
    rough: int = 0

    @property
    def off_by(self) -> float | None:
        """About how far it is from the data at most: as far as from the measurements, and these by their noise."""
        return None if self.noise is None else min(1.0, (self.distance or 0.0) + self.noise)

    def exceeds_noise(self, times: float) -> bool:
        """Whether what is published is further from the measurements than so many times their noise."""
        return self.distance is not None and self.noise is not None and self.distance > times * self.noise


@dataclass(frozen=True)
class HeldBackTable:
    """A table that the release did not measure, and a fresh private estimate of how far off the release is in it.

    The total variation is between `lower` and `upper` with the confidence of the report. `distance` is that between the
    noisy table and the release, noise included; `cell_error` the root mean square error of a count, from which noise
    is taken out.
    """

    columns: tuple[str, ...]
    cells: int
    distance: float
    lower: float
    upper: float
    cell_error: float


@dataclass(frozen=True)
class Quality:
    """How good a release is; `limits` say what it is not good for, `held_back` what was paid to find out."""

    release: str
    columns: tuple[str, ...]
    rows: float | None
    tables: tuple[TableQuality, ...]
    limits: tuple[str, ...]
    held_back: tuple[HeldBackTable, ...] = ()
    notes: tuple[Note, ...] = ()

    def records(self) -> list[dict[str, Any]]:
        """One dictionary for each column and pair of columns."""
        return [
            {
                "columns": " x ".join(table.columns),
                "cells": table.cells,
                "measured": table.measured,
                "distance": table.distance,
                "noise": table.noise,
                "rough_cells": table.rough,
            }
            for table in self.tables
        ]

    def to_pandas(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self.records())

    @overload
    def plot(self) -> alt.TopLevelMixin: ...

    @overload
    def plot(self, file: str | Path) -> Path: ...

    def plot(self, file: str | Path | None = None) -> alt.TopLevelMixin | Path:
        """A picture of all pairs of columns: about how many in 100 rows are in other cells than in the data.

        A chart of Altair for notebooks, or a file that ends in .svg, .png, .html or .json. It needs the extra `plot`.
        """
        from adomnia.figures import files

        drawable = self.as_drawable()
        return files.build_chart(drawable) if file is None else files.write_file(drawable, file)

    def as_drawable(self) -> Drawable:
        """A heat map: single columns on the diagonal, and what was neither measured nor held back without a number."""
        known = {frozenset(each.columns): each.off_by for each in self.tables}
        known |= {frozenset(each.columns): each.upper for each in self.held_back}
        pairs = [(one, other) for one in self.columns for other in self.columns]
        found = [known.get(frozenset(pair)) for pair in pairs]
        values = tuple(None if each is None else round(100 * each, 1) for each in found)
        columns = (
            DrawnColumn("column", tuple(one for one, _ in pairs), "text"),
            DrawnColumn("other", tuple(other for _, other in pairs), "text"),
            DrawnColumn(_PERCENT, values, "number", "fact", whole=True),
        )
        title = f"Release {self.release}: how many in 100 rows may be in another cell"
        figure = {"kind": "heat", "x": "column", "y": "other", "value": _PERCENT, "title": title}
        return Drawable(columns, 0.0, self._list_tables(), figure, self.notes)

    def __repr__(self) -> str:
        parts = [self._heading(), "", str(self._list_tables())]
        if self.held_back:
            parts += ["", str(self._list_held_back())]
        return "\n".join([*parts, "", "Not good for", *(f"- {each}" for each in self.limits), *self._remarks()])

    def _repr_html_(self) -> str:
        held_back = self._list_held_back().html() if self.held_back else ""
        lines = ["Not good for", *(f"- {each}" for each in self.limits), *self.notes]
        return html_lines([self._heading()]) + self._list_tables().html() + held_back + html_lines(lines)

    def _heading(self) -> str:
        rows = "" if self.rows is None else f": about {self.rows:,.0f} rows of data"
        return f"Quality of the release {self.release}{rows}"

    def _remarks(self) -> list[str]:
        return ["", *self.notes] if self.notes else []

    def _list_tables(self) -> TextTable:
        rows = tuple(
            (
                " x ".join(each.columns),
                f"{each.cells:,}",
                "yes" if each.measured else "no",
                _share(each.distance),
                _share(each.noise),
                f"{each.rough:,}" if each.measured else "",
            )
            for each in self.tables
        )
        return TextTable(_HEADINGS, rows, frozenset({1, 3, 4, 5}))

    def _list_held_back(self) -> TextTable:
        rows = tuple(
            (
                " x ".join(each.columns),
                f"{each.cells:,}",
                *map(_share, (each.distance, each.lower, each.upper)),
                f"{each.cell_error:,.3g}",
            )
            for each in self.held_back
        )
        return TextTable(_HELD_BACK, rows)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
