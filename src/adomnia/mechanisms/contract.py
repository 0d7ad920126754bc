"""What every mechanism promises: joining a registry claims it, and the contract tests hold the class to it."""

from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.interval import Interval
from adomnia.mechanisms.secret import Secret
from adomnia.noise import Bits, Integers
from adomnia.privacy.events import Event, Price
from adomnia.privacy.sensitivity import Sensitivity

PriceKind = type[Price]


class Noise(Protocol):
    """Additive integer noise, independent on each coordinate."""

    price: ClassVar[PriceKind]

    @classmethod
    def calibrated(cls, sensitivity: Sensitivity, price: Price) -> Self:
        """The least noise whose event costs at most the price."""
        ...

    def event(self, sensitivity: Sensitivity) -> Event:
        """What one release of a query of that sensitivity costs."""
        ...

    def release(self, secret: Secret, bits: Bits) -> Integers:
        """The exact vector plus noise."""
        ...

    def probability(self, k: int) -> float:
        """P[noise = k]; what the sampler and the guarantee are tested against."""
        ...

    def interval(self, confidence: float, cells: int = 1) -> Interval:
        """The narrowest interval around a noisy value that holds the exact one; around all of `cells` at once."""
        ...


class Selection(Protocol):
    """Choosing one of several candidates by their exact integer scores."""

    price: ClassVar[PriceKind]

    @classmethod
    def calibrated(cls, sensitivity: Sensitivity, price: Price) -> Self:
        """The sharpest choice whose event costs at most the price."""
        ...

    def event(self, sensitivity: Sensitivity) -> Event:
        """What one choice costs when one person moves the scores by at most that much."""
        ...

    def release(self, secret: Secret, bits: Bits) -> int:
        """The index of the chosen candidate."""
        ...

    def probabilities(self, scores: Integers) -> NDArray[np.float64]:
        """The law of the choice; what the sampler and the guarantee are tested against."""
        ...
