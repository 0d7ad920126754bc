"""The only code that draws random bits: exact integer noise and exact choice."""

from adomnia.noise.bits import Bits, SystemBits
from adomnia.noise.choice import weighted_choice
from adomnia.noise.discrete import bernoulli_exp, discrete_gaussian, discrete_laplace, geometric
from adomnia.noise.sampler import Integers

__all__ = [
    "Bits",
    "Integers",
    "SystemBits",
    "bernoulli_exp",
    "discrete_gaussian",
    "discrete_laplace",
    "geometric",
    "weighted_choice",
]
