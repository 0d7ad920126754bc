"""Releases on their way: how one is asked for, and what is told of it."""

from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import Field

from adomnia.engines.contract import silent
from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import show_all
from adomnia.releases.arrays import Packer, Unpacker
from adomnia.releases.facts import ReleaseFacts
from adomnia.releases.product_form import read_attributes, write_attributes
from adomnia.releases.store import ReleaseEntry
from adomnia.session.askable import AskableRelease
from adomnia.session.contract import Session
from adomnia.wire.asking import AskedQuestion, Confidence, describe_option
from adomnia.wire.models import LARGEST_BODY, Reply, TextReply, notes_of, texts_record

ZIP = "application/zip"
_LONGEST_NAME = 63

# The schema says what is right, and the session refuses what is not.
ReleaseName: TypeAlias = Annotated[
    str,
    Field(
        max_length=LARGEST_BODY,
        json_schema_extra={"minLength": 1, "maxLength": _LONGEST_NAME, "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
    ),
]


class AskRelease(AskedQuestion):
    """A release to make: sent again, the same is free."""

    name: ReleaseName = Field(description="What it is called for ever.", examples=["ages"])
    private: bool = describe_option("private")
    confidence: Confidence = describe_option("confidence")

    def put_to(self, session: Session) -> AskableRelease:
        """The release of a session."""
        return session.release(
            self.name,
            self.sql,
            private=self.private,
            confidence=self.confidence,
            progress=silent,
            **self.payment(),
        )


class ReleaseColumnReply(Reply):
    """A column of the people that a release stands for."""

    name: str
    sort: Literal["text", "boolean", "integer", "number", "date"]
    levels: list[Any] = Field(description='Its values in their order, null where it is missing; {"$day": ...} is one.')
    edges: list[float] = Field(description="Of bins: their ends, one more than there are bins.")
    step: float | None = Field(description="What values inside of bins are multiples of, where that is declared.")


class ReleaseReply(Reply):
    """What is told of a release. Its files are in its archive."""

    name: str
    question: str
    columns: list[ReleaseColumnReply]
    about: dict[str, Any] = Field(description="How it was made: mechanism, price, guarantee, version of the data.")
    notes: list[str]
    texts: list[TextReply] = Field([], description="What is known of these sentences.")


class ReleasesReply(Reply):
    """The releases that may be asked."""

    releases: list[ReleaseReply]


def release_record(entry: ReleaseEntry) -> dict[str, Any]:
    """What is told of a release, as plain data."""
    packer = Packer()
    columns = packer.pack(write_attributes(entry.attributes))
    about = packer.pack(entry.about)
    return {
        "name": entry.name,
        "question": entry.question,
        "columns": columns,
        "about": about,
        "notes": list(show_all(entry.notes, Surface.JSON)),
        **texts_record(entry.notes),
    }


def entry_of(told: ReleaseReply) -> ReleaseEntry:
    """The release that was told of."""
    unpacker = Unpacker(np.zeros(0, np.int64), np.zeros(0, np.float64))
    columns, about = unpacker.unpack([dict(column) for column in told.columns]), unpacker.unpack(told.about)
    attributes = read_attributes({"attributes": columns}) if columns else ()
    facts, notes = ReleaseFacts.from_record(about), notes_of(told.texts, told.notes)
    return ReleaseEntry(told.name, told.question, facts, notes, attributes)
