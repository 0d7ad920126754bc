"""The way of a question: which of our modules run code for it, noted by a profiler."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import adomnia

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_PACKAGE = Path(adomnia.__file__).parent
_INSIDE = f"{_PACKAGE}/"


class Ways:
    """Notes modules while it is on; threads that began while it watched are noted too."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._on = False

    @classmethod
    @contextmanager
    def watched(cls) -> Iterator[Ways]:
        """To be entered before the threads begin that will work."""
        ways = cls()
        sys.setprofile(ways._note)
        threading.setprofile(ways._note)
        try:
            yield ways
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @contextmanager
    def noted(self) -> Iterator[set[str]]:
        """The modules, below our package, whose functions are called inside; to import one is no call."""
        self._files.clear()
        modules: set[str] = set()
        self._on = True
        try:
            yield modules
        finally:
            self._on = False
            modules |= {file.removeprefix(_INSIDE) for file in self._files}

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if self._on and event == "call" and frame.f_code.co_name != "<module>":
            file = frame.f_code.co_filename
            if file.startswith(_INSIDE):
                self._files.add(file)
