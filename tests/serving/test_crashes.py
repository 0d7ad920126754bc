"""Killed under load: no answer was given unpaid, nothing is paid twice, and the server is soon back."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import count

import pytest

from adomnia.api.ledger_view import open_snapshot, read_entries
from adomnia.ledger.audit import examine
from adomnia.ledger.chain import Anchor
from kit.example import write_example
from kit.ledgers import find_ledger
from kit.serving import CUT, calling, request, start, tokens, with_analysts
from kit.waiting import HANG_SECONDS

ANALYSTS = [f"analyst_{number}" for number in range(8)]
COST = Fraction(1, 1000)
RESTART_SECONDS = 5.0
WORKERS = 2
ANSWERED, FAILED, STOPPING = 200, 424, 503
KILLS_EACH_LIFE = 3  # two of a process that answers, then all of them; ten in a minute would end the server by itself


@dataclass
class Books:
    """What clients know: what they asked, analyst and request id, and what they were told."""

    keys: dict[str, str]
    asked: list[tuple[str, str]] = field(default_factory=list)
    told: dict[tuple[str, str], dict] = field(default_factory=dict)
    failed: set[tuple[str, str]] = field(default_factory=set)
    spent: Fraction = Fraction(0)
    restarts: list[float] = field(default_factory=list)
    numbers: count = field(default_factory=count)

    def new(self, analyst):
        self.asked.append((analyst, str(next(self.numbers))))
        return self.asked[-1]

    def request(self, name):
        """A question of its own for each request id, the same one every time."""
        analyst, number = name
        body = {
            "sql": f"SELECT COUNT(*) FROM people WHERE salary > {number}",
            "epsilon": str(COST),
            "request_id": number,
        }
        return request("/datasets/hospital/query", self.keys[analyst], body, analyst=analyst)

    def take(self, name, reply) -> None:
        """Whatever was told once is told again."""
        assert reply.status in {ANSWERED, FAILED, STOPPING, CUT}, (reply.status, reply.body)
        if reply.status == FAILED:
            assert name not in self.told
            self.failed.add(name)
        if reply.status == ANSWERED:
            assert name not in self.failed
            found = reply.content
            first = self.told.setdefault(name, found)
            assert [found[part] for part in ("columns", "receipt")] == [first[part] for part in ("columns", "receipt")]

    def note_start(self, serving) -> None:
        """The clock of a busy machine tells about others as well, and the time on the cores about a start."""
        self.restarts.append(min(serving.ready_seconds, serving.cpu_seconds()))

    def is_settled(self, name) -> bool:
        return name in self.told or name in self.failed


async def ask_without_end(callers, books, analyst) -> None:
    while True:
        name = books.new(analyst)
        reply = await callers.send(books.request(name))
        books.take(name, reply)
        if reply.status != ANSWERED:
            await asyncio.sleep(0.01)


async def under_load(callers, books, kill, seconds) -> None:
    """Everybody asks; after a while something is killed, and then nobody waits any longer."""
    asking = [asyncio.ensure_future(ask_without_end(callers, books, analyst)) for analyst in ANALYSTS]
    await asyncio.sleep(seconds)
    kill()
    await asyncio.sleep(0.05)
    for task in asking:
        task.cancel()
    for outcome in await asyncio.gather(*asking, return_exceptions=True):
        assert isinstance(outcome, asyncio.CancelledError), outcome


async def retry(callers, books) -> None:
    """Ask again under the same ids until each has its answer or has failed for ever; the last few answers too."""
    deadline = time.monotonic() + HANG_SECONDS
    names = [name for name in books.asked if not books.is_settled(name)] + books.asked[-20:]
    while names:
        assert time.monotonic() < deadline
        replies = await callers.press([books.request(name) for name in names], len(ANALYSTS))
        for name, reply in zip(names, replies, strict=True):
            books.take(name, reply)
        names = [name for name in names if not books.is_settled(name)]


def compare(folder, books) -> None:
    """The ledger is sound, has lost nothing, and debited everything that was told before it was answered."""
    path = find_ledger(folder)
    anchor = Anchor(path).read()
    with open_snapshot(path) as connection:
        examine(connection, anchor)
        found = list(read_entries(connection))
    debits = [entry for entry in found if entry.kind == "reserve"]
    paid = {(entry.analyst, entry.request_id): entry for entry in debits}
    kept = {(entry.analyst, entry.request_id): entry.sequence for entry in found if entry.kind == "commit"}
    assert len(paid) == len(debits)
    assert set(paid) <= set(books.asked)
    for name, told in books.told.items():
        assert paid[name].hash == told["receipt"]["hash"]
        assert paid[name].sequence < kept[name]
    assert books.failed <= set(paid) - set(kept)
    spent = Fraction(debits[-1].totals["dataset"].epsilon) if debits else Fraction(0)
    assert spent == len(debits) * COST
    assert spent >= books.spent
    books.spent = spent


def killed_one(serving, books, moments) -> None:
    """Kill one process that answers; the others go on, and soon there is another in its place."""
    victim = moments.choice(serving.workers)
    kill = partial(os.kill, victim, signal.SIGKILL)
    calling(serving.port, partial(under_load, books=books, kill=kill, seconds=moments.uniform(0.0, 0.3)))
    calling(serving.port, partial(retry, books=books))
    serving.all_workers(WORKERS)


def live_and_die(folder, books, moments) -> None:
    """One server from its start, when what was cut off before is asked again, to its sudden end."""
    serving = start(folder, "--workers", WORKERS, "--bucket", 0, "--rate", 10_000)
    books.note_start(serving)
    try:
        calling(serving.port, partial(retry, books=books))
        serving.all_workers(WORKERS)
        for _ in range(KILLS_EACH_LIFE - 1):
            killed_one(serving, books, moments)
        seconds = moments.uniform(0.0, 0.3)
        calling(serving.port, partial(under_load, books=books, kill=serving.kill, seconds=seconds))
    finally:
        serving.kill()
    compare(folder, books)


def killed_again_and_again(folder, kills, seed) -> None:
    write_example(folder, people=1_000, indexed=True)
    with_analysts(folder, ANALYSTS, epsilon=10_000, each=1_000)
    books, moments = Books(tokens(folder, ANALYSTS)), random.Random(seed)
    for _ in range(kills // KILLS_EACH_LIFE):
        live_and_die(folder, books, moments)
    with_peace = start(folder, "--workers", WORKERS, "--bucket", 0, "--rate", 10_000)
    try:
        books.note_start(with_peace)
        calling(with_peace.port, partial(retry, books=books))
        assert with_peace.stop() == 0
    finally:
        with_peace.kill()
    compare(folder, books)
    assert all(books.is_settled(name) for name in books.asked)
    assert len(books.told) > kills
    # Where cores are shared, time on them passes faster: the first start, of which nothing was expected, says so.
    assert min(books.restarts[1:]) < max(RESTART_SECONDS, 2 * books.restarts[0])


def test_a_server_killed_under_load_owes_nothing_and_forgets_nothing(tmp_path):
    killed_again_and_again(tmp_path / "hospital", kills=3, seed=1)


@pytest.mark.soak
def test_a_server_killed_under_load_many_times(tmp_path):
    killed_again_and_again(tmp_path / "hospital", kills=300, seed=time.time())
