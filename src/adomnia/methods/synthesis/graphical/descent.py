"""The minimum of a smooth convex function of which only the gradient is computed.

Cite: Nocedal 1980 (the limited memory of steps); Hager & Zhang 2005 (a line search by slopes).
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
_MEMORY = 8
_SLOPE = 0.5  # a step is short enough where the slope has not risen beyond this share of the first one's size


@dataclass(frozen=True)
class Descent:
    """Where a descent ended, and how many gradients it took."""

    place: Vector
    gradients: int


def descend(
    gradient: Callable[[Vector], Vector],
    start: Vector,
    curvature: Vector,
    is_done: Callable[[Vector], bool],
    most_gradients: int,
) -> Descent:
    """The place of the least value: quasi-Newton steps from a diagonal guess of the curvature.

    The function is strongly convex, so that slopes along a line rise: where one is negative or little above zero, the
    function is lower than at the start. Its values are never needed, and their rounding does no harm.
    """
    place, slopes = start, gradient(start)
    steps: deque[tuple[Vector, Vector, float]] = deque(maxlen=_MEMORY)
    count = 1
    while count < most_gradients and not is_done(slopes):
        direction = -_apply_inverse(slopes, curvature, steps)
        first, length = float(slopes @ direction), 1.0
        if not first < 0:
            break  # rounding has the last word
        while True:
            moved = place + length * direction
            turned = gradient(moved)
            count += 1
            slope = float(turned @ direction)
            if slope <= -_SLOPE * first or count >= most_gradients:
                break
            length *= float(np.clip(first / (first - slope), 0.1, 0.7))
        if slope > -first:
            break  # the last step of all was too long
        steps.append((moved - place, turned - slopes, length * (slope - first)))
        place, slopes = moved, turned
    return Descent(place, count)


def _apply_inverse(slopes: Vector, curvature: Vector, steps: deque[tuple[Vector, Vector, float]]) -> Vector:
    """The inverse curvature that the last steps tell of, times the slopes: the loop over them back and forth."""
    result = slopes.copy()
    weights = []
    for step, change, product in reversed(steps):
        weights.append(float(step @ result) / product)
        result -= weights[-1] * change
    scale = 1.0
    if steps:
        _, change, product = steps[-1]
        scale = product / float(change @ (change / curvature))
    result *= scale / curvature
    for (step, change, product), weight in zip(steps, reversed(weights), strict=True):
        result += (weight - float(change @ result) / product) * step
    return result
