"""Questions about a release of a million cells: from the text to the answer with its intervals.

    python benchmarks/release_answers.py

Three columns of a hundred values each were measured together. Prints the processor's time of each question, the first
time and the median of later ones, and exits with 1 where one takes 50 ms or more. Other work on the same machine makes
all of it slower.
"""

from __future__ import annotations

import sys
from statistics import median
from time import process_time

import numpy as np
import pyarrow as pa

from adomnia.methods.synthesis.residuals import NoisyMarginal, Residuals
from adomnia.session.askable import AskableRelease
from adomnia.statistics.products import Attribute, Product

BAR_MS = 50.0
ROUNDS = 9
SIZE = 100
QUESTIONS = {
    "all rows": "SELECT COUNT(*) FROM releases.cells",
    "one condition": "SELECT COUNT(*) FROM releases.cells WHERE a < 40",
    "three conditions": "SELECT COUNT(*) FROM releases.cells WHERE a < 40 AND b >= 20 AND c BETWEEN 10 AND 59",
    "one key": "SELECT a, COUNT(*) FROM releases.cells GROUP BY a",
    "a key and two conditions": "SELECT a, COUNT(*) FROM releases.cells WHERE b < 40 AND c >= 30 GROUP BY a",
    "two keys": "SELECT a, b, COUNT(*) AS n FROM releases.cells GROUP BY a, b HAVING COUNT(*) > 9 ORDER BY n LIMIT 9",
    "a share": "SELECT a, COUNT(*) FILTER (WHERE b < 5) / COUNT(*) AS share FROM releases.cells GROUP BY a",
    "a mean": "SELECT a, AVG(b) AS mean FROM releases.cells GROUP BY a",
}


def make_release() -> AskableRelease:
    """A release of one table with noise on each of its cells."""
    counts = np.random.default_rng(1).poisson(30, (SIZE, SIZE, SIZE))
    estimates = Residuals.from_measured((SIZE,) * 3, [NoisyMarginal((0, 1, 2), counts, 4.0)])
    attributes = tuple(Attribute(name, tuple(range(SIZE)), "integer") for name in "abc")
    return AskableRelease("cells", Product(attributes, estimates), "", {}, (), pa.table({}))


def main() -> int:
    release, slow = make_release(), 0
    for name, text in QUESTIONS.items():
        times = []
        for _ in range(ROUNDS):
            start = process_time()
            release.sql(text).to_arrow()
            times.append(1000 * (process_time() - start))
        usual = median(times[1:])
        slow += usual >= BAR_MS
        print(f"{name:26} first {times[0]:7.1f} ms, then {usual:6.1f} ms")
    return min(slow, 1)


if __name__ == "__main__":
    sys.exit(main())
