"""Whether rows can be taken for a sample of a population: one row a person, each independent of the others."""

from adomnia.errors import Refusal
from adomnia.messages.notes import define_note
from adomnia.methods.contract import Frame

ABOUT_PEOPLE = define_note(
    "about_people", "Intervals are about the population that the people are a sample of: sampling and noise together."
)
ABOUT_DATA = define_note(
    "about_people_in_data", "Intervals are about the people in the data: they hold the noise, no sampling."
)


def require_one_row(frame: Frame, method: str, instead: str = "") -> None:
    """Refuses rows of which a person may have several. `instead` is what else may be asked for."""
    if frame.relation.rows_per_person > 1:
        raise Refusal(
            method,
            f"takes rows for independent, and here a person may have {frame.relation.rows_per_person} of them",
            f"reduce them to one row a person in the brackets, with GROUP BY the person{instead}",
            code="rows_per_person",
        )
