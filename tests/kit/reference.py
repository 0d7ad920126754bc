"""What a query means, in plain Python: row by row, slowly, and without a line of the engine.

Rows hold a cell for each column, by the name of its side of a join and its own. `exact` gives the aggregate in every
cell of the keys as nested lists of Python integers. Which rows there are, and whose, is for kit.tables to say.
"""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from adomnia.engines.contract import PERSON
from adomnia.privacy.expressions import Call, Column, Expression, Literal
from adomnia.privacy.keys import Blocks, Bucket, key_values
from adomnia.privacy.kinds import LONGEST_TEXT, Boolean, Day, Identity, Moment, Quantity, Text
from adomnia.privacy.scans import DistinctValues, NonNull, People, Rows, Total
from adomnia.privacy.vectors import Vector

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from adomnia.privacy.domains import Numbers
    from adomnia.privacy.keys import AnyKey
    from adomnia.privacy.queries import Query

KEY = bytes(range(32))


class Cell(NamedTuple):
    """What a row holds in a column: its value, and of a bounded number its grid integer."""

    value: Any
    grid: int | None = None


Row = dict[tuple[str, str], Cell]


def exact(query: Query, rows: Sequence[tuple[Hashable, Row]]) -> list[Any] | int:
    """The aggregate of (person, row) pairs in every cell of the declared keys, last key innermost."""
    domains = [declared(key) for key in query.keys]
    cells: dict[tuple[Any, ...], list[tuple[Hashable, Row]]] = {cell: [] for cell in product(*domains)}
    for who, row in rows:
        cell = tuple(_cell(key, who, row) for key in query.keys)
        if cell in cells:
            cells[cell].append((who, row))
    found = _clipped(query, cells) if query.clip else [_aggregate(query, inside) for inside in cells.values()]
    return _nested(found, [len(domain) for domain in domains])


def _cell(key: AnyKey, who: Hashable, row: Row) -> Any:
    if isinstance(key, Blocks):
        return block_of(who, key.count)
    return value(key.written if isinstance(key, Bucket) else key, row)


def block_of(who: Any, count: int, key: bytes = KEY) -> int:
    """The block of a person, as it is defined: by the last 24 bits of a keyed hash, which is read from its end."""
    hashed = hashlib.md5(":".join([key.hex()[:32], "p", *map(str, who)]).encode()).digest()
    return int.from_bytes(hashed, "little") % 2**24 % count


def _clipped(query: Query, cells: dict[tuple[Any, ...], list[tuple[Hashable, Row]]]) -> list[int]:
    """What each person has in all cells, shortened together, and added up."""
    assert query.clip
    sums = [0] * len(cells)
    length = replace(query, aggregate=Rows()) if query.clip.counted else query
    for who in {who for inside in cells.values() for who, _ in inside}:
        own = [[each for each in inside if each[0] == who] for inside in cells.values()]
        squares = sum(_aggregate(length, inside) ** 2 for inside in own)
        for place, inside in enumerate(own):
            sums[place] += _shortened(_aggregate(query, inside), squares, query.clip.bound)
    return sums


def _shortened(entry: int, squares: int, bound: int) -> int:
    """In parts of 1,024: as it is where the length fits, else times a factor that is a little smaller than needed."""
    if squares <= bound**2:
        return entry * 1024
    wanted = 1024 * bound * (1 - Fraction(1, 2**40))
    below = float(wanted) if float(wanted) <= wanted else math.nextafter(float(wanted), 0)
    return math.trunc(float(entry) * (below / math.sqrt(float(squares))))


def declared(key: AnyKey) -> tuple[Any, ...]:
    """The values of a key, in their order."""
    if isinstance(key, Bucket | Blocks):
        return key_values(key)
    if isinstance(key.kind, Boolean):
        return (False, True)
    assert isinstance(key.kind, Text)
    assert key.kind.values is not None
    return key.kind.values


