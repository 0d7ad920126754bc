"""The rows of a picture: what fits into it, where axes begin and end, and places under names that nothing breaks.

Scales are computed here, so that an interval without an end can be drawn to the edge. Rows that cannot be told apart
in one picture are in the table alone, and a sentence says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, floor, isfinite, log10
from typing import TYPE_CHECKING, Any, TypeAlias

from adomnia.figures.columns import DrawnColumn, place, show_label
from adomnia.figures.described import is_intercept

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from adomnia.figures.columns import PictureLayout

_OPEN_LINE = "Dashed: an interval without an end."
_SILENT = "Grey: uninformative, the interval is all that is possible."
_OPEN_BAND = "Where the band reaches the edge, it may have no end."

Domain: TypeAlias = tuple[float, float]
MOST_GROUPS = 50
MOST_PANELS = 12
MOST_SIDE = 24  # of a heat map
MOST_MARKS, MOST_POINTS = 600, 1500  # those of a line are shorter
MOST_VALUES, MOST_VALUES_IN_PANELS = 4, 2
_MOST_PLACES = 24  # of all values together; few groups leave room for more values
_STEPS = (1, 2, 2.5, 5, 10)
_TICKS = 8
_SMALLEST = 1e-290  # distances below it have no digits left


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


def cut(layout: PictureLayout) -> tuple[PictureLayout, tuple[str, ...]]:
    """What can be told apart, and what is left out for that."""
    remarks = []
    kept = [row for row, term in enumerate(layout.axis.values) if not is_intercept(term)]
    if layout.shape == "points" and 0 < len(kept) < len(layout.axis.values):
        remarks.append("The intercept has a scale of its own, and is not drawn.")
        layout = _keep(layout, kept)
    most = max(MOST_VALUES, _MOST_PLACES // max(1, len(layout.axis.levels)))
    if layout.panel is not None:
        most = MOST_VALUES_IN_PANELS
    if len(layout.values) > most:
        remarks.append(f"The first {most} of {len(layout.values)} values are drawn.")
        layout = replace(layout, values=layout.values[:most])
    for name, most in _list_limits(layout):
        column = getattr(layout, name)
        if column is not None and len(column.levels) > most:
            remarks.append(f"The first {most} of {len(column.levels):,} groups are drawn.")
            shown = set(column.levels[:most])
            layout = _keep(layout, [row for row, each in enumerate(column.values) if show_label(each) in shown])
    most = (MOST_MARKS if layout.discrete else MOST_POINTS) // len(layout.values)
    if len(layout.axis.values) > most:
        remarks.append(f"The first {most:,} of {len(layout.axis.values):,} rows are drawn.")
        layout = _keep(layout, range(most))
    return layout, tuple(remarks)


def _list_limits(layout: PictureLayout) -> list[tuple[str, int]]:
    if layout.shape == "heat":
        return [("panel", 1), ("axis", MOST_SIDE), ("across", MOST_SIDE)]
    return [("panel", MOST_PANELS), ("axis", MOST_GROUPS)] if layout.discrete else [("panel", MOST_PANELS)]


def _keep(layout: PictureLayout, rows: Sequence[int]) -> PictureLayout:
    """Only these rows."""
    return replace(
        layout,
        axis=_only(layout.axis, rows),
        values=tuple(_only(value, rows) for value in layout.values),
        colour=layout.colour and _only(layout.colour, rows),
        panel=layout.panel and _only(layout.panel, rows),
        across=layout.across and _only(layout.across, rows),
    )


def _only(column: DrawnColumn, rows: Sequence[int]) -> DrawnColumn:
    lists = (column.values, column.lower, column.upper, column.silent)
    values, lower, upper, silent = (tuple(each[row] for row in rows) if each else () for each in lists)
    return replace(column, values=values, lower=lower, upper=upper, silent=silent)


def span(numbers: Iterable[float | None], *, include: Iterable[float] = ()) -> tuple[float, float]:
    """Round numbers around all that are there.

    >>> span([3, 47, None], include=(0,))
    (0.0, 50.0)
    """
    known = [number for number in numbers if number is not None and isfinite(number)] + list(include)
    if not known:
        return 0.0, 1.0
    lower, upper = min(known), max(known)
    if upper - lower <= max(1e-9 * max(abs(lower), abs(upper)), _SMALLEST):  # also of one number: nothing to part
        room = _room_around(upper)
        lower, upper = lower - room, upper + room
    step = round_step((upper - lower) / _TICKS)
    return floor(lower / step) * step, ceil(upper / step) * step


def span_exactly(numbers: Iterable[float | None]) -> tuple[float, float]:
    """From the first to the last; with room at both ends if that is one place."""
    known = [number for number in numbers if number is not None]
    if not known:
        return 0.0, 1.0
    lower, upper = min(known), max(known)
    room = _room_around(upper)
    return (lower, upper) if upper - lower > _SMALLEST else (lower - room, upper + room)


def span_loosely(numbers: Iterable[float | None]) -> tuple[float, float]:
    """From the first to the last, with some room at both ends."""
    lower, upper = span_exactly(numbers)
    room = (upper - lower) / 40
    return lower - room, upper + room


def _room_around(number: float) -> float:
    return abs(number) * 0.1 if abs(number) > _SMALLEST else 1.0


def round_step(step: float) -> float:
    """The least round number that is not below it."""
    power = 10.0 ** floor(log10(step))
    return next(factor * power for factor in _STEPS if factor * power >= step * (1 - 1e-9))
