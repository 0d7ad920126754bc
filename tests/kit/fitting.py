"""Fits distributions in blocks of people on arrays: exact sums in NumPy, blocks by chance, noise as it really is.

For simulations: no engine, no ledger, no text. Every row is a person, whom chance puts into a block as a hash would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adomnia.distributions.simulations import draw_again
from adomnia.methods.registry import METHODS
from adomnia.privacy.scans import People
from adomnia.privacy.vectors import Vector
from adomnia.statistics.contract import Measured
from kit.analyses import Arms, frame

if TYPE_CHECKING:
    from adomnia.methods.parts.likelihood.families import ExponentialFamily
    from adomnia.privacy.events import Price
    from adomnia.privacy.queries import Query
    from adomnia.statistics.contract import ResultTable


def build(family: str, bounds: tuple[float, float], *, whole: bool = False) -> Any:
    """The analysis of a column x with such bounds."""
    rows = frame({"x": bounds}, whole=("x",) if whole else ())
    return METHODS["mle"].build(rows, {"column": rows.numbers["x"], "family": family})


def fit(analysis: Any, price: Price, values: np.ndarray, draws: np.random.Generator) -> ResultTable:
    """The table about the people with these values."""
    arms, flow = Arms({"x": values}, None), analysis.steps(price)  # type: ignore[arg-type]  # draws noise by itself
    asked = next(flow)
    while True:
        measured = []
        for measure in asked:
            exact = _exact(arms, measure.query, draws)
            noise = draw_again(measure.mechanism, draws, exact.shape).astype(np.int64)
            measured.append(Measured(exact + noise, measure.mechanism))
        try:
            asked = flow.send(tuple(measured))
        except StopIteration as end:
            return end.value


def observe(family: ExponentialFamily, values: np.ndarray) -> np.ndarray:
    """The statistics of some values: (..., statistics)."""
    observed = [{"x": np.asarray, "ln": np.log}[name](values) for name in family.observed]
    return np.stack([each**power for each in observed for power in range(1, family.degree + 1)], axis=-1)


def _exact(arms: Arms, query: Query, draws: np.random.Generator) -> np.ndarray:
    kept = arms._filtered(query.relation)
    if isinstance(query.aggregate, People):
        return np.array(int(kept.sum()))
    (blocks,) = query.shape
    where = draws.integers(0, blocks, int(kept.sum()))
    sums = query.aggregate.sums
    if isinstance(sums, Vector):
        added = [np.bincount(where, weights=each, minlength=blocks) for each in arms._vector(sums, kept)]
        return query.apply([np.rint(np.stack(added, axis=-1)).astype(np.int64)])
    bins = sums.domain.width + 1
    places = np.clip(arms.value(sums.value)[kept], 0, bins - 1).astype(np.int64)
    counted = np.bincount(where * bins + places, minlength=blocks * bins)
    return query.apply([counted.reshape(blocks, bins)])
