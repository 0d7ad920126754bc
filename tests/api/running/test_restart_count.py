from __future__ import annotations

import os

from adomnia.api.running.restart_count import RestartCount, read_restarts


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
