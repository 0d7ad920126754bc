"""What robust summaries of one column have in common: what they are asked about, and a table of one row."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from adomnia.messages.notes import Note
from adomnia.methods.analysis import with_values
from adomnia.methods.contract import Arguments, Frame, NumberColumn
from adomnia.methods.parts.describe.inference import describe_inference, read_inference
from adomnia.methods.parts.describe.rounds import SeveralRounds
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import NonNull
from adomnia.statistics.contract import Estimate, ResultTable, name_about


@dataclass(frozen=True)
class Robust(SeveralRounds):
    """One number about one column, in several rounds that begin with the number of rows."""

    relation: Relation
    column: NumberColumn
    population: bool
    confidence: Fraction

    @property
    def present(self) -> Relation:
        """The rows that have a value."""
        return with_values(self.relation, self.column.value)

    @cached_property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((Query(self.relation, (), NonNull(self.column.value)), Fraction(1)),)

    def tabulate(self, estimate: Estimate, *notes: Note) -> ResultTable:
        """The table: one row, with the name of the column."""
        figure = {"kind": "points", "x": "column", "y": "estimate"}
        said = (describe_inference(population=self.population), *notes)
        about = name_about(population=self.population)
        return ResultTable({"column": (self.column.name,)}, {"estimate": estimate}, said, figure, about=about)


def read_robust(frame: Frame, arguments: Arguments, name: str) -> tuple[Relation, NumberColumn, bool, Fraction]:
    """The fields that all of them have."""
    return frame.relation, arguments["column"], read_inference(frame, arguments, name), frame.confidence
