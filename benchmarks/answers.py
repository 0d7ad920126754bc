"""The fixed cost of an answer: from text to durable commit on a tiny table, beside two fsyncs of the same disk."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import pyarrow as pa

import adomnia

ROUNDS = 200
BAR_MS = 14.0


def fsync_ms(folder: Path) -> float:
    """One appended page made durable: what the ledger cannot do without, twice an answer."""
    with (folder / "page").open("ab") as file:
        file.write(bytes(4096))
        file.flush()
        start = perf_counter()
        os.fsync(file.fileno())
        return (perf_counter() - start) * 1e3


def main() -> int:
    """Interleave answers and fsyncs, and compare their medians."""
    data = pa.table({"person_id": range(100), "age": [20 + person % 50 for person in range(100)]})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        session = adomnia.protect(
            data,
            unit="person_id",
            rows_per_person=1,
            bounds={"age": (0, 120)},
            epsilon=1e6,
            ledger=folder / "ledger",
        )
        answers, fsyncs = [], []
        for turn in range(ROUNDS):
            start = perf_counter()
            question = f"SELECT COUNT(*), AVG(age) FROM data WHERE age > {turn % 100}"  # noqa: S608 - ours
            session.sql(question, epsilon=1, replay=False)
            answers.append((perf_counter() - start) * 1e3)
            fsyncs.append(fsync_ms(folder))
    answer, fsync = median(answers), median(fsyncs)
    bar = BAR_MS + 2 * fsync
    print(f"one answer {answer:.2f} ms; one fsync {fsync:.2f} ms; bar {BAR_MS:g} ms + two fsyncs = {bar:.2f} ms")
    print("ok" if answer <= bar else "MISSED")
    return int(answer > bar)


if __name__ == "__main__":
    sys.exit(main())
