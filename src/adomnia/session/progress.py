"""One line on standard error that says how far work has come, if it lasts."""

import sys
from time import monotonic
from typing import Self

PATIENCE_SECONDS = 1.5
_WIDTH = 60


class ProgressLine:
    """Told what is being done, it says so in a terminal or a notebook once somebody has waited for a while."""

    def __init__(self) -> None:
        self._start, self._written = monotonic(), False
        self._watched = sys.stderr.isatty() or "ipykernel" in sys.modules

    def __call__(self, step: str, share: float) -> None:
        if self._watched and monotonic() - self._start >= PATIENCE_SECONDS:
            self._write(f"{100 * share:3.0f}%  {step}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._written:
            self._write("")
            sys.stderr.write("\r")

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r{text[:_WIDTH]:{_WIDTH}}")
        sys.stderr.flush()
        self._written = True
