"""What stands beside numbers: sentences that programs know by a code, with the facts that are put into them."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from string import Formatter
from typing import TYPE_CHECKING, Any

from adomnia.messages.texts import Message, names_reference, refer, show

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Self

    from adomnia.messages.surfaces import Surface
    from adomnia.messages.texts import Fact, Part

TEMPLATES: dict[str, NoteTemplate] = {}
"""All templates by their codes, each as soon as the module is loaded that tells it."""


class Note(Message):
    """What an answer, a quote, a table or a release tells beside its numbers, made by a `NoteTemplate`.

    It has no code where nobody knows more of it than the sentence, as of what an earlier version wrote.
    """

    __slots__ = ("code", "facts")
    code: str
    facts: Mapping[str, Fact]

    def __new__(cls, says: str, code: str = "", /, **facts: Fact) -> Self:
        note = super().__new__(cls, says)
        note.code, note.facts = code, facts
        return note

    def _with_parts(self, parts: Iterable[Part]) -> Self:
        return type(self)(Message(*parts), self.code, **self.facts)


@dataclass(frozen=True)
class NoteTemplate:
    """The sentence of a code. In it `{name}` is a fact, `{name:,}` one in a format, `{name:s}` the s of its plural.

    Options and calls stand between braces as Python has them, as in `write`.

    >>> free = NoteTemplate("doctest_free", "{rows:,} row{rows:s}, free: pass {from_release=True}.")
    >>> print(free(rows=1_000))
    1,000 rows, free: pass from_release=True.
    >>> free(rows=1_000).code, TEMPLATES.pop("doctest_free") is free
    ('doctest_free', True)
    """

    code: str
    text: str

    def __post_init__(self) -> None:
        if TEMPLATES.setdefault(self.code, self) != self:
            raise ValueError(f"NoteTemplate code must be one template's alone, got {self.code!r} again.")

    def __call__(self, **facts: Fact) -> Note:
        """The note with these facts, all that the sentence names."""
        return Note(Message(*self._write(facts)), self.code, **facts)

    def _write(self, facts: Mapping[str, Fact]) -> Iterable[Part]:
        for text, name, form, _ in Formatter().parse(self.text):
            yield text
            if name is not None:
                yield refer(name) if names_reference(name) else _write_fact(facts[name], form or "")


def define_note(code: str, text: str) -> Note:
    """The note of a template that names no facts."""
    return NoteTemplate(code, text)()


def _write_fact(fact: Fact, form: str) -> str:
    if form == "s":
        return "" if fact == 1 else "s"
    return ", ".join(fact) if isinstance(fact, list) else fact if isinstance(fact, Message) else format(fact, form)


def show_notes(notes: Iterable[Note], surface: Surface) -> tuple[Note, ...]:
    """Notes in the words of a surface."""
    return tuple(Note(show(note, surface), note.code, **note.facts) for note in notes)


def note_record(note: Note) -> dict[str, Any]:
    """A note as plain data, in Python's words."""
    facts = {name: _bound(fact) for name, fact in note.facts.items()}
    return {"code": note.code, "says": str(note), "facts": facts}


def _bound(fact: Fact) -> Fact:
    """What JSON has: numbers have an end."""
    return str(fact) if isinstance(fact, float) and not isfinite(fact) else fact


def note_of(record: str | Mapping[str, Any]) -> Note:
    """The note that `note_record` wrote, in its words; a text is a note of which nothing else is known."""
    return Note(record) if isinstance(record, str) else Note(record["says"], record["code"], **record["facts"])
