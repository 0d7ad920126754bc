"""The signals that end a server."""

from __future__ import annotations

import signal

__all__ = ["list_ending_signals"]


def list_ending_signals() -> list[signal.Signals]:
    """SIGTERM, and SIGINT unless it is ignored already: so a script starts what its own Ctrl-C must not end."""
    heard = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    return [signal.SIGTERM, *([signal.SIGINT] if heard else [])]
