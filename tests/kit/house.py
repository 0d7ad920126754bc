"""A server's app without a server: a small hospital, a person of every role, and a client that speaks to it at once."""

from __future__ import annotations

import asyncio
import atexit
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from io import StringIO
from math import inf
from pathlib import Path
from tempfile import mkdtemp
from threading import Thread
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from argon2 import PasswordHasher
from httpx import ASGITransport, AsyncClient

from adomnia.api.access import Access, Role, passwords
from adomnia.api.requests import Services
from adomnia.api.running.answer_memory import AnswerMemory
from adomnia.api.running.logs import Logs
from adomnia.api.running.metrics import Metrics
from adomnia.api.running.rate_limiter import RateLimiter
from adomnia.api.running.readiness import Readiness, list_checks
from adomnia.api.running.served_dataset import ServedDataset
from adomnia.api.running.thread_pool import FairThreadPool
from adomnia.api.running.time_buckets import TimeBuckets
from adomnia.api.running.worker_states import WorkerState, WorkerStates
from adomnia.api.settings import Settings
from adomnia.serving.app import create_app
from adomnia.session.curator import LEDGER, STATE, open_folder
from kit import hospital
from kit.waiting import HANG_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from fastapi import FastAPI
    from httpx import Response

    from adomnia.session.curator import Curator

ADDRESS = "http://127.0.0.1:8000"
API = "/api/v1"
DATASET = f"{API}/datasets/hospital"
PASSWORD = "correct horse battery staple"
PEOPLE = {"olga": Role.OWNER, "alice": Role.ANALYST, "bob": Role.ANALYST, "carol": Role.ANALYST, "audrey": Role.AUDITOR}
COUNT = "SELECT COUNT(*) AS n FROM people"
CANARY = "Zebulon-canary"  # stands in the data, and must never stand anywhere else
# Passwords as slow as they must be are for tests of passwords; here they would take a tenth of a second each.
QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def error_of(reply: Response) -> dict[str, Any]:
    """What an error says, without the id that every request has of its own."""
    return {name: said for name, said in reply.json()["error"].items() if name != "request_id"}


class MovingClock:
    """The time of day and the seconds that really pass, both as a test wants them."""

    def __init__(self) -> None:
        self.time, self.steady = 1_800_000_000.0, 1000.0

    def pass_seconds(self, seconds: float) -> None:
        self.time += seconds
        self.steady += seconds


class Client:
    """Requests to an app, whose event loop runs in a thread of its own; several threads may send them."""

    def __init__(self, app: FastAPI) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        self._http = AsyncClient(transport=ASGITransport(app), base_url=ADDRESS, timeout=HANG_SECONDS)

    def request(self, method: str, path: str, **options: Any) -> Response:
        return self.run(self._request(method, path, options))

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """What a coroutine gives, run in the app's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(HANG_SECONDS)

    def close(self) -> None:
        self.run(self._http.aclose())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(HANG_SECONDS)
        self.loop.close()

    async def _request(self, method: str, path: str, options: dict[str, Any]) -> Response:
        self._http.cookies.clear()
        return await self._http.request(method, path, **options)


class _Alive(WorkerStates):
    """No event loop gives signs of life here: whoever has told of itself is alive."""

    def read(self, place: int) -> WorkerState:
        return replace(super().read(place), seen=inf)


@dataclass(frozen=True)
class House:
    """The app, a client of it, everybody's token, and what was logged."""

    services: Services
    app: FastAPI
    client: Client
    tokens: dict[str, str]
    log: StringIO
    clock: MovingClock

    def ask(self, name: str | None, method: str, path: str, **options: Any) -> Response:
        """A request of somebody by their token; None: of nobody."""
        headers = {} if name is None else {"Authorization": f"Bearer {self.tokens[name]}"}
        headers |= options.pop("headers", {})
        return self.client.request(method, path, headers=headers, **options)

    def query(self, name: str, sql: str = COUNT, **body: Any) -> Response:
        return self.ask(name, "POST", f"{DATASET}/query", json={"sql": sql, "epsilon": 0.125, **body})

    def visit(self, name: str) -> tuple[dict[str, str], str]:
        """The cookie header of somebody who signed in, and the CSRF token that goes with it."""
        secret, visitor = self.services.access.sign_in(name, PASSWORD, "127.0.0.1")
        return {"Cookie": f"{self.services.settings.cookie}={secret}"}, visitor.csrf or ""


def write_few(folder: Path, catalog: str) -> Path:
    """A few people, all of them with the canary."""
    people = [hospital.person(k, age=20 + k, sex="F", city="Oslo", name=CANARY, eye_color=CANARY) for k in range(40)]
    visits = [hospital.visit(k, hospital="H1", diagnosis=CANARY) for k in range(40)]
    return hospital.write(folder, people, visits, catalog)


@cache
def _write_once(catalog: str, write: Callable[[Path, str], Path]) -> tuple[Path, dict[str, str]]:
    """The folder of a house with its index, and everybody's token: they take longer than most tests.

    Nobody has asked anything.
    """
    folder = Path(mkdtemp(prefix="adomnia-house-"))
    atexit.register(shutil.rmtree, folder)
    open_folder(write(folder, catalog)).close()
    for file in (folder / STATE).glob(f"{LEDGER}*"):
        file.unlink()
    clock = MovingClock()
    with Access.open(folder / STATE, lambda: clock.time, lambda: clock.steady) as access:
        for name, role in PEOPLE.items():
            access.add_user(name, role)
        return folder, {name: access.create_token(name, "test", 90)[0] for name in PEOPLE}


@contextmanager
def opened(
    folder: Path,
    catalog: str = hospital.CATALOG,
    write: Callable[[Path, str], Path] = write_few,
    **settings: Any,
) -> Iterator[House]:
    """A house in an empty folder."""
    prepared, tokens = _write_once(catalog, write)
    shutil.copytree(prepared, folder, dirs_exist_ok=True)
    usual: dict[str, Any] = {"workers": 1, "bucket": 0.0, "rate": 100_000.0, "burst": 100_000, "memory": "500MB"}
    made, log, clock = Settings(folder, **usual | settings), StringIO(), MovingClock()
    metrics = Metrics(made)
    questions, pool, password_pool = (
        FairThreadPool(made.threads, made.queue, metrics.set_load),
        FairThreadPool(4, 64),
        FairThreadPool(2, 16),
    )
    time_buckets, limiter = TimeBuckets(questions, made.bucket, made.limit), RateLimiter(made.rate, made.burst)

    memory = AnswerMemory(made.answer_bytes)

    def curator_of(place: Path) -> Curator:
        return open_folder(place, limits=made.limits()).serve(time_buckets.wait_for_edge, memory.admit)

    dataset = ServedDataset(folder, curator_of)
    notes = ThreadPoolExecutor(1)
    access = Access.open(folder / STATE, lambda: clock.time, lambda: clock.steady, notes.submit)
    run = folder / STATE / "run"
    run.mkdir()
    readiness = Readiness(_Alive.open(run, 1), 0, list_checks(dataset, access, folder), lambda _: None)
    readiness.tell()
    pools = (pool, password_pool, time_buckets)
    services = Services(made, access, dataset, memory, *pools, limiter, metrics, Logs(made, log), readiness)
    app = create_app(services)
    client = Client(app)
    try:
        with patch.multiple(passwords, _HASHER=QUICK, _UNMATCHED=QUICK.hash(bytes(32))):
            yield House(services, app, client, dict(tokens), log, clock)
    finally:
        client.close()
        for each in (questions, pool, password_pool):
            each.close()
        dataset.close()
        notes.shutdown()
        access.close()
