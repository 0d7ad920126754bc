"""Explanations: the tree of a question."""

from typing import Any

from pydantic import Field

from adomnia.explaining.surfaces import reword_tree
from adomnia.explaining.tree import Node
from adomnia.messages.surfaces import Surface
from adomnia.session.explanation import Explanation, build_explanation
from adomnia.wire.models import LeftReply, Reply


class NodeReply(Reply):
    """A line, and what it is made of."""

    text: str
    parts: list["NodeReply"]

    def node(self) -> Node:
        """What was told of."""
        return Node(self.text, tuple(part.node() for part in self.parts))


class ExplanationReply(Reply):
    """What a question means and measures, and if a price was named what it buys; nothing was read or spent."""

    tree: NodeReply
    lines: list[str] = Field(description="The same tree drawn as text.")
    confidence: float
    left: LeftReply


def explanation_record(told: Explanation) -> dict[str, Any]:
    """The explanation as plain data."""
    worded = reword_tree(told.tree, Surface.JSON)
    tree = {"tree": worded.record(), "lines": worded.lines()}
    return {**tree, "confidence": told.confidence, "left": LeftReply.record(told.left)}


def explanation_of(told: ExplanationReply) -> Explanation:
    """The explanation that was told of."""
    return build_explanation(reword_tree(told.tree.node(), Surface.PYTHON), told.confidence, told.left.left())
