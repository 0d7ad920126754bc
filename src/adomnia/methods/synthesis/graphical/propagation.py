"""Beliefs of a junction tree: from a factor for each clique to the probabilities of its cells, in two passes.

Cite: Lauritzen & Spiegelhalter 1988; Jensen, Lauritzen & Olesen 1990.
"""

from collections.abc import Sequence

import numpy as np

from adomnia.methods.synthesis.graphical.axes import Projection, Table
from adomnia.methods.synthesis.graphical.trees import JunctionTree


class BeliefPropagation:
    """The two passes over a tree, each time from other potentials."""

    def __init__(self, tree: JunctionTree) -> None:
        cliques, joined = tree.cliques, list(zip(tree.edges, tree.separators, strict=True))
        self._edges = tree.edges
        self._whole = Projection.between(tree.sizes, cliques[0], ())
        self._above = [Projection.between(tree.sizes, cliques[edge[0]], shared) for edge, shared in joined]
        self._below = [Projection.between(tree.sizes, cliques[edge[1]], shared) for edge, shared in joined]

    def run(self, tables: Sequence[Table]) -> None:
        """Turns potentials into the probabilities of each clique's cells, in place.

        The joint distribution is the exponential of the sum of all potentials, up to a factor.
        """
        received = list[Table]()
        for (parent, child), above, below in zip(*map(reversed, (self._edges, self._above, self._below)), strict=True):
            highest = _exponentiate(tables[child], below)
            received.append(below.collapse(tables[child]))
            tables[parent][...] += above.spread(np.log(received[-1]) + highest)
        _exponentiate(tables[0], self._whole)
        tables[0][...] /= tables[0].sum()
        for (parent, child), above, below in zip(self._edges, self._above, self._below, strict=True):
            tables[child][...] *= below.spread(above.collapse(tables[parent]) / received.pop())


def _exponentiate(logs: Table, projection: Projection) -> Table:
    """Turns logarithms into weights, the largest 1 for each cell of a projection, and returns what was taken off.

    So no cell of a separator loses all its weight, however far the potentials of its cells lie below those of others.
    """
    highest = projection.peak(logs)
    np.subtract(logs, projection.spread(highest), out=logs)
    np.exp(logs, out=logs)
    return highest
