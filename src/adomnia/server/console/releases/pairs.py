"""The picture of all pairs of columns of a release: about how far off each is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adomnia.figures.columns import Drawable
    from adomnia.releases.quality_report import Quality

__all__ = ["draw_pairs"]

_TITLE = "Of 100 rows, in another cell"  # short: the picture of few columns is narrow


def draw_pairs(quality: Quality) -> Drawable:
    """What is drawn, under a title that has room above it."""
    drawable = quality.as_drawable()
    return replace(drawable, figure={**drawable.figure, "title": _TITLE})
