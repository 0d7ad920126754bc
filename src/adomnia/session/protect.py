"""A table of your own under protection: what its caller declares, as a catalog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from adomnia.catalog.model import Analyst, Catalog, Table
from adomnia.errors import Refusal
from adomnia.privacy.amounts import whole
from adomnia.privacy.domains import Categories, Numbers
from adomnia.privacy.events import Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Day, Identity, Kind, Quantity, Text
from adomnia.privacy.units import ROW, Unit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    import pyarrow as pa

    from adomnia.privacy.amounts import Number
    from adomnia.privacy.filters import Budget

TABLE = "data"
OWNER = "you"
EACH_ROW = "row"


@dataclass(frozen=True)
class Declared:
    """What the caller says about the table; nothing else is known of it, and nothing is taken from its rows."""

    unit: str
    rows_per_person: int | Mapping[str, Number] | None
    bounds: Mapping[str, tuple[Number | date, Number | date]]
    categories: Mapping[str, Sequence[str]]
    budget: Budget
    version: int


def catalog_of(table: pa.Table, declared: Declared) -> Catalog:
    """The catalog of one table in memory: types from its schema, everything else as declared."""
    named = [*declared.bounds, *declared.categories] + [declared.unit] * (declared.unit != EACH_ROW)
    for name in named:
        if name not in table.column_names:
            fix = f"name one of its columns: {', '.join(table.column_names)}"
            raise Refusal(f"Column {name}", "is not in the table", fix, code="unknown_column")
    if declared.unit == EACH_ROW and EACH_ROW in table.column_names:
        why = "is a column of the table, and as a unit it means that every row is a person of its own"
        raise Refusal(f"Unit {EACH_ROW}", why, "rename the column", code="ambiguous_unit")
    rows, epsilon = _rows_per_person(declared)
    columns = tuple(_column(field, declared) for field in table.schema)
    try:
        data = Table(TABLE, TABLE, columns, rows_per_person=rows, profile_epsilon=epsilon)
    except ValueError as error:
        why = f"has a column that cannot be asked about: {str(error).rstrip('.')}"
        fix = "rename the column, for example with df.rename(columns={...})"
        raise Refusal("The table", why, fix, code="bad_name") from None
    return Catalog(
        name=TABLE,
        version=declared.version,
        unit=ROW if declared.unit == EACH_ROW else Unit(TABLE, declared.unit),
        budget=declared.budget,
        analysts=(Analyst(OWNER, declared.budget),),
        tables=(data,),
        folder=Path(),
    )


def fingerprint(table: pa.Table) -> int:
    """A version for the very rows of a table: answers about other rows are not given again for these."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table.combine_chunks())
    return int.from_bytes(sha256(sink.getvalue()).digest()[:7])


def _rows_per_person(declared: Declared) -> tuple[int, Fraction | None]:
    rows = declared.rows_per_person
    if (rows is None) != (declared.unit == EACH_ROW):
        raise _cap_refusal(declared.unit)
    if not isinstance(rows, Mapping):
        return (1 if rows is None else whole(rows, "protect", "rows_per_person")), None
    if rows.keys() != {"max", "epsilon"}:
        raise ValueError(f"protect rows_per_person must be a number or have max and epsilon, got {dict(rows)}.")
    return whole(rows["max"], "protect", "max"), Pure(rows["epsilon"]).epsilon


def _cap_refusal(unit: str) -> Refusal:
    if unit == EACH_ROW:
        why, fix = "counts the rows of a person, and each row is protected on its own", "name the column of people"
        return Refusal("rows_per_person=", why, f"leave it out, or {fix} as unit=", code="no_cap")
    fix = (
        "pass rows_per_person=1 if a person has one row, or the most rows of one person that may count: those beyond "
        'it are left out. Or pass unit="row": each row is then protected on its own, not each person'
    )
    return Refusal(f"The table, whose people are {unit},", "has no rows_per_person", fix, code="no_cap")


def _column(field: pa.Field, declared: Declared) -> Column:
    name = field.name
    if name == declared.unit:
        return Column(name, Identity(person=True))
    if name in declared.categories:
        return Column(name, Text(_values(name, declared.categories[name])))
    if name in declared.bounds:
        try:
            return _bounded(name, _kind(field.type), *declared.bounds[name])
        except (TypeError, ValueError) as error:
            why, fix = str(error).rstrip("."), "write them as (lower, upper)"
            raise Refusal(f"The bounds of {name}", f"cannot be used: {why}", fix, code="bad_bounds") from None
    return Column(name, _kind(field.type))


def _bounded(name: str, kind: Kind, lower: Number | date, upper: Number | date) -> Column:
    if isinstance(kind, Day):
        if type(lower) is not date or type(upper) is not date or lower > upper:
            raise ValueError(f"they must be two dates in their order, as datetime.date, got {lower!r} and {upper!r}")
        return Column(name, Day(lower, upper))
    whole_numbers = isinstance(kind, Quantity) and kind.whole
    domain = (Numbers.integers if whole_numbers else Numbers.bounded)(lower, upper)  # type: ignore[arg-type]
    return Column(name, Quantity(domain.lower, domain.upper, whole_numbers), domain)


def _values(name: str, values: Sequence[str]) -> tuple[str, ...]:
    try:
        listed = tuple(map(str, Categories(values).values))
    except (TypeError, ValueError) as error:
        why, fix = str(error).rstrip("."), "list the different values that may occur, as texts"
        raise Refusal(f"The categories of {name}", f"cannot be used: {why}", fix, code="bad_categories") from None
    return listed


def _kind(kind: pa.DataType) -> Kind:
    from pyarrow import types

    if types.is_boolean(kind):
        return Boolean()
    if types.is_date(kind) or types.is_timestamp(kind):
        return Day()
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return Quantity(whole=types.is_integer(kind)) if numeric else Text()
