"""How a declared column is kept: read by a total conversion, clamped, and for bounded numbers also as grid integers."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from sys import float_info

from adomnia.engines.contract import grid_name, index_name
from adomnia.engines.dialect import Dialect
from adomnia.engines.render.scalars import double, nearest_double, render_grid
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import LONGEST_TEXT, Boolean, Day, Identity, Moment, Quantity, Text
from adomnia.privacy.wall_time import FIRST, LAST


@dataclass(frozen=True)
class IndexColumn:
    """One column of the index: its name, and the SQL of its value over the columns that `render_reading` gives."""

    name: str
    sql: str


def columns_to_keep(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns that the index holds: all but the ids, of which only those that link tables are kept."""
    return tuple(column for column in columns if not isinstance(column.kind, Identity) or column.kind.linked)


def categories_name(column: Column) -> str:
    """What a column's declared values are called while the index is built."""
    return f" of {index_name(column.name)}"  # PostgreSQL cuts names off after 63 letters


def render_reading(column: Column, dialect: Dialect) -> str:
    """A column of the source as a double, boolean, date, local time, text or code; NULL where it cannot be read so."""
    name, types = dialect.quote(index_name(column.name)), dialect.types
    match column.kind:
        case Quantity():
            return dialect.index.read_as.format(name, types.double)
        case Boolean():
            return dialect.index.read_as.format(name, types.boolean)
        case Day():
            return dialect.index.read_as.format(name, types.date)
        case Moment(zone=zone):
            return dialect.index.local_time(name, "'" + zone.replace("'", "''") + "'")
    text = dialect.index.read_as.format(name, types.text)
    if isinstance(column.kind, Text) and column.kind.values is not None:
        code = dialect.index.code(text, dialect.quote(categories_name(column)), column.kind.values)
        return _with_others(code, text, len(column.kind.values) - 1, dialect) if column.kind.others else code
    return f"LEFT({text}, {LONGEST_TEXT})"


def index_columns(column: Column, dialect: Dialect) -> Iterator[IndexColumn]:
    """The columns of the index that keep a declared one."""
    kept = index_name(column.name)
    name, zero = dialect.quote(kept), dialect.double.format("0e0")
    match column.kind, column.domain:
        case Quantity(whole=True), Numbers() as domain:
            yield IndexColumn(kept, _on_grid(name, domain, dialect))
        case Quantity(), Numbers() as domain:
            yield IndexColumn(kept, _within_bounds(name, domain, dialect))
            yield IndexColumn(grid_name(column), _on_grid(name, domain, dialect))
        case Quantity(whole=whole), None:
            value = dialect.spell("floor", f"({name} + {double(0.5, dialect)})") if whole else name
            finite = f"ABS({name}) <= {double(float_info.max, dialect)}"
            yield IndexColumn(kept, f"CASE WHEN {finite} THEN {value} + {zero} END")
        case Day() as day, _:
            yield IndexColumn(kept, _clamp(name, "DATE", day.lower or date.min, day.upper or date.max))
        case Moment() as moment, _:
            clamped = _clamp(name, "TIMESTAMP", moment.lower or FIRST, moment.upper or LAST)
            yield IndexColumn(kept, dialect.index.seconds.format(clamped))
        case _:
            yield IndexColumn(kept, name)


def _with_others(code: str, text: str, last: int, dialect: Dialect) -> str:
    """The last code for every text that has none; a missing one has none still."""
    width = next(kind for kind in dialect.types.stored if last <= kind.largest)
    return f"CAST(COALESCE({code}, CASE WHEN {text} IS NOT NULL THEN {last} END) AS {width.name})"


def _on_grid(name: str, domain: Numbers, dialect: Dialect) -> str:
    extreme = max(domain.grid_upper, -domain.grid_lower - 1)
    width = next(kind for kind in dialect.types.stored if extreme <= kind.largest)
    return f"CAST({render_grid(name, domain, dialect, may_be_nan=True)} AS {width.name})"


def _within_bounds(name: str, domain: Numbers, dialect: Dialect) -> str:
    lower, upper = (double(nearest_double(bound), dialect) for bound in (domain.lower, domain.upper))
    # Adding zero turns -0.0 into 0.0: equal values are then identical, whatever compares or prints them.
    return (
        f"CASE WHEN {name} = {dialect.not_a_number} THEN NULL WHEN {name} < {lower} THEN {lower} "
        f"WHEN {name} > {upper} THEN {upper} ELSE {name} + {dialect.double.format('0e0')} END"
    )


def _clamp(name: str, word: str, lower: date | datetime, upper: date | datetime) -> str:
    """Within its bounds, and always within the calendar: beyond it, functions of dates fail."""
    below, above = (f"{word} '{bound.isoformat()}'" for bound in (lower, upper))
    return f"CASE WHEN {name} < {below} THEN {below} WHEN {name} > {above} THEN {above} ELSE {name} END"
