"""Beliefs of a junction tree: from a factor for each clique to the probabilities of its cells, in two passes.

Cite: Lauritzen & Spiegelhalter 1988; Jensen, Lauritzen & Olesen 1990.
"""

from collections.abc import Sequence

import numpy as np

from adomnia.methods.releases.graphical.axes import Table, spread, sum_onto
from adomnia.methods.releases.graphical.trees import Columns, JunctionTree


def propagate(tree: JunctionTree, potentials: Sequence[Table]) -> list[Table]:
    """The probabilities of each clique's cells where the joint is proportional to the exponential of all potentials."""
    logs = list(potentials)
    weights: list[Table] = [np.empty(0)] * len(logs)
    received: list[Table] = [np.empty(0)] * len(logs)
    for (parent, child), separator in zip(reversed(tree.edges), reversed(tree.separators), strict=True):
        clique = tree.cliques[child]
        weights[child], highest = _exponentiate(logs[child], clique, separator)
        received[child] = sum_onto(weights[child], clique, separator)
        message = np.log(received[child]) + highest
        logs[parent] = logs[parent] + spread(message, separator, tree.cliques[parent])
    weights[0], _ = _exponentiate(logs[0], tree.cliques[0], ())
    weights[0] /= weights[0].sum()
    for (parent, child), separator in zip(tree.edges, tree.separators, strict=True):
        owed = sum_onto(weights[parent], tree.cliques[parent], separator)
        weights[child] *= spread(owed / received[child], separator, tree.cliques[child])
    return weights


def _exponentiate(logs: Table, columns: Columns, kept: Columns) -> tuple[Table, Table]:
    """Weights of which the largest is 1 for each cell of the kept columns, and the logarithms that were taken off.

    So no cell of a separator loses all its weight, however far the potentials of its cells lie below those of others.
    """
    dropped = tuple(axis for axis, column in enumerate(columns) if column not in kept)
    highest = logs.max(axis=dropped) if dropped else logs
    return np.exp(logs - spread(highest, kept, columns)), highest
