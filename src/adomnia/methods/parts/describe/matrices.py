"""Matrices of pairs of columns in long form: what covariances and correlations have in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

from adomnia.messages.notes import define_note
from adomnia.methods.analysis import SingleRound, keys_of, with_values
from adomnia.methods.contract import Arguments, BadArgument, Factor, Frame, NumberColumn, Parameter
from adomnia.methods.parts.describe.inference import describe_inference, read_inference
from adomnia.methods.parts.describe.pair_sums import pair_vector
from adomnia.methods.stacking import stack_estimates
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.statistics.contract import Estimate, ResultTable, name_about

COLUMNS = Parameter(
    "columns", "columns", "the numbers; all that the rows have, unless some are named", all_columns=True
)
_MOST_COLUMNS = 12
_COMPLETE = define_note("complete_rows_counted", "Only rows that have a value in every column are counted.")


@dataclass(frozen=True)
class PairMatrix(SingleRound):
    """A number for each pair of columns, each pair with an equal part of the price."""

    relation: Relation
    by: tuple[Factor, ...]
    columns: tuple[NumberColumn, ...]
    population: bool

    def pair_queries(self, degree: int) -> tuple[Query, ...]:
        """The sums of each pair, in the order of `combinations`."""
        keys = keys_of(*self.by)
        pairs = combinations(self.columns, 2)
        return tuple(Query(self.relation, keys, pair_vector(one, two, degree)) for one, two in pairs)

    def fill(self, diagonal: Sequence[Estimate], pairs: Sequence[Estimate]) -> ResultTable:
        """The whole matrix, row by row."""
        places = range(len(self.columns))
        found = dict(zip(combinations(places, 2), pairs, strict=True))
        found |= {(place, place): each for place, each in enumerate(diagonal)}
        cells = list(product(places, repeat=2))
        names = [column.name for column in self.columns]
        return ResultTable(
            {"column": tuple(names[one] for one, _ in cells), "other": tuple(names[two] for _, two in cells)},
            {"estimate": stack_estimates([found[min(cell), max(cell)] for cell in cells])},
            (describe_inference(population=self.population), _COMPLETE),
            {"kind": "heat", "x": "column", "y": "other", "value": "estimate"},
            about=name_about(population=self.population),
        )


def read_matrix(
    frame: Frame, arguments: Arguments, name: str
) -> tuple[Relation, tuple[Factor, ...], tuple[NumberColumn, ...], bool]:
    """The fields that both have."""
    columns = arguments["columns"] or tuple(frame.numbers.values())
    if not 2 <= len(columns) <= _MOST_COLUMNS:
        raise BadArgument("columns", f"are {len(columns)}", f"name 2 to {_MOST_COLUMNS} columns of numbers with bounds")
    relation = with_values(frame.relation, *(column.value for column in columns))
    return relation, arguments["by"], columns, read_inference(frame, arguments, name)


def equal_parts(queries: Sequence[Query]) -> tuple[tuple[Query, Fraction], ...]:
    """Queries with equal parts of the price."""
    return tuple((query, Fraction(1, len(queries))) for query in queries)
