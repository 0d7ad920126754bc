"""Noise at its extremes, for every Python that has this folder in its path: no claim of a test may depend on it.

Every draw from the bits of the operating system has a weight of about exp(-14) of the largest; signs take turns.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from itertools import count
from math import sqrt
from random import uniform
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_turns = count()


class _AfterNoise:
    """Changes `adomnia.noise` once it is imported, and before anybody takes a function from it."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        if name != "adomnia.noise":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        execute = spec.loader.exec_module
        spec.loader.exec_module = lambda module: (execute(module), _install(module))
        return spec


def _install(noise: ModuleType) -> None:
    from adomnia.noise import choice, discrete

    def go_far(real: Any, sign: Any) -> Any:
        def draw(distribution: Any, size: int, bits: Any) -> Any:
            drawn = real(distribution, size, bits)
            if isinstance(bits, noise.SystemBits):
                drawn[:] = [sign() * _magnitude(distribution) for _ in range(size)]
            return drawn

        return draw

    def choose_badly(scores: Any, rate: Any, bits: Any, *copies: Any) -> int:
        """The worst candidate of such a weight."""
        index = choose(scores, rate, bits, *copies)
        if not isinstance(bits, noise.SystemBits):
            return index
        far = (scores.max() - scores).astype(float) * float(rate)
        return max(range(len(far)), key=lambda place: far[place] if far[place] <= 14 else -1.0)

    choose = choice.weighted_choice
    discrete.LogQuadratic.draw = go_far(discrete.LogQuadratic.draw, lambda: (-1) ** next(_turns))
    discrete.LogQuadratic.magnitudes = go_far(discrete.LogQuadratic.magnitudes, lambda: 1)
    noise.weighted_choice = choice.weighted_choice = choose_badly


def _magnitude(distribution: Any) -> int:
    """The k with linear k + quadratic k**2 = 14, or a little more."""
    linear, quadratic, exponent = float(distribution._linear), float(distribution._quadratic), uniform(14, 15)
    return round(2 * exponent / (linear + sqrt(linear * linear + 4 * quadratic * exponent)))


sys.meta_path.insert(0, _AfterNoise())
