"""The columns of an answer, which of its rows are shown in what order, and the answer itself. Noisy values only."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import lru_cache
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from adomnia.distributions.margins import divide_confidence
from adomnia.plans.cells import Cells, sort_cells
from adomnia.plans.intervals import estimate_term
from adomnia.plans.plan import DistinctRows
from adomnia.plans.views import choose_rows, read_column
from adomnia.plans.windows import WindowedCells
from adomnia.privacy.keys import Key
from adomnia.statistics.contract import Estimate, ResultTable
from adomnia.statistics.p_values import AtMost, find_floor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from adomnia.messages.texts import Note
    from adomnia.plans.plan import Output, Plan
    from adomnia.statistics.contract import Bounds, Floats, Result, Statistic
    from adomnia.statistics.products import Product


_ONE_NUMBER = 1e-9  # of a number: bounds of computed values that are not farther apart hold one
Cell: TypeAlias = str | bool | int | float | date | datetime


@dataclass(frozen=True)
class KeyColumn:
    """A column of the answer without intervals: values of a key, a column of public tables, or a method's fact.

    All but facts are public; a `fact`, such as a p-value, follows from what was measured. A fact that is not above the
    `floor` of its column says no more than that it is below it.
    """

    name: str
    values: tuple[Cell | None, ...]
    fact: bool = False
    floor: float | None = None

    def only(self, cells: tuple[int, ...]) -> KeyColumn:
        """Only the given cells."""
        return replace(self, values=tuple(self.values[cell] for cell in cells))


@dataclass(frozen=True)
class MeasuredCells:
    """What a measured column says in some cells: values, NaN where there is none, and the ends of their intervals.

    `uninformative`: the interval is all that is possible, so whatever number the noise made is not a value.
    """

    values: Floats
    lower: Floats
    upper: Floats
    uninformative: NDArray[np.bool_]


@dataclass(frozen=True)
class ValueColumn:
    """A statistic's column of the answer."""

    name: str
    estimate: Estimate

    def read(self, rows: NDArray[np.intp], confidence: float) -> MeasuredCells:
        """What it says in these cells, with intervals at this confidence level."""
        estimate = self.estimate
        values = np.asarray(estimate.values, dtype=np.float64).ravel()[rows]
        lower, upper = self.bounds(rows, confidence)
        least, most = estimate.possible or (-inf, inf)
        # The only number that is possible is known, and where no interval was bought, there is none to be judged.
        apart = most - least
        judged = (apart == inf or apart > _ONE_NUMBER * max(-least, most)) and estimate.about is not None
        uninformative = (lower <= least) & (upper >= most) & ~np.isnan(values) & judged
        return MeasuredCells(np.where(uninformative, nan, values), lower, upper, uninformative)

    def bounds(self, rows: NDArray[np.intp], confidence: float, simultaneous: bool = False) -> Bounds:
        """Lower and upper ends in these cells; `simultaneous`: so that all cells are covered at once."""
        cells = self.estimate.values.size
        ends = self.estimate.interval(confidence, cells if simultaneous else 1)
        lower, upper = (np.asarray(end, dtype=np.float64).ravel()[rows] for end in ends)
        return lower, upper

    def only(self, cells: tuple[int, ...]) -> ValueColumn:
        """Only the given cells."""
        whole = self.estimate
        places = list(cells)

        def interval(confidence: float, simultaneous: int) -> Bounds:
            lower, upper = whole.interval(confidence, simultaneous)
            return lower.ravel()[places], upper.ravel()[places]

        values = whole.values.ravel()[places]
        kept = Estimate(values, interval, whole.method, whole.whole, whole.dates, limits=whole.possible)
        kept = replace(kept, about=whole.about, shortened=whole.shortened)
        return replace(self, estimate=kept)


def name_ends(columns: Sequence[KeyColumn | ValueColumn]) -> dict[str, tuple[str, str]]:
    """What the ends of the interval of each measured column are called in a table: names that no column has.

    An output may itself be called n_lower; beside it, the lower end of n is n_lower_.
    """
    taken = {column.name.lower() for column in columns}
    measured = [column.name for column in columns if isinstance(column, ValueColumn)]
    return {name: (_free_name(f"{name}_lower", taken), _free_name(f"{name}_upper", taken)) for name in measured}


def _free_name(name: str, taken: set[str]) -> str:
    return _free_name(f"{name}_", taken) if name.lower() in taken else name


def read_dates(days: Floats) -> list[date | None]:
    """The dates that are so many days after the first of the calendar; None where nothing is known."""
    return [date.min + timedelta(days=day) if isfinite(day) else None for day in days.tolist()]


