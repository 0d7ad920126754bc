"""What the contract tests need to know of each mechanism, beside what its registry says: an exact law of its own."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from adomnia.privacy.events import Concentrated, Event, Pure
from adomnia.privacy.sensitivity import Sensitivity
from kit.laws import exact_gaussian, exact_laplace

if TYPE_CHECKING:
    from collections.abc import Callable

    import mpmath

# P[noise = k] from the definition, at mpmath's working precision. A new noise adds its line here.
EXACT_LAWS: dict[str, Callable[[Any, int], mpmath.mpf]] = {
    "laplace": lambda noise, k: exact_laplace(k, noise.scale),
    "gaussian": lambda noise, k: exact_gaussian(k, noise.variance),
}

PRICES: dict[type, list[Any]] = {
    Pure: [Pure(Fraction(text)) for text in ("1/10", "1/3", "1", "5/2")],
    Concentrated: [Concentrated(Fraction(text)) for text in ("1/200", "1/10", "1/2", "3")],
}

# Bounds with ways to move within them: integer vectors whose norms are at most the bounds.
MOVES: list[tuple[Sensitivity, list[tuple[int, ...]]]] = [
    (Sensitivity(l1=1), [(1,)]),
    (Sensitivity(l1=3), [(3,), (1, 2), (1, 1, 1)]),
    (Sensitivity(l1=4, l2_squared=4, linf=1), [(1, 1, 1, 1), (1, 1), (-1, 1, 1)]),
    (Sensitivity(l1=5, l2_squared=13, linf=3), [(3, 2), (-3, 2), (3, 1), (2, 2)]),
]


class AnyPrice:
    """A mechanism that costs next to nothing, to look into a secret with."""

    def event(self, _: Sensitivity) -> Event:
        """Covered by every reserve."""
        return Pure(Fraction(1, 10**200))


def reach_of(noise: Any) -> int:
    """A k beyond which the noise has a mass below 1e-15, by its own interval."""
    return int(noise.interval(1 - 1e-15).half_width)
