"""How pictures look. Every colour can be told from its paper, and by readers who do not see all hues.

The hues follow Okabe & Ito 2008, darkened where white paper would swallow them; groups differ in their shapes, too.
"""

from dataclasses import dataclass
from typing import Any

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 4], [1, 3])
AMOUNTS = ("#EFF4F9", "#C6DBEC", "#8FBEDD", "#6BAED6", "#0072B2", "#064F7C")
SIDES = ("#B34700", "#E08A4F", "#F3CDB2", "#F4F4F4", "#B7D4E8", "#5A9FCB", "#00578A")
CELL_INK = "#333333"  # on the cells of a heat map, which are the same on every paper


@dataclass(frozen=True)
class Style:
    """The colours of one kind of paper, and how wide a picture is on it, without the words at its sides."""

    paper: str
    ink: str
    soft: str
    grey: str
    lines: str
    faint: str
    colours: tuple[str, ...]
    wide: int = 460

    @property
    def config(self) -> dict[str, Any]:
        """The part of a specification that says how all of it looks."""
        named = {"labelColor": self.ink, "titleColor": self.ink, "titleFontWeight": "normal", "labelLimit": 220}
        return {
            "background": self.paper,
            "padding": 12,
            "font": "sans-serif",
            "view": {"stroke": None},
            "title": {
                "anchor": "start",
                "fontSize": 14,
                "color": self.ink,
                "subtitleColor": self.soft,
                "subtitleFontSize": 11,
                "subtitlePadding": 4,
                "offset": 10,
            },
            "axis": {
                **named,
                "labelFontSize": 11,
                "titleFontSize": 12,
                "gridColor": self.faint,
                "domainColor": self.lines,
                "tickColor": self.lines,
                "labelSeparation": 12,  # letters of a reader may be wider than those that are measured here
                "titleLimit": 400,
            },
            "legend": {**named, "orient": "top"},
            "header": {**named, "labelFontSize": 11},
        }


LIGHT = Style(
    "white",
    "#333333",
    "#555555",
    "#6E6E6E",
    "#8A8A8A",
    "#E4E4E4",
    ("#0072B2", "#D55E00", "#009E73", "#B0508C", "#9A7D00", "#6E6E6E"),
)
DARK = Style(
    "#191E24",
    "#E7EBEF",
    "#A4AEB8",
    "#A4AEB8",
    "#6E7984",
    "#2A3139",
    ("#56B4E9", "#F08A4B", "#2FC79B", "#E08FC1", "#D9BF3F", "#B0B7BE"),
)
