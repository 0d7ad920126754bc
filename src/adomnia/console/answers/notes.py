"""What to know before the numbers of an answer are used, each in a lead and a sentence or two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import show
from adomnia.plans.columns import ValueColumn
from adomnia.pricing.notes import OF_POPULATION, hides_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adomnia.console.answers.table import AnswerTable
    from adomnia.session.answer import Answer

_NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve")


@dataclass(frozen=True)
class Caveat:
    """Something to know: what, in a few words, and what that means."""

    lead: str
    says: str


def list_caveats(answer: Answer, table: AnswerTable) -> tuple[Caveat, ...]:
    """All there is to know, what changes the reading most first."""
    if answer.receipt is None and not answer.notes:
        return ()
    return (*_tell_missing(table), *_tell_intervals(answer), *_tell_caps(answer), *_tell_notes(answer))


def count_caveats(things: Sequence[Caveat]) -> str:
    """The title above them.

    >>> count_caveats([Caveat("", "")] * 2)
    'Two things to know'
    """
    number = _NUMBERS[len(things)] if len(things) < len(_NUMBERS) else f"{len(things)}"
    return f"{number} thing{'' if len(things) == 1 else 's'} to know"


def find_held(answer: Answer) -> str:
    """What intervals hold: the exact answer, the population's value, or what a method's notes say of each column."""
    if _find_abouts(answer) == {"population"}:
        return "where the population's value lies"
    return "where it lies, as the notes say," if answer.figure else "where the exact answer lies"


def _find_abouts(answer: Answer) -> set[str | None]:
    return {column.estimate.about for column in answer.typed_columns if isinstance(column, ValueColumn)}


def _tell_missing(table: AnswerTable) -> Iterator[Caveat]:
    if table.uninformative:
        says = "Too few people for this price: the interval is all that is possible, so no number is shown."
        yield Caveat(_name(table), says)
    if table.not_estimable:
        yield Caveat("Not estimable.", "Where that stands, what was measured is too noisy for any number.")


def _name(table: AnswerTable) -> str:
    """Which rows are uninformative."""
    part = "" if table.measured == 1 else ", at least in part"
    if table.uninformative == table.whole:
        return (
            f"It is uninformative{part}." if table.whole == 1 else f"All {table.whole:,} rows are uninformative{part}."
        )
    if table.uninformative > len(table.named):
        return f"{table.uninformative:,} of {table.whole:,} rows are uninformative{part}."
    *most, last = table.named
    named = f"{', '.join(most)} and {last}" if most else last
    return f"{named} {'is' if not most else 'are'} uninformative."


def _tell_intervals(answer: Answer) -> Iterator[Caveat]:
    """What intervals hold; a method says that itself, among its notes."""
    if answer.figure or not any(hasattr(column, "estimate") for column in answer.typed_columns):
        return
    these = "rows" if hides_rows(answer.notes) else "people"
    if "population" in _find_abouts(answer):
        who = "which are among these rows" if these == "rows" else "who is among these people"
        says = f"It allows for the noise, and for the chance in {who}."
        yield Caveat("The interval is about the population.", says)
    else:
        others = "all others" if these == "rows" else "everybody else"
        says = f"It is about the exact answer for these {these}. It does not say how far they are from {others}."
        yield Caveat("The interval is about the noise.", says)


def _tell_caps(answer: Answer) -> Iterator[Caveat]:
    for cap in answer.caps:
        yield Caveat("Whose rows count." if cap.rows == 1 else "Not all rows may count.", f"In {cap}.")


def _tell_notes(answer: Answer) -> Iterator[Caveat]:
    for note in answer.notes:
        if answer.figure or note.code != OF_POPULATION.code:
            yield Caveat("", show(note, Surface.PAGE))
