"""How a declared column is kept: read by a total conversion, clamped, and for bounded numbers also as grid integers."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from sys import float_info

from adomnia.engines.contract import grid_name
from adomnia.engines.render.constants import NOT_A_NUMBER, double, nearest_double, quoted
from adomnia.engines.render.grids import on_grid
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import LONGEST_TEXT, Day, Identity, Quantity, Text, Truth

_WIDTHS = (("TINYINT", 7), ("SMALLINT", 15), ("INTEGER", 31), ("BIGINT", 63), ("HUGEINT", 127))


@dataclass(frozen=True)
class Stored:
    """One column of the index: its name, and the SQL of its value over the columns that `read` gives."""

    name: str
    sql: str


def kept(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns that the index holds: all but the ids, of which only those that link tables are kept."""
    return tuple(column for column in columns if not isinstance(column.kind, Identity) or column.kind.linked)


def categories_name(column: Column) -> str:
    """The ENUM of a column's declared values, while the index is built."""
    return f" values of {column.name}"


def read(column: Column) -> str:
    """A column of the source as a DOUBLE, BOOLEAN, DATE, VARCHAR or code; NULL where it cannot be read as one."""
    name = quoted(column.name)
    match column.kind:
        case Quantity():
            return f"TRY_CAST({name} AS DOUBLE)"
        case Truth():
            return f"TRY_CAST({name} AS BOOLEAN)"
        case Day():
            return f"TRY_CAST({name} AS DATE)"
        case Text(values=tuple()):
            return f"ENUM_CODE(TRY_CAST(TRY_CAST({name} AS VARCHAR) AS {quoted(categories_name(column))}))"
    return f"LEFT(TRY_CAST({name} AS VARCHAR), {LONGEST_TEXT})"


def stored(column: Column) -> Iterator[Stored]:
    """The columns of the index that keep a declared one."""
    name = quoted(column.name)
    match column.kind, column.domain:
        case Quantity(whole=True), Numbers() as domain:
            yield Stored(column.name, _grid(name, domain))
        case Quantity(), Numbers() as domain:
            yield Stored(column.name, _clamped(name, domain))
            yield Stored(grid_name(column), _grid(name, domain))
        case Quantity(whole=whole), None:
            value = f"FLOOR({name} + 0.5e0)" if whole else name
            yield Stored(column.name, f"CASE WHEN ABS({name}) <= {double(float_info.max)} THEN {value} + 0e0 END")
        case Day() as day, _:
            yield Stored(column.name, _within(name, day))
        case _:
            yield Stored(column.name, name)


def _grid(name: str, domain: Numbers) -> str:
    extreme = max(domain.grid_upper, -domain.grid_lower - 1)
    width = next(width for width, bits in _WIDTHS if extreme < 2**bits)
    return f"CAST({on_grid(name, domain, may_be_nan=True)} AS {width})"


def _clamped(name: str, domain: Numbers) -> str:
    lower, upper = double(nearest_double(domain.lower)), double(nearest_double(domain.upper))
    # Adding zero turns -0.0 into 0.0: equal values are then identical, whatever compares or prints them.
    return (
        f"CASE WHEN {name} = {NOT_A_NUMBER} THEN NULL WHEN {name} < {lower} THEN {lower} "
        f"WHEN {name} > {upper} THEN {upper} ELSE {name} + 0e0 END"
    )


def _within(name: str, day: Day) -> str:
    """Within its bounds, and always within the calendar: beyond it, functions of dates fail."""
    lower, upper = day.lower or date.min, day.upper or date.max
    below, above = (f"DATE '{bound.isoformat()}'" for bound in (lower, upper))
    return f"CASE WHEN {name} < {below} THEN {below} WHEN {name} > {above} THEN {above} ELSE {name} END"
