"""Waiting for what must happen, however busy the machine is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

HANG_SECONDS = 240.0  # whoever takes longer hangs: the one deadline of all tests, and no claim depends on it


def wait_until(holds: Callable[[], object], told: Callable[[], object] = str) -> None:
    """Return once something holds; whoever hangs is told what `told` says."""
    deadline = time.monotonic() + HANG_SECONDS
    while not holds():
        assert time.monotonic() < deadline, told()
        time.sleep(0.01)
