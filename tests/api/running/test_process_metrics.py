from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE, Popen
from time import time

import pytest

from adomnia.api.running import process_metrics as module
from adomnia.api.running.process_metrics import list_workers, measure_processes

BUSY = """
import sys
for _ in range(3_000_000): pass
files = [open("/dev/null") for _ in range(50)]
print(flush=True)
sys.stdin.read()
"""


@pytest.fixture
def exact(monkeypatch):
    """As /proc has it: the steps in which it is told are larger than what a test uses."""
    monkeypatch.setattr(module, "_STEP_SECONDS", 2**-10)
    monkeypatch.setattr(module, "_STEP_BYTES", 1)


def told(parent, workers=()):
    families = list(measure_processes(parent, workers))
    return {sample.name: sample.value for family in families for sample in family.samples}


def test_what_one_question_takes_of_processor_and_memory_is_not_told(monkeypatch):
    """Both depend on the data, and times of answers are told by edges of buckets alone."""
    usage = module._read(os.getpid())
    ticks, pages = os.sysconf("SC_CLK_TCK"), 2**26 // os.sysconf("SC_PAGE_SIZE")
    found = []
    for ran, took in ((0, 0), (1, 1), (10 * ticks - 1, pages - 1)):
        using = replace(usage, own_time=20 * ticks + ran, ended_children_time=0, pages=3 * pages + took)
        monkeypatch.setattr(module, "_read", lambda _, using=using: using)
        found.append(told(os.getpid()))
    assert {each["process_cpu_seconds_total"] for each in found} == {20.0}
    assert {each["process_resident_memory_bytes"] for each in found} == {3 * 2**26}


@pytest.mark.usefixtures("exact")
def test_one_process_is_told_as_prometheus_tells_it():
    found = told(os.getpid())
    assert set(found) == {
        "process_cpu_seconds_total",
        "process_resident_memory_bytes",
        "process_open_fds",
        "process_max_fds",
        "process_start_time_seconds",
    }
    assert found["process_cpu_seconds_total"] > 0
    assert 2**20 < found["process_resident_memory_bytes"] < 2**36
    assert 3 <= found["process_open_fds"] <= found["process_max_fds"]
    assert 0 < found["process_start_time_seconds"] <= time() + 1


@pytest.mark.usefixtures("exact")
def test_workers_are_added_and_the_time_of_one_that_ended_is_not_lost():
    before = told(os.getpid())
    with Popen([sys.executable, "-c", BUSY], stdin=PIPE, stdout=PIPE) as worker:
        worker.stdout.readline()
        running = told(os.getpid(), [worker.pid])
        alone = told(worker.pid)
        worker.stdin.close()
    ended = told(os.getpid(), [worker.pid])
    assert running["process_open_fds"] >= before["process_open_fds"] + 50
    assert running["process_resident_memory_bytes"] > alone["process_resident_memory_bytes"]
    assert (
        ended["process_cpu_seconds_total"] >= before["process_cpu_seconds_total"] + alone["process_cpu_seconds_total"]
    )
    assert ended["process_cpu_seconds_total"] >= running["process_cpu_seconds_total"]
    assert ended["process_open_fds"] < running["process_open_fds"]


def test_a_worker_that_ends_while_others_are_read_is_counted_once(monkeypatch):
    """A reading of the worker alive and of its parent after it counts its time twice, and is done again."""
    whole = module._read(os.getpid())
    ended = replace(whole, ended_children_time=whole.ended_children_time + 500)
    readings = iter([whole, replace(whole, own_time=500), ended, ProcessLookupError(), ended])

    def read(_: int):
        found = next(readings)
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(module, "_read", read)
    assert module._read_consistently(1, [2]) == (ended, [])


def test_where_there_is_no_proc_nothing_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "_PROC", tmp_path)
    assert told(os.getpid()) == {}


@pytest.mark.parametrize(
    "names", [[], ["gauge_livesum_12.db", "gauge_livesum_7.db", "counter_3.db", "counter_dead.db"]]
)
def test_workers_are_those_whose_gauges_are_there(tmp_path, names):
    for name in names:
        (Path(tmp_path) / name).touch()
    assert list_workers(tmp_path) == ([7, 12] if names else [])
