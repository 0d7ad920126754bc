"""Contingency tables: counts of all combinations of a few columns at a time, measured together so that they agree."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import comb, prod
from typing import Any, ClassVar, Self

import numpy as np

from adomnia.mechanisms.contract import Tails
from adomnia.messages.texts import Note, NoteTemplate, define_note
from adomnia.methods.analysis import Analysis
from adomnia.methods.contract import Arguments, BadArgument, Frame, Method, Parameter
from adomnia.methods.synthesis.agreeing import NO_WHOLE, Agreement, agree
from adomnia.methods.synthesis.attributes import (
    BINS,
    COLUMNS,
    MISSING_VALUES,
    ReleaseColumn,
    read_columns,
    show_columns,
)
from adomnia.methods.synthesis.bases import BASES, ask, suits
from adomnia.methods.synthesis.cubes import ALL, estimate_cells, list_labels, list_whole
from adomnia.methods.synthesis.planning import (
    MOST_CELLS,
    MOST_TABLES,
    How,
    PlannedTable,
    TablePlan,
    compare_plans,
    list_closure,
    list_tables,
    plan_tables,
)
from adomnia.methods.synthesis.residuals import Columns, NoisyMarginal, Residuals
from adomnia.noise.afterwards import follow
from adomnia.privacy.events import Price, Pure
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Floats, Measure, Measured, ResultTable, Round, Steps
from adomnia.statistics.products import Product

_MOST_WAYS = 4
_KEPT = 32
_ESTIMATES = define_note(
    "counts_agree",
    "The counts are of the data. They are estimates without bias that agree with each other: the same sums follow from "
    "every table, and some may be below 0.",
)
_WHOLE = define_note(
    "whole_counts_agree",
    "whole_count has whole numbers that are not negative and agree too. They are cut at 0 and rounded, so that small "
    "counts are on average a little too large and large ones too small; intervals are those of count.",
)
_ALL = define_note("sums_of_all", f"Where a column says {ALL}, rows of all its values are counted.")
_MEASURED = NoteTemplate(
    "tables_measured", "Measured are {plan}. Errors if it were others, relative to that: {errors}."
)
_NOTES = (_ESTIMATES, _WHOLE, _ALL)


@dataclass(frozen=True)
class Marginals(Analysis):
    """How many rows hold each combination of values of a few columns at a time, for all sets of so many columns.

    Method      noisy tables, or what each adds to those of fewer columns, put together by least squares; then whole
                numbers that are not negative and agree.
    Guarantee   measurements of public parts of the price, composed; all else is post-processing.
    Bias        of count none; of whole_count that of cutting at 0 and of rounding.
    Cite        Barak et al. 2007 (Fourier); Xiao et al. 2023 (contrasts).

    `laplace` says for which noise the tables are chosen; either can be bought with any price.
    """

    tag: ClassVar[str] = "Marginals"
    name: ClassVar[str] = "marginals"
    relation: Relation
    columns: tuple[ReleaseColumn, ...]
    ways: int
    how: How = "auto"
    laplace: bool = False

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each column has."""
        return tuple(map(len, self.columns))

    @cached_property
    def tables(self) -> tuple[Columns, ...]:
        """Those that are shown, by the places of their columns: all of whose cells count alike in what is measured.

        Without those of fewer columns and the total, these would be as good as not measured where tables are large.
        """
        return list_closure(self.sizes, self.ways)

    @property
    def plan(self) -> TablePlan:
        """Which tables are measured."""
        return plan_tables(self.sizes, self.tables, self.how, laplace=self.laplace)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return _share(self)

    def specialize_for(self, price: Price) -> Self:
        return replace(self, laplace=isinstance(price, Pure))

    @property
    def comparison(self) -> Note | None:
        if self.how != "auto" or not self.laplace:
            return None
        compared = compare_plans(self.sizes, self.tables, self.how, laplace=True)
        others = [each for each in compared if each.name != self.plan.name]
        errors = [f"{each.name} {(each.total / self.plan.total) ** 0.5:.2f}" for each in others]
        return _MEASURED(plan=self.plan.name, errors=errors)

    def planned_measures(self, price: Price) -> Round:
        return tuple(Measure(query, price * part) for query, part in self.shares)

    def steps(self, price: Price) -> Steps:
        measured = yield self.planned_measures(price)
        return self.tabulate(measured)

    def expected_result(self, price: Price, rows: int) -> ResultTable:
        told = [
            NoisyMarginal(
                table.columns, _simulate(self.sizes, table, rows), each.noise.continuous.cumulants.variance, table.basis
            )
            for table, each in zip(self.plan.tables, self.planned_measures(price), strict=True)
        ]
        return self.show(
            Residuals.from_measured(self.sizes, told, self.ways), "laplace" if isinstance(price, Pure) else "gaussian"
        )

    def tabulate(self, measured: tuple[Measured, ...]) -> ResultTable:
        """The tables that follow from what was measured, and whole numbers near to them."""
        told = [
            NoisyMarginal(table.columns, each.values, each.noise.continuous.cumulants.variance, table.basis)
            for table, each in zip(self.plan.tables, measured, strict=True)
        ]
        estimates = Residuals.from_measured(self.sizes, told, self.ways)
        found = agree(estimates, self.ways, lambda: follow((each.values for each in measured), "marginals"))
        tails = measured[0].noise.continuous.tails
        shown = self.show(estimates, tails, found)
        attributes = tuple(column.attribute for column in self.columns)
        # Without the rows that whole numbers are counted from: what counts follow from answers without their bias.
        product = Product(attributes, estimates, tails, None, found.tables, self._about(measured), self._step)
        return replace(shown, product=product)

    def show(self, estimates: Residuals, tails: Tails, found: Agreement | None = None) -> ResultTable:
        """All tables one below the other."""
        labels = list_labels([column.attribute for column in self.columns], self.tables)
        notes = _NOTES if found is None or found.tables else (*_NOTES, NO_WHOLE)
        return ResultTable(
            labels,
            {"count": estimate_cells(estimates, self.tables, tails, self._step)},
            notes,
            facts={"whole_count": lambda: list_whole(found, self.tables, len(next(iter(labels.values()))))},
        )

    @property
    def _step(self) -> float:
        """What counts differ by at least: of one table they are whole, of others put together anything."""
        return 1.0 if [table.basis for table in self.plan.tables] == ["counts"] else 0.0

    def _about(self, measured: tuple[Measured, ...]) -> dict[str, Any]:
        names = [column.attribute.name for column in self.columns]
        return {
            "method": self.name,
            "ways": self.ways,
            "measured_by": self.plan.name,
            "measurements": [
                {
                    "columns": [names[column] for column in table.columns],
                    "of": table.basis,
                    "part": str(table.part),
                    "variance": each.noise.continuous.cumulants.variance,
                }
                for table, each in zip(self.plan.tables, measured, strict=True)
            ],
        }


