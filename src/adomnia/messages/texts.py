"""Texts that name things by reference: fixes, which programs act on, and notes, which they know by code and facts."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from string import Formatter
from typing import TYPE_CHECKING, Any

from adomnia.messages.references import Option, Reference, SessionCall, WithOption
from adomnia.messages.surfaces import Surface, write_reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Self

Part = str | Reference
Fact = str | int | float | bool | list[str] | None
TEMPLATES: dict[str, NoteTemplate] = {}
"""All templates by their codes, each as soon as the module is loaded that tells it."""


class Message(str):
    """A text in Python's words that keeps what it names, so that any surface shows it in its own.

    >>> from adomnia.messages.references import Option
    >>> told = Message("add ", Option("delta", "1e-9"))
    >>> print(told, "|", show(told, Surface.COMMAND_LINE))
    add delta=1e-9 | add --delta 1e-9
    """

    __slots__ = ("parts",)
    parts: tuple[Part, ...]

    def __new__(cls, *parts: Part) -> Self:
        flat = tuple(_merge(parts))
        message = super().__new__(cls, _join(flat, Surface.PYTHON))
        message.parts = flat
        return message

    def __add__(self, other: str) -> Message:
        return Message(self, other)

    def __radd__(self, other: str) -> Message:
        return Message(other, self)

    def replace_references(self, change: Callable[[Reference], Reference]) -> Self:
        """The same text, in which each reference is another."""
        return self._with_parts(each if isinstance(each, str) else change(each) for each in self.parts)

    def _with_parts(self, parts: Iterable[Part]) -> Self:
        return type(self)(*parts)


class Fix(Message):
    """What to do about a refusal: a text, and for programs one stable word with its facts where they can do it."""

    __slots__ = ("action", "facts")
    action: str
    facts: Mapping[str, Fact]

    def __new__(cls, says: str, action: str = "", /, **facts: Fact) -> Self:
        fix = super().__new__(cls, says)
        fix.action = action
        fix.facts = facts
        return fix

    def _with_parts(self, parts: Iterable[Part]) -> Self:
        return type(self)(Message(*parts), self.action, **self.facts)


def write(template: str, /, **facts: str | int | Reference) -> Message:
    """A text with what stands between its braces put in: facts by their names, options and calls as Python has them.

    >>> told = write("{what} needs a price: add {epsilon=1} to {sql()}", what="It")
    >>> print(told, "|", show(told, Surface.COMMAND_LINE))
    It needs a price: add epsilon=1 to sql() | It needs a price: add --epsilon 1 to `adomnia sql`
    """
    parts: list[Part] = []
    for text, name, *_ in Formatter().parse(template):
        parts.append(text)
        if name is not None:
            fact = refer(name) if names_reference(name) else facts[name]
            parts.append(str(fact) if isinstance(fact, int) else fact)
    return Message(*parts)


def names_reference(written: str) -> bool:
    """Whether what stands between braces is no fact."""
    return "=" in written or written.endswith("()")


def refer(written: str) -> Reference:
    """What is named between braces: an option, `rows=1000`, that it is given, `with rows=`, or a call, `sql()`."""
    if written.endswith("()"):
        return SessionCall(written.removesuffix("()"))
    name, _, value = written.removeprefix("with ").partition("=")
    if written.startswith("with "):
        return WithOption(name)
    return Option(name, value == "True" if value in {"True", "False"} else value or None)


def join(between: str, texts: Iterable[str]) -> Message:
    """Texts one after the other, as `str.join`, which would forget what they name."""
    parts = [part for text in texts for part in (between, text)]
    return Message(*parts[1:])


def show(text: str, surface: Surface) -> str:
    """A text in the words of a surface."""
    return _join(text.parts, surface) if isinstance(text, Message) else text


def show_all(texts: Iterable[str], surface: Surface) -> tuple[str, ...]:
    """Texts in the words of a surface."""
    return tuple(show(each, surface) for each in texts)


def _merge(parts: Iterable[Part]) -> Iterator[Part]:
    """Parts without messages inside, and without texts beside each other."""
    text = ""
    for part in parts:
        for each in part.parts if isinstance(part, Message) else (part,):
            if isinstance(each, str):
                text += each
                continue
            if text:
                yield text
            yield each
            text = ""
    if text:
        yield text


def _join(parts: Iterable[Part], surface: Surface) -> str:
    return "".join(each if isinstance(each, str) else write_reference(each, surface) for each in parts)


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
