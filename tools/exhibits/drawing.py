"""Pictures of the gallery: specifications of Vega-Lite in the project's own style, as SVG for light and dark pages."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import vl_convert

from adomnia.figures.spec import label_svg
from adomnia.figures.style import DARK, DASHES, LIGHT, SCHEMA, SHAPES, Style

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Spec = dict[str, Any]
HEIGHT = 260
_INKS = ("ink", "soft", "grey", "lines", "faint")


@dataclass(frozen=True)
class Axis:
    """A field of the rows, and how its axis is called and scaled."""

    field: str
    title: str
    log: bool = False
    domain: tuple[float, float] | None = None
    values: tuple[float, ...] | None = None

    @property
    def encoding(self) -> Spec:
        """As Vega-Lite has it."""
        scale: Spec = {"type": "log"} if self.log else {"zero": False}
        scale |= {"domain": list(self.domain), "nice": False} if self.domain else {}
        axis: Spec = {"title": self.title, "format": ",.6~r"}
        axis |= {"values": list(self.values)} if self.values else {}
        return {"field": self.field, "type": "quantitative", "scale": scale, "axis": axis}


@dataclass(frozen=True)
class Picture:
    """A picture, and the same in words."""

    title: str
    subtitle: str
    words: str
    body: Spec

    @property
    def spec(self) -> Spec:
        """All of the specification."""
        heading = {"text": self.title, "subtitle": self.subtitle}
        return {"$schema": SCHEMA, "config": LIGHT.config, "title": heading, **self.body}

    @property
    def digest(self) -> str:
        """What changes when anything that is drawn does."""
        return sha256(json.dumps(self.spec, sort_keys=True).encode()).hexdigest()[:16]

    def svg(self) -> str:
        """For light pages, with the colours of dark ones for who prefers them."""
        quiet = {**self.spec, "config": {**LIGHT.config, "aria": False}}
        drawn = vl_convert.vegalite_to_svg(quiet, allowed_base_urls=[])
        opening, rest = label_svg(drawn, self.title, self.words).split(">", 1)
        return f'{opening} data-digest="{self.digest}"><style>{_darken()}</style>{rest}\n'


def _darken() -> str:
    """Rules that put the colours of dark paper in the place of those of light paper."""
    pairs = [(LIGHT.paper, DARK.paper), *zip(_colours(LIGHT), _colours(DARK), strict=True)]
    rules = [
        f'[{part}="{light}"]{{{part}:{dark}}}' for light, dark in dict(pairs).items() for part in ("fill", "stroke")
    ]
    return f"@media (prefers-color-scheme:dark){{{''.join(rules)}}}"


def _colours(style: Style) -> list[str]:
    return [*(getattr(style, name) for name in _INKS), *style.colours]


def rounded(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of six digits: more are not seen, and differ from machine to machine."""
    return [{name: _round(value) for name, value in row.items()} for row in rows]


def _round(value: Any) -> Any:  # noqa: ANN401 - a number or a text
    return value if isinstance(value, str | int) else float(f"{float(value):.6g}")


def name_series(names: Sequence[str], shapes: bool = False) -> Spec:
    """Colours, and dashes or shapes, for series of these names: nobody has to tell them by colour alone."""
    kinds: Sequence[Any] = SHAPES if shapes else DASHES
    field = {"field": "series", "type": "nominal", "sort": list(names)}
    legend = {"title": None, "orient": "top", "columns": 2, "columnPadding": 24, "labelLimit": 300}
    legend["symbolSize"] = 80 if shapes else 500
    colour = {**field, "scale": {"domain": list(names), "range": list(LIGHT.colours[: len(names)])}, "legend": legend}
    scale = {"domain": list(names), "range": list(kinds[: len(names)])}
    return {"color": colour, "shape" if shapes else "strokeDash": {**field, "scale": scale, "legend": legend}}


def draw_curves(
    rows: Iterable[Mapping[str, Any]], x: Axis, y: Axis, names: Sequence[str], *layers: Spec, points: bool = False
) -> Spec:
    """Lines through rows that have a `series` each, with other layers on top."""
    mark: Spec = {"type": "line", "strokeWidth": 2, "clip": True}
    encoding = {"x": x.encoding, "y": y.encoding}
    drawn = [{"mark": mark, "encoding": {**encoding, **name_series(names)}}]
    if points:
        dots = {"type": "point", "filled": True, "size": 50, "opacity": 1}
        colour = {**name_series(names)["color"], "legend": None}
        drawn.append({"mark": dots, "encoding": {**encoding, "color": colour}})
    data = {"values": rounded(rows)}
    return {"data": data, "width": LIGHT.wide, "height": HEIGHT, "layer": [*drawn, *layers]}


def draw_rule(value: float, along: str, words: str, at: tuple[str, float] | None = None) -> Spec:
    """A thin line across the picture at a value of the axis `along`, with words beside it."""
    rule = {"mark": {"type": "rule", "color": LIGHT.lines, "strokeDash": [4, 3]}, "encoding": {along: {"datum": value}}}
    text: Spec = {"type": "text", "text": words, "color": LIGHT.soft, "align": "left", "fontSize": 11}
    if along == "y":
        place = {"y": {"datum": value}, "x": {"value": 6}}
        text |= {"dy": -6}
    else:
        place = {"x": {"datum": value}, "y": {"value": 12}}
        text |= {"dx": 5}
    if at is not None:
        place[at[0]] = {"value": at[1]}
    one = {"values": [{}]}  # a rule of each row would be drawn as often as there are rows
    return {"data": one, "layer": [rule, {"mark": text, "encoding": place}]}
