"""An exact result on its way to its noise: sealed, paid for, and opened once."""

from typing import NoReturn, Protocol

import numpy as np

from adomnia.noise import Integers
from adomnia.privacy.events import Event
from adomnia.privacy.losses import covers
from adomnia.privacy.sensitivity import Sensitivity

_LARGEST = 2**62


class _Opener(Protocol):
    def event(self, sensitivity: Sensitivity) -> Event: ...


class Secret:
    """Exact integers that only a mechanism paid for in advance may see.

    int64 values saturate at +-2**62, so that adding noise can never wrap; clamping moves no two values apart, so the
    sensitivity stays what it was. Python integers (object arrays) are kept as they are, whatever their size.
    """

    __slots__ = ("_exact", "_reserved", "_sensitivity")

    def __init__(self, exact: Integers, sensitivity: Sensitivity, reserved: Event) -> None:
        self._exact = [_sealed(exact)]
        self._sensitivity = sensitivity
        self._reserved = reserved

    def opened_by(self, mechanism: _Opener) -> Integers:
        """The exact values, once, and only for noise that costs at most what was reserved."""
        event = mechanism.event(self._sensitivity)
        if not covers(self._reserved, event):
            raise ValueError(f"Secret was reserved for {self._reserved}, which does not cover {event}.")
        try:
            return self._exact.pop()  # one atomic step: two threads cannot both have it
        except IndexError:
            raise ValueError("Secret opens once, and it was opened before.") from None

    def __repr__(self) -> str:
        return "Secret(sealed)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("Secret cannot be copied, pickled or sent elsewhere.")


def _sealed(exact: Integers) -> Integers:
    if exact.dtype == np.int64:
        return np.clip(exact.astype(np.int64), -_LARGEST, _LARGEST)
    if exact.dtype == object and all(type(value) is int for value in exact.ravel().tolist()):
        return exact.copy()
    raise TypeError(f"Secret takes int64 or Python integers, got {exact.dtype}.")
