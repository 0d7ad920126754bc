"""The layers of one panel: marks of Vega-Lite, with their encodings, scales and axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from adomnia.figures.style import AMOUNTS, CELL_INK, DASHES, LIGHT, SHAPES, SIDES

if TYPE_CHECKING:
    from adomnia.figures.columns import DrawnColumn
    from adomnia.figures.rows import Domain, DrawnRows
    from adomnia.figures.style import Style

Json: TypeAlias = dict[str, Any]

_MOST_WRITTEN = 64  # cells of a heat map that say their numbers
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


def list_layers(rows: DrawnRows, index: int, style: Style = LIGHT) -> list[Json]:
    """What is drawn of one of the values, from back to front."""
    panel = _Panel(rows, index, style)
    layers = {
        "bars": lambda: [panel.bars(), panel.rules(style.ink)],
        "bins": lambda: [panel.bins(), panel.rules_in_bins()],
        "points": lambda: [panel.connections(), panel.rules(), panel.points()],
        "line": lambda: [panel.band("linear"), panel.line("linear")],
        "steps": lambda: [panel.band("step-after"), panel.line("step-after")],
        "heat": panel.cells,
    }[rows.layout.shape_of(panel.value)]()
    return [layer for layer in [panel.silence(), *layers, panel.missing()] if layer]


def are_written(rows: DrawnRows) -> bool:
    """Whether the cells of a heat map say their numbers: as long as there is room."""
    return len(rows.records) <= _MOST_WRITTEN


class _Panel:
    """One value of a picture, and where it stands."""

    def __init__(self, rows: DrawnRows, index: int, style: Style) -> None:
        self.rows, self.index, self.layout, self.style = rows, index, rows.layout, style
        self.value, self.domain = rows.layout.values[index], rows.domains[index]
        self.along, self.up = ("y", "x") if rows.layout.horizontal else ("x", "y")

    def bars(self) -> Json:
        return _layer({"type": "bar", "opacity": 0.55}, self._places(), self._values("v"))

    def points(self) -> Json:
        mark = {"type": "point", "filled": True, "size": 55, "opacity": 1}
        return _layer(mark, self._places(), self._values("v"), self._by_colour("shape", SHAPES))

    def connections(self) -> Json:
        """Times follow each other, and are joined."""
        if self.layout.discrete:
            return {}
        return _layer({"type": "line", "strokeWidth": 1, "opacity": 0.5}, self._places(), self._values("v"))

    def line(self, interpolate: str) -> Json:
        mark = {"type": "line", "strokeWidth": 2, "interpolate": interpolate}
        return _layer(mark, self._places(), self._values("v"), self._by_colour("strokeDash", DASHES))

    def band(self, interpolate: str) -> Json:
        return self._between({"type": "area", "opacity": 0.22, "interpolate": interpolate}, self._places())

    def rules(self, colour: str = "") -> Json:
        """One interval a row; dashed where it has no end."""
        places = self._places()
        name = f"open{self.index}"
        if self._any(name):
            places["strokeDash"] = {"condition": {"test": f"datum.{name} === true", "value": [3, 3]}, "value": [1, 0]}
        if colour:
            places["color"] = {"value": colour}
        return self._between({"type": "rule", "strokeWidth": 1.5 if colour else 2}, places)

    def bins(self) -> Json:
        mark = {"type": "bar", "opacity": 0.55, "stroke": self.style.paper, "strokeWidth": 0.5}
        ends = {"x2": {"field": "across"}, "y2": {"datum": 0}}
        return _layer(mark, self._places(), self._values("v"), ends)

    def rules_in_bins(self) -> Json:
        layer = self.rules(self.style.ink)
        if layer:
            layer["encoding"]["x"]["field"] = "middle"
            layer["transform"] = [{"calculate": "(datum.axis + datum.across) / 2", "as": "middle"}]
        return layer

    def cells(self) -> list[Json]:
        """A heat map: colours for the eye, and as long as there is room the numbers and their intervals."""
        written = are_written(self.rows)
        colours = list(AMOUNTS if self.value.whole else SIDES)
        scale = {"type": "quantize", "domain": list(self.domain), "range": colours}
        legend = {"title": self.value.title, "orient": "right", "format": format_numbers(self.domain)}
        colour = {
            "field": f"v{self.index}",
            "type": "quantitative",
            "scale": scale,
            "legend": None if written else legend,
        }
        cells = _layer({"type": "rect", "stroke": self.style.paper}, self._places(), {"color": colour})
        return [cells, self._write("text", 11, -6), self._write("between", 9, 8)] if written else [cells]

    def silence(self) -> Json:
        """Grey over the whole axis, where that is what the interval is."""
        name = f"silent{self.index}"
        if self.layout.shape == "heat" or not self.layout.discrete or not self._any(name):
            return {}
        where = {self.up: {"datum": self.domain[0], **place_value(self.value, self.domain, self.style)}}
        ends = {f"{self.up}2": {"datum": self.domain[1]}, "color": {"value": self.style.grey}}
        mark = {"type": "rule", "strokeWidth": 10, "opacity": 0.22}
        return {**_layer(mark, self._places(), where, ends), "transform": [{"filter": f"datum.{name} === true"}]}

    def missing(self) -> Json:
        """A word where there is no value, at the edge."""
        name, silent = f"v{self.index}", f"silent{self.index}"
        if not self.layout.discrete or all(
            record[name] is not None or silent in record for record in self.rows.records
        ):
            return {}
        mark: Json = {"type": "text", "text": "no value", "fontSize": 10}
        where: Json = {}
        if self.layout.shape != "heat":
            mark |= {"align": "left", "dx": 4} if self.layout.horizontal else {"baseline": "bottom", "dy": -4}
            where = {self.up: {"datum": self.domain[0], **place_value(self.value, self.domain, self.style)}}
        layer = _layer(mark, self._places(), where, {"color": {"value": self.style.grey}})
        quiet = f" && datum.{silent} !== true" if self._any(silent) else ""
        return {**layer, "transform": [{"filter": f"datum.{name} === null{quiet}"}]}

    def _write(self, field: str, size: int, below: int) -> Json:
        """Texts in cells, white on dark ones."""
        limit = 0.6 * max(abs(self.domain[0]), abs(self.domain[1]))
        dark = {"test": f"abs(datum.v{self.index}) > {limit!r}", "value": "white"}
        texts = {"text": {"field": field, "type": "nominal"}, "color": {"condition": dark, "value": CELL_INK}}
        layer = _layer({"type": "text", "fontSize": size, "dy": below}, self._places(), texts)
        if all(field in record for record in self.rows.records):
            return layer
        return {**layer, "transform": [{"filter": f"isValid(datum.{field})"}]}  # else they would say undefined

    def _between(self, mark: Json, places: Json) -> Json:
        if not self.value.has_intervals:
            return {}
        return _layer(mark, places, self._values("l"), {f"{self.up}2": {"field": f"u{self.index}"}})

    def _any(self, name: str) -> bool:
        return any(name in record for record in self.rows.records)

    def _places(self) -> Json:
        """Where rows stand: on the axis, and beside each other by their colours."""
        layout = self.layout
        places: Json = {self.along: self._axis()}
        if layout.shape == "heat":
            assert layout.across is not None  # noqa: S101 - a heat map has two sides
            return {**places, "y": place_labels("across", layout.across, "y")}
        if layout.colour is None:
            return {**places, "color": {"value": self.style.colours[0]}}
        beside = {"field": "colour", "type": "nominal", "scale": {"domain": list(layout.colour.levels)}}
        offset = {f"{self.along}Offset": beside} if layout.discrete else {}
        return {**places, **self._by_colour("color", self.style.colours), **offset}

    def _axis(self) -> Json:
        layout = self.layout
        if layout.discrete:
            return place_labels("axis", layout.axis, self.along)
        return place_along(layout.axis, self.rows.along)

    def _by_colour(self, channel: str, choices: tuple[Any, ...]) -> Json:
        colour = self.layout.colour
        if colour is None:
            return {}
        levels = list(colour.levels)
        scale = {"domain": levels, "range": list(choices[: len(levels)])}
        return {channel: {"field": "colour", "type": "nominal", "scale": scale, "title": colour.title}}

    def _values(self, side: str) -> Json:
        place = {"field": f"{side}{self.index}", **place_value(self.value, self.domain, self.style)}
        return {self.up: {**place, "title": self.value.title}}


def _layer(mark: Json, *encodings: Json) -> Json:
    return {"mark": mark, "encoding": {key: each for encoding in encodings for key, each in encoding.items()}}
