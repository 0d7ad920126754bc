"""The text of a catalog, as its owner reads and changes it: what is wrong with it, and what follows from another."""

from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field

from adomnia.wire.models import Reply

# JSON has lists alone.
Place: TypeAlias = Annotated[
    tuple[int, int], BeforeValidator(lambda told: tuple(told) if isinstance(told, list) else told)
]


class FaultReply(Reply):
    """Something that is wrong with a text, and its place in it."""

    what: str
    why: str
    fix: str
    position: Place | None = Field(description="Line and column, from 1.")


class KeptTextReply(Reply):
    """A text that was replaced: when, and by whom."""

    name: str
    when: str
    who: str


class OlderTextReply(Reply):
    """A text that was replaced."""

    name: str
    text: str


class CatalogTextReply(Reply):
    """The catalog's text on disk, whether it is the one that is served, and the texts that it replaced."""

    text: str
    identity: str = Field(description="The hash of the file.")
    problems: list[FaultReply]
    state: str = Field(description="served, opening, or kept: the one from before, because of a problem.")
    version: int = Field(description="Of the data that is served.")
    problem: str = Field(description="Why it is not served; its owner sees all of it.")
    kept: list[KeptTextReply]


class CatalogIdentityReply(Reply):
    """The hash of the file that was saved."""

    identity: str


class ConsequenceReply(Reply):
    """What follows from a change, in a sentence."""

    about: str
    says: str
    weight: str = Field(description="stop, price or info.")


class ErrorEffectReply(Reply):
    """A question before and after a change: how far one person moves what it measures, and its error."""

    sql: str
    moves_before: str
    moves_after: str
    error_before: str
    error_after: str


class PromiseChangeReply(Reply):
    """What the catalog promises about something, before and after."""

    about: str
    was: list[str]
    becomes: list[str]


class CatalogPreviewReply(Reply):
    """What is wrong with a text; if nothing is, what follows from it."""

    problems: list[FaultReply]
    consequences: list[ConsequenceReply]
    effects: list[ErrorEffectReply]
    changes: list[PromiseChangeReply]
