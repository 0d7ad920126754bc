"""One worker process: opens the dataset, answers on a socket that its parent listens on, ends with its parent."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from pathlib import Path
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING

import uvicorn

from adomnia.curator.curator import STATE, open_folder
from adomnia.errors import AdomniaError
from adomnia.server.access import Access
from adomnia.server.app import create_app
from adomnia.server.desk import Desk
from adomnia.server.running.accepting import Acceptor, Shares
from adomnia.server.running.counter import Counter
from adomnia.server.running.guard import CONNECTIONS, Guard
from adomnia.server.running.line import Line, record_of
from adomnia.server.running.logs import Logs
from adomnia.server.running.metrics import Metrics
from adomnia.server.running.pace import Pace
from adomnia.server.running.rates import Rates
from adomnia.server.running.served import WATCH_SECONDS, Served
from adomnia.server.settings import Settings
from adomnia.sql.payment import Payment
from adomnia.sql.policies import sets_price

if TYPE_CHECKING:
    from types import FrameType

    from adomnia.curator.curator import Curator

__all__ = ["desk_of", "main"]

_SPARE_FILES = 200  # beside connections: ledger, index, users, libraries
_COUNTER_THREADS = 4  # for what reads no data, which so never waits for what does
_DOORS_THREADS, _DOORS_QUEUE = 2, 16  # passwords take much memory to hash
_KEEP_ALIVE_SECONDS = 20
_WARM_UP_EPSILON = 1e-6


def desk_of(settings: Settings, logs: Logs, line: Line) -> Desk:
    """Everything the routes need, opened."""
    metrics = Metrics(settings)
    pace = Pace(Counter(settings.threads, settings.queue, metrics.set_load), settings.bucket, settings.limit)
    return Desk(
        settings=settings,
        served=_served(settings, pace, logs, line),
        access=Access.open(settings.folder / STATE, later=ThreadPoolExecutor(1, "adomnia-access").submit),
        counter=Counter(_COUNTER_THREADS, settings.queue),
        doors=Counter(_DOORS_THREADS, _DOORS_QUEUE),
        pace=pace,
        rates=Rates(settings.rate, settings.burst),
        metrics=metrics,
        logs=logs,
    )


def _served(settings: Settings, pace: Pace, logs: Logs, line: Line) -> Served:
    """The dataset, once it can be opened: while it cannot, other workers may still serve the one before it."""

    def opened(folder: Path) -> Curator:
        curator = open_folder(folder, lambda step, share: line.say(step=step, share=share), settings.limits())
        curator.wait = pace.wait
        return curator

    while True:
        try:
            return Served(settings.folder, opened, lambda level, why: logs.write(level, event="catalog", why=why))
        except AdomniaError as fault:
            line.say(refused=record_of(fault))
            logs.write("error", event="catalog", why=str(fault))
            sleep(WATCH_SECONDS)


class _Server(uvicorn.Server):
    """Ends by SIGTERM alone: a terminal sends SIGINT to all processes, and the parent decides what that means."""

    def __init__(self, config: uvicorn.Config, desk: Desk, shares: Shares, listener: socket.socket) -> None:
        super().__init__(config)
        self._desk, self._shares, self._listener = desk, shares, listener

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002 - it has its own
        state, loop = self.server_state, asyncio.get_running_loop()

        def protocol() -> Guard:
            guard = Guard(config=self.config, server_state=state, app_state={}, _loop=loop)
            guard.behind_proxy = self._desk.settings.behind_proxy
            return guard

        tls = self.config.ssl
        self._acceptor = Acceptor(self._listener, self._shares, protocol, lambda: len(state.connections), tls)
        self.servers = [self._acceptor]  # type: ignore[list-item] # only ever closed
        self.started = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown([self._listener, *(sockets or [])])

    async def on_tick(self, counter: int) -> bool:
        self._acceptor.tell()
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the form of a signal handler
        if sig == signal.SIGTERM:
            self.finish()

    def finish(self) -> None:
        """Take nothing more, finish what runs."""
        self._desk.pace.stop()
        self._desk.counter.stop()
        self._desk.doors.stop()
        self.should_exit = True


class _Ending:
    """A worker ends with its parent, however that came about: the port must be free for the next one."""

    server: _Server | None = None

    def follow(self, line: Line) -> None:
        line.await_end()
        if self.server is None:
            os._exit(0)
        self.server.finish()


def main() -> None:
    """Arguments: the settings, the server's room, this worker's place, the files of listener and line to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)  # whatever it writes is its owner's alone
    settings, room, place = Settings.from_json(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    listener, end = (socket.socket(fileno=int(number)) for number in sys.argv[4:])
    logs, line = Logs(settings), Line(end)
    logs.take_over()
    ending = _Ending()
    Thread(target=ending.follow, args=(line,), name="adomnia-parent", daemon=True).start()
    code = 1
    try:
        desk = desk_of(settings, logs, line)
        _allow_files()
        ending.server = _Server(_config(desk), desk, Shares.open(room, settings.workers, place), listener)
        _work(desk, ending.server, line)
        code = 0
    except AdomniaError as fault:
        line.say(refused=record_of(fault))
    except Exception as fault:  # noqa: BLE001 - its words, and a traceback, may quote anything
        logs.fault("worker", fault)
    # Threads whose question outlived its limit still hold the engine; nothing they do from now on is waited for.
    os._exit(code)


def _work(desk: Desk, server: _Server, line: Line) -> None:
    Thread(target=_get_ready, args=(desk, line), name="adomnia-warm-up", daemon=True).start()
    desk.served.watch()
    server.run()
    desk.served.close()
    desk.access.close()


def _get_ready(desk: Desk, line: Line) -> None:
    with desk.served.curator() as curator:
        _warm_up(curator, desk.logs)
        line.say(ready=curator.catalog.name)


def _warm_up(curator: Curator, logs: Logs) -> None:
    """One question to made-up rows: what is loaded and prepared by it, the first caller need not wait for."""
    asked = next(table.name for table in curator.catalog.tables if not table.public)
    analyst = curator.catalog.analysts[0]
    price = Payment() if sets_price(analyst.policy) else Payment(epsilon=_WARM_UP_EPSILON)
    try:
        with curator.mock() as rehearsal:
            rehearsal.session(analyst.name).table(asked).count(**price)
    except Exception as fault:  # noqa: BLE001 - then the first caller waits, and all is well otherwise
        logs.fault("warm-up", fault)


def _config(desk: Desk) -> uvicorn.Config:
    settings = desk.settings
    return uvicorn.Config(
        create_app(desk),
        loop="uvloop",
        http=Guard,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=ceil(settings.limit) + 1,
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.key,
    )


def _allow_files() -> None:
    wanted = CONNECTIONS + _SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
        )


if __name__ == "__main__":
    main()
