"""What a change of the catalog does to errors: example questions, priced under both catalogs. No data is opened."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, isfinite, log10
from typing import TYPE_CHECKING

from adomnia.asking.batch import Batch
from adomnia.errors import Refusal
from adomnia.explaining.sql_text import put_in_quotes
from adomnia.options import CONFIDENCE
from adomnia.pricing.questions import Question
from adomnia.pricing.quotes import quote_questions
from adomnia.privacy.kinds import Boolean, Day, Quantity, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.catalog.model import Catalog, Table
    from adomnia.privacy.expressions import Column

EPSILON = Fraction(1, 4)
GROUP = 1_000
MOST_EFFECTS = 24
_COLUMNS_OF_A_TABLE = 3  # of which examples are priced where all of a table changes


@dataclass(frozen=True)
class ErrorEffect:
    """One question before and after: how far one person moves what it measures, and how wrong it may be.

    Errors are in each group, of `GROUP` rows where they depend on it. `sharper`: whether the error shrinks.
    """

    sql: str
    table: str
    moves_before: str
    moves_after: str
    error_before: str
    error_after: str
    sharper: bool | None

    @property
    def changed(self) -> bool:
        """Whether anything differs."""
        return (self.moves_before, self.error_before) != (self.moves_after, self.error_after)


@dataclass(frozen=True)
class _Example:
    """A question about a table or one of its columns; `sums`: whether it adds up values of the column."""

    form: str
    table: str
    column: str = ""
    sums: bool = False

    @property
    def shown(self) -> str:
        """As people write it."""
        return self.form.format(self.column, self.table)

    @property
    def sql(self) -> str:
        """As it is priced: any name may be a word of SQL."""
        return self.form.format(put_in_quotes(self.column), put_in_quotes(self.table))


@dataclass(frozen=True)
class _Figures:
    moves: str
    error: str
    size: float | None


def compare_errors(before: Catalog, after: Catalog) -> list[ErrorEffect]:
    """The questions whose price or error a change touches, at most so many that all can be shown."""
    examples = list(dict.fromkeys(_list_examples(before, after)))
    found = (_compare(example, before, after) for example in examples[:MOST_EFFECTS])
    return [effect for effect in found if effect.changed]


def carry_profiles(before: Catalog, after: Catalog) -> Catalog:
    """The new catalog with the contribution profiles that it will not have to pay for again."""
    tables = tuple(_carry(before, after, table) for table in after.tables)
    return replace(after, tables=tables)


def show_number(number: float) -> str:
    """A number with three digits that count, and separators.

    >>> show_number(4123.66), show_number(0.01234), show_number(5991464.5)
    ('4,120', '0.0123', '5,990,000')
    """
    if not isfinite(number) or number == 0:
        return "0" if number == 0 else "without bound"
    places = 2 - floor(log10(abs(number)))
    rounded = f"{round(number, places):,.{max(places, 0)}f}"
    return rounded.rstrip("0").rstrip(".") if "." in rounded else rounded


def _carry(before: Catalog, after: Catalog, table: Table) -> Table:
    former = before.table(table.name)
    if former is None or former.profile is None or before.version != after.version:
        return table
    same = (former.rows_per_person, former.profile_epsilon) == (table.rows_per_person, table.profile_epsilon)
    return replace(table, profile=former.profile) if same else table


def _list_examples(before: Catalog, after: Catalog) -> Iterator[_Example]:
    for table in after.tables:
        former = before.table(table.name)
        if table.public or former is None or former.public:
            continue
        capped = (former.rows_per_person, former.profile_epsilon) != (table.rows_per_person, table.profile_epsilon)
        if capped:
            yield _Example("SELECT COUNT(*) FROM {1}", table.name)
        touched = [each for each in table.columns if capped or former.column(each.name) != each]
        numbers = [each for each in touched if each.domain is not None]
        for column in numbers[:_COLUMNS_OF_A_TABLE] if capped else touched:
            yield from _ask_about(table.name, column, former.column(column.name))


def _ask_about(table: str, column: Column, former: Column | None) -> Iterator[_Example]:
    """Questions about a column that make sense for its kind."""
    kinds = (column.kind, None if former is None else former.kind)
    if any(isinstance(kind, Quantity) for kind in kinds):
        yield _Example("SELECT SUM({0}) FROM {1}", table, column.name, sums=True)
        yield _Example("SELECT AVG({0}) FROM {1}", table, column.name, sums=True)
    elif any(isinstance(kind, Day) for kind in kinds):
        yield _Example("SELECT MEDIAN({0}) FROM {1}", table, column.name)
    elif any(isinstance(kind, Boolean | Text) for kind in kinds):
        yield _Example("SELECT {0}, COUNT(*) FROM {1} GROUP BY {0}", table, column.name)


def _compare(example: _Example, before: Catalog, after: Catalog) -> ErrorEffect:
    was, becomes = _measure(example, before), _measure(example, after)
    sharper = None if was.size is None or becomes.size is None or was.size == becomes.size else becomes.size < was.size
    return ErrorEffect(example.shown, example.table, was.moves, becomes.moves, was.error, becomes.error, sharper)


def _measure(example: _Example, catalog: Catalog) -> _Figures:
    """How far one person moves the exact result, and how wrong the answer may be: from the catalog alone."""
    batch = Batch((Question(example.sql, epsilon=EPSILON),), CONFIDENCE, catalog.version)
    try:
        quote = quote_questions(batch.price(batch.plans(catalog), catalog), CONFIDENCE, False, GROUP)
    except Refusal as refusal:
        return _Figures("-", f"not possible: {refusal.what} {refusal.why}", None)
    expected, measured = quote.outputs[-1], quote.measurements[0]
    moves = show_number(float(measured.sensitivity.l1 * _find_step(example, catalog)))
    groups = f", in {measured.cells:,} groups" if measured.cells > 1 and measured.sums == 1 else ""
    error = "not known" if expected.error is None else f"± {show_number(expected.error)}"
    return _Figures(moves + groups, f"{error} days" if expected.days else error, expected.error)


def _find_step(example: _Example, catalog: Catalog) -> Fraction:
    """The size of a step of the values that are added up; 1 where rows are counted."""
    table = catalog.table(example.table)
    column = table.column(example.column) if table is not None and example.sums else None
    return Fraction(1) if column is None or column.domain is None else column.domain.step
