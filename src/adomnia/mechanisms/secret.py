"""An exact result on its way to its noise: sealed, paid for, and opened once."""

from typing import NoReturn, Protocol, final

import numpy as np

from adomnia.noise import Integers, describe_array, is_integers
from adomnia.privacy.events import Event
from adomnia.privacy.losses import covers
from adomnia.privacy.sensitivity import Sensitivity

_LARGEST = 2**62


class _Opener(Protocol):
    def event(self, sensitivity: Sensitivity) -> Event: ...


@final
class Secret:
    """Exact integers that only a mechanism paid for in advance may see.

    int64 values saturate at +-2**62, so that adding noise can never wrap; clamping moves no two values apart, so the
    sensitivity stays what it was. Python integers (object arrays) are kept as they are, whatever their size.
    """

    __slots__ = ("_contents", "_reserved", "_sensitivity", "_shape")

    def __init__(self, exact: Integers, sensitivity: Sensitivity, reserved: Event) -> None:
        # An iterator shows nothing when looked at, and gives its one item in one atomic step: to one thread only.
        self._contents = iter((_sealed(exact),))
        self._sensitivity = sensitivity
        self._reserved = reserved
        self._shape = exact.shape

    @property
    def shape(self) -> tuple[int, ...]:
        """How many cells there are, which is public."""
        return self._shape

    def opened_by(self, mechanism: _Opener) -> Integers:
        """The exact values, once, and only for noise that costs at most what was reserved."""
        event = mechanism.event(self._sensitivity)
        if not covers(self._reserved, event):
            raise ValueError(f"Secret was reserved for {self._reserved}, which does not cover {event}.")
        exact = next(self._contents, None)
        if exact is None:
            raise ValueError("Secret opens once, and it was opened before.")
        return exact

    def __repr__(self) -> str:
        return "Secret(sealed)"

    def __getstate__(self) -> NoReturn:
        raise TypeError("Secret cannot be copied, pickled or sent elsewhere.")

    def __reduce__(self) -> NoReturn:
        self.__getstate__()


def _sealed(exact: Integers) -> Integers:
    if not is_integers(exact):
        raise TypeError(f"Secret takes an array of int64 or Python integers, got {describe_array(exact)}.")
    sealed = exact.copy()
    return sealed if sealed.dtype == object else np.clip(sealed, -_LARGEST, _LARGEST, out=sealed)
