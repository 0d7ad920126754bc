"""The mechanisms there are. A new one is its file and one line here; tests/contracts hold it to its promise."""

from adomnia.mechanisms.contract import Noise, Selection
from adomnia.mechanisms.exponential import Exponential
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace

NOISES: dict[str, type[Noise]] = {
    "laplace": DiscreteLaplace,
    "gaussian": DiscreteGaussian,
}

SELECTIONS: dict[str, type[Selection]] = {
    "exponential": Exponential,
}