def _simulate(sizes: tuple[int, ...], table: PlannedTable, rows: int) -> Floats:
    """What would be measured of rows that are spread evenly, without noise."""
    shape = [BASES[table.basis].results(sizes[column]) for column in table.columns]
    even = table.basis == "counts" or not table.columns
    return np.full(shape, rows / prod(shape) if even else 0.0)


@lru_cache(maxsize=_KEPT)
def _share(asked: Marginals) -> tuple[tuple[Query, Fraction], ...]:
    """The same queries for the same question: their sensitivities are worked out once."""
    return tuple(
        (ask(asked.relation, [asked.columns[place] for place in table.columns], table.basis), table.part)
        for table in asked.plan.tables
    )


def demand_few_cells(columns: Sequence[ReleaseColumn], ways: int) -> None:
    """Refuse tables that are too many or too large."""
    number = comb(len(columns), ways)
    if number > MOST_TABLES:
        why = f"makes {number:,} tables of {len(columns)} columns, more than {MOST_TABLES:,}"
        raise BadArgument("ways", why, "name fewer columns, or take fewer ways")
    sizes = tuple(map(len, columns))
    cells = sum(prod(sizes[column] for column in table) for table in list_tables(sizes, ways))
    if cells > MOST_CELLS:
        said = ", ".join(f"{column.attribute.name} {len(column)}" for column in columns)
        why = f"makes tables of {cells:,} cells in all, more than {MOST_CELLS:,}; values of columns: {said}"
        raise BadArgument("ways", why, "name fewer columns, take fewer ways, or bins => fewer")


def _build(frame: Frame, arguments: Arguments) -> Marginals:
    relation, columns = read_columns(frame, arguments)
    ways = min(arguments["ways"], len(columns))
    demand_few_cells(columns, ways)
    for column in columns if arguments["how"] == "fourier" else ():
        if not suits("fourier", [len(column)]):
            why = f"needs columns of 2, 4, 8, up to 128 values, and {column.attribute.name} has {len(column)}"
            raise BadArgument("how", why, "take how => 'auto', bins => 16 with missing => 'left_out', or other columns")
    return Marginals(relation, columns, ways, arguments["how"])


METHOD = Method(
    "marginals",
    "releases",
    "Counts of all combinations of a few columns at a time, in tables that agree with each other.",
    (
        COLUMNS,
        Parameter("ways", "integer", "how many columns a table has", default=2, lower=1, upper=_MOST_WAYS),
        BINS,
        MISSING_VALUES,
        Parameter(
            "how",
            "choice",
            "what is measured: contrasts (residual), counts (plain), of tables of so many columns alone (largest), "
            "Fourier coefficients, or what has the least noise",
            default="auto",
            choices=("auto", "residual", "plain", "largest", "fourier"),
        ),
    ),
    _build,
    {
        "count": "rows with these values",
        "whole_count": "the same as a whole number that is not negative; those of all tables agree",
    },
    "SELECT * FROM marginals(people, columns => (age, sex, city), bins => 4)",
    {"R": "margin.table, addmargins", "SAS": "PROC FREQ, PROC TABULATE", "pandas": "pivot_table"},
    shows=show_columns,
)
