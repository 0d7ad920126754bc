"""Sentences on the wire: in the words of JSON, with what they name beside, so that clients write their own words."""

from collections.abc import Callable, Iterable
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

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
    parts: list[str | Named] = Field(description="What it is made of: texts, and what is named between them.")
    action: str = Field("", description="Of a fix: one stable word for what can be done.")
    facts: dict[str, Fact] = Field({}, description="What the action needs.")


Texts: TypeAlias = Callable[[str], str]
_TEXTS = TypeAdapter(list[TextReply])


def texts_record(texts: Iterable[str]) -> dict[str, Any]:
    """The field of a reply that says what its sentences are made of; none where all are plain."""
    told = [_reply(text) for text in dict.fromkeys(texts) if isinstance(text, Message)]
    more = [each for each in told if each.action or not all(isinstance(part, str) for part in each.parts)]
    return {"texts": _TEXTS.dump_python(more, mode="json")} if more else {}


def texts_of(record: dict[str, Any]) -> Texts:
    """What finds the text that a sentence of a reply was; it is the sentence itself where it is plain or not known."""
    try:
        known = {each.says: _text(each) for each in _TEXTS.validate_python(record.get("texts", []))}
    except (ValidationError, LookupError):  # of a server of another version
        known = {}
    return lambda says: known.get(says, says)


def _reply(text: Message) -> TextReply:
    says, parts = show(text, Surface.JSON), list(text.parts)
    action, facts = (text.action, dict(text.facts)) if isinstance(text, Fix) else ("", {})
    return TextReply(says=says, parts=parts, action=action, facts=facts)


def _text(told: TextReply) -> str:
    """The text, if nothing in it could be obeyed by a terminal."""
    text = Fix(Message(*told.parts), told.action, **told.facts) if told.action else Message(*told.parts)
    shown = f"{text}{show(text, Surface.COMMAND_LINE)}".replace("\n", "")
    return text if shown.isprintable() else told.says
