"""In which column of the drawing a table stands: as far from the people as its links are long."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.catalog.model import Catalog
    from adomnia.console.data.links import TableLink

_ACROSS = 4  # tables without any link stand side by side


def arrange_ranks(catalog: Catalog, links: Sequence[TableLink]) -> list[list[str]]:
    """The names of all tables, column by column, each below what it is linked with where that is possible."""
    distances = _measure_distances(catalog, links)
    ranks: list[list[str]] = [[] for _ in range(max(distances.values()) + 1)]
    for name, distance in distances.items():
        ranks[distance].append(name)
    neighbours = _list_neighbours(links)
    for before, rank in pairwise(ranks):
        order = {name: place for place, name in enumerate(before)}
        rank.sort(key=lambda name: min((order.get(each, len(order)) for each in neighbours.get(name, ())), default=0))
    return ranks


def _measure_distances(catalog: Catalog, links: Sequence[TableLink]) -> dict[str, int]:
    """The links between a table and its person; for a public one, one more than the nearest table that it explains."""
    parents = {link.table: link.target for link in links if not link.lookup}
    linked = {name for link in links for name in (link.table, link.target)}
    alone = [table for table in catalog.tables if table.name not in linked and table.name != catalog.unit.table]
    distances = {table.name: _count_steps(table.name, parents) for table in catalog.tables if not table.public}
    for link in links:
        if link.lookup:
            distances[link.target] = min(distances.get(link.target, len(parents) + 1), distances[link.table] + 1)
    for band in ([table for table in alone if table.public is public] for public in (False, True)):
        distances |= {table.name: place % _ACROSS for place, table in enumerate(band)}
    return {table.name: distances[table.name] for table in catalog.tables}


def _count_steps(name: str, parents: dict[str, str]) -> int:
    steps = 0
    while name in parents:
        name, steps = parents[name], steps + 1
    return steps


def _list_neighbours(links: Sequence[TableLink]) -> dict[str, list[str]]:
    neighbours: dict[str, list[str]] = {}
    for link in links:
        neighbours.setdefault(link.table, []).append(link.target)
        neighbours.setdefault(link.target, []).append(link.table)
    return neighbours
