"""Seconds and memory of a question, as JSON: what the scripts of peers have in common."""

import json
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

_TIMES = 4


def tell(name: str, ask: Callable[[], object]) -> None:
    """Ask once to warm up, then some times more; print the median, and the most memory that this process held."""
    times = []
    for _ in range(_TIMES):
        start = perf_counter()
        ask()
        times.append(perf_counter() - start)
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    print(json.dumps({"name": name, "seconds": median(times[1:]), "memory_bytes": peak}))
