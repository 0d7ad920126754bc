"""Faults of every kind under load: nothing is answered unpaid, nobody is told a lie, and the service is soon back."""

from __future__ import annotations

import asyncio
import os
import random
import resource
import signal
import socket
import sqlite3
import time
from contextlib import closing, contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from adomnia.api.ledger_view import open_snapshot, read_entries
from adomnia.ledger.audit import examine
from adomnia.ledger.chain import Anchor
from kit.example import write_example
from kit.faults import fill, may_mount, read_only, small_disk
from kit.ledgers import find_ledger
from kit.serving import API, HOST, calling, start, tokens, with_analysts
from kit.waiting import HANG_SECONDS, wait_until
from serving.test_crashes import ANSWERED, COST, STOPPING, Books

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

ANALYSTS = [f"analyst_{number}" for number in range(4)]
WORKERS = 2
BACK_SECONDS = 5.0
ROOM = "48m"  # of the small disk: the index, and little more than what readiness wants
SQLITE = {
    "a failed fsync": "SQLITE_IOERR_FSYNC COMMIT",
    "a failed fsync after all was written": "+SQLITE_IOERR_FSYNC COMMIT",
    "a failed write": "SQLITE_IOERR_WRITE INSERT",
    "a failed read": "SQLITE_IOERR_READ SELECT",
    "a full disk": "SQLITE_FULL INSERT\nSQLITE_FULL PRAGMA user_version",
    "a file that may not be written": "SQLITE_READONLY BEGIN IMMEDIATE\nSQLITE_READONLY VACUUM",
    "a disk that takes nothing when it should": "SQLITE_IOERR_FSYNC COMMIT\nSQLITE_IOERR_FSYNC PRAGMA wal_checkpoint",
    "a shared memory that is lost": "SQLITE_IOERR_SHMMAP BEGIN IMMEDIATE",
}
# Faults that last until they are lifted, and whatever is asked: readiness tells of them, with traffic or without.
TOLD = {
    "a failed fsync",
    "a failed read",
    "a lock",
    "a database elsewhere",
    "a folder that may not be written",
}
NOT_READY = b"is not ready: the ledger cannot be used"
LOCKED, REPLACED = "The ledger is locked by another program", "The ledger had its files removed or replaced"


class Ledgerbooks(Books):
    """What clients know. A failure may turn into an answer: its write failed, but was whole after all."""

    def take(self, name, reply) -> None:
        if reply.status == ANSWERED:
            self.failed.discard(name)
        if reply.status == STOPPING:
            assert b"retry-after" in reply.head
        super().take(name, reply)


