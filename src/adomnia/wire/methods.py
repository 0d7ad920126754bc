"""Methods: their signatures as plain data."""

from typing import Any

from pydantic import Field

from adomnia.methods.registry import METHODS
from adomnia.methods.signatures import method_record
from adomnia.wire.models import Reply


class ParameterReply(Reply):
    """A named argument of a method."""

    name: str
    kind: str
    takes: str = Field(description="What it may be, in words.")
    required: bool
    default: Any = None
    meaning: str


class MethodReply(Reply):
    """A method: what it does, takes and returns."""

    name: str
    chapter: str
    summary: str
    parameters: list[ParameterReply]
    returns: dict[str, str] = Field(description="The columns of its table and what they mean.")
    example: str
    known_as: dict[str, str] = Field(description="What other programs call it.")
    notes: list[str]
    schema_: dict[str, Any] = Field(alias="schema", description="The arguments as JSON Schema.")


class MethodsReply(Reply):
    """All methods that can be asked."""

    methods: list[MethodReply]


def methods_record() -> dict[str, Any]:
    """All methods as plain data."""
    return {"methods": [method_record(method) for method in METHODS.values()]}
