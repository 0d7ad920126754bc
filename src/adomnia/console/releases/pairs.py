"""How good a release is, and the picture of all pairs of its columns: about how far off each is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adomnia.figures.columns import Drawable
    from adomnia.releases.quality_report import Quality
    from adomnia.session.askable import AskableRelease

_KEPT = 8  # releases: to look at all pairs of a large one takes a while
_TITLE = "Of 100 rows, in another cell"  # short: the picture of few columns is narrow


def assess(release: AskableRelease) -> Quality:
    """How good a release is; computed once, because it never changes."""
    return _assess(_Assessed(str(release.facts.receipt), release))


@dataclass(frozen=True)
class _Assessed:
    """A release, which is known by its receipt."""

    receipt: str
    release: AskableRelease = field(compare=False)


@lru_cache(maxsize=_KEPT)
def _assess(known: _Assessed) -> Quality:
    return known.release.quality()


def draw_pairs(quality: Quality) -> Drawable:
    """What is drawn, under a title that has room above it."""
    drawable = quality.as_drawable()
    return replace(drawable, figure={**drawable.figure, "title": _TITLE})