def build_columns(plan: Plan, results: Mapping[Statistic, Result]) -> tuple[KeyColumn | ValueColumn, ...]:
    """The columns of a plan's outputs over all of its cells, or of the table that is its result."""
    table, levels = find_table(plan, results), find_levels(plan, find_estimates(results))
    if table is None or plan.view is None:
        return tuple(_column(output, levels) for output in plan.outputs)
    return tuple(_table_column(table, name, column) for name, column in plan.view.columns)


def _column(output: Output, levels: Sequence[Cells]) -> KeyColumn | ValueColumn:
    source = output.source
    if isinstance(source, Key):
        return KeyColumn(output.name, tuple(label for level in levels for label in level.labels(source)))
    found = [_in_all_cells(estimate_term(source, level), level) for level in levels]
    return ValueColumn(output.name, found[0] if len(found) == 1 else _one_below_the_other(found))


def _table_column(table: ResultTable, name: str, column: str) -> KeyColumn | ValueColumn:
    if column in table.estimates:
        return ValueColumn(name, table.column(column))
    values = read_column(table, column)
    plain = tuple(float(value) if isinstance(value, AtMost) else value for value in values)
    return KeyColumn(name, plain, fact=column in table.facts, floor=find_floor(values))


def _in_all_cells(estimate: Estimate, cells: Cells) -> Estimate:
    """The estimate with a value in every cell, also where it is the same in all."""
    if estimate.values.shape == cells.shape:
        return estimate

    def interval(confidence: float, simultaneous: int) -> Bounds:
        lower, upper = (np.broadcast_to(end, cells.shape) for end in estimate.interval(confidence, simultaneous))
        return lower, upper

    return replace(estimate, values=np.broadcast_to(estimate.values, cells.shape), interval=interval)


def _one_below_the_other(estimates: Sequence[Estimate]) -> Estimate:
    """One column of several groupings. They hold the same noise: to cover all at once, what is left open is divided."""

    def interval(confidence: float, simultaneous: int) -> Bounds:
        each = divide_confidence(confidence, simultaneous)
        ends = [estimate.interval(each, 1) for estimate in estimates]
        lower, upper = (np.concatenate([end[side].ravel() for end in ends]) for side in (0, 1))
        return lower, upper

    values = np.concatenate([each.values.ravel() for each in estimates])
    first = max(estimates, key=lambda each: each.values.size)
    whole = all(each.whole for each in estimates)
    limits = _around([each.possible for each in estimates])
    return Estimate(values, interval, first.method, whole, limits=limits, about=first.about)


def _around(limits: Sequence[tuple[float, float] | None]) -> tuple[float, float] | None:
    """What any of them can be."""
    known = [each for each in limits if each is not None]
    return (min(low for low, _ in known), max(high for _, high in known)) if len(known) == len(limits) else None


def finish(plan: Plan, results: Mapping[Statistic, Result]) -> NDArray[np.intp]:
    """The rows in the order of the answer, counted with the last key fastest, one grouping after the other.

    Those that HAVING and the choices inside keep, sorted as ORDER BY says, then by the keys in their declared order:
    never in an order that data could have made.
    """
    table = find_table(plan, results)
    if table is not None and plan.view is not None:
        return choose_rows(plan.view, table)[plan.offset :][: plan.limit]
    levels = find_levels(plan, find_estimates(results))
    starts = np.cumsum([0, *(level.size for level in levels)])
    left = [start + level.rows_at(len(plan.choices)).cells for start, level in zip(starts, levels, strict=False)]
    rows = np.concatenate(left)
    by = [(order, np.concatenate([level.sort_values(order) for level in levels])) for order in plan.order]
    if plan.sets:  # a total stands below what it is the total of
        places = [np.concatenate([level.places(key) for level in levels]) for key in plan.keys]
        rows = rows[np.lexsort([place[rows] for place in reversed(places)])]
    return sort_cells(rows, by)[plan.offset :][: plan.limit]


def find_levels(plan: Plan, estimates: Mapping[Statistic, Estimate]) -> Sequence[Cells]:
    """The cells of each grouping: one, unless there are several sets of keys."""
    return [WindowedCells(plan, estimates, kept) for kept in plan.sets or (None,)]


def find_table(plan: Plan, results: Mapping[Statistic, Result]) -> ResultTable | None:
    """The table among the results, as the question shows it; a plan that has one has nothing else."""
    found = next((each for each in results.values() if isinstance(each, ResultTable)), None)
    return found if found is None or plan.view is None else plan.view.adapt(found)


