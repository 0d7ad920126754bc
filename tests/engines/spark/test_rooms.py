"""Temporary folders are closed to others, and those of processes that were killed are cleared by the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from adomnia.engines.spark.rooms import Room

KILLED = """
import sys, time
sys.path[:0] = {path!r}
from adomnia.engines.spark.rooms import Room
room = Room("adomnia-test-", {parent!r})
print(room.path, flush=True)
time.sleep(1000)
"""


def test_a_room_is_closed_to_others_and_is_removed_with_what_is_in_it(tmp_path):
    room = Room("adomnia-test-", str(tmp_path))
    assert room.path.stat().st_mode & 0o777 == 0o700
    (room.path / "rows").write_text("")
    room.leave()
    assert list(tmp_path.iterdir()) == []
    room.leave()


def test_only_the_rooms_of_processes_that_were_killed_are_cleared(tmp_path):
    script = KILLED.format(path=sys.path, parent=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as child:
        left = child.stdout.readline().strip()
        used = Room("adomnia-test-", str(tmp_path))
        was_there = Path(left).is_dir()
        child.send_signal(signal.SIGKILL)
    assert was_there  # its process was alive still
    others = [tmp_path / "adomnia-other-1", tmp_path / "adomnia-test-without-a-lock"]
    for other in others:
        other.mkdir()
    (others[0] / ".lock").write_text("")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".lock").write_text("")
    link = tmp_path / "adomnia-test-link"
    link.symlink_to(elsewhere)
    made = Room("adomnia-test-", str(tmp_path))
    assert set(tmp_path.iterdir()) == {used.path, made.path, *others, elsewhere, link}
    assert (elsewhere / ".lock").exists()
    used.leave()
    made.leave()


def test_what_belongs_to_another_user_is_left_alone(tmp_path, monkeypatch):
    """Whoever may write to the same folder could put something there."""
    left = tmp_path / "adomnia-test-1"
    left.mkdir()
    (left / ".lock").write_text("")
    monkeypatch.setattr(os, "getuid", lambda: left.stat().st_uid + 1)
    Room("adomnia-test-", str(tmp_path)).leave()
    assert left.exists()
    monkeypatch.undo()
    Room("adomnia-test-", str(tmp_path)).leave()
    assert not left.exists()
