from __future__ import annotations

import os
from threading import Event
from threading import enumerate as enumerate_threads
from types import SimpleNamespace

import pytest

from adomnia.api.running import readiness as module
from adomnia.api.running import worker_states
from adomnia.api.running.readiness import DATA, DISK, INDEX, LEDGER, MISSING, SHARED, USERS, Readiness, has_room
from adomnia.api.running.worker_states import Stage, WorkerStates
from kit.waiting import HANG_SECONDS, wait_until

CHECKED = (LEDGER, INDEX, DISK, SHARED, DATA, USERS)


@pytest.fixture
def clock(monkeypatch):
    """The time, which passes when a test says so."""
    found = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(module, "monotonic", lambda: found.now)
    monkeypatch.setattr(worker_states, "monotonic", lambda: found.now)
    return found


@pytest.fixture
def states(tmp_path, clock):
    return WorkerStates.open(tmp_path, 2)


class Parts:
    """Things that are looked at, each of which can break."""

    def __init__(self) -> None:
        self.broken, self.reports = set(), []

    def readiness(self, states, place) -> Readiness:
        checks = {
            trouble: lambda trouble=trouble: self._look(trouble)
            for trouble in (LEDGER, INDEX, DISK, SHARED, DATA, USERS)
        }
        return Readiness(states, place, checks, self.reports.append)

    def _look(self, trouble) -> bool:
        if trouble in self.broken and trouble == DISK:
            raise OSError(5, "secret")
        return trouble not in self.broken


@pytest.mark.parametrize("trouble", CHECKED)
def test_any_worker_tells_of_the_trouble_of_each(states, trouble):
    own, parts = Parts().readiness(states, 0), Parts()
    other = parts.readiness(states, 1)
    own.tell()
    other.tell()
    assert own.list_problems() == []
    parts.broken.add(trouble)
    other.check()
    other.tell()
    assert own.list_problems() == [trouble]
    assert other.must_restart() is (trouble == INDEX)
    parts.broken.clear()
    other.check()
    other.tell()
    assert own.list_problems() == []
    assert parts.reports == [f"Not ready: {trouble}.", f"Over: {trouble}."]


def test_a_worker_that_does_not_serve_is_missing(states):
    own = Parts().readiness(states, 0)
    own.tell()
    assert own.list_problems() == [MISSING]
    assert own.count_workers() == (1, 2)
    states.write(1, Stage.STARTING)
    assert own.list_problems() == [MISSING]
    states.write(1, Stage.SERVING)
    assert own.count_workers() == (2, 2)
    assert own.list_problems() == []


def test_a_check_that_does_not_end_is_trouble_of_its_part_and_keeps_nobody_from_trying_the_others(
    states, clock, monkeypatch
):
    monkeypatch.setattr(module, "_CHECK_SECONDS", 0.001)
    states.write(1, Stage.SERVING)
    broken, reports, begun, going_on = Event(), [], Event(), Event()

    def hang() -> bool:
        begun.set()
        return going_on.wait(HANG_SECONDS)

    def tell() -> list[str]:
        own.tell()
        return own.list_problems()

    own = Readiness(states, 0, {LEDGER: lambda: not broken.is_set(), INDEX: hang}, reports.append)
    own.watch()
    assert begun.wait(HANG_SECONDS)
    assert tell() == []
    broken.set()
    wait_until(lambda: tell() == [LEDGER])
    clock.now += 6
    wait_until(lambda: tell() == [LEDGER, INDEX])
    assert not own.must_restart()  # it may only be slow
    going_on.set()
    wait_until(lambda: tell() == [LEDGER])
    own.close()
    assert reports == [f"Not ready: {LEDGER}.", f"Not ready: {INDEX}.", f"Over: {INDEX}."]


def test_it_goes_on_checking_until_it_is_closed(states, monkeypatch):
    monkeypatch.setattr(module, "_CHECK_SECONDS", 0.001)
    before = set(enumerate_threads())
    parts = Parts()
    own = parts.readiness(states, 0)
    own.watch()
    parts.broken.add(LEDGER)
    wait_until(lambda: (own.tell(), parts.reports)[1])
    own.close()
    for thread in set(enumerate_threads()) - before:
        thread.join(HANG_SECONDS)
        assert not thread.is_alive()


@pytest.mark.parametrize(
    ("disk", "enough"),
    [((4096, 100, 1), True), ((4095, 100, 1), False), ((4096, 100, 0), False), ((4096, 0, 0), True)],
)
def test_a_disk_has_room_for_bytes_and_for_files(tmp_path, monkeypatch, disk, enough):
    blocks, files, free = disk
    found = SimpleNamespace(f_bavail=blocks, f_frsize=4096, f_files=files, f_favail=free)
    monkeypatch.setattr(os, "statvfs", lambda _: found)
    assert has_room(tmp_path) is enough
