"""Encodings of Vega-Lite: where a column stands, on which scale, and how its axis is labelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from adomnia.figures.style import LIGHT

if TYPE_CHECKING:
    from adomnia.figures.columns import DrawnColumn
    from adomnia.figures.rows import Domain
    from adomnia.figures.style import Style

Json: TypeAlias = dict[str, Any]

_LONGEST = 1e15  # from here on numbers of an axis have an exponent
_DAY = 86_400_000
_TIMES = ((3 * _DAY, "%d %b %H:%M"), (120 * _DAY, "%d %b %Y"), (1500 * _DAY, "%b %Y"))  # by how long the axis is
_ABOVE = {"titleAngle": 0, "titleAlign": "right", "titleBaseline": "bottom", "titleX": -8, "titleY": -2}


def place_labels(field: str, column: DrawnColumn, side: str) -> Json:
    """One place for each label, in the order of the rows; the title of labels at the left stands above them."""
    axis: Json = {"grid": False, **(_ABOVE if side == "y" else {"labelOverlap": column.kind != "text"})}
    if side == "x":
        axis["labelAngle"] = 0 if column.kind == "number" else -40
    scale = {"domain": list(column.levels)}
    return {
        "field": field,
        "type": "nominal",
        "scale": scale,
        "title": column.title,
        "axis": axis if column.name else None,
    }


def place_along(column: DrawnColumn, domain: Domain) -> Json:
    """A number or a time on an axis that has room between them."""
    return {
        "field": "axis",
        **_measure(column, domain),
        "title": column.title,
        "axis": {**_label(column, domain), "grid": False},
    }


def place_value(column: DrawnColumn, domain: Domain, style: Style = LIGHT) -> Json:
    """A value; the line of zero is stronger than the others."""
    zero = {"test": "datum.value === 0", "value": style.lines}
    axis = {**_label(column, domain), "gridColor": {"condition": zero, "value": style.faint}}
    return {**_measure(column, domain), "axis": axis}


def format_numbers(domain: Domain) -> str:
    """How numbers of this size are written."""
    largest = max(abs(domain[0]), abs(domain[1]))
    return ".3~e" if largest >= _LONGEST else ",~r" if domain[1] - domain[0] > 20 else ",~g"


def _measure(column: DrawnColumn, domain: Domain) -> Json:
    ends = list(domain)
    if column.kind == "time":  # its days are nobody's local ones
        return {"type": "temporal", "scale": {"type": "utc", "domain": ends, "nice": False}}
    return {"type": "quantitative", "scale": {"domain": ends, "nice": False, "zero": False}}


def _label(column: DrawnColumn, domain: Domain) -> Json:
    if column.kind == "number":
        return {"labelOverlap": True, "format": format_numbers(domain)}
    form = next((form for longest, form in _TIMES if domain[1] - domain[0] <= longest), "%Y")
    return {"labelOverlap": True, "format": form, "tickCount": 6}
