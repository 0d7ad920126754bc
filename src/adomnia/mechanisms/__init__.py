"""Mechanisms: where an exact result becomes a private one. One a file; the registry lists them."""

from adomnia.mechanisms.contract import Interval
from adomnia.mechanisms.exponential import Exponential
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.mechanisms.secret import Secret
from adomnia.mechanisms.threshold import Threshold

__all__ = ["DiscreteGaussian", "DiscreteLaplace", "Exponential", "Interval", "Secret", "Threshold"]
