"""What intervals are about: the population that people are a sample of, or the data itself."""

from adomnia.errors import Refusal
from adomnia.messages.notes import Note, define_note
from adomnia.methods.contract import Arguments, Frame

POPULATION = define_note(
    "about_population",
    "Intervals are about the population that the people are a sample of: they allow for sampling and for noise.",
)
DATA = define_note("about_data", "Intervals are about the data: they allow for noise alone.")
BEYOND_BOUNDS = define_note("beyond_bounds", "Values beyond the declared bounds count as the bounds.")


def read_inference(frame: Frame, arguments: Arguments, name: str) -> bool:
    """Whether intervals are about the population; refused where rows are not independent."""
    population = bool(arguments["inference"] == "population")
    if population and frame.relation.rows_per_person > 1:
        why = "takes each row for a person of its own, and one person may have several rows here"
        fix = "make one row of each person in the brackets (GROUP BY the person), or write inference => 'data'"
        raise Refusal(f"{name}()", why, fix, code="rows_per_person")
    return population


def describe_inference(*, population: bool) -> Note:
    """The note that says so."""
    return POPULATION if population else DATA
