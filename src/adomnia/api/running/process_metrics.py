"""Memory, processor time and open files of all processes of the server together, under the usual names of Prometheus.

Read from /proc; where there is none, these metrics are missing. Time and memory are told in steps: how much of either
one question takes depends on the data, and whoever may read metrics may not see that.
"""

from __future__ import annotations

import os
import resource
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prometheus_client import Metric

_PROC = Path("/proc")
_MOST_READS = 3
_STEP_SECONDS, _STEP_BYTES = 10, 2**26


@dataclass(frozen=True)
class _Usage:
    """What one process uses; times in ticks of the clock, memory in pages."""

    own_time: int
    ended_children_time: int
    started: int
    pages: int
    files: int
    most_files: int


def list_workers(folder: Path) -> list[int]:
    """The process ids of the workers that are alive: each has a file of gauges in the run folder."""
    return sorted(int(path.stem.rpartition("_")[2]) for path in folder.glob("gauge_livesum_*.db"))


def measure_processes(parent: int, workers: Iterable[int]) -> Iterator[Metric]:
    """What the processes of a server use together; the start is that of its parent process."""
    try:
        whole, others = _read_consistently(parent, list(workers))
        boot = next(line for line in (_PROC / "stat").read_text().splitlines() if line.startswith("btime "))
    except (OSError, StopIteration):
        return
    ticks, everyone = os.sysconf("SC_CLK_TCK"), [whole, *others]
    seconds = (sum(each.own_time for each in everyone) + whole.ended_children_time) / ticks
    yield CounterMetricFamily(
        "process_cpu_seconds",
        f"User and system time of all processes, in whole steps of {_STEP_SECONDS} s.",
        _round_down(seconds, _STEP_SECONDS),
    )
    yield GaugeMetricFamily(
        "process_resident_memory_bytes",
        f"Resident memory of all processes, in whole steps of {_STEP_BYTES} bytes; what they share counts for each.",
        _round_down(sum(each.pages for each in everyone) * os.sysconf("SC_PAGE_SIZE"), _STEP_BYTES),
    )
    yield GaugeMetricFamily("process_open_fds", "Open files of all processes.", sum(each.files for each in everyone))
    most = sum(each.most_files for each in everyone)
    yield GaugeMetricFamily("process_max_fds", "How many files all processes may open together.", most)
    started = int(boot.split()[1]) + whole.started / ticks
    yield GaugeMetricFamily("process_start_time_seconds", "When the server was started, in Unix time.", started)


def _round_down(amount: float, step: float) -> float:
    return amount // step * step


def _read_consistently(parent: int, workers: list[int]) -> tuple[_Usage, list[_Usage]]:
    """Read all of them; again if a worker ended meanwhile, whose time is the parent's from then on.

    Otherwise the processor time could go down, and Prometheus would take that for a restart.
    """
    before = _read(parent)
    for _ in range(_MOST_READS):
        others = list(_read_alive(workers))
        after = _read(parent)
        if after.ended_children_time == before.ended_children_time:
            break
        before = after
    return after, others


def _read_alive(workers: list[int]) -> Iterator[_Usage]:
    for process in workers:
        try:
            yield _read(process)
        except (FileNotFoundError, ProcessLookupError):  # it ended
            continue


def _read(process: int) -> _Usage:
    fields = (_PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
    user, system, ended_user, ended_system = map(int, fields[11:15])
    files = sum(1 for _ in (_PROC / str(process) / "fd").iterdir())
    most_files, _ = resource.prlimit(process, resource.RLIMIT_NOFILE)
    return _Usage(user + system, ended_user + ended_system, int(fields[19]), int(fields[21]), files, most_files)
