"""Code that computes other numbers from the same measurements than the code that stored them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from adomnia.asking import replaying
from adomnia.methods.parts.describe import cuts
from adomnia.plans import columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager


@contextmanager
def other_rounds() -> Iterator[None]:
    """Code whose later rounds are others, whatever was drawn before them: the fault that this is about."""
    before = cuts.Cutting.lay

    def moved(self: cuts.Cutting, *chosen: Any) -> Any:
        return np.minimum(before(self, *chosen) + 1, self.domain.width + 1)

    with patch.object(cuts.Cutting, "lay", moved):
        yield


@contextmanager
def other_intervals() -> Iterator[None]:
    """Code whose measurements are the same, and its intervals are not."""
    before = columns.estimate_term

    def widened(source: Any, estimates: Any) -> Any:
        found = before(source, estimates)

        def interval(confidence: float, cells: int) -> Any:
            lower, upper = found.interval(confidence, cells)
            return lower - 1, upper + 1

        return replace(found, interval=interval)

    with patch.object(columns, "estimate_term", widened):
        yield


@contextmanager
def newer_version(change: Callable[[], AbstractContextManager[object]] = other_intervals) -> Iterator[None]:
    """The next version of the program, and what it computes otherwise."""
    with patch.object(replaying, "__version__", "0.2.0"), change():
        yield
