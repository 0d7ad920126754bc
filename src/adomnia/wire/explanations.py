"""Explanations: the tree of a question."""

from typing import Any

from pydantic import Field

from adomnia.explaining.tree import Node
from adomnia.messages.surfaces import Surface
from adomnia.session.explanation import Explanation, build_explanation
from adomnia.wire.answers import left_of, left_record
from adomnia.wire.models import LeftReply, Reply
from adomnia.wire.texts import TextReply, Texts, texts_of, texts_record


class NodeReply(Reply):
    """A line, and what it is made of."""

    text: str
    parts: list["NodeReply"]


class ExplanationReply(Reply):
    """What a question means and measures, and if a price was named what it buys; nothing was read or spent."""

    tree: NodeReply
    lines: list[str] = Field(description="The same tree drawn as text.")
    confidence: float
    left: LeftReply
    texts: list[TextReply] = Field([], description="What those of these sentences name that are not plain.")


def explanation_record(told: Explanation) -> dict[str, Any]:
    """The explanation as plain data."""
    worded = told.tree.in_words(Surface.JSON)
    tree = {"tree": worded.record(), "lines": worded.lines(), **texts_record(told.tree.list_texts())}
    return {**tree, "confidence": told.confidence, "left": left_record(told.left)}


def explanation_of(record: dict[str, Any]) -> Explanation:
    """The explanation that `explanation_record` wrote."""
    tree = _node(record["tree"], texts_of(record))
    return build_explanation(tree, float(record["confidence"]), left_of(record["left"]))


def _node(record: dict[str, Any], text: Texts) -> Node:
    return Node(text(record["text"]), tuple(_node(part, text) for part in record["parts"]))
