"""The level of an exponential mechanism over boxes: a geometric law, each level weighted by how many boxes reach it."""

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import ceil
from operator import mul

from adomnia.errors import Failure
from adomnia.noise.bits import Bits
from adomnia.noise.discrete import geometric
from adomnia.noise.uniform import MOST_REFINEMENTS, Uniform
from adomnia.privacy.enclosures import exp_bounds

_GUARD_BITS = 64


def level(copies: Sequence[int], rate: Fraction, bits: Bits) -> int:
    """Draw an integer k >= 0 with probability exactly proportional to copies[k] * exp(-rate * k).

    Beyond its end, `copies` continues with its last number; it must never fall. What is added at each level is chosen
    first, and a geometric draw goes on from there (docs/proofs/quantiles.md, 3).
    """
    added = [more - fewer for fewer, more in zip([0, *copies], copies, strict=False)]
    if min(added) < 0 or copies[-1] == 0:
        raise ValueError("level copies must never fall, and the last must be above 0.")
    uniform = Uniform(0, 0)
    for _ in range(MOST_REFINEMENTS):
        uniform = uniform.refine(bits)
        lower, upper = (
            list(accumulate(map(mul, added, powers)))  # of equal length
            for powers in _powers(rate, len(added), uniform.length)
        )
        # The first level whose end surely lies above the uniform number; open, unless the one before surely ends below.
        found = bisect_left(lower, -(-(uniform.value + 1) * upper[-1] >> uniform.length))
        before = upper[found - 1] if found else 0
        if found < len(lower) and uniform.value * lower[-1] >= before << uniform.length:
            return found + int(geometric(1 / rate, (), bits))
    raise Failure()


@lru_cache(maxsize=8)
def _powers(rate: Fraction, count: int, precision: int) -> tuple[list[int], list[int]]:
    """Enclosures of 2**bits * exp(-rate * k), each relative to itself far finer than 2**-precision."""
    bits = precision + _GUARD_BITS + count.bit_length() + ceil(rate * count * Fraction(3, 2))  # 3/2 > log2(e)
    ratios = exp_bounds(-rate, bits)
    lower, upper = [1 << bits], [1 << bits]
    for _ in range(count - 1):
        lower.append(lower[-1] * ratios[0] >> bits)
        upper.append(-(-upper[-1] * ratios[1] >> bits))
    return lower, upper
