"""The only code that draws random bits: exact integer noise and exact choice."""

from adomnia.noise.bits import Bits, SystemBits
from adomnia.noise.choice import level, weighted_choice
from adomnia.noise.discrete import (
    add,
    describe_array,
    discrete_gaussian,
    discrete_laplace,
    gaussian_variance,
    geometric,
    is_integers,
    laplace_scale,
)
from adomnia.noise.rounded import round_cauchy, round_laplace, round_student
from adomnia.noise.uniform import draw_below
from adomnia.privacy.scans import Integers

__all__ = [
    "Bits",
    "Integers",
    "SystemBits",
    "add",
    "describe_array",
    "discrete_gaussian",
    "discrete_laplace",
    "draw_below",
    "gaussian_variance",
    "geometric",
    "is_integers",
    "laplace_scale",
    "level",
    "round_cauchy",
    "round_laplace",
    "round_student",
    "weighted_choice",
]
