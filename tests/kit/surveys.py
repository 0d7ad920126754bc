"""A survey that runs as its owner would run it, in a process of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kit import serving
from kit.commands import COMMAND
from kit.waiting import HANG_SECONDS, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def served_survey(folder: Path, ending: signal.Signals = signal.SIGTERM) -> Iterator[str]:
    """The address of `adomnia survey serve`, for as long as the block runs; it ends without a word."""
    said: list[bytes] = []
    with run_survey(folder, said, ending=ending) as (port, _):
        yield f"http://127.0.0.1:{port}"
    assert said == [b""]


@contextmanager
def run_survey(
    folder: Path, said: list[bytes], *options: str, ending: signal.Signals = signal.SIGTERM
) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """The port of `adomnia survey serve` and its process, for as long as the block runs; `said` gets its log."""
    port = serving.free_port()
    command = [*COMMAND, "survey", "serve", str(folder), "--port", str(port), "--rate", "1000", *options]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    try:
        wait_until(lambda: process.poll() is not None or _is_listening(port))
        assert process.poll() is None, process.stderr.read()
        yield port, process
    finally:
        process.send_signal(ending)
        said.append(process.communicate(timeout=HANG_SECONDS)[1])
    assert process.returncode == 0


def _is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((serving.HOST, port)) == 0
