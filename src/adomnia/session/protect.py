"""Tables of your own under protection: what their caller declares, as a catalog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adomnia.catalog.document import Document
from adomnia.catalog.document_keys import is_local_time, is_time_zone
from adomnia.catalog.facts import apply_facts
from adomnia.catalog.model import Analyst, Catalog, Table, is_name
from adomnia.catalog.people import mark_links
from adomnia.errors import Refusal
from adomnia.privacy.amounts import whole
from adomnia.privacy.domains import Categories, Numbers
from adomnia.privacy.events import Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Day, Identity, Kind, Moment, Quantity, Text
from adomnia.privacy.units import ROW, Unit
from adomnia.session.conversions import convert, type_of, write_text
from adomnia.session.declared import TABLE, Declared, GivenTables, read_links, read_tables, read_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    import pyarrow as pa

    from adomnia.catalog.facts import Facts
    from adomnia.catalog.model import Link

OWNER = "you"
_KINDS: dict[str, Kind] = {
    "id": Identity(),
    "integer": Quantity(whole=True),
    "number": Quantity(),
    "boolean": Boolean(),
    "date": Day(),
    "timestamp": Moment(zone="UTC"),
    "text": Text(),
}


_BOUNDED: dict[type, str] = {date: "date", datetime: "timestamp"}  # what a text is that has such bounds


class _Links(Document):
    """What `mark_links` reads, and how it refuses: in the words of Python."""

    def refusal(self, path: Sequence[str], why: str, fix: str) -> Refusal:
        fix = 'write it like links={"visits": "person_id -> people.person_id"}'
        return Refusal(f"The link of {path[1]}", why, fix, code="bad_link")


@dataclass(frozen=True)
class Protected:
    """A catalog, and the tables that it is about, with every column as it is declared."""

    catalog: Catalog
    frames: dict[str, pa.Table]


def protect_tables(
    data: object,
    public: Mapping[str, object],
    declared: Declared,
    find_facts: Callable[[object, Table], Sequence[Facts]],
) -> Protected:
    """The catalog of tables in memory: types from their schemas, everything else as declared.

    Of public tables, what is not declared is read from their rows, by `find_facts`.
    """
    given = read_tables(data, public, declared)
    unit = read_unit(given, declared.unit)
    links = read_links(given, unit, declared.links)
    reader = _ColumnReader(given, declared, unit, links)
    frames: dict[str, pa.Table] = {}
    tables: list[Table] = []
    for name in given.frames:
        frames[name], columns = reader.read(name)
        table = _build_table(name, columns, given, declared, (unit, links.get(name)))
        tables.append(apply_facts(table, find_facts(frames[name], table)) if table.public else table)
    document = _Links(Path(), "", {"tables": {name: {"public": name in given.public} for name in frames}})
    catalog = Catalog(
        name=TABLE,
        version=1,
        unit=unit,
        budget=declared.budget,
        analysts=(Analyst(OWNER, declared.budget, publish=True),),
        tables=mark_links(document, tuple(tables), unit),
        folder=Path(),
    )
    return Protected(catalog, frames)


def fingerprint(frames: Mapping[str, pa.Table]) -> int:
    """A version for the very rows of tables: answers about other rows are not given again for these."""
    import pyarrow as pa

    digest = sha256()
    for name, table in frames.items():
        digest.update(name.encode() if len(frames) > 1 else b"")
        sink = pa.PythonFile(_HashSink(digest), mode="w")
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table.combine_chunks())
    return int.from_bytes(digest.digest()[:7])


class _HashSink:
    """A file that only its hash is kept of."""

    closed = False

    def __init__(self, digest: Any) -> None:  # noqa: ANN401 - hashlib has no type for it
        self._digest = digest

    def write(self, part: bytes) -> int:
        self._digest.update(part)
        return len(part)

    def flush(self) -> None:
        """Nothing is kept back."""


class _ColumnReader:
    """Reads columns as they are declared, table by table."""

    def __init__(self, given: GivenTables, declared: Declared, unit: Unit, links: Mapping[str, Link]) -> None:
        self._given = given
        self._bounds, self._categories = given.spread(declared.bounds), given.spread(declared.categories)
        self._ids = {(unit.table, unit.column)} if unit != ROW else set()
        for name, link in links.items():
            self._ids |= {(name, link.column), (link.parent, link.parent_column)}

    def read(self, table: str) -> tuple[pa.Table, tuple[Column, ...]]:
        """The table with every column as it is declared, and what is declared."""
        frame, columns = self._given.frames[table], []
        for number, field in enumerate(frame.schema):
            place, held = (table, field.name), frame.column(number)
            wanted = self._type(place, field.type)
            converted = None if wanted is None else convert(held, wanted)
            if wanted is None or converted is None:
                raise _refusal_of_type(field, wanted)
            if 2 * (converted.null_count - held.null_count) > len(held) - held.null_count:
                why, fix = f"can mostly not be read as {wanted}", "correct its bounds or its type, or convert it"
                raise Refusal(f"Column {field.name}", why, fix, code="bad_column")
            columns.append(self._column(place, wanted, field.type))
            frame = frame if converted is held else frame.set_column(number, field.name, converted)
        return frame, tuple(columns)

    def _type(self, place: tuple[str, str], held: pa.DataType) -> str | None:
        if place in self._ids:
            return "id"
        if place in self._categories:
            return "category"
        if place in self._given.types:
            return self._given.types[place]
        if place in self._bounds and type_of(held) == "text":
            return _type_of_bounds(self._bounds[place])
        return type_of(held)

    def _column(self, place: tuple[str, str], wanted: str, held: pa.DataType) -> Column:
        if place in self._categories:
            return Column(place[1], _read_values(place[1], self._categories[place]))
        if wanted == "category":
            fix = f'pass categories={{"{place[1]}": ["a", "b"]}}'
            raise Refusal(f"The category {place[1]}", "has no values", fix, code="bad_categories")
        kind, zone = _KINDS[wanted], str(getattr(held, "tz", None))
        if isinstance(kind, Moment) and is_time_zone(zone):
            kind = Moment(zone=zone)
        return _bound(place[1], kind, self._bounds[place]) if place in self._bounds else Column(place[1], kind)


def _build_table(
    name: str,
    columns: tuple[Column, ...],
    given: GivenTables,
    declared: Declared,
    people: tuple[Unit, Link | None],
) -> Table:
    public = name in given.public
    rows, epsilon = (1, None) if public else _read_cap(name, given, declared, people[0])
    try:
        return Table(name, name, columns, public=public, link=people[1], rows_per_person=rows, profile_epsilon=epsilon)
    except ValueError as error:
        why = f"has a name that cannot be asked about: {str(error).rstrip('.')}"
        fix = "rename the column, for example with df.rename(columns={...}), or leave it out: columns=[...]"
        if not is_name(name):
            fix = 'pass the table under another name: {"people": ...}'
        raise Refusal("The table", why, fix, code="bad_name") from None


def _read_cap(name: str, given: GivenTables, declared: Declared, unit: Unit) -> tuple[int, Fraction | None]:
    """How many rows of a person count in a table."""
    caps: Any = declared.rows_per_person
    if (caps is None) != (unit == ROW):
        raise _cap_refusal(given, unit)
    if not given.single and caps is not None:
        if not isinstance(caps, Mapping) or name not in caps or not caps.keys() <= set(given.private):
            raise _cap_refusal(given, unit)
        caps = caps[name]
    if not isinstance(caps, Mapping):
        return (1 if caps is None else whole(caps, "protect", "rows_per_person")), None
    if caps.keys() != {"max", "epsilon"}:
        raise ValueError(f"protect rows_per_person must be a number or have max and epsilon, got {dict(caps)}.")
    return whole(caps["max"], "protect", "max"), Pure(caps["epsilon"]).epsilon


def _cap_refusal(given: GivenTables, unit: Unit) -> Refusal:
    if unit == ROW:
        why, fix = "counts the rows of a person, and each row is protected on its own", "name the column of people"
        return Refusal("rows_per_person=", why, f"leave it out, or {fix} as unit=", code="no_cap")
    if not given.single:
        each = ", ".join(f'"{name}": {1 if name == unit.table else 10}' for name in given.private)
        why = "has no rows_per_person for each: the most rows of one person that may count"
        return Refusal("The set of tables", why, f"pass for example rows_per_person={{{each}}}", code="no_cap")
    fix = (
        "pass rows_per_person=1 if a person has one row, or the most rows of one person that may count: those beyond "
        'it are left out. Or pass unit="row": each row is then protected on its own, not each person'
    )
    return Refusal(f"The table, whose people are {unit.column},", "has no rows_per_person", fix, code="no_cap")


def _type_of_bounds(bounds: Any) -> str:  # noqa: ANN401 - whatever was declared
    first = bounds[0] if isinstance(bounds, tuple | list) and bounds else None
    return _BOUNDED.get(type(first), "number")


def _bound(name: str, kind: Kind, bounds: Any) -> Column:  # noqa: ANN401 - whatever was declared
    try:
        lower, upper = bounds
        return _bounded(name, kind, lower, upper)
    except (TypeError, ValueError) as error:
        pair = "date(2020, 1, 1), date(2029, 12, 31)" if isinstance(kind, Day) else "lower, upper"
        why, fix = f"cannot be used: {str(error).rstrip('.')}", f'pass bounds={{"{name}": ({pair})}}'
        if not isinstance(kind, Day | Moment | Quantity):
            fix = "leave them out"
        raise Refusal(f"The bounds of {name}", why, fix, code="bad_bounds") from None


def _bounded(name: str, kind: Kind, lower: Any, upper: Any) -> Column:  # noqa: ANN401 - whatever was declared
    if isinstance(kind, Day):
        if type(lower) is not date or type(upper) is not date or lower > upper:
            raise ValueError(f"they must be two dates in their order, as datetime.date, got {lower!r} and {upper!r}")
        return Column(name, Day(lower, upper))
    if isinstance(kind, Moment):
        if not (is_local_time(lower) and is_local_time(upper)) or lower > upper:
            what = "two local times in their order, as datetime.datetime without a time zone, in whole seconds"
            raise ValueError(f"they must be {what}, got {lower!r} and {upper!r}")
        return Column(name, Moment(lower, upper, kind.zone))
    if not isinstance(kind, Quantity):
        raise TypeError(f"the column is of type {kind}, and only numbers, dates and timestamps have bounds")
    domain = (Numbers.integers if kind.whole else Numbers.bounded)(lower, upper)
    return Column(name, Quantity(domain.lower, domain.upper, kind.whole), domain)


def _read_values(name: str, written: Any) -> Text:  # noqa: ANN401 - whatever was declared
    """The values of a category, the last of which may stand for all that are not listed."""
    try:
        return _list_values(**written) if isinstance(written, Mapping) else _list_values(written)
    except (TypeError, ValueError) as error:
        why, fix = f"cannot be used: {str(error).rstrip('.')}", f'pass categories={{"{name}": ["a", "b"]}}'
        raise Refusal(f"The categories of {name}", why, fix, code="bad_categories") from None


def _list_values(values: Any, others: str | None = None) -> Text:  # noqa: ANN401 - whatever was declared
    listed = [] if isinstance(values, str) else [write_text(value) for value in values]
    if others is not None:
        listed.append(str(others))
    return Text(tuple(map(str, Categories(listed).values)), others=others is not None)


def _refusal_of_type(field: pa.Field, wanted: str | None) -> Refusal:
    why = f"holds {field.type}" + (", which cannot be asked about" if wanted is None else f", and not {wanted}")
    return Refusal(f"Column {field.name}", why, "convert it, or leave it out: columns=[...]", code="bad_column")