def value(expression: Expression, row: Row) -> Any:
    """A value, or None for NULL: doubles, three-valued logic, no errors."""
    match expression:
        case Column():
            return row[place(expression)].value
        case Literal(value=Fraction() as number):
            return float(number)
        case Literal(value=constant):
            return constant
        case Call(function=function, arguments=arguments):
            return MEANINGS[function](*(value(argument, row) for argument in arguments))


def grid(expression: Expression, domain: Numbers, row: Row) -> int | None:
    """The grid integer of a number: of a bare column the one that is kept of it, else that of its value."""
    if isinstance(expression, Column) and expression.domain == domain:
        return row[place(expression)].grid
    return domain.grid(value(expression, row))


def place(column: Column) -> tuple[str, str]:
    """Where a row holds a column."""
    whose = isinstance(column.kind, Identity) and column.kind.person
    return column.source, PERSON if whose else column.name


def _vector(vector: Vector, rows: list[tuple[Hashable, Row]]) -> list[int]:
    """The sum of each entry over the rows where all variables that it names have a value."""
    sums = [0] * vector.columns
    for _, row in rows:
        grids = [grid(each.value, each.domain, row) for each in vector.variables]
        if vector.absent and grids[0] is None:
            sums[-1] += vector.absent
        for place, entry in enumerate(vector.entries):
            named = {each for _, exponents in entry.terms for each, exponent in enumerate(exponents) if exponent}
            if all(grids[each] is not None for each in named):
                steps = [
                    0 if own is None else own - each.domain.grid_lower
                    for own, each in zip(grids, vector.variables, strict=True)
                ]
                sums[place] += sum(c * math.prod(map(pow, steps, exponents)) for c, exponents in entry.terms)
    return sums


def _aggregate(query: Query, rows: list[tuple[Hashable, Row]]) -> Any:  # noqa: PLR0911 - one for each aggregate
    match query.aggregate:
        case Vector() as vector:
            return _vector(vector, rows)
        case Rows():
            return len(rows)
        case People(person=None):
            return len({who for who, _ in rows})
        case People(person=Column() as person):
            return len({value(person, row) for _, row in rows} - {None})
        case NonNull(value=counted):
            return sum(value(counted, row) is not None for _, row in rows)
        case DistinctValues(value=counted):
            return len({value(counted, row) for _, row in rows} - {None})
        case Total(value=summed, domain=domain, centre=centre):
            grids = (grid(summed, domain, row) for _, row in rows)
            return sum(each - centre for each in grids if each is not None)


def read(column: Column, raw: Any) -> Any:
    """A column as declared, from what the file holds: clamped, and NULL where it is no value of its kind."""
    if raw is None or (isinstance(raw, float) and math.isnan(raw)):
        return None
    match column.kind:
        case Quantity():
            return _number(column, float(raw))
        case Text(values=tuple() as values, others=others):
            return raw if raw in values else values[-1] if others else None
        case Day(lower=date() as lower, upper=date() as upper):
            return min(max(raw, lower), upper)
        case Moment(lower=datetime() as lower, upper=datetime() as upper):
            return min(max(raw.replace(microsecond=0), lower), upper)
    return raw


def _number(column: Column, raw: float) -> float | None:
    assert isinstance(column.kind, Quantity)
    if column.domain and column.kind.whole:
        return float(column.domain.grid(raw))  # type: ignore[arg-type]  # only NULL and NaN have none
    if column.domain:
        return min(max(raw, float(column.domain.lower)), float(column.domain.upper)) + 0.0
    if not math.isfinite(raw):
        return None
    return float(math.floor(raw + 0.5)) if column.kind.whole else raw + 0.0


def _nested(flat: list[int], shape: list[int]) -> Any:
    for length in reversed(shape):
        flat = [flat[place : place + length] for place in range(0, len(flat), length)]  # type: ignore[misc]
    return flat[0]


def _known(meaning: Callable[..., Any]) -> Callable[..., Any]:
    """NULL in, NULL out."""
    return lambda *values: None if any(each is None for each in values) else meaning(*values)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _over(numerator: float, denominator: float) -> float | None:
    return None if denominator == 0 else numerator / denominator