class Rig:
    """A server under load, and what its clients know."""

    def __init__(self, folder, faults) -> None:
        self.folder, self.faults = folder, faults
        self.books = Ledgerbooks(tokens(folder, ANALYSTS))
        self.serving = start(
            folder, "--workers", WORKERS, "--bucket", 0, "--rate", 10_000, "--memory", "200MB", faults=faults
        )
        self.serving.all_workers(WORKERS)
        asyncio.run(self._wait_until_ready(time.monotonic()))
        # Where cores are shared, time on them passes faster: the start of the same processes says by how much.
        self.most_seconds = max(BACK_SECONDS, 2 * self.serving.cpu_seconds())
        self.back: dict[str, float] = {}

    def suffer(self, name: str, fault: AbstractContextManager[None], seconds: float) -> None:
        """Everybody asks while there is a fault, until readiness tells of one that lasts; soon after it all is well."""
        calling(self.serving.port, partial(self._suffer, name=name, fault=fault, seconds=seconds))
        calling(self.serving.port, self._settle)

    async def _suffer(self, callers, name, fault, seconds) -> None:
        asking = [asyncio.ensure_future(self._ask_without_end(callers, analyst)) for analyst in ANALYSTS]
        await asyncio.sleep(0.05)
        locks = self._count_locks()
        with fault:
            await (self._wait_until_told() if name in TOLD else asyncio.sleep(seconds))
            if name == "a lock":  # readiness may tell of the fault before, which one of the workers noticed late
                await asyncio.to_thread(wait_until, lambda: self._count_locks() > locks, self.serving.log.read_text)
        ended, used = time.monotonic(), self.serving.cpu_seconds()
        for task in asking:
            task.cancel()
        for outcome in await asyncio.gather(*asking, return_exceptions=True):
            assert isinstance(outcome, asyncio.CancelledError), outcome
        await self._wait_until_ready(ended)
        await self._wait_until_answered(callers, ended)
        # On a machine that is busy with other things the clock tells about those, and the time on the cores about us.
        back = min(time.monotonic() - ended, max(1.0, self.serving.cpu_seconds() - used))
        self.back[name] = max(self.back.get(name, 0.0), back)

    def _count_locks(self) -> int:
        return self.serving.log.read_text().count(LOCKED)

    async def _ask_without_end(self, callers, analyst) -> None:
        while True:
            name = self.books.new(analyst)
            self.books.take(name, await callers.send(self.books.request(name)))
            await asyncio.sleep(0.02)

    async def _wait_until_answered(self, callers, since) -> None:
        """Until a question that nobody has asked before is answered."""
        while True:
            name = self.books.new(ANALYSTS[0])
            reply = await callers.send(self.books.request(name))
            self.books.take(name, reply)
            if reply.status == ANSWERED:
                return
            assert time.monotonic() - since < HANG_SECONDS, self.serving.log.read_text()[-3000:]
            await asyncio.sleep(0.02)

    async def _wait_until_ready(self, since) -> None:
        while (await asyncio.to_thread(fetch, self.serving.port, "/ready"))[0] != 200:
            assert time.monotonic() - since < HANG_SECONDS, self.serving.log.read_text()[-3000:]
            await asyncio.sleep(0.02)

    async def _wait_until_told(self) -> None:
        """Until readiness says that the ledger cannot be used; health still says that the server is alive."""
        since = time.monotonic()
        while NOT_READY not in (await asyncio.to_thread(fetch, self.serving.port, "/ready"))[2]:
            assert time.monotonic() - since < HANG_SECONDS, self.serving.log.read_text()[-3000:]
            await asyncio.sleep(0.02)
        assert (await asyncio.to_thread(fetch, self.serving.port, "/health"))[0] == ANSWERED

    async def _settle(self, callers) -> None:
        """Ask again under the same ids until each has its answer or has failed for ever."""
        deadline = time.monotonic() + HANG_SECONDS
        names = self.books.asked[-8:] + [name for name in self.books.asked if not self.books.is_settled(name)]
        while names:
            assert time.monotonic() < deadline
            replies = await callers.press([self.books.request(name) for name in names], len(ANALYSTS))
            for name, reply in zip(names, replies, strict=True):
                self.books.take(name, reply)
            names = [name for name in names if not self.books.is_settled(name)]

    def compare(self) -> None:
        """The ledger is sound, every answer was paid for before it was kept, and every debit adds up."""
        path = find_ledger(self.folder)
        anchor = Anchor(path).read()
        with open_snapshot(path) as connection:
            examine(connection, anchor)
            found = list(read_entries(connection))
        debits = [entry for entry in found if entry.kind == "reserve"]
        paid = {(entry.analyst, entry.request_id): entry for entry in debits}
        kept = {(entry.analyst, entry.request_id): entry.sequence for entry in found if entry.kind == "commit"}
        assert len(paid) == len(debits)
        assert set(paid) <= set(self.books.asked)
        for name, told in self.books.told.items():
            assert paid[name].hash == told["receipt"]["hash"]
            assert paid[name].sequence < kept[name]
        assert self.books.failed <= set(paid)
        assert Fraction(debits[-1].totals["dataset"].epsilon) == len(debits) * COST

    @contextmanager
    def sqlite(self, name: str) -> Iterator[None]:
        draft = self.faults.with_suffix(".new")
        draft.write_text(SQLITE[name])
        draft.rename(self.faults)
        yield
        self.faults.unlink()

    @contextmanager
    def locked(self) -> Iterator[None]:
        with closing(sqlite3.connect(find_ledger(self.folder), isolation_level=None)) as other:
            while True:
                try:
                    other.execute("BEGIN IMMEDIATE")
                    break
                except sqlite3.OperationalError:
                    time.sleep(0.001)
            yield

    @contextmanager
    def without(self, *suffixes: str) -> Iterator[None]:
        """Files of the ledger are removed under the workers."""
        for suffix in suffixes:
            Path(f"{find_ledger(self.folder)}{suffix}").unlink(missing_ok=True)
        yield

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        path = find_ledger(self.folder)
        path.rename(path.with_suffix(".away"))
        yield
        path.with_suffix(".away").rename(path)

    @contextmanager
    def cramped(self) -> Iterator[None]:
        """Files may not grow, and writing beyond where they end is a real error of the operating system."""
        workers = self.serving.workers
        for pid in workers:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (8192, resource.RLIM_INFINITY))
        yield
        for pid in workers:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    @contextmanager
    def full(self) -> Iterator[None]:
        filler = fill(self.folder.parent)
        yield
        filler.unlink()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """A worker hangs; the fault ends when another has taken its place."""
        victim = self.serving.workers[0]
        os.kill(victim, signal.SIGSTOP)
        yield
        wait_until(lambda: not Path(f"/proc/{victim}").exists(), self.serving.log.read_text)

    @contextmanager
    def killed(self) -> Iterator[None]:
        for pid in self.serving.all_workers(WORKERS):
            os.kill(pid, signal.SIGKILL)
        yield

    @contextmanager
    def leaderless(self) -> Iterator[None]:
        """A catalog that cannot be read, and no worker that still has the one before."""
        catalog = self.folder / "catalog.toml"
        text = catalog.read_text()
        catalog.write_text("nonsense = [")
        with self.killed():
            status, head, body = 0, b"", b""
            while status != STOPPING:
                status, head, body = fetch(self.serving.port, "/health")
            assert b"retry-after: 1" in head
            assert b"has no worker that can answer now" in body
            yield
        catalog.write_text(text)

    def list_faults(self, disk: bool) -> dict[str, Callable[[], AbstractContextManager[None]]]:
        own = {name: partial(self.sqlite, name) for name in SQLITE}
        real = {
            "a lock": self.locked,
            "no log": partial(self.without, "-wal"),
            "no shared memory": partial(self.without, "-shm"),
            "a database elsewhere": self.elsewhere,
            "files that may not grow": self.cramped,
        }
        if may_mount():
            real["a folder that may not be written"] = partial(read_only, find_ledger(self.folder).parent)
        processes = {"a hung worker": self.stopped, "all workers killed": self.killed, "no catalog": self.leaderless}
        return own | real | ({"no room": self.full} if disk else {}) | processes


