"""The mechanisms there are. A new one is its file and one line here; tests/contracts hold it to its promise."""

from adomnia.mechanisms.brackets import Brackets
from adomnia.mechanisms.contract import Mechanism, Noise, Numeric
from adomnia.mechanisms.earlier_brackets import EarlierBrackets
from adomnia.mechanisms.exponential import Exponential
from adomnia.mechanisms.gaussian import DiscreteGaussian
from adomnia.mechanisms.halving import Halving
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.mechanisms.propose_test_release import ProposeTestRelease
from adomnia.mechanisms.quantiles import Quantiles
from adomnia.mechanisms.smooth import SmoothCauchy, SmoothLaplace, SmoothStudent
from adomnia.mechanisms.threshold import Threshold
from adomnia.privacy.events import Price

# Of those that a price buys, the first is bought where nobody asks for another.
NOISES: dict[str, type[Noise]] = {
    "laplace": DiscreteLaplace,
    "gaussian": DiscreteGaussian,
}

NUMERIC: dict[str, type[Numeric]] = {
    **NOISES,
    "exponential": Exponential,
    "quantiles": Quantiles,
    "halving": Halving,
    "brackets": Brackets,
    "smooth_cauchy": SmoothCauchy,
    "smooth_student": SmoothStudent,
    "smooth_laplace": SmoothLaplace,
    "propose_test_release": ProposeTestRelease,
}

# What nothing is measured by any more: stored answers are read by these.
EARLIER: dict[str, type[Numeric]] = {
    "earlier_brackets": EarlierBrackets,
}

MECHANISMS: dict[str, type[Mechanism]] = {
    **NUMERIC,
    "threshold": Threshold,
}


def find_noise(price: Price) -> type[Noise]:
    """The noise that a price buys: epsilon buys Laplace noise, rho buys Gaussian."""
    return next(noise for noise in NOISES.values() if type(price) in noise.prices)
