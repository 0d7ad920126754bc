"""The rows of a picture: places, values and drawn ends of intervals, under names that no column can break."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from adomnia.figures.columns import DrawnColumn, place, show_label
from adomnia.figures.cutting import cut
from adomnia.figures.scales import span, span_exactly, span_loosely

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.figures.layout import PictureLayout

_OPEN_LINE = "Dashed: an interval without an end."
_SILENT = "Grey: says nothing, the interval is all that is possible."
_OPEN_BAND = "Where the band reaches the edge, it may have no end."

Domain: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class DrawnRows:
    """Rows as plain data, the ends of the axes, and what is not in the picture, in sentences."""

    layout: PictureLayout
    records: list[dict[str, Any]]
    domains: tuple[Domain, ...]
    along: Domain  # of the axis, where it is continuous
    remarks: tuple[str, ...] = ()


def draw_rows(layout: PictureLayout) -> DrawnRows:
    """The rows of a layout, as many as can be told apart."""
    layout, remarks = cut(_close_bins(layout))
    domains = tuple(_domain_of(value, layout) for value in layout.values)
    records = [_place(layout, row) for row in range(len(layout.axis.values))]
    for index, (value, domain) in enumerate(zip(layout.values, domains, strict=True)):
        for row, record in enumerate(records):
            record.update(_value(index, value, row, domain))
    if layout.shape == "heat":
        _write_cells(records, layout.values[0])
    along = span_exactly([]) if layout.discrete else _along(layout, records)
    return DrawnRows(layout, records, domains, along, (*remarks, *_tell_odd(layout)))


def _place(layout: PictureLayout, row: int) -> dict[str, Any]:
    where = layout.axis.values[row]
    record: dict[str, Any] = {"axis": show_label(where) if layout.discrete else _whole(place(where))}
    for name, column in (("colour", layout.colour), ("panel", layout.panel)):
        if column is not None:
            record[name] = show_label(column.values[row])
    if layout.shape == "heat" and layout.across is not None:
        record["across"] = show_label(layout.across.values[row])
    elif layout.across is not None:
        record["across"] = _whole(place(layout.across.values[row]))
    return record


def _value(index: int, value: DrawnColumn, row: int, domain: Domain) -> dict[str, Any]:
    number = _whole(place(value.values[row]))
    record: dict[str, Any] = {f"v{index}": number}
    if value.silent and value.silent[row]:
        return {**record, f"silent{index}": True}
    if number is None or not value.has_intervals:
        return record
    lower, upper = place(value.lower[row]), place(value.upper[row])
    record[f"l{index}"] = _whole(domain[0] if lower is None else lower)
    record[f"u{index}"] = _whole(domain[1] if upper is None else upper)
    if lower is None or upper is None:
        record[f"open{index}"] = True
    return record


def _whole(number: float | None) -> float | int | None:
    """Without the .0 of an integer, which is half of what is written."""
    return int(number) if number is not None and number.is_integer() and abs(number) < 2**53 else number


def _write_cells(records: Sequence[dict[str, Any]], value: DrawnColumn) -> None:
    """What cells say: the value, and its interval below."""
    numbers = [record["v0"] for record in records if record["v0"] is not None]
    largest = max(map(abs, numbers), default=0)
    whole = value.whole and all(float(number).is_integer() for number in numbers)
    form = "z,.0f" if whole or largest >= 1000 else "z.2f" if largest >= 0.1 else ".2g"
    for record in records:
        if record["v0"] is not None:
            record["text"] = format(record["v0"], form)
            record["between"] = _say_interval(record, form)


def _say_interval(record: dict[str, Any], form: str) -> str:
    if "l0" not in record:
        return ""
    return "unbounded" if "open0" in record else f"{record['l0']:{form}} to {record['u0']:{form}}"


def _close_bins(layout: PictureLayout) -> PictureLayout:
    """A bin without an end is as wide as the first that has both."""
    if layout.shape != "bins" or layout.across is None:
        return layout
    ends = [(place(start), place(end)) for start, end in zip(layout.axis.values, layout.across.values, strict=True)]
    width = next((end - start for start, end in ends if start is not None and end is not None), 1.0)
    starts = tuple(end - width if start is None and end is not None else start for start, end in ends)
    stops = tuple(start + width if end is None and start is not None else end for start, end in ends)
    return replace(layout, axis=replace(layout.axis, values=starts), across=replace(layout.across, values=stops))


def _along(layout: PictureLayout, records: Sequence[dict[str, Any]]) -> Domain:
    places = [record["axis"] for record in records]
    if layout.shape == "bins":
        return span_exactly([*places, *(record["across"] for record in records)])
    return span_exactly(places) if layout.shape in {"line", "steps"} else span_loosely(places)


def _domain_of(value: DrawnColumn, layout: PictureLayout) -> Domain:
    numbers = [place(each) for each in (*value.values, *value.lower, *value.upper)]
    if value.kind == "time":
        return span_loosely(numbers)
    if layout.shape == "heat":
        return _heat_domain(value)
    from_zero = (0.0,) if layout.shape_of(value) in {"bars", "bins"} else ()
    return span(numbers, include=(*from_zero, *layout.include))


def _heat_domain(value: DrawnColumn) -> Domain:
    """Counts from zero on; what may be negative, as far on both sides of zero."""
    lower, upper = span(map(place, value.values), include=(0,))
    return (lower, upper) if value.whole else (-max(-lower, upper), max(-lower, upper))


def _tell_odd(layout: PictureLayout) -> list[str]:
    """Intervals without an end, and values that are not there."""
    none = [[place(each) is None for each in value.values] for value in layout.values]
    remarks = [
        f"{each.name} has no interval."
        for each in layout.values
        if each.role == "value" and each.values and not each.lower
    ]
    if layout.shape != "heat" and any(map(_has_open_end, layout.values, none)):
        remarks.append(_OPEN_BAND if layout.shape in {"line", "steps"} else _OPEN_LINE)
    if layout.shape != "heat" and layout.discrete and any(any(value.silent) for value in layout.values):
        remarks.append(_SILENT)
    if any(map(any, none)) and not layout.discrete:
        remarks.append("Where nothing is drawn, there is no value.")
    return remarks


def _has_open_end(value: DrawnColumn, none: Sequence[bool]) -> bool:
    ends = zip(none, value.lower, value.upper, strict=True) if value.has_intervals else ()
    return any(not missing and None in {place(lower), place(upper)} for missing, lower, upper in ends)
