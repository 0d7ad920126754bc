"""Noise at its extremes, for every Python that has this folder in its path: no claim of a test may depend on it.

Every draw from the bits of the operating system has a weight of exp(-14) of the largest; signs take turns.
"""

from __future__ import annotations

from itertools import count
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from adomnia import noise
from adomnia.noise import choice, sampler

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.noise.bits import Bits
    from adomnia.noise.integers import Integers

_EXPONENT = 14
_turns = count()


def _magnitude(law: sampler.LogQuadratic) -> int:
    """The least k with linear k + quadratic k**2 = 14."""
    linear, quadratic = float(law._linear), float(law._quadratic)
    return round(2 * _EXPONENT / (linear + sqrt(linear * linear + 4 * quadratic * _EXPONENT)))


def _unless_seeded(real: Callable[..., Any], extreme: Callable[..., Any]) -> Callable[..., Any]:
    def draw(law: sampler.LogQuadratic, size: int, bits: Bits) -> Integers:
        drawn = real(law, size, bits)
        return extreme(law, drawn) if isinstance(bits, noise.SystemBits) else drawn

    return draw


def _both_ways(law: sampler.LogQuadratic, drawn: Integers) -> Integers:
    for place in range(len(drawn)):
        drawn[place] = _magnitude(law) * (-1) ** next(_turns)
    return drawn


def _upwards(law: sampler.LogQuadratic, drawn: Integers) -> Integers:
    drawn[:] = _magnitude(law)
    return drawn


def _choose_badly(scores: Integers, rate: Any, bits: Bits, multiplicity: Any = None) -> int:
    """The worst candidate of such a weight."""
    index = _choose(scores, rate, bits, multiplicity)
    if not isinstance(bits, noise.SystemBits):
        return index
    far = (scores.max() - scores).astype(float) * float(rate)
    return int(np.argmax(np.where(far <= _EXPONENT, far, -1.0)))


_choose = choice.weighted_choice
sampler.LogQuadratic.draw = _unless_seeded(sampler.LogQuadratic.draw, _both_ways)
sampler.LogQuadratic.magnitudes = _unless_seeded(sampler.LogQuadratic.magnitudes, _upwards)
noise.weighted_choice = choice.weighted_choice = _choose_badly
