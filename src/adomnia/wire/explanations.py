"""Explanations: the tree of a question."""

from typing import Any

from pydantic import Field

from adomnia.explaining.tree import Node
from adomnia.messages.surfaces import Surface
from adomnia.session.explanation import Explanation, build_explanation
from adomnia.wire.models import LeftReply, Reply, TextReply, Texts, texts_of, texts_record


class NodeReply(Reply):
    """A line, and what it is made of."""

    text: str
    kind: str = Field("", description="Where programs know it: rows, groups, measured, answered, expected.")
    parts: list["NodeReply"]

    def node(self, text: Texts) -> Node:
        """What was told of."""
        return Node(text(self.text), tuple(part.node(text) for part in self.parts), self.kind)


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
    return {**tree, "confidence": told.confidence, "left": LeftReply.record(told.left)}


def explanation_of(told: ExplanationReply) -> Explanation:
    """The explanation that was told of."""
    tree = told.tree.node(texts_of(told.texts))
    return build_explanation(tree, told.confidence, told.left.left())
