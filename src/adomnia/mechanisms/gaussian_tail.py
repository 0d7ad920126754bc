"""The exact (epsilon, delta) curve of discrete Gaussian noise on one integer, never below the truth."""

from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from adomnia.noise.table import enclosed_weights
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT
from adomnia.privacy.enclosures import exp_down
from adomnia.privacy.losses import rho_of

_PRECISION = 160  # bits: what is cut off is far below any delta worth asking for
_LARGEST_VARIANCE = 10**8
_LARGEST_DISTANCE = 10**5
_LARGEST_EPSILON = 1000
_HALVINGS = 24


class _Tail:
    """Enclosures of P[noise >= j]."""

    def __init__(self, variance: Fraction, precision: int) -> None:
        lowers, uppers, rest = enclosed_weights(Fraction(0), 1 / (2 * variance), precision)
        self._lower = list(accumulate(reversed(lowers), initial=0))[::-1]
        self._upper = list(accumulate(reversed(uppers), initial=rest))[::-1]
        # The weights of 1, 2, ... stand on both sides of zero.
        self._lower_total = lowers[0] + 2 * self._lower[1]
        self._upper_total = uppers[0] + 2 * self._upper[1]

    def upper(self, j: int) -> Fraction:
        if j <= 0:
            return 1 - self.lower(1 - j)
        return Fraction(self._upper[min(j, len(self._upper) - 1)], self._lower_total)

    def lower(self, j: int) -> Fraction:
        """For j >= 1 only: what is subtracted lies beyond half of the shift."""
        return Fraction(self._lower[min(j, len(self._lower) - 1)], self._upper_total)


def tail_from(variance: Fraction, j: int) -> Fraction:
    """P[noise >= j], rounded up."""
    if variance > _LARGEST_VARIANCE:
        raise ValueError(f"tail_from variance must be at most {_LARGEST_VARIANCE}, got {variance}.")
    return _tail(variance, _PRECISION).upper(j)


def exact_delta(variance: Fraction, distance: int, epsilon: Fraction) -> Fraction:
    """The least delta, rounded up, such that noise of that variance is (epsilon, delta)-private.

    Canonne, Kamath & Steinke 2020, theorem 7: shifted by d, delta = P[Z > m] - exp(epsilon) P[Z > m + d] with
    m = epsilon variance / d - d / 2. Every shift up to `distance` counts: the curve need not grow with the shift.
    """
    if distance > _LARGEST_DISTANCE:
        raise ValueError(f"exact_delta distance must be at most {_LARGEST_DISTANCE}, got {distance}.")
    if variance > _LARGEST_VARIANCE:
        raise ValueError(f"exact_delta variance must be at most {_LARGEST_VARIANCE} (use rho beyond), got {variance}.")
    growth = exp_down(epsilon)
    # exp(epsilon) multiplies what the tail leaves open, so the tail is known to that many bits more.
    tail = _tail(variance, _PRECISION + int(growth).bit_length())

    def shifted(shift: int) -> Fraction:
        first = (epsilon * variance / shift - Fraction(shift, 2)).__floor__() + 1
        return tail.upper(first) - growth * tail.lower(first + shift)

    return max(shifted(shift) for shift in range(1, distance + 1))


def least_variance(distance: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """A variance that is private enough, within one part in a million of one that `exact_delta` does not accept."""
    if epsilon > _LARGEST_EPSILON or delta < DELTA_UNIT:
        rule = f"epsilon must be at most {_LARGEST_EPSILON} and delta at least 1e-30"
        raise ValueError(f"least_variance {rule}, got {epsilon} and {float(delta):g}.")
    # Enough by zCDP alone. A rho that rounds down to 0 asks for more noise than `exact_delta` sums, and it says so.
    enough = Fraction(distance**2) / (2 * max(rho_of(epsilon, delta), EPSILON_UNIT))
    little = enough / 16
    for _ in range(_HALVINGS):
        middle = (little + enough) / 2
        if exact_delta(middle, distance, epsilon) <= delta:
            enough = middle
        else:
            little = middle
    return enough


@lru_cache(maxsize=16)
def _tail(variance: Fraction, precision: int) -> _Tail:
    return _Tail(variance, precision)
