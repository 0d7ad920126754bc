"""Synthetic rows by AIM: tables are measured one after the other, always one that is known worst for what it matters."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import pi, sqrt
from typing import ClassVar

import numpy as np

from adomnia.methods.analysis import Analysis
from adomnia.methods.contract import Arguments, Frame, Method, Parameter
from adomnia.methods.describe.error_laws import cumulants
from adomnia.methods.releases.allowance import Allowance
from adomnia.methods.releases.attributes import BINS, COLUMNS, MISSING_VALUES, ReleaseColumn, read_columns, show_columns
from adomnia.methods.releases.choosing import Option, ReleaseTables
from adomnia.methods.releases.graphical.fitting import fit
from adomnia.methods.releases.graphical.models import Model
from adomnia.methods.releases.graphical.trees import count_cells
from adomnia.methods.releases.synthesis import SIZE, NoisyTable, foresee_rows, synthesize
from adomnia.methods.releases.workload import TablePlaces, Workload
from adomnia.privacy.events import Concentrated, Price, Pure
from adomnia.privacy.keys import MOST_CELLS
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Measure, ResultTable, Round, Steps

_ROUNDS = 16  # for each column, where noise never gets smaller
_MEASURING = Fraction(9, 10)  # of a round: the rest is for choosing
_STEPS, _LAST_STEPS = 200, 2_000  # of a fit
_TOLERANCE, _LAST_TOLERANCE = 0.1, 1e-3
_PENALTY = 1.0


@dataclass(frozen=True)
class Aim(Analysis):
    """Synthetic rows, from a graphical model of noisy tables that are chosen one after the other.

    Method      every column; then rounds: choose a table by how far a model is from it, beyond what noise would add,
                measure it, fit the model again; where the model hardly changed, rounds become dearer and exacter.
    Guarantee   choices by the exponential mechanism and measurements composed, each charged as it was bought.
    Bias        that of the model: what was not measured together is as independent as what was measured allows.
    Cite        McKenna, Mullins, Sheldon & Miklau 2022.
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
        """The first column pays for all that follows, of which nobody knows before how it is divided."""
        return ((self.tables.query((0,)), Fraction(1)),)

    def foresee(self, _price: Price, _rows: int) -> ResultTable:
        return foresee_rows(self.columns, _FORESEEN)

    def rehearse(self, price: Price) -> Round:
        """Every column, a choice among all tables, and the largest of them."""
        allowance, unit = Allowance(price), self._unit(price)
        asked = self._ask_columns(allowance)
        if len(self.columns) == 1:
            return asked
        asked += (self.tables.suppose_choice(self.workload.weights, allowance.offer(unit * (1 - _MEASURING))),)
        Measure(self.query, price).mechanism  # noqa: B018 - refuses a price at which no noise could be drawn later
        left = allowance.pay(asked).left
        return asked + tuple(
            Measure(self.tables.query(table), allowance.offer(left / len(self._largest))) for table in self._largest
        )

    def steps(self, price: Price) -> Steps:
        asked = self._ask_columns(Allowance(price))
        measured = yield asked
        noisy = [NoisyTable((place,), each) for place, each in enumerate(measured)]
        model = fit(self.workload.sizes, [each.fitted for each in noisy], iterations=_STEPS, tolerance=_TOLERANCE)
        allowance, part = Allowance(price).pay(asked), self._unit(price)
        while not allowance.is_spent:
            last = allowance.left < 2 * part
            part = allowance.left if last else part
            options = self._list_options(model, noisy, allowance, part)
            choice = self.tables.choose(options, allowance.offer(part * (1 - _MEASURING)))
            (chosen,) = yield (choice,)
            allowance = allowance.pay((choice,))
            table = options[int(chosen.values)].table
            measure = Measure(self.tables.query(table), allowance.offer(allowance.left if last else part * _MEASURING))
            (counts,) = yield (measure,)
            allowance = allowance.pay((measure,))
            noisy.append(NoisyTable(table, counts))
            before, model = (
                model,
                fit(
                    self.workload.sizes,
                    [each.fitted for each in noisy],
                    start=model,
                    iterations=_STEPS,
                    tolerance=_TOLERANCE,
                ),
            )
            if _is_near(before, model, noisy[-1]):
                part *= _DEARER[type(price)]
        model = fit(
            self.workload.sizes,
            [each.fitted for each in noisy],
            start=model,
            iterations=_LAST_STEPS,
            tolerance=_LAST_TOLERANCE,
        )
        return synthesize(
            self.columns, model, noisy, self.size, {"method": "aim", "rounds": len(noisy) - len(self.columns)}
        )

    def _unit(self, price: Price) -> Fraction:
        """What a round costs at first."""
        return Allowance(price).whole / (_ROUNDS * len(self.columns))

    def _ask_columns(self, allowance: Allowance) -> Round:
        many = len(self.columns)
        price = allowance.price if many == 1 else allowance.offer(self._unit(allowance.price) * _MEASURING)
        return tuple(Measure(self.tables.query((place,)), price) for place in range(many))

    @cached_property
    def _largest(self) -> tuple[TablePlaces, ...]:
        """The tables with the most cells: what is stored of all rounds is counted by them."""
        return tuple(sorted(self.workload.tables, key=self.workload.count_cells)[-_REHEARSED:])

    def _list_options(
        self, model: Model, noisy: Sequence[NoisyTable], allowance: Allowance, part: Fraction
    ) -> list[Option]:
        """The tables that may be chosen now, by noisy results alone: no others could be worth their noise."""
        measure = Measure(self.query, allowance.offer(part * _MEASURING))
        noise = mean_size(measure)
        far = 2 * max(model.total, 1.0)
        limit = self.cells * allowance.share_spent
        tables = [
            table
            for table in self.workload.tables
            if len(table) == 1
            or (noise * self.workload.count_cells(table) < far and self._fits(table, model, noisy, limit))
        ]
        return [
            Option(table, self.workload.weights[table], believed, _PENALTY * noise * believed.size)
            for table, believed in zip(tables, model.marginals(tables), strict=True)
        ]

    def _fits(self, table: TablePlaces, model: Model, noisy: Sequence[NoisyTable], limit: float) -> bool:
        """Whether a model that has it too would be small enough; one that has it already does not grow."""
        if any(set(table) <= set(clique) for clique in model.tree.cliques):
            return True
        return count_cells(self.workload.sizes, [*(each.table for each in noisy), table]) <= limit


def mean_size(measure: Measure) -> float:
    """How large the noise of a measure is on average."""
    variance, fourth = cumulants(measure.mechanism)
    return sqrt(variance / 2) if fourth else sqrt(2 * variance / pi)


def _is_near(before: Model, after: Model, noisy: NoisyTable) -> bool:
    """Whether a model hardly changed by what was measured: by no more than noise alone would explain."""
    moved = float(np.abs(after.marginal(noisy.table) - before.marginal(noisy.table)).sum())
    variance, fourth = cumulants(noisy.measured.noise)
    return moved <= (sqrt(variance / 2) if fourth else sqrt(2 * variance / pi)) * noisy.measured.values.size


_DEARER = {Pure: 2, Concentrated: 4}  # so that the noise is half as large
_REHEARSED = 8
_FORESEEN = "Rows are drawn once the data is measured."


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
    "SELECT * FROM aim((SELECT sex, city FROM people), size => 50)",
    {"mbi": "AIM"},
    shows=show_columns,
)
