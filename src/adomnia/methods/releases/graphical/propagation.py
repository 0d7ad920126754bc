"""Beliefs of a junction tree: from a factor for each clique to the probabilities of its cells, in two passes.

Cite: Lauritzen & Spiegelhalter 1988; Jensen, Lauritzen & Olesen 1990.
"""

from collections.abc import Sequence

import numpy as np

from adomnia.methods.releases.graphical.axes import Projection, Table
from adomnia.methods.releases.graphical.trees import JunctionTree


class Propagation:
    """The two passes over a tree, each time from other potentials."""

    def __init__(self, tree: JunctionTree) -> None:
        cliques, joined = tree.cliques, list(zip(tree.edges, tree.separators, strict=True))
        self._edges = tree.edges
        self._whole = Projection.between(tree.sizes, cliques[0], ())
        self._above = [Projection.between(tree.sizes, cliques[edge[0]], shared) for edge, shared in joined]
        self._below = [Projection.between(tree.sizes, cliques[edge[1]], shared) for edge, shared in joined]

    def run(self, potentials: Sequence[Table]) -> list[Table]:
        """The probabilities of each clique's cells: the joint is the exponential of all potentials, up to a factor."""
        logs, weights = list(potentials), list(potentials)
        received = list[Table]()
        for (parent, child), above, below in zip(*map(reversed, (self._edges, self._above, self._below)), strict=True):
            weights[child], highest = _exponentiate(logs[child], below)
            received.append(below.collapse(weights[child]))
            logs[parent] = logs[parent] + above.spread(np.log(received[-1]) + highest)
        weights[0], _ = _exponentiate(logs[0], self._whole)
        weights[0] /= weights[0].sum()
        for (parent, child), above, below in zip(self._edges, self._above, self._below, strict=True):
            weights[child] *= below.spread(above.collapse(weights[parent]) / received.pop())
        return weights


def _exponentiate(logs: Table, projection: Projection) -> tuple[Table, Table]:
    """Weights of which the largest is 1 for each cell of a projection, and the logarithms that were taken off.

    So no cell of a separator loses all its weight, however far the potentials of its cells lie below those of others.
    """
    highest = projection.peak(logs)
    weights = logs - projection.spread(highest)
    return np.exp(weights, out=weights), highest