def fetch(port, path) -> tuple[int, bytes, bytes]:
    """Status, head and body of a GET by nobody in particular; 0 if there was no reply."""
    try:
        with socket.create_connection((HOST, port), timeout=HANG_SECONDS) as line:
            line.sendall(f"GET {API}{path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode())
            reply = b""
            while piece := line.recv(65_536):
                reply += piece
    except OSError:
        return 0, b"", b""
    head, _, body = reply.partition(b"\r\n\r\n")
    return int(head[9:12] or 0), head.lower(), body


@contextmanager
def rig(tmp_path) -> Iterator[tuple[Rig, bool]]:
    """On a disk of its own where this user may have one."""
    with small_disk(tmp_path / "disk", ROOM) as disk:
        folder = write_example((disk or tmp_path) / "hospital", people=1_000, indexed=True)
        with_analysts(folder, ANALYSTS, epsilon=10_000, each=1_000)
        made = Rig(folder, tmp_path / "faults")
        try:
            yield made, disk is not None
        finally:
            made.serving.kill()


def suffer_everything(tmp_path, moments, rounds, seconds, without=()) -> None:
    with rig(tmp_path) as (suffering, disk):
        for _ in range(rounds):
            kinds = [each for each in suffering.list_faults(disk).items() if each[0] not in without]
            moments.shuffle(kinds)
            for name, fault in kinds:
                suffering.suffer(name, fault(), moments.uniform(*seconds))
            suffering.compare()
        assert max(suffering.back.values()) < suffering.most_seconds, suffering.back
        log = suffering.serving.log.read_text()
        assert '"fault": "SQLITE_IOERR_FSYNC", "file": "ledger.sqlite"' in log
        assert REPLACED in log
        assert "Not ready: the ledger cannot be used." in log
        assert "Over: the ledger cannot be used." in log
        assert "Traceback" not in log
        assert suffering.serving.stop() == 0
        suffering.compare()


def test_every_fault_ends_and_the_ledger_is_exact(tmp_path):
    # "no catalog" kills all workers too.
    suffer_everything(tmp_path, random.Random(1), 1, (0.1, 0.2), without=["all workers killed"])


@pytest.mark.soak
def test_every_fault_ends_many_times(tmp_path):
    suffer_everything(tmp_path, random.Random(time.time()), 25, (0.05, 2.0))