def _and(left: bool | None, right: bool | None) -> bool | None:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _or(left: bool | None, right: bool | None) -> bool | None:
    if left is True or right is True:
        return True
    return None if left is None or right is None else False


def _like(text: str, pattern: str) -> bool:
    parts = {"%": ".*", "_": "."}
    return bool(re.fullmatch("".join(parts.get(sign, re.escape(sign)) for sign in pattern), text, re.DOTALL))


def _remainder(left: float, right: float) -> float | None:
    return None if right == 0 else math.fmod(left, right)


def _round(number: float) -> float:
    """Halves away from zero, without the rounding error of adding a half first."""
    if not math.isfinite(number):
        return number
    below = math.floor(abs(number))
    return math.copysign(below + (abs(number) - below >= 0.5), number)


def _where(defined: Callable[[float], bool], compute: Callable[[float], float]) -> Callable[[Any], Any]:
    return _known(lambda number: compute(number) if defined(number) else None)


def _exp(number: float) -> float:
    try:
        return math.exp(number)
    except OverflowError:
        return math.inf


def _power(base: float, exponent: float) -> float:
    """NaN and infinities where IEEE has them."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.inf if base == 0 else math.nan


def _chosen(*parts: Any) -> Any:
    for test, outcome in zip(parts[:-1:2], parts[1::2], strict=True):
        if test is True:
            return outcome
    return parts[-1]


def _extreme(choose: Callable[..., Any]) -> Callable[..., Any]:
    """Of the values that are there."""
    return lambda *values: choose((each for each in values if each is not None), default=None)


def _each_letter(change: Callable[[str], str]) -> Callable[..., Any]:
    return _known(lambda text: "".join(change(letter) for letter in text))


def _read(pattern: str, convert: Callable[[str], Any]) -> Callable[..., Any]:
    """What a text says, if it is written like that; None where it says something impossible."""

    def meaning(text: str) -> Any:
        if not re.fullmatch(pattern, text, re.ASCII):
            return None
        try:
            return convert(text)
        except ValueError:
            return None

    return _known(meaning)


def _shifted(day: date, days: float) -> date | None:
    place = day.toordinal() + int(days)
    return date.fromordinal(place) if 1 <= place <= date.max.toordinal() else None


def _shifted_by_months(day: date, months: float) -> date | None:
    """The same day of that month; where it has none, the last that it has."""
    place = 12 * day.year + day.month - 1 + int(months)
    for late in range(4):
        try:
            return date(place // 12, place % 12 + 1, day.day - late)
        except ValueError:
            continue
    return None


def _shifted_by_seconds(moment: datetime, seconds: float) -> datetime | None:
    try:
        return moment + timedelta(seconds=seconds)
    except OverflowError:
        return None


def _formatted(day: date, written: str) -> str:
    padded = {"%Y": f"{day.year:04}", "%G": f"{day.isocalendar().year:04}"}  # which not every C library does
    return re.sub("%.", lambda field: padded.get(field[0]) or day.strftime(field[0]), written)


def _matches(text: str, pattern: str) -> bool:
    return re.search(pattern.replace("\\z", "\\Z"), text, re.ASCII) is not None


def _start_of_quarter(day: date) -> date:
    return date(day.year, 3 * ((day.month - 1) // 3) + 1, 1)


MEANINGS: dict[str, Callable[..., Any]] = {
    "+": _known(lambda a, b: a + b),
    "-": _known(lambda a, b: a - b),
    "*": _known(lambda a, b: a * b),
    "/": _known(_over),
    "mod": _known(_remainder),
    "negative": _known(lambda a: -a),
    "finite": _known(_finite),
    "abs": _known(abs),
    "sign": _known(lambda a: float((a > 0) - (a < 0))),
    "round": _known(_round),
    "floor": _known(lambda a: float(math.floor(a)) if math.isfinite(a) else a),
    "ceil": _known(lambda a: float(math.ceil(a)) if math.isfinite(a) else a),
    "trunc": _known(lambda a: float(math.trunc(a)) if math.isfinite(a) else a),
    "ln": _where(lambda a: a > 0, math.log),
    "log10": _where(lambda a: a > 0, math.log10),
    "log2": _where(lambda a: a > 0, math.log2),
    "sqrt": _where(lambda a: a >= 0, math.sqrt),
    "exp": _known(_exp),
    "power": _known(_power),
    "greatest": _extreme(max),
    "least": _extreme(min),
    "clamp": _known(lambda a, lower, upper: min(max(a, lower), upper)),
    "inside": _known(lambda a, lower, upper: a if lower <= a <= upper else None),
    "=": _known(lambda a, b: a == b),
    "<>": _known(lambda a, b: a != b),
    "<": _known(lambda a, b: a < b),
    "<=": _known(lambda a, b: a <= b),
    ">": _known(lambda a, b: a > b),
    ">=": _known(lambda a, b: a >= b),
    "same": lambda a, b: a == b,
    "and": _and,
    "or": _or,
    "not": _known(lambda a: not a),
    "is null": lambda a: a is None,
    "coalesce": lambda a, b: b if a is None else a,
    "nullif": lambda a, b: None if b is not None and a == b else a,
    "case": _chosen,
    "like": _known(_like),
    "starts_with": _known(str.startswith),
    "ends_with": _known(str.endswith),
    "contains": _known(lambda a, b: b in a),
    "matches": _known(_matches),
    "upper": _each_letter(str.upper),
    "lower": _each_letter(str.lower),
    "trim": _known(lambda a: a.strip(" ")),
    "ltrim": _known(lambda a: a.lstrip(" ")),
    "rtrim": _known(lambda a: a.rstrip(" ")),
    "length": _known(lambda a: float(len(a))),
    "position": _known(lambda a, b: float(a.find(b) + 1)),
    "replace": _known(lambda a, b, c: a.replace(b, c)[:LONGEST_TEXT]),
    "substring": _known(lambda a, start, length: a[int(start) - 1 :][: int(length)]),
    "right": _known(lambda a, length: a[max(0, len(a) - int(length)) :]),
    "||": _known(lambda a, b: (a + b)[:LONGEST_TEXT]),
    "year": _known(lambda a: float(a.year)),
    "quarter": _known(lambda a: float((a.month + 2) // 3)),
    "month": _known(lambda a: float(a.month)),
    "week": _known(lambda a: float(a.isocalendar().week)),
    "day": _known(lambda a: float(a.day)),
    "doy": _known(lambda a: float(a.timetuple().tm_yday)),
    "dow": _known(lambda a: float(a.isoweekday() % 7)),
    "isodow": _known(lambda a: float(a.isoweekday())),
    "start of year": _known(lambda a: date(a.year, 1, 1)),
    "start of quarter": _known(_start_of_quarter),
    "start of month": _known(lambda a: a.replace(day=1)),
    "start of week": _known(lambda a: date.fromordinal(a.toordinal() - a.weekday())),
    "days between": _known(lambda a, b: float((a - b).days)),
    "shift": _known(_shifted),
    "shift months": _known(_shifted_by_months),
    "format": _known(_formatted),
    "hour": _known(lambda a: float(a.hour)),
    "minute": _known(lambda a: float(a.minute)),
    "second": _known(lambda a: float(a.second)),
    "start of hour": _known(lambda a: a.replace(minute=0, second=0)),
    "start of minute": _known(lambda a: a.replace(second=0)),
    "day of": _known(lambda a: a.date()),
    "midnight": _known(lambda a: datetime.combine(a, time())),
    "seconds between": _known(lambda a, b: (a - b).total_seconds()),
    "shift seconds": _known(_shifted_by_seconds),
    "boolean as number": _known(float),
    "text as number": _read(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", float),
    "text as date": _read(r"\d{4}-\d{2}-\d{2}", date.fromisoformat),
    "text as boolean": _read("(?i:true|false)", lambda text: text.lower() == "true"),
    "number as text": _known(lambda a: str(round(a)) if -(2**63) <= a < 2**63 else None),
    "boolean as text": _known(lambda a: str(a).lower()),
    "date as text": _known(date.isoformat),
}
