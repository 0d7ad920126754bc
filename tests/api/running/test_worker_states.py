from __future__ import annotations

import os
from time import monotonic

from adomnia.api.running import worker_states
from adomnia.api.running.worker_states import RestartCount, Stage, WorkerState, WorkerStates, read_restarts


def test_what_one_process_writes_another_reads_at_the_same_place(tmp_path, monkeypatch):
    own, other = WorkerStates.open(tmp_path, 3), WorkerStates.open(tmp_path, 3)
    monkeypatch.setattr(worker_states, "monotonic", lambda: 1234.567)
    own.write(1, Stage.SERVING, 0b101)
    found = other.read(1)
    assert found == WorkerState(1234.567, Stage.SERVING, 0b101)
    assert other.read(0) == other.read(2) == WorkerState(0.0, Stage.NONE, 0)
    other.clear(1)
    assert own.read(1) == WorkerState(0.0, Stage.NONE, 0)


def test_who_gives_no_sign_of_life_does_not_serve(tmp_path, monkeypatch):
    states = WorkerStates.open(tmp_path, 1)
    began = monotonic()
    monkeypatch.setattr(worker_states, "monotonic", lambda: began)
    states.write(0, Stage.STARTING)
    assert not states.read(0).is_serving()
    states.write(0, Stage.SERVING)
    assert states.read(0).is_serving()
    later = began + worker_states.HUNG_SECONDS + 0.001  # signs of life are told in whole milliseconds
    monkeypatch.setattr(worker_states, "monotonic", lambda: later)
    assert not states.read(0).is_serving()


def test_its_room_on_the_disk_is_taken_at_once(tmp_path):
    """A page that the disk cannot take when it is written would end the process by a signal."""
    WorkerStates.open(tmp_path, 1024)
    status = (tmp_path / "workers").stat()
    assert status.st_blocks * 512 >= status.st_size == 1024 * 24


def test_workers_read_what_the_parent_counts(tmp_path):
    assert read_restarts(tmp_path) == 0
    count = RestartCount(tmp_path)
    assert read_restarts(tmp_path) == 0
    for _ in range(300):
        count.add()
    assert read_restarts(tmp_path) == 300
    count.close()


def test_a_new_server_begins_at_0(tmp_path):
    for _ in range(2):
        count = RestartCount(tmp_path)
        assert read_restarts(tmp_path) == 0
        count.add()
        count.close()


def test_a_full_disk_stops_nobody(tmp_path, monkeypatch):
    count = RestartCount(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    count.add()
    monkeypatch.undo()
    assert read_restarts(tmp_path) == 0
    count.add()
    assert read_restarts(tmp_path) == 2
    count.close()
