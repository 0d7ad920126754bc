"""The parent of the workers: starts them on one socket, starts again those that die, and ends with all of them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections import deque
from dataclasses import dataclass
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from adomnia.errors import Refusal
from adomnia.server.running.line import Line, fault_of
from adomnia.server.running.run_folder import FOLDER_VARIABLE, remove_gauges

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import FrameType

    from adomnia.server.running.logs import Logs
    from adomnia.server.settings import Settings

__all__ = ["CUT_SHORT", "ENDED", "Heard", "Supervisor"]

WORKER = ("-m", "adomnia.server.running.worker")
MOST_DEATHS = 10
DEATH_SECONDS = 60.0
ENDED, CUT_SHORT = 0, 1
_TICK_SECONDS = 0.05
_GRACE_SECONDS = 5.0  # beyond the limit of a question, for a worker to close its files


@dataclass(frozen=True)
class Heard:
    """Who hears how the start gets on: each step of building the index, and once the name of the dataset."""

    progress: Callable[[str, float], None]
    ready: Callable[[str], None]


@dataclass
class _Worker:
    place: int
    process: subprocess.Popen[bytes]
    line: Line
    ready: bool = False


class Supervisor:
    """Keeps `settings.workers` processes alive until a signal comes; the second signal ends them at once."""

    def __init__(self, settings: Settings, listener: socket.socket, room: Path, logs: Logs) -> None:
        self._settings, self._listener, self._room, self._logs = settings, listener, room, logs
        self._workers: list[_Worker] = []
        self._deaths: deque[float] = deque(maxlen=MOST_DEATHS + 1)
        self._signals: list[int] = []
        self._announced = False

    def run(self, heard: Heard) -> int:
        """Until a signal: the exit code. A dataset that the first workers cannot open is refused."""
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, self._note)
        try:
            self._tend()
            while not self._signals:
                sleep(_TICK_SECONDS)
                for worker in self._workers:
                    for message in worker.line.heard():
                        self._hear(worker, message, heard)
                self._tend()
        finally:
            code = self._stop()
        return code

    def _note(self, sig: int, _frame: FrameType | None) -> None:
        self._signals.append(sig)

    def _tend(self) -> None:
        """Start whoever is missing, unless they die faster than that helps."""
        for worker in [worker for worker in self._workers if worker.process.poll() is not None]:
            self._workers.remove(worker)
            worker.line.close()
            remove_gauges(self._room, worker.process.pid)
            self._logs.write("error", event="worker died", worker=worker.process.pid, status=worker.process.returncode)
            self._deaths.append(monotonic())
        if len(self._deaths) > MOST_DEATHS and self._deaths[-1] - self._deaths[0] < DEATH_SECONDS:
            why = f"stopped, because its workers died more than {MOST_DEATHS} times within a minute"
            raise Refusal("The server", why, "see the log for what they died of, and start it again", code="workers")
        taken = {worker.place for worker in self._workers}
        self._workers += [self._started(place) for place in range(self._settings.workers) if place not in taken]

    def _started(self, place: int) -> _Worker:
        own, its = socket.socketpair()
        own.setblocking(False)
        with its:
            numbers = (self._listener.fileno(), its.fileno())
            # -P: what happens to lie in the current folder is not loaded as code.
            command = [sys.executable, "-P", *WORKER, self._settings.to_json(), str(self._room)]
            command += map(str, (place, *numbers))
            environment = os.environ | {FOLDER_VARIABLE: str(self._room)}
            process = subprocess.Popen(  # noqa: S603 - our own
                command, stdin=subprocess.DEVNULL, pass_fds=numbers, env=environment
            )
        self._logs.write("info", event="worker started", worker=process.pid)
        return _Worker(place, process, Line(own))

    def _hear(self, worker: _Worker, message: dict[str, Any], heard: Heard) -> None:
        match message:
            case {"step": step, "share": share} if not self._announced:
                heard.progress(step, share)
            case {"refused": record} if not self._announced:
                raise fault_of(record)
            case {"ready": name}:
                worker.ready = True
                if not self._announced and all(each.ready for each in self._workers):
                    self._announced = True
                    heard.ready(name)

    def _stop(self) -> int:
        """Let everybody finish; at the second signal, or when they take too long, end them."""
        self._listener.close()
        for worker in self._workers:
            worker.process.terminate()
        last = monotonic() + self._settings.limit + _GRACE_SECONDS
        while self._alive() and len(self._signals) < 2 and monotonic() < last:
            sleep(_TICK_SECONDS)
        for worker in self._workers:
            worker.process.kill()
            worker.process.wait()
            worker.line.close()
        return CUT_SHORT if len(self._signals) > 1 else ENDED

    def _alive(self) -> bool:
        return any(worker.process.poll() is None for worker in self._workers)
