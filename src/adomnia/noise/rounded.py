"""Continuous noise, rounded to the nearest integer: exact draws at any scale, one at a time.

An integer plus the rounded noise is the integer plus the continuous noise, rounded: what holds for the continuous
mechanism holds for this one, whatever the scale. Nothing is kept between draws, because a scale may be private.
Proof: docs/proofs/rounded.md.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import TypeAlias

from adomnia.errors import Failure
from adomnia.noise.bits import Bits
from adomnia.noise.uniform import MOST_REFINEMENTS, Uniform
from adomnia.privacy.enclosures import ln_down, ln_up

FARTHEST = 2**62  # what lies beyond is drawn as this: nobody has to know how far beyond
_MOST_TRIALS = 256  # more than three of four points are accepted
_GUARD_DIGITS = 5

Inside: TypeAlias = Callable[[int, int, int], bool]  # of x, v >= 0 and what is one: whether the point is accepted


def round_cauchy(scale: Fraction, bits: Bits) -> int:
    """Draw floor(scale * Z + 1/2), Z of the density 1 / (pi (1 + z**2)): x / v of a point of the half disc."""
    return _draw_ratio(scale, lambda x, v, one: x * x + v * v <= one * one, bits)


def round_student(scale: Fraction, bits: Bits) -> int:
    """Draw floor(scale * Z + 1/2), Z of a density proportional to (1 + z**2 / 4)**-2: x / v of a point of an ellipse.

    That is Student's t with three degrees of freedom, times 2 / sqrt(3): its log-density has slopes of at most 1.
    """
    return _draw_ratio(scale, lambda x, v, one: x * x <= 4 * v * (one - v), bits)


def round_laplace(scale: Fraction, bits: Bits) -> int:
    """Draw floor(scale * Z + 1/2), Z of the density exp(-|z|) / 2: minus the logarithm of a uniform number."""
    sign, uniform = _draw_sign(bits), Uniform(0, 0)
    for _ in range(MOST_REFINEMENTS):
        uniform = uniform.refine(bits)
        one, digits = 1 << uniform.length, uniform.length // 3 + _GUARD_DIGITS  # 3 < 1 / log10(2)
        least = -scale * ln_up(Fraction(uniform.value + 1, one), digits)
        most = -scale * ln_down(Fraction(uniform.value, one), digits) if uniform.value else None
        found = _round_between(sign, least, most)
        if found is not None:
            return found
    raise Failure()


def _draw_ratio(scale: Fraction, inside: Inside, bits: Bits) -> int:
    """The ratio of the coordinates of a uniform point of a region, with a sign: Kinderman & Monahan 1977."""
    for _ in range(_MOST_TRIALS):
        found = _try_ratio(scale, inside, bits)
        if found is not None:
            return found
    raise Failure()


def _try_ratio(scale: Fraction, inside: Inside, bits: Bits) -> int | None:
    """One point of the unit square: its ratio if it lies inside, None if not. A box is as its four corners are."""
    sign, x, v = _draw_sign(bits), Uniform(0, 0), Uniform(0, 0)
    for _ in range(MOST_REFINEMENTS):
        x, v = x.refine(bits), v.refine(bits)
        one = 1 << x.length
        corners = {inside(*corner, one) for corner in product((x.value, x.value + 1), (v.value, v.value + 1))}
        if corners == {False}:
            return None
        if corners == {True}:
            most = scale * Fraction(x.value + 1, v.value) if v.value else None
            found = _round_between(sign, scale * Fraction(x.value, v.value + 1), most)
            if found is not None:
                return found
    raise Failure()


def _draw_sign(bits: Bits) -> int:
    return 1 - 2 * (int(bits.words(1)[0]) & 1)


def _round_between(sign: int, least: Fraction, most: Fraction | None) -> int | None:
    """The integer that a number rounds to, whose size is from `least` to `most`; None where they leave it open."""
    if least >= FARTHEST:
        return sign * FARTHEST
    if most is None or most > FARTHEST:
        return None
    half = Fraction(1, 2)
    first, last = (sign * least + half) // 1, (sign * most + half) // 1
    return first if first == last else None
