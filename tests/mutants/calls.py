"""Once this is imported, it is known of every function whether it has been called."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import CodeType, FrameType

CALLED: set[tuple[str, int]] = set()


def is_called(code: CodeType) -> bool:
    return (code.co_filename, code.co_firstlineno) in CALLED


def _note(frame: FrameType, event: str, _: object) -> None:
    if event == "call":
        CALLED.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))


sys.setprofile(_note)
