"""How pictures look. Every colour can be told from white and from black paper, and by readers who do not see all hues.

The hues follow Okabe & Ito 2008, darkened where white paper would swallow them; groups differ in their shapes, too.
"""

from __future__ import annotations

from typing import Any

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#B0508C", "#9A7D00", "#6E6E6E")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 4], [1, 3])
INK = "#333333"
FAINT = "#E4E4E4"
AMOUNTS = ("#EFF4F9", "#C6DBEC", "#8FBEDD", "#6BAED6", "#0072B2", "#064F7C")
SIDES = ("#B34700", "#E08A4F", "#F3CDB2", "#F4F4F4", "#B7D4E8", "#5A9FCB", "#00578A")

CONFIG: dict[str, Any] = {
    "background": "white",
    "padding": 12,
    "font": "sans-serif",
    "view": {"stroke": None},
    "title": {
        "anchor": "start",
        "fontSize": 14,
        "color": INK,
        "subtitleColor": "#555555",
        "subtitleFontSize": 11,
        "subtitlePadding": 4,
        "offset": 10,
    },
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "labelFontSize": 11,
        "titleFontSize": 12,
        "gridColor": FAINT,
        "domainColor": "#8A8A8A",
        "tickColor": "#8A8A8A",
        "labelLimit": 220,
        "labelSeparation": 6,
        "titleLimit": 400,
    },
    "legend": {"labelColor": INK, "titleColor": INK, "titleFontWeight": "normal", "orient": "top", "labelLimit": 220},
    "header": {
        "labelColor": INK,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "labelLimit": 220,
        "labelFontSize": 11,
    },
}
