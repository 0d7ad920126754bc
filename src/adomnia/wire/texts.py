"""Sentences on the wire: in the words of JSON, with what they name beside, so that clients write their own words."""

from collections.abc import Callable, Iterable
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Field, TypeAdapter

from adomnia.messages.notes import Note, note_record
from adomnia.messages.references import Reference
from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import Fact, Fix, Message, show
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
    return {"texts": [each.model_dump(mode="json", exclude_defaults=True) for each in more]} if more else {}


def texts_of(texts: Iterable[TextReply]) -> Texts:
    """What finds the text that a sentence of a reply was; it is the sentence itself where it is plain or not known."""
    known = {each.says: _text(each) for each in texts}
    return lambda says: known.get(says, says)


def notes_of(told: Iterable[TextReply], notes: Iterable[str]) -> tuple[Note, ...]:
    """The notes of a reply; of those of which it tells no more, the sentences."""
    found = map(texts_of(told), notes)
    return tuple(each if isinstance(each, Note) else Note(each) for each in found)


def _reply(text: Message) -> TextReply:
    parts = list(text.parts) if any(not isinstance(part, str) for part in text.parts) else []
    more = note_record(text) if isinstance(text, Note) else {"action": text.action} if isinstance(text, Fix) else {}
    facts = dict(text.facts) if isinstance(text, Fix) else {}
    return TextReply(**{"facts": facts, **more, "says": show(text, Surface.JSON), "parts": parts})


def _text(told: TextReply) -> str:
    """The text, if it can be written and nothing in it could be obeyed by a terminal."""
    try:
        text = Message(*(told.parts or [told.says]))
        shown = f"{text}{show(text, Surface.COMMAND_LINE)}".replace("\n", "")
    except LookupError:  # of a server of another version
        return told.says
    if not shown.isprintable():
        return told.says
    if told.code:
        return Note(text, told.code, **told.facts)
    return Fix(text, told.action, **told.facts) if told.action else text
