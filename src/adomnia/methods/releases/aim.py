"""Synthetic rows by AIM: tables are measured one after the other, always one that matters and is known badly."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np

from adomnia.methods.analysis import Analysis
from adomnia.methods.contract import Arguments, Frame, Method, Parameter
from adomnia.methods.synthesis.attributes import (
    BINS,
    COLUMNS,
    MISSING_VALUES,
    ReleaseColumn,
    read_columns,
    show_columns,
)
from adomnia.methods.synthesis.choosing import (
    ReleaseTables,
    TableOption,
    TablePart,
    TablePlaces,
    Workload,
    relative_noise,
    split_table,
)
from adomnia.methods.synthesis.graphical.models import Model
from adomnia.methods.synthesis.graphical.trees import count_cells
from adomnia.methods.synthesis.noisy_tables import NoisyTables, Remainder
from adomnia.methods.synthesis.synthesis import SIZE, expected_rows, synthesize
from adomnia.privacy.events import Concentrated, Price, Pure
from adomnia.privacy.keys import MOST_CELLS
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Measure, Measured, ResultTable, Round, Steps

_State: TypeAlias = tuple[NoisyTables, Remainder, int]

_FIRST = Fraction(1, 10)  # of the price: every column by itself
_LAST = {Pure: Fraction(0), Concentrated: Fraction(1, 4)}  # of the price: what was measured once more
_ROUNDS = 2  # for each column, where noise never gets smaller
_MEASURING = Fraction(9, 10)  # of a round: the rest is for choosing
_DEARER = {Pure: 2, Concentrated: 4}  # by which noise becomes half as large
_REHEARSED = 4  # tables, the largest ones
_COLUMN_WEIGHT = 3.0  # of a single column, whose errors are in every table that has it
_HALVINGS = 100
_UNITS = 2**24  # that an amount is divided into
_WORTHLESS = 1e-3  # of the amount: less is not worth a measurement


@dataclass(frozen=True)
class Aim(Analysis):
    """Synthetic rows, from a graphical model of noisy tables that are chosen one after the other.

    Method      every column; then rounds: choose a table by how far a model is from it, beyond what noise would add,
                measure what it says beyond its columns, fit the model again; where the model hardly changed, rounds
                become dearer and exacter. What is kept for the end measures all of it once more.
    Guarantee   choices by the exponential mechanism and measurements composed, each charged as it was bought.
    Bias        that of the model: what was not measured together is as independent as what was measured allows.
    Cite        McKenna, Mullins, Sheldon & Miklau 2022; Xiao, He, Zhang & Kifer 2023 (contrasts).
    """

    tag: ClassVar[str] = "Aim"
    name: ClassVar[str] = "aim"
    relation: Relation
    columns: tuple[ReleaseColumn, ...]
    ways: int
    cells: int
    size: int | None

    @cached_property
    def workload(self) -> Workload:
        """What the rows should be good for."""
        return Workload(tuple(map(len, self.columns)), self.ways, min(self.cells, MOST_CELLS))

    @cached_property
    def tables(self) -> ReleaseTables:
        """What may be measured."""
        return ReleaseTables(self.relation, self.columns)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        """The first column pays for all that follows: how that is divided is not known before."""
        return ((self.tables.query((0,)), Fraction(1)),)

    def expected_result(self, _price: Price, _rows: int) -> ResultTable:
        return expected_rows(self.columns)

    def planned_measures(self, price: Price) -> Round:
        """Every column, a choice among all tables, and the largest of them."""
        remainder = Remainder(price)
        asked = self._ask_columns(price)
        if self._is_settled:
            return asked
        choosing = remainder.offer(self._unit(remainder) * (1 - _MEASURING))
        asked += (self.tables.simulate_choice(self.workload.weights, choosing),)
        Measure(self.query, price).mechanism  # noqa: B018 - refuses a price at which no noise could be drawn later
        left = remainder.pay(asked).left
        largest = sorted(self.workload.tables, key=self.workload.count_cells)[-_REHEARSED:]
        return asked + tuple(
            measure
            for table in largest
            for measure in self.tables.ask_parts(table, remainder.offer(left / len(largest)))
        )

    def steps(self, price: Price) -> Steps:
        asked = self._ask_columns(price)
        measured = yield asked
        noisy = NoisyTables(self.workload.sizes)
        for place, each in enumerate(measured):
            noisy = noisy.add((place,), split_table(noisy.sizes, (place,), price), (each,))
        noisy, remainder, rounds = yield from self._go_on(noisy, Remainder(price).pay(asked))
        if rounds and not remainder.is_spent:
            noisy = yield from self._measure_again(noisy, remainder)
        return synthesize(self.columns, noisy.fit_well(), noisy, self.size, {"method": "aim", "rounds": rounds})

    def _go_on(self, noisy: NoisyTables, remainder: Remainder) -> Generator[Round, tuple[Measured, ...], _State]:
        """Rounds of one choice and one table each, until what is kept for the end is left alone."""
        model, part, rounds = noisy.fit(), self._unit(remainder), 0
        while not self._is_settled and not (spare := self._spare(remainder)).is_spent:
            last = spare.left < 2 * part
            part = spare.left if last else part
            options = self._list_options(model, noisy, remainder, part)
            choice = self.tables.choose(options, remainder.offer(part * (1 - _MEASURING)))
            (chosen,) = yield (choice,)
            remainder = remainder.pay((choice,))
            option = options[int(chosen.values)]
            paid = remainder.offer(self._spare(remainder).left if last else part * _MEASURING)
            asked = self.tables.ask_parts(option.table, paid)
            measured = yield asked
            remainder, rounds = remainder.pay(asked), rounds + 1
            noisy = noisy.add(option.table, split_table(noisy.sizes, option.table, paid), measured)
            before, model = model, noisy.fit(model)
            if _hardly_moved(before, model, option):
                part *= _DEARER[type(paid)]
        return noisy, remainder, rounds

    def _measure_again(
        self, noisy: NoisyTables, remainder: Remainder
    ) -> Generator[Round, tuple[Measured, ...], NoisyTables]:
        """The last round: all that is left, on what was measured."""
        amounts: dict[TablePart, Fraction] = {}
        for table, amount in divide_amount(noisy, remainder.left).items():
            for part in split_table(noisy.sizes, table, remainder.price):
                whole = replace(part, share=Fraction(1))  # tables share parts: each of these is measured once
                amounts[whole] = amounts.get(whole, Fraction(0)) + amount * part.share
        asked = tuple(self.tables.ask_part(part, remainder.offer(amount)) for part, amount in amounts.items())
        remainder.pay(asked)
        return noisy.refine(tuple(amounts), (yield asked))

    @property
    def _is_settled(self) -> bool:
        """Whether there is nothing to choose from."""
        return len(self.workload.tables) == 1

    def _unit(self, remainder: Remainder) -> Fraction:
        """What a round costs at first."""
        kept = _FIRST + _LAST[type(remainder.price)]
        return remainder.whole * (1 - kept) / (_ROUNDS * len(self.columns))

    def _spare(self, remainder: Remainder) -> Remainder:
        """What is left without what is kept for the last round."""
        return replace(remainder, kept=remainder.whole * _LAST[type(remainder.price)])

    def _ask_columns(self, price: Price) -> Round:
        return self.tables.ask_columns(price if self._is_settled else price * _FIRST)

    def _list_options(
        self, model: Model, noisy: NoisyTables, remainder: Remainder, part: Fraction
    ) -> list[TableOption]:
        """The tables that may be chosen now, by noisy results alone: others could not be worth their noise."""
        noise = Measure(self.query, remainder.offer(part * _MEASURING)).noise.continuous.mean_size
        sizes, price = self.workload.sizes, remainder.price
        penalties = {
            table: noise * relative_noise(sizes, table, price) * self.workload.count_cells(table)
            for table in self.workload.tables
        }
        far, limit = 2 * max(model.total, 1.0), self.cells * remainder.share_spent
        tables = [
            table
            for table, penalty in penalties.items()
            if len(table) == 1 or (penalty < far and self._fits(table, model, noisy, limit))
        ]
        return [
            TableOption(table, self.workload.weights[table], believed, penalties[table])
            for table, believed in zip(tables, model.marginals(tables), strict=True)
        ]

    def _fits(self, table: TablePlaces, model: Model, noisy: NoisyTables, limit: float) -> bool:
        """Whether a model that has it too would be small enough; one that has it already does not grow."""
        if model.tree.cover(table) is not None:
            return True
        return count_cells(self.workload.sizes, [*noisy.tables, table]) <= limit


def _hardly_moved(before: Model, after: Model, option: TableOption) -> bool:
    """Whether a model changed by no more than noise alone would explain."""
    moved = after.marginal(option.table) - before.marginal(option.table)
    return float(np.abs(moved).sum()) <= option.penalty


def _build(frame: Frame, arguments: Arguments) -> Aim:
    relation, columns = read_columns(frame, arguments)
    return Aim(relation, columns, arguments["ways"], arguments["cells"], arguments["size"])


METHOD = Method(
    "aim",
    "releases",
    "Synthetic rows that keep how columns go together, measured where it matters most.",
    (
        COLUMNS,
        Parameter("ways", "integer", "of how many columns at once counts should be right", default=3, lower=1, upper=4),
        BINS,
        MISSING_VALUES,
        SIZE,
        Parameter("cells", "integer", "how many cells the model may have", default=2**20, lower=2**10, upper=2**24),
    ),
    _build,
    {},
    "SELECT * FROM aim(people, columns => (sex, city), size => 50)",
    {"mbi": "AIM"},
    shows=show_columns,
)


def divide_amount(noisy: NoisyTables, amount: Fraction) -> Mapping[TablePlaces, Fraction]:
    """Which part of an amount of rho each table gets, so that their errors added up over all cells are least.

    A table of n cells whose noise has the deviation s costs c / (2 s**2) and is about n s off. By Lagrange, all that
    are measured again end at the same n s**3 / c; those that are better known already are left out.
    """
    facts = [(table, *_weigh(noisy, table)) for table in noisy.tables]

    def spend(level: float) -> list[float]:
        return [cost / 2 * max(0.0, level * (weight / cost) ** (2 / 3) - known) for _, weight, cost, known in facts]

    low, high = 0.0, 1.0
    while sum(spend(high)) < amount:
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if sum(spend(middle)) > amount else (middle, high)
    spent = [each if each > _WORTHLESS * amount else 0.0 for each in spend(high)]
    parts = {table: int(_UNITS * each / sum(spent)) for (table, *_), each in zip(facts, spent, strict=True)}
    return {table: amount * part / _UNITS for table, part in parts.items() if part}


def _weigh(noisy: NoisyTables, table: TablePlaces) -> tuple[float, float, float]:
    """How much noise in a table matters, what it costs, and what is known already: one over a variance."""
    essential = tuple(column for column in table if noisy.sizes[column] > 1)
    cells = noisy.count_cells(table)
    weight = cells * (_COLUMN_WEIGHT if len(table) == 1 else 1.0)
    cost = relative_noise(noisy.sizes, table, Concentrated(1)) ** 2
    return weight, cost, 1 / noisy.residuals.variances[essential]
