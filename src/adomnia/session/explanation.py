"""What a question means and costs, as an answer of its own: one row a line, free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adomnia.explaining.tree import Node
from adomnia.plans.columns import KeyColumn
from adomnia.session.answer import Answer

if TYPE_CHECKING:
    from adomnia.privacy.filters import Left


_NOTHING = Node("")


@dataclass(frozen=True)
class Explanation(Answer):
    """An answer whose rows are the lines of a tree; it prints as that tree."""

    tree: Node = _NOTHING

    def __repr__(self) -> str:
        return str(self.tree)

    def _repr_html_(self) -> str:
        return self.tree.html()


def build_explanation(tree: Node, confidence: float, left: Left) -> Explanation:
    """The explanation of a question, nothing of which was paid."""
    lines = KeyColumn("explanation", tuple(tree.lines()))
    rows = np.arange(len(lines.values), dtype=np.intp)
    return Explanation((lines,), rows, confidence, None, False, left, tree=tree)
