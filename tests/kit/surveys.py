"""A survey that runs as its owner would run it, in a process of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kit import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_START = "from adomnia.cli.app import main; main()"
_READY_SECONDS = 60.0


@contextmanager
def served_survey(folder: Path, ending: signal.Signals = signal.SIGTERM) -> Iterator[str]:
    """The address of `adomnia survey serve`, for as long as the block runs; it ends without a word."""
    port = serving.free_port()
    command = [sys.executable, "-c", _START, "survey", "serve", str(folder), "--port", str(port), "--rate", "1000"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    try:
        until = time.monotonic() + _READY_SECONDS
        while not _is_listening(port):
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < until
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(ending)
        _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (0, b"")


def _is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((serving.HOST, port)) == 0
