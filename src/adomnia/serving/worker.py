"""A worker process: opens the dataset, serves it on the socket of its parent, and ends with its parent."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from threading import Event, Thread
from time import sleep
from typing import TYPE_CHECKING, TypeVar

import uvicorn

from adomnia.api.access import find_shared, open_access
from adomnia.api.requests import Services
from adomnia.api.running.answer_memory import AnswerMemory
from adomnia.api.running.logs import Logs
from adomnia.api.running.metrics import Metrics
from adomnia.api.running.rate_limiter import open_rate_limiter
from adomnia.api.running.readiness import Readiness, list_checks
from adomnia.api.running.served_dataset import WATCH_SECONDS, ServedDataset
from adomnia.api.running.thread_pool import FairThreadPool
from adomnia.api.running.time_buckets import TimeBuckets
from adomnia.api.running.worker_states import Stage, WorkerStates
from adomnia.api.settings import Settings
from adomnia.catalog.read import FILE
from adomnia.console.rendering import prepare_pages
from adomnia.errors import AdomniaError, Refusal, Unavailable
from adomnia.pricing.policies import sets_price
from adomnia.pricing.questions import Payment
from adomnia.serving.acceptor import Acceptor, ConnectionCounts
from adomnia.serving.app import create_app
from adomnia.serving.certificates import open_certificate
from adomnia.serving.channel import ControlChannel, ParentWatch, fault_to_record
from adomnia.serving.http_protocol import MOST_CONNECTIONS, BoundedHttpProtocol
from adomnia.session.curator import STATE, open_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from adomnia.session.curator import Curator

_SPARE_FILES = 200  # beside connections: ledger, index, users, libraries
_POOL_THREADS = 4  # for requests that read no data, which so never wait for those that do
_PASSWORD_THREADS, _PASSWORD_QUEUE = 2, 16  # passwords take much memory to hash
_KEEP_ALIVE_SECONDS = 20
_WARM_UP_EPSILON = 1e-6
_SIGN_SECONDS = 0.5
_GRACE_SECONDS = 5.0  # beyond the limit of a question, to close files after the parent has ended
_Opened = TypeVar("_Opened")


def open_services(
    settings: Settings, logs: Logs, channel: ControlChannel, states: WorkerStates, place: int
) -> Services:
    """Open the dataset and everything else that the routes use."""
    tell = _Retries(logs, channel)
    metrics = tell.open(lambda: Metrics(settings))
    questions = FairThreadPool(settings.threads, settings.queue, metrics.set_load)
    time_buckets = TimeBuckets(questions, settings.bucket, settings.limit)
    answer_memory = AnswerMemory(settings.answer_bytes)
    dataset = tell.open(lambda: _open_dataset(settings, time_buckets, answer_memory, channel, metrics, logs))
    access = tell.open(lambda: open_access(settings.folder, ThreadPoolExecutor(1, "adomnia-access").submit))
    if settings.behind_proxy or access.shared is not None:  # hosts may listen on ports that differ, and share visits
        with dataset.curator() as curator:
            settings = replace(settings, deployment=curator.catalog.name)
    return Services(
        settings=settings,
        dataset=dataset,
        answer_memory=answer_memory,
        access=access,
        pool=FairThreadPool(_POOL_THREADS, settings.queue),
        password_pool=FairThreadPool(_PASSWORD_THREADS, _PASSWORD_QUEUE),
        time_buckets=time_buckets,
        rate_limiter=open_rate_limiter(access, settings.rate, settings.burst),
        metrics=metrics,
        logs=logs,
        readiness=Readiness(
            states,
            place,
            list_checks(dataset, access, settings.folder / STATE),
            lambda why: logs.write("warning", event="ready", why=why),
        ),
    )


@dataclass(frozen=True)
class _Retries:
    """Opens what this worker needs, again and again while it cannot: the cause may end, and others may still serve."""

    logs: Logs
    channel: ControlChannel

    def open(self, opening: Callable[[], _Opened]) -> _Opened:
        while True:
            try:
                return opening()
            except AdomniaError as error:
                fault = error
            except OSError as error:
                self.logs.log_fault("worker", error)
                fault = Unavailable("The server", "has trouble with a file that only its log names", "repair its disk")
            self.channel.send(refused=fault_to_record(fault))
            self.logs.write("error", event="catalog", why=str(fault))
            sleep(WATCH_SECONDS)


def _open_dataset(  # noqa: PLR0913, PLR0917 - what a dataset is connected with
    settings: Settings,
    time_buckets: TimeBuckets,
    memory: AnswerMemory,
    channel: ControlChannel,
    metrics: Metrics,
    logs: Logs,
) -> ServedDataset:
    shared = _find_shared_or_none(settings.folder)

    def open_curator(folder: Path) -> Curator:
        if shared is not None and _find_shared_or_none(folder) not in {None, shared}:
            why = "says that ledger and users are somewhere else now"
            raise Refusal(FILE, why, "restart the server, or put [ledger] and name back as they were")
        curator = open_folder(folder, lambda step, share: channel.send(step=step, share=share), settings.limits())
        curator.ledger.report_errors(metrics.count_ledger_error)
        return curator.serve(time_buckets.wait_for_edge, memory.admit)

    return ServedDataset(settings.folder, open_curator, lambda level, why: logs.write(level, event="catalog", why=why))


def _find_shared_or_none(folder: Path) -> tuple[str | None, str] | None:
    """Where users are; None if the catalog cannot be read, which whoever opens it says better."""
    try:
        return find_shared(folder)
    except Refusal:
        return None


class _Server(uvicorn.Server):
    """A uvicorn server with our acceptor. It ends by SIGTERM only: a terminal sends SIGINT to the parent as well."""

    def __init__(
        self, config: uvicorn.Config, services: Services, counts: ConnectionCounts, listener: socket.socket
    ) -> None:
        super().__init__(config)
        self._services, self._counts, self._listener = services, counts, listener
        self._certificate = open_certificate(services.settings)  # the parent tells of new ones

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002 - it has its own
        state, loop = self.server_state, asyncio.get_running_loop()

        def create_protocol() -> BoundedHttpProtocol:
            protocol = BoundedHttpProtocol(config=self.config, server_state=state, app_state={}, _loop=loop)
            protocol.behind_proxy = self._services.settings.behind_proxy
            protocol.report = self._services.report
            return protocol

        tls = None if self._certificate is None else self._certificate.context
        self._acceptor = Acceptor(self._listener, self._counts, create_protocol, lambda: len(state.connections), tls)
        self.servers = [self._acceptor]  # type: ignore[list-item] # only ever closed
        if self._certificate is not None:
            loop.add_signal_handler(signal.SIGHUP, self._certificate.check)
        self.started = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown([self._listener, *(sockets or [])])

    async def on_tick(self, counter: int) -> bool:
        self._acceptor.publish()
        self._services.readiness.tell()
        if self._certificate is not None:
            self._certificate.check_each_minute()
            self._acceptor.tls = self._certificate.context
        if self._services.readiness.must_restart() and not self.should_exit:
            self.finish()
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the form of a signal handler
        if sig == signal.SIGTERM:
            self.finish()

    def finish(self) -> None:
        """Accept nothing more, and finish what runs."""
        self._services.time_buckets.stop()
        self._services.pool.stop()
        self._services.password_pool.stop()
        self.should_exit = True


class _StartingSigns:
    """Gives signs of life while the worker starts; afterwards its event loop does."""

    def __init__(self, states: WorkerStates, place: int) -> None:
        self._states, self._place, self._over = states, place, Event()
        Thread(target=self._give, name="adomnia-starting", daemon=True).start()

    def end(self) -> None:
        self._over.set()

    def _give(self) -> None:
        while not self._over.is_set():
            self._states.write(self._place, Stage.STARTING)
            self._over.wait(_SIGN_SECONDS)


def main() -> None:
    """Run a worker. Arguments: settings, run folder, place of the worker, file descriptors of listener and channel."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)  # only the owner may read what it writes
    settings, run_folder, place = Settings.from_json(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    listener, end = (socket.socket(fileno=int(number)) for number in sys.argv[4:])
    logs, channel = Logs(settings), ControlChannel(end)
    logs.capture_libraries()
    watch = ParentWatch()
    last = settings.limit + _GRACE_SECONDS
    Thread(target=watch.follow, args=(channel, last), name="adomnia-parent", daemon=True).start()
    code = 1
    try:
        states = WorkerStates.open(run_folder, settings.workers)
        signs = _StartingSigns(states, place)
        services = open_services(settings, logs, channel, states, place)
        signs.end()
        _raise_file_limit()
        counts = ConnectionCounts.open(run_folder, settings.workers, place)
        server = _Server(_config(services), services, counts, listener)
        watch.finish = server.finish
        _serve(services, server, channel)
        code = 0
    except AdomniaError as fault:
        channel.send(refused=fault_to_record(fault))
    except Exception as fault:  # noqa: BLE001 - its message and traceback may quote anything
        logs.log_fault("worker", fault)
    # Threads whose question outlived its limit still hold the engine; nobody waits for them any more.
    os._exit(code)


def _serve(services: Services, server: _Server, channel: ControlChannel) -> None:
    Thread(target=_prepare, args=(services, channel), name="adomnia-warm-up", daemon=True).start()
    services.dataset.watch()
    services.readiness.watch()
    server.run()
    services.readiness.close()
    services.dataset.close()
    services.access.close()


def _prepare(services: Services, channel: ControlChannel) -> None:
    """Warm up, then report that the worker is ready; pages can wait until then, and their first visitor does not."""
    with services.dataset.curator() as curator:
        _warm_up(curator, services.logs)
        channel.send(ready=curator.catalog.name)
    prepare_pages()


def _warm_up(curator: Curator, logs: Logs) -> None:
    """Ask one question about made-up rows, so that the first caller does not wait for modules to load."""
    asked = next(table.name for table in curator.catalog.tables if not table.public)
    analyst = curator.catalog.analysts[0]
    price = Payment() if sets_price(analyst.policy) else Payment(epsilon=_WARM_UP_EPSILON)
    try:
        with curator.mock() as rehearsal:
            rehearsal.session(analyst.name).table(asked).count(**price)
    except Exception as fault:  # noqa: BLE001 - then the first caller waits, and all is well otherwise
        logs.log_fault("warm-up", fault)


def _config(services: Services) -> uvicorn.Config:
    settings = services.settings
    return uvicorn.Config(
        create_app(services),
        loop="uvloop",
        http=BoundedHttpProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=ceil(settings.limit) + 1,
    )


def _raise_file_limit() -> None:
    wanted = MOST_CONNECTIONS + _SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
        )
