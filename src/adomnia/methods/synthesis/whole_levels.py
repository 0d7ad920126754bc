"""Whole counts of places within places: from the root down, the parts of every cell add up to it exactly."""

import numpy as np
from numpy.typing import NDArray

from adomnia.distributions.projections import project, round_remainders
from adomnia.methods.synthesis.nested_release import NestedRelease
from adomnia.methods.synthesis.places import Geography
from adomnia.statistics.contract import Floats


def round_levels(release: NestedRelease, total: int | None = None) -> list[NDArray[np.int64]]:
    """Whole numbers that are not negative, of the root and every level, one line a node.

    Cite        Abowd et al. 2022: a level is fixed before the next, least squares within its limits.
    """
    root = release.add_level(0)[0]
    whole = np.array(max(0, round(float(root.sum()))) if total is None else total)
    found = [round_remainders(project(root, whole.astype(np.float64)), whole)[None, :]]
    for level in range(1, len(release.geography.sizes) + 1):
        found.append(_round_below(found[-1], release.add_level(level), list_children(release.geography, level)))
    return found


def list_children(geography: Geography, level: int) -> NDArray[np.int64]:
    """The nodes of a level in each node of the one above, one line for each of these, filled up with -1."""
    above, own = geography.nodes[level - 1], geography.nodes[level]
    nodes, first = np.unique(own, return_index=True)
    parents = above[first]
    order = np.argsort(parents, kind="stable")
    sizes = np.bincount(parents, minlength=geography.count_nodes(level - 1))
    places = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    found = np.full((len(sizes), int(sizes.max())), -1)
    found[parents[order], places] = nodes[order]
    return found


def _round_below(above: NDArray[np.int64], values: Floats, children: NDArray[np.int64]) -> NDArray[np.int64]:
    """The counts of a level that add up to whole numbers above it, in every cell by itself."""
    # Nobody is in a child that is not there: it is farther below zero than any other, and so becomes zero.
    apart = np.where(children[:, None, :] >= 0, np.moveaxis(values[children], 2, 1), -np.inf)
    whole = round_remainders(project(apart, above.astype(np.float64)), above)
    found = np.zeros(values.shape, dtype=np.int64)
    there = children >= 0
    found[children[there]] = np.moveaxis(whole, 1, 2)[there]
    return found
