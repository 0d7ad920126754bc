"""What a reader of an answer has to know beside its numbers: sentences that follow from question and catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.messages.notes import Note, NoteTemplate, define_note
from adomnia.methods.analysis import Analysis
from adomnia.plans.descriptions import describe
from adomnia.plans.missing import keys_without_value, reads_undeclared
from adomnia.privacy.keys import Bucket
from adomnia.privacy.units import ROW
from adomnia.statistics.population.registry import is_about_population

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from adomnia.catalog.model import Catalog
    from adomnia.plans.plan import Plan
    from adomnia.privacy.keys import Key

EACH_ROW = define_note("each_row", "Each row is protected on its own, not each person.")
OF_POPULATION = NoteTemplate(
    "of_population",
    "Intervals are about the population that these {who} are a sample of, drawn from it independently: noise and "
    "sampling together.",
)
SPREAD_EVENLY = define_note(
    "spread_evenly",
    "Errors to expect are those of values that lie evenly between their bounds: sampling adds to the noise.",
)
FREE_RELEASE = NoteTemplate(
    "free_release", "The release {release} answers it for nothing, within {error:.4g}: pass {from_release=True}."
)
MISSING = NoteTemplate("missing", "Rows whose {columns} is missing are in no group.")
_UNDECLARED = NoteTemplate("missing_or_undeclared", "Rows whose {columns} is missing or not declared are in no group.")
_LEFT_OUT = NoteTemplate("columns_left_out", "Not in it, because neither values nor bounds are declared: {columns}.")


def list_notes(plan: Plan, catalog: Catalog) -> tuple[Note, ...]:
    """The notes of a question, in the order in which they are told."""
    alone = catalog.unit == ROW
    sampled = (OF_POPULATION(who="rows" if alone else "people"),) if is_of_population(plan) else ()
    return (
        *((EACH_ROW,) if alone else ()),
        *sampled,
        *_tell_missing(plan),
        *_tell_left_out(plan),
        *_tell_compared(plan),
    )


def hides_rows(notes: Iterable[Note]) -> bool:
    """Whether a question with these notes hides each row by itself, and not each person."""
    return any(note.code == EACH_ROW.code for note in notes)


def is_of_population(plan: Plan) -> bool:
    """Whether the intervals of a plan are about a population."""
    return any(map(is_about_population, plan.statistics))


def list_suppositions(plan: Plan) -> tuple[Note, ...]:
    """What a quote supposes of the values, where errors depend on how far they scatter, and what it cannot tell."""
    caveats = (line for each in plan.statistics if isinstance(each, Analysis) for line in each.caveats)
    return (*((SPREAD_EVENLY,) if is_of_population(plan) else ()), *caveats)


def _tell_missing(plan: Plan) -> Iterator[Note]:
    """Which rows are in no group; whether there are any is private."""
    found = keys_without_value(plan)
    for undeclared, note in ((True, _UNDECLARED), (False, MISSING)):
        names = [_name(key) for key in found if reads_undeclared(key) == undeclared]
        if names:
            yield note(columns=" or ".join(names))


def _tell_left_out(plan: Plan) -> Iterator[Note]:
    if plan.view is not None and plan.view.left_out:
        yield _LEFT_OUT(columns=list(plan.view.left_out))


def _tell_compared(plan: Plan) -> Iterator[Note]:
    for statistic in plan.statistics:
        if isinstance(statistic, Analysis) and statistic.comparison:
            yield statistic.comparison


def _name(key: Key) -> str:
    return describe(key.written if isinstance(key, Bucket) else key)
