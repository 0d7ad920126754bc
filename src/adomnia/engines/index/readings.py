# ruff: noqa: S608 - SQL is what this module writes, from names that are quoted
"""How well a source can be read as it is declared: the values of each column that are missing, lost or moved.

For the owner alone: these are exact counts of private rows. An index is not built from a column that is mostly
unreadable, which is as a rule a wrong declaration: docs/proofs/index.md.
"""

from collections.abc import Sequence

from adomnia.catalog.model import Table
from adomnia.engines.contract import ColumnReading, index_name
from adomnia.engines.dialect import Dialect
from adomnia.engines.index.build import IndexWriter, declare_categories
from adomnia.engines.index.columns import render_reading
from adomnia.engines.index.source import TableSource
from adomnia.engines.render.scalars import double, nearest_double
from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Day, Identity, Moment, Quantity, Text

_PARTS = 3  # what is counted of a column
_LOST = "\N{REPLACEMENT CHARACTER}"  # what stands where a file is not in its encoding


def count_readings(
    writer: IndexWriter, table: Table, source: TableSource, columns: Sequence[Column] | None = None
) -> tuple[ColumnReading, ...]:
    """Count the readings of the columns of a table, or of some of them; an id is read whatever it holds."""
    counted = list(table.columns if columns is None else columns)
    for column in counted:
        declare_categories(writer, column)
    counts = [part for column in counted for part in _counts(column, writer.dialect)]
    (found,) = writer.run(f"SELECT {', '.join(['COUNT(*)', *counts])} FROM {source.relation}")
    rows, *numbers = [int(str(each)) for each in found]
    return tuple(
        _reading(table, column, rows, numbers[_PARTS * place :][:_PARTS]) for place, column in enumerate(counted)
    )


def refuse_unreadable(writer: IndexWriter, table: Table, source: TableSource) -> None:
    """Refuse a source of which a column is mostly unreadable; numbers and days that are stored as such never are."""
    doubtful = [each for each in table.columns if source.spelled or _is_category(each) or _is_text_day(each, source)]
    counted = count_readings(writer, table, source, doubtful) if doubtful else ()
    for column, reading in zip(doubtful, counted, strict=True):
        if reading.is_mostly_unreadable:
            why = f"is declared as {column.kind}, and most of what {source.name} holds there cannot be read as such"
            fix = "run `adomnia check DIR --data`, which counts what is lost, and declare what the file holds"
            raise Refusal(f"Column {table.name}.{column.name}", why, fix, code="unreadable_column")


def _reading(table: Table, column: Column, rows: int, counts: list[int]) -> ColumnReading:
    present, read, clamped = counts
    lost = present - read
    return ColumnReading(
        table.name, column.name, rows, rows - present, lost, clamped, lost if _is_category(column) else 0
    )


def _is_category(column: Column) -> bool:
    return isinstance(column.kind, Text) and column.kind.values is not None


def _is_text_day(column: Column, source: TableSource) -> bool:
    return isinstance(column.kind, Day | Moment) and source.is_text(column.name)


def _counts(column: Column, dialect: Dialect) -> tuple[str, str, str]:
    """SQL of how many values are there, how many can be read, and how many lie outside of the bounds."""
    raw = dialect.quote(index_name(column.name))
    read = raw if isinstance(column.kind, Identity) else render_reading(column, dialect)
    if isinstance(column.kind, Quantity):
        raw = (
            f"CASE WHEN NOT COALESCE({read} = {dialect.not_a_number}, FALSE) THEN {raw} END"  # how NULL is written too
        )
        read = f"CASE WHEN {read} <> {dialect.not_a_number} THEN {read} END"
    elif column.kind == Text():
        read = f"CASE WHEN {read} NOT LIKE '%{_LOST}%' THEN {read} END"
    outside = _outside(column, read, dialect)
    return f"COUNT({raw})", f"COUNT({read})", f"COUNT(CASE WHEN {outside} THEN 1 END)" if outside else "0"


def _outside(column: Column, read: str, dialect: Dialect) -> str | None:
    match column.kind:
        case Quantity() if column.domain is not None:
            lower, upper = (double(nearest_double(end), dialect) for end in (column.domain.lower, column.domain.upper))
            return f"{read} < {lower} OR {read} > {upper}"
        case Day(lower=lower, upper=upper) if lower is not None and upper is not None:
            return f"{read} < DATE '{lower.isoformat()}' OR {read} > DATE '{upper.isoformat()}'"
        case Moment(lower=lower, upper=upper) if lower is not None and upper is not None:
            return f"{read} < TIMESTAMP '{lower.isoformat()}' OR {read} > TIMESTAMP '{upper.isoformat()}'"
    return None
