"""The only code that draws random bits: exact integer noise and exact choice."""

from adomnia.noise.bits import Bits, SystemBits
from adomnia.noise.choice import weighted_choice
from adomnia.noise.discrete import (
    discrete_gaussian,
    discrete_laplace,
    gaussian_variance,
    geometric,
    laplace_scale,
)
from adomnia.noise.integers import Integers, added, described, is_integers
from adomnia.noise.levels import level
from adomnia.noise.uniform import below

__all__ = [
    "Bits",
    "Integers",
    "SystemBits",
    "added",
    "below",
    "described",
    "discrete_gaussian",
    "discrete_laplace",
    "gaussian_variance",
    "geometric",
    "is_integers",
    "laplace_scale",
    "level",
    "weighted_choice",
]
