"""Uniform numbers of [0, 1) whose further bits are drawn only when a comparison needs them."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from adomnia.errors import Failure
from adomnia.noise.bits import Bits
from adomnia.privacy.enclosures import exp_bounds

# A comparison that this many words leave open has probability below 2**-900: the bound exists so that every loop ends,
# and so that a magnitude has a largest possible value (docs/proofs/sampler.md, 6).
MOST_REFINEMENTS = 16
_WORD = 64


@dataclass(frozen=True)
class Uniform:
    """The numbers of [value, value + 1) / 2**length: what is known so far of one uniform draw."""

    value: int
    length: int

    def refine(self, bits: Bits) -> Self:
        """The same draw, known to 64 more bits."""
        return type(self)((self.value << _WORD) | int(bits.words(1)[0]), self.length + _WORD)


def is_below_exp(uniform: Uniform, exponent: Fraction, bits: Bits, factor: Fraction = Fraction(1)) -> bool:
    """Whether a uniform draw is below factor * exp(-exponent), exactly."""
    for _ in range(MOST_REFINEMENTS):
        lower, upper = exp_bounds(-exponent, uniform.length)
        if (uniform.value + 1) <= factor * lower:
            return True
        if uniform.value >= factor * upper:
            return False
        uniform = uniform.refine(bits)
    raise Failure()


def draw_below(limit: int, bits: Bits) -> int:
    """Draw an exactly uniform integer of [0, limit)."""
    words = -(-limit.bit_length() // _WORD) + 1
    span = 1 << (_WORD * words)
    for _ in range(MOST_REFINEMENTS):
        drawn = int.from_bytes(bits.words(words).tobytes(), "little")
        # Reject the last, incomplete copy of [0, limit): at least 64 spare bits make that a chance below 2**-64.
        if drawn < span - span % limit:
            return drawn % limit
    raise Failure()
