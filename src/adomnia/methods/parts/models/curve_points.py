"""The points at which a curve is told, and the two columns that it is about."""

from fractions import Fraction

from adomnia.messages.notes import Note, NoteTemplate
from adomnia.methods.column_bins import ColumnBins
from adomnia.methods.contract import Arguments, BadArgument, NumberColumn, Parameter

MOST_POINTS = 200
_OF_POPULATION = NoteTemplate(
    "curve_of_population",
    "Intervals are about {what}, of the population that the people are a sample of. Each holds by itself.",
)
_OF_DATA = NoteTemplate("curve_of_data", "Intervals are about {what}, of the people in the data. Each holds by itself.")
RESPONSE = Parameter("y", "column", "the column whose mean is told", required=True)
VALUE = Parameter("x", "column", "the column that it is told for each value of", required=True)
POINTS = Parameter(
    "points", "integer", "at how many values of x it is told, evenly spread", default=25, lower=2, upper=MOST_POINTS
)


def check_columns(arguments: Arguments) -> tuple[NumberColumn, NumberColumn]:
    """Both columns, which must differ and leave something to be found out."""
    response, column = arguments["y"], arguments["x"]
    if response.value == column.value:
        raise BadArgument("x", f"is {column.name}, which is explained by itself", "name another column")
    for place, each in (("y", response), ("x", column)):
        if each.domain.width == 0:
            raise BadArgument(place, f"is {each.name}, whose bounds are equal", "name a column that can differ")
    return response, column


def choose_points(cells: ColumnBins, points: int) -> tuple[Fraction, ...]:
    """So many values from one bound to the other; the middles of the cells, if these are fewer."""
    if len(cells) <= points:
        return tuple((start + end) / 2 for start, end in zip(cells.edges, cells.edges[1:], strict=False))
    lower, upper = cells.column.domain.lower, cells.column.domain.upper
    return tuple(lower + (upper - lower) * Fraction(place, points - 1) for place in range(points))


def describe_about(what: str, *, population: bool) -> Note:
    """What intervals are about."""
    return (_OF_POPULATION if population else _OF_DATA)(what=what)
