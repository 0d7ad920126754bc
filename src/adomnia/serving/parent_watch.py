"""Ends a worker process when its parent has ended in any way."""

from __future__ import annotations

import os
from time import sleep
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.serving.channel import ControlChannel

__all__ = ["ParentWatch"]


class ParentWatch:
    """Ends this process when its parent has ended, so that the port is free for the next server.

    What runs is finished. Whatever keeps the process after that is cut short, which its parent would do otherwise.
    """

    finish: Callable[[], None] | None = None  # what lets the process end by itself, once it has begun to serve

    def follow(self, channel: ControlChannel, most_seconds: float) -> None:
        """Wait for the end of the parent, and then for at most so many seconds for that of this process."""
        channel.wait_closed()
        try:
            if self.finish is not None:
                self.finish()
                sleep(most_seconds)
        finally:
            os._exit(0)