def find_estimates(results: Mapping[Statistic, Result]) -> dict[Statistic, Estimate]:
    """The results with one number a cell."""
    return {statistic: each for statistic, each in results.items() if isinstance(each, Estimate)}


_PLAIN_PARTS = {"kind", "title"}  # of a figure's description, which name no column
_INTERVALS = 2  # of a column that are remembered: what is kept and what is shown, as a rule the same


@dataclass(frozen=True)
class Cap:
    """How many rows of a person count in one table.

    Without a profile nobody knows what that `leaves_out`. Where it is `shortened`, what a person adds to all groups
    together is cut to a length besides, and nobody knows how much that is in rows.
    """

    table: str
    rows: int
    leaves_out: LeftOut | None = None
    shortened: bool = False

    def __str__(self) -> str:
        counts = f"{self.rows:,} rows of a person count" if self.rows > 1 else "1 row of a person counts"
        fate = self.leaves_out or "how many rows that leaves out is not known"
        less = ", and people with many count less than that by an unknown part" if self.shortened else ""
        return f"{self.table}: at most {counts}{less}; {fate}"


@dataclass(frozen=True)
class LeftOut:
    """What a cap leaves out: an estimated share of all rows of the table, and its standard deviation.

    Few people with many rows cannot be seen: up to `hidden_people` may have more than `seen_rows`.
    """

    share: float
    deviation: float
    hidden_people: int
    seen_rows: int

    def __str__(self) -> str:
        share = f"about {100 * self.share:.2g}% (+-{100 * self.deviation:.1g}%) of all" if self.share else "no"
        hidden = (
            f", besides those of up to {self.hidden_people:,} people with over {self.seen_rows:,}, too few to be seen"
        )
        return f"{share} rows are seen to be left out{hidden * (self.hidden_people > 0)}"


@dataclass(frozen=True)
class DraftAnswer:
    """An answer before it is told what was paid for it; its fields are those of an Answer."""

    columns: tuple[KeyColumn | ValueColumn, ...]
    rows: NDArray[np.intp]
    confidence: float
    caps: tuple[Cap, ...] = ()
    notes: tuple[Note, ...] = ()
    figure: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    product: Product | None = None

    def only(self, cells: tuple[int, ...]) -> DraftAnswer:
        """Only the given cells, in ascending order; every row that is shown must be among them."""
        columns = tuple(column.only(cells) for column in self.columns)
        return replace(self, columns=columns, rows=np.searchsorted(cells, self.rows))


def draft_answer(
    plan: Plan,
    results: Mapping[Statistic, Result],
    confidence: float,
    caps: tuple[Cap, ...] = (),
    notes: tuple[Note, ...] = (),
) -> DraftAnswer:
    """What is answered to a question, whose intervals are computed once each, as soon as one is asked for."""
    columns, rows = build_columns(plan, results), finish(plan, results)
    table = find_table(plan, results)
    if table is not None:
        shown = (_shown_figure(table, plan), table.model, table.product)
        return DraftAnswer(_remember(columns), rows, confidence, caps, (*table.notes, *notes), *shown)
    draft = DraftAnswer(columns, rows, confidence, caps, notes)
    # What was not named was measured all the same, if only beside what was; of nothing, the made-up value has a type.
    cells = plan.named
    if any(isinstance(choice, DistinctRows) for choice in plan.inner):  # the others are in these
        cells = tuple(sorted(rows.tolist()))
    found = draft if cells is None else draft.only(cells or (0,))
    return replace(found, columns=_remember(found.columns))


def _remember(columns: Sequence[KeyColumn | ValueColumn]) -> tuple[KeyColumn | ValueColumn, ...]:
    return tuple(map(_remember_interval, columns))


def _remember_interval(column: KeyColumn | ValueColumn) -> KeyColumn | ValueColumn:
    if isinstance(column, KeyColumn):
        return column
    interval = lru_cache(_INTERVALS)(column.estimate.interval)
    return replace(column, estimate=replace(column.estimate, interval=interval))


def _shown_figure(table: ResultTable, plan: Plan) -> Mapping[str, Any]:
    """The description of a method's figure by the names that its columns are shown under; none if one is missing.

    Its `labels` are the columns that tell rows apart; what is neither a label nor measured is no key of a picture.
    """
    shown = {} if plan.view is None else {column: name for name, column in plan.view.columns}
    columns = {*table.labels, *table.estimates, *table.facts}
    named = {part: column for part, column in table.figure.items() if part not in _PLAIN_PARTS and column in columns}
    labels = {"labels": [shown[column] for column in table.labels if column in shown]}
    if not set(named.values()) <= shown.keys():
        return labels
    return {**table.figure, **{part: shown[column] for part, column in named.items()}, **labels}
