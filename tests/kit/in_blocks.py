"""Methods over blocks of people on arrays: who is in which block is drawn, and what a block holds is computed here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adomnia.privacy.events import Composed
from adomnia.privacy.losses import covers
from adomnia.privacy.relations import PerBlock, PerPerson, Select, Where
from adomnia.privacy.scans import Average, OwnSpread
from kit.analyses import Arms
from kit.bits import SeededBits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adomnia.noise import Bits
    from adomnia.privacy.events import Event, Price
    from adomnia.privacy.relations import OwnValue, Relation
    from adomnia.statistics.contract import Measure, Measured, ResultTable, Statistic


@dataclass
class BlockArms:
    """The data of people who have one row each, in as many blocks as a question names."""

    people: Mapping[str, np.ndarray]
    bits: Bits
    seed: int = 0

    def measure(self, measure: Measure) -> Measured:
        query = measure.query
        if isinstance(query.relation, PerPerson):
            counted = replace(measure, query=replace(query, relation=query.relation.source))
            return Arms(self.people, self.bits).measure(counted)
        return Arms(self.rows(query.relation), self.bits).measure(measure)

    def rows(self, relation: Relation) -> dict[str, np.ndarray]:
        """What the blocks of a relation hold, and what is selected of them."""
        match relation:
            case PerBlock(outputs=outputs, blocks=blocks, source=source):
                read = Arms(self.people, self.bits)
                kept = read._filtered(source)
                people = len(kept)
                place = np.random.default_rng(self.seed).integers(0, blocks.count, people)[kept]
                held, inverse = np.unique(place, return_inverse=True)
                return {each.name: _aggregate(each, read, kept, inverse, len(held)) for each in outputs}
            case Select(source=source, outputs=outputs):
                inner = self.rows(source)
                return inner | {each.name: Arms(inner, self.bits).value(each.value) for each in outputs}
            case Where(source=source):
                return self.rows(source)
        raise TypeError(f"BlockArms relation must be of blocks, got {type(relation).__name__}.")


def _aggregate(output: OwnValue, read: Arms, kept: np.ndarray, place: np.ndarray, blocks: int) -> np.ndarray:
    aggregate = output.aggregate
    assert isinstance(aggregate, Average | OwnSpread)
    domain = aggregate.domain
    values = np.clip(read.value(aggregate.value)[kept], float(domain.lower), float(domain.upper))
    counts = np.bincount(place, minlength=blocks)
    mean = np.bincount(place, weights=values, minlength=blocks) / counts
    if isinstance(aggregate, Average):
        return mean
    return np.bincount(place, weights=(values - mean[place]) ** 2, minlength=blocks) / counts


def spend_in_blocks(
    statistic: Statistic, price: Price, people: Mapping[str, np.ndarray], seed: int
) -> tuple[ResultTable, list[Event]]:
    """The table of a method about people in blocks, and the events of all that it measured; never above its event."""
    arms, flow, events = BlockArms(people, SeededBits(str(seed)), seed), statistic.steps(price), []
    asked = next(flow)
    while True:
        events += [each.mechanism.event(each.query.sensitivity()) for each in asked]
        assert covers(statistic.event(price), Composed(events))
        try:
            asked = flow.send(tuple(map(arms.measure, asked)))
        except StopIteration as end:
            return end.value, events
