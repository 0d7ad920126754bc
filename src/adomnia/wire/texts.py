"""Sentences on the wire: in the words of JSON, with what they name beside, so that clients write their own words."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Field, TypeAdapter

from adomnia.messages.notes import Note, note_record
from adomnia.messages.references import Reference
from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import Fact, Fix, Message, show
from adomnia.tables import printable
from adomnia.wire.models import Reply

_REFERENCE: TypeAdapter[Reference] = TypeAdapter(Reference)
Named: TypeAlias = Annotated[
    Reference, BeforeValidator(lambda part: _REFERENCE.validate_python(part) if isinstance(part, dict) else part)
]


class TextReply(Reply):
    """A sentence of this reply that names options, calls or settings, or that programs can act on."""

    says: str = Field(description="The sentence as it stands in the reply.")
    parts: list[str | Named] = Field([], description="Texts, and what is named between them; none if nothing is.")
    action: str = Field("", description="Of a fix: one stable word for what can be done.")
    code: str = Field("", description="Of a note: one stable word for what is told.")
    facts: dict[str, Fact] = Field({}, description="What the action needs, or what the note tells.")


Texts: TypeAlias = Callable[[str], str]


def texts_record(texts: Iterable[str]) -> dict[str, Any]:
    """The field of a reply that says what its sentences are made of; none where all are plain."""
    told = [_reply(text) for text in dict.fromkeys(texts) if isinstance(text, Message)]
    more = [each for each in told if each.action or each.code or each.parts]
    return {"texts": list(map(_write, more))} if more else {}


def texts_of(texts: Iterable[TextReply]) -> Texts:
    """What finds the text that a sentence of a reply was; the sentence itself where it is plain or not known.

    Nothing in it could be obeyed by a terminal.
    """
    known = {each.says: _text(each) for each in texts}
    return lambda says: known[says] if says in known else printable(says)


def notes_of(told: Iterable[TextReply], notes: Iterable[str]) -> tuple[Note, ...]:
    """The notes of a reply; of those of which it tells no more, the sentences."""
    found = map(texts_of(told), notes)
    return tuple(each if isinstance(each, Note) else Note(each) for each in found)


def _reply(text: Message) -> TextReply:
    parts = list(text.parts) if any(not isinstance(part, str) for part in text.parts) else []
    more = note_record(text) if isinstance(text, Note) else {"action": text.action} if isinstance(text, Fix) else {}
    facts = dict(text.facts) if isinstance(text, Fix) else {}
    return TextReply(**{"facts": facts, **more, "says": show(text, Surface.JSON), "parts": parts})


def _write(told: TextReply) -> dict[str, Any]:
    """As plain data without what is usual; of what is named with its kind: calls and options have a name alone."""
    plain = told.model_dump(mode="json", exclude_defaults=True)
    named = zip(told.parts, plain.get("parts", ()), strict=True)
    parts = [each if isinstance(part, str) else {"kind": part.kind, **each} for part, each in named]
    return {**plain, "parts": parts} if parts else plain


def _text(told: TextReply) -> str:
    """The text, or what it says where it cannot be written, or it or its facts could be obeyed by a terminal."""
    try:
        text = Message(*(told.parts or [told.says]))
        shown = [text, show(text, Surface.COMMAND_LINE), told.action, told.code, *_list_facts(told.facts)]
    except LookupError:  # of a server of another version
        return printable(told.says)
    if not "".join(shown).replace("\n", "").isprintable():
        return printable(told.says)
    if told.code:
        return Note(text, told.code, **told.facts)
    return Fix(text, told.action, **told.facts) if told.action else text


def _list_facts(facts: Mapping[str, Fact]) -> Iterator[str]:
    for name, fact in facts.items():
        yield name
        yield from fact if isinstance(fact, list) else [str(fact)]
