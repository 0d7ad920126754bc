"""Sentences on the wire: in the words of JSON, with what they name beside, so that clients write their own words."""

from collections.abc import Callable, Iterable
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Field, TypeAdapter

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


def texts_record(texts: Iterable[str]) -> dict[str, Any]:
    """The field of a reply that says what its sentences are made of; none where all are plain."""
    told = [_reply(text) for text in dict.fromkeys(texts) if isinstance(text, Message)]
    more = [each for each in told if each.action or not all(isinstance(part, str) for part in each.parts)]
    return {"texts": [each.model_dump(mode="json") for each in more]} if more else {}


def texts_of(texts: Iterable[TextReply]) -> Texts:
    """What finds the text that a sentence of a reply was; it is the sentence itself where it is plain or not known."""
    known = {each.says: _text(each) for each in texts}
    return lambda says: known.get(says, says)


def _reply(text: Message) -> TextReply:
    says, parts = show(text, Surface.JSON), list(text.parts)
    action, facts = (text.action, dict(text.facts)) if isinstance(text, Fix) else ("", {})
    return TextReply(says=says, parts=parts, action=action, facts=facts)


def _text(told: TextReply) -> str:
    """The text, if it can be written and nothing in it could be obeyed by a terminal."""
    try:
        text = Message(*told.parts)
        shown = f"{text}{show(text, Surface.COMMAND_LINE)}".replace("\n", "")
    except LookupError:  # of a server of another version
        return told.says
    if not shown.isprintable():
        return told.says
    return Fix(text, told.action, **told.facts) if told.action else text
