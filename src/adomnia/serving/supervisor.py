"""The parent process: starts the workers on one socket, replaces those that die or hang, and stops all at a signal.

While none of them serves, it answers in their place: 503, and when to come back, instead of silence.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from threading import BoundedSemaphore, Event, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from adomnia.api.running.dead_counts import add_up_dead
from adomnia.api.running.request_facts import RequestSummary
from adomnia.api.running.run_folder import FOLDER_VARIABLE, remove_gauges
from adomnia.api.running.worker_states import HUNG_SECONDS, RestartCount, WorkerStates
from adomnia.errors import Refusal
from adomnia.serving.certificates import open_certificate
from adomnia.serving.channel import ControlChannel, fault_from_record
from adomnia.serving.http_protocol import RawReply
from adomnia.serving.listener import list_ending_signals

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable
    from pathlib import Path
    from types import FrameType

    from adomnia.api.running.logs import Logs
    from adomnia.api.settings import Settings

WORKER = ("-m", "adomnia.serving.start_worker")
MOST_DEATHS = 10
DEATH_SECONDS = 60.0
ENDED, CUT_SHORT = 0, 1
_TICK_SECONDS = 0.05
_PAUSE_SECONDS = 1.0  # of this process: meanwhile its workers may have been paused as well
_GRACE_SECONDS = 5.0  # beyond the limit of a question, for a worker to close its files
_SAYS = ("The server", "has no worker that can answer now", "try again in 1 s")
_MOST_AT_ONCE = 16  # more wait in the queue of the socket
_CALLER_SECONDS = 2.0
_WAIT_SECONDS = 0.1
_HEAD_BYTES, _MOST_READS = 65_536, 64


@dataclass(frozen=True)
class StartCallbacks:
    """Called while the server starts: for each step of building the index, and once with the name of the dataset."""

    progress: Callable[[str, float], None]
    ready: Callable[[str], None]


@dataclass
class _Worker:
    place: int
    process: subprocess.Popen[bytes]
    channel: ControlChannel
    ready: bool = False


class Supervisor:
    """Keeps `settings.workers` processes running until a signal; a second signal kills them."""

    def __init__(self, settings: Settings, listener: socket.socket, run_folder: Path, logs: Logs) -> None:
        self._settings, self._listener, self._run_folder, self._logs = settings, listener, run_folder, logs
        self._workers: list[_Worker] = []
        self._deaths: deque[float] = deque(maxlen=MOST_DEATHS + 1)
        self._signals: list[int] = []
        self._announced = self._has_served = False
        self._states = WorkerStates.open(run_folder, settings.workers)
        self._restarts = RestartCount(run_folder)
        self._stand_in = StandIn(listener, logs)
        self._certificate = open_certificate(settings, logs)
        self._renew = False
        self._turned = self._watched_since = monotonic()

    def run(self, callbacks: StartCallbacks) -> int:
        """Run until a signal, and return the exit code. Raise the refusal of the first workers, if there is one."""
        for each in list_ending_signals():
            signal.signal(each, self._on_signal)
        if self._certificate is not None:
            signal.signal(signal.SIGHUP, self._on_hangup)
            self._stand_in.tls = self._certificate.context
        self._stand_in.start()
        try:
            self._start_missing()
            while not self._signals:
                sleep(_TICK_SECONDS)
                self._kill_hung()
                for worker in self._workers:
                    for message in worker.channel.receive():
                        self._handle(worker, message, callbacks)
                self._start_missing()
                self._stand_in_if_needed()
                self._renew_certificate()
        finally:
            code = self._stop()
        return code

    def _on_signal(self, sig: int, _frame: FrameType | None) -> None:
        self._signals.append(sig)

    def _on_hangup(self, _sig: int, _frame: FrameType | None) -> None:
        self._renew = True

    def _renew_certificate(self) -> None:
        """Use a new certificate if there is one: at once after SIGHUP, in workers too; otherwise within a minute."""
        if self._certificate is None:
            return
        if self._renew:
            self._renew = False
            self._certificate.check()
            for worker in self._workers:
                # One that does not serve yet could not take the signal, and has just read the files or will.
                if self._states.read(worker.place).is_serving():
                    worker.process.send_signal(signal.SIGHUP)
        self._certificate.check_each_minute()
        self._stand_in.tls = self._certificate.context

    def _kill_hung(self) -> None:
        """Kill workers that gave no sign of life for too long; not right after a pause of this process itself."""
        now = monotonic()
        if now - self._turned > _PAUSE_SECONDS:
            self._watched_since = now
        self._turned = now
        for worker in self._workers:
            seen = self._states.read(worker.place).seen
            if seen and now - max(seen, self._watched_since) > HUNG_SECONDS and worker.process.poll() is None:
                self._logs.write("error", event="worker hung", worker=worker.process.pid)
                worker.process.kill()
                worker.process.wait()

    def _stand_in_if_needed(self) -> None:
        """Answer in place of workers if none serves any more; before the first one does, callers wait for it."""
        serving = any(self._states.read(worker.place).is_serving() for worker in self._workers)
        self._has_served = self._has_served or serving or self._announced  # one may be gone before it is seen serving
        self._stand_in.answer(self._has_served and not serving)

    def _start_missing(self) -> None:
        """Replace workers that died, unless they die so often that this does not help."""
        for worker in [worker for worker in self._workers if worker.process.poll() is not None]:
            self._workers.remove(worker)
            self._states.clear(worker.place)
            worker.channel.close()
            remove_gauges(self._run_folder, worker.process.pid)
            add_up_dead(self._run_folder, [each.process.pid for each in self._workers])
            self._logs.write("error", event="worker died", worker=worker.process.pid, status=worker.process.returncode)
            self._deaths.append(monotonic())
            self._restarts.add()
        if len(self._deaths) > MOST_DEATHS and self._deaths[-1] - self._deaths[0] < DEATH_SECONDS:
            why = f"stopped, because its workers died more than {MOST_DEATHS} times within a minute"
            raise Refusal("The server", why, "see the log for what they died of, and start it again", code="workers")
        taken = {worker.place for worker in self._workers}
        self._workers += [self._start(place) for place in range(self._settings.workers) if place not in taken]

    def _start(self, place: int) -> _Worker:
        own, its = socket.socketpair()
        own.setblocking(False)
        with its:
            descriptors = (self._listener.fileno(), its.fileno())
            # -P: what happens to lie in the current folder is not loaded as code.
            command = [sys.executable, "-P", *WORKER, self._settings.to_json(), str(self._run_folder)]
            command += map(str, (place, *descriptors))
            environment = os.environ | {FOLDER_VARIABLE: str(self._run_folder)}
            process = subprocess.Popen(  # noqa: S603 - our own
                command, stdin=subprocess.DEVNULL, pass_fds=descriptors, env=environment
            )
        self._logs.write("info", event="worker started", worker=process.pid)
        return _Worker(place, process, ControlChannel(own))

    def _handle(self, worker: _Worker, message: dict[str, Any], callbacks: StartCallbacks) -> None:
        match message:
            case {"step": step, "share": share} if not self._announced:
                callbacks.progress(step, share)
            case {"refused": record} if not (self._announced or self._has_served):
                raise fault_from_record(record)
            case {"ready": name}:
                worker.ready = True
                if not self._announced and all(each.ready for each in self._workers):
                    self._announced = True
                    callbacks.ready(name)

    def _stop(self) -> int:
        """Let all workers finish; kill them at the second signal, or if they take too long."""
        self._stand_in.stop()
        self._listener.close()
        for worker in self._workers:
            worker.process.terminate()
        last = monotonic() + self._settings.limit + _GRACE_SECONDS
        while self._any_alive() and len(self._signals) < 2 and monotonic() < last:
            sleep(_TICK_SECONDS)
        for worker in self._workers:
            worker.process.kill()
            worker.process.wait()
            worker.channel.close()
        self._restarts.close()
        return CUT_SHORT if len(self._signals) > 1 else ENDED

    def _any_alive(self) -> bool:
        return any(worker.process.poll() is None for worker in self._workers)


class StandIn:
    """A thread of the parent that accepts connections from the listening socket, only while it is asked to."""

    def __init__(self, listener: socket.socket, logs: Logs) -> None:
        self._listener, self._logs = listener, logs
        self.tls: ssl.SSLContext | None = None  # of the next connections
        self._wanted, self._ended = Event(), Event()
        self._room = BoundedSemaphore(_MOST_AT_ONCE)
        self._thread = Thread(target=self._accept, name="adomnia-stand-in", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def answer(self, wanted: bool) -> None:
        """Answer from now on, or leave everything to the workers."""
        if wanted:
            self._wanted.set()
        else:
            self._wanted.clear()

    def stop(self) -> None:
        self._ended.set()
        self._wanted.set()
        if self._thread.is_alive():
            self._thread.join()

    def _accept(self) -> None:
        while self._wanted.wait() and not self._ended.is_set():
            ready, _, _ = select.select([self._listener], [], [], _WAIT_SECONDS)
            if not (ready and self._wanted.is_set() and self._room.acquire(timeout=_WAIT_SECONDS)):
                continue
            try:
                connection, _ = self._listener.accept()
            except OSError:  # a worker was quicker, or the caller is gone
                self._room.release()
                continue
            Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with suppress(OSError), connection:
                connection.settimeout(_CALLER_SECONDS)
                if (tls := self.tls) is None:
                    self._reply(connection)
                else:
                    with tls.wrap_socket(connection, server_side=True) as encrypted:
                        self._reply(encrypted)
        finally:
            self._room.release()

    def _reply(self, connection: socket.socket) -> None:
        """Read the head of a request, whatever it asks, and reply; the rest is read too, or the reply may be lost."""
        head = b""
        while b"\r\n\r\n" not in head and len(head) < _HEAD_BYTES:
            piece = connection.recv(_HEAD_BYTES)
            if not piece:
                return
            head += piece
        reply = RawReply(503, "unavailable", *_SAYS)
        self._logs.log_request(RequestSummary.unrouted(reply.status, reply.request_id))
        is_page = b"text/html" in head.partition(b"\r\n\r\n")[0].lower()
        connection.sendall(reply.to_page() if is_page else reply.to_json())
        connection.shutdown(socket.SHUT_WR)
        for _ in range(_MOST_READS):
            if not connection.recv(_HEAD_BYTES):
                return
