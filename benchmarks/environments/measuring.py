"""Seconds, memory and answers of a question, as JSON: what the scripts of peers have in common."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, time

Row = tuple[str, float, float, float]  # a city, its count, sum and mean
STARTED = "ADOMNIA_BENCH_STARTED"  # when the process was started, by the clock

_TIMES = 4


def tell(name: str, ask: Callable[[], Sequence[Row]]) -> None:
    """Ask some times and print how long each took, the answers, and the most memory that this process held.

    The first is cold: its seconds are those since the process was started. `seconds` is the median of the others.
    """
    times, answers = [], []
    started = float(os.environ.get(STARTED, time()))
    cold = 0.0
    for _ in range(_TIMES):
        start = perf_counter()
        answers.append([[city, float(count), float(total), float(mean)] for city, count, total, mean in ask()])
        times.append(perf_counter() - start)
        cold = cold or time() - started
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    told = {"name": name, "seconds": median(times[1:]), "memory_bytes": peak}
    print(json.dumps({**told, "cold_seconds": cold, "warm_seconds": times[1:], "answers": answers}))
