"""A tree of texts, drawn for terminals and for notebooks."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import show

WIDTH = 100  # characters of a line


@dataclass(frozen=True)
class Node:
    """One line of text and the lines below it; `kind` is what programs know it by, where they do."""

    text: str
    parts: tuple["Node", ...] = ()
    kind: str = ""

    def in_words(self, surface: Surface) -> "Node":
        """The same tree in the words of a surface."""
        return Node(show(self.text, surface), tuple(part.in_words(surface) for part in self.parts), self.kind)

    def list_texts(self) -> Iterator[str]:
        """The texts of all lines."""
        yield self.text
        for part in self.parts:
            yield from part.list_texts()

    def lines(self) -> list[str]:
        """The tree drawn with lines; a text that is too long goes on below itself."""
        return list(_draw(self, "", ""))

    def html(self) -> str:
        """The tree as nested lists."""
        return f"<ul>{_list_item(self)}</ul>"

    def record(self) -> dict[str, object]:
        """The tree as plain data."""
        kind = {"kind": self.kind} if self.kind else {}
        return {"text": self.text, **kind, "parts": [part.record() for part in self.parts]}

    def __str__(self) -> str:
        return "\n".join(self.lines())


def _draw(node: Node, first: str, rest: str) -> Iterator[str]:
    """Draw a node; `first` is put before its first line, `rest` before all others."""
    below = rest + ("│  " if node.parts else "   ")
    # Names, texts and categories have no spaces to break at, and are not broken.
    wrapped = textwrap.wrap(
        node.text, max(WIDTH - len(rest), WIDTH // 2), break_long_words=False, break_on_hyphens=False
    )
    yield first + (wrapped[0] if wrapped else "")
    yield from (below + line for line in wrapped[1:])
    for place, part in enumerate(node.parts, 1):
        last = place == len(node.parts)
        yield from _draw(part, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "))


def _list_item(node: Node) -> str:
    parts = f"<ul>{''.join(map(_list_item, node.parts))}</ul>" if node.parts else ""
    return f"<li>{escape(node.text)}{parts}</li>"
