"""From text to price: every method's example, and models of many terms.

    python benchmarks/methods.py [NAME ...]

Prints the processor's time that a text takes until its price is told, with the errors to expect: no data is read. Each
text is asked of several hospitals whose columns have other bounds, so that nothing but what is true of all questions is
known from the one before; the first is not counted. Exits with 1 where the slower one of both prices takes 30 ms or
more. Other work on the same machine makes all of it slower: a loop of plain Python is timed beside it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from shutil import copytree, ignore_patterns
from statistics import median
from time import process_time

import duckdb

import adomnia
from adomnia.methods.registry import METHODS

BAR_MS = 30.0
HOSPITALS = 5
HOSPITAL = Path(__file__).parents[1] / "examples" / "hospital"
PRICES: tuple[dict[str, float], ...] = ({"epsilon": 1}, {"rho": 0.01})
NUMBERS = ("y", "x1", "x2", "x3", "x4", "x5", "x6")
TERMS = "x1 + x2 + x3 + x4 + x5 + x6 + C(kind)"
READINGS = """
[tables.readings]
source = "readings.parquet"
person = "person_id -> people.person_id"
rows_per_person = 1
[tables.readings.columns]
person_id = {{ type = "id" }}
kind = {{ type = "category", values = ["a", "b", "c"] }}
{numbers}
"""
WIDE = {
    f"{name}, 6 terms and a factor": f"SELECT * FROM {name}(readings, formula => 'y ~ {TERMS}')"  # noqa: S608
    for name in ("lm", "ridge")
}


def prepare(folder: Path, place: int) -> Path:
    """A hospital whose columns have bounds of their own, with a table of seven numbers."""
    hospital = folder / str(place)
    copytree(HOSPITAL, hospital, ignore=ignore_patterns(".adomnia", "__pycache__"))
    numbers = ", ".join(f"random() AS {name}" for name in NUMBERS)
    rows = f"SELECT range AS person_id, 'a' AS kind, {numbers} FROM range(1000)"  # noqa: S608 - of our own making
    duckdb.sql(f"COPY ({rows}) TO '{hospital}/readings.parquet'")
    declared = "\n".join(f'{name} = {{ type = "number", lower = 0, upper = {1000 + place} }}' for name in NUMBERS)
    catalog = (hospital / "catalog.toml").read_text()
    for upper in (500_000, 120):
        catalog = catalog.replace(f"upper = {upper:_}", f"upper = {upper + place}")
    (hospital / "catalog.toml").write_text(catalog + READINGS.format(numbers=declared))
    return hospital


def milliseconds(sessions: list[adomnia.Session], text: str, payment: dict[str, float]) -> float:
    """The processor's time of one price: the median of all sessions but the first."""
    times = []
    for session in sessions:
        start = process_time()
        session.price(text, **payment)
        times.append((process_time() - start) * 1e3)
    return median(times[1:])


def loop() -> float:
    """Milliseconds of a loop of plain Python: how busy the machine is."""
    start, found = process_time(), {}
    for each in range(60_000):
        found[each % 97, each % 89] = sum((each, each % 7))
    return (process_time() - start) * 1e3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="methods; all of them unless some are named")
    names = parser.parse_args().names
    if not (HOSPITAL / "people.parquet").exists():
        print("skipped: `make run` makes the example first")
        return 0
    texts = {name: method.example for name, method in METHODS.items()} | WIDE
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        sessions = [adomnia.open(prepare(Path(folder), place)).session("bob") for place in range(HOSPITALS)]
        for name, text in texts.items():
            if not names or name.split(",")[0] in names:
                times = [milliseconds(sessions, text, payment) for payment in PRICES]
                slowest = max(slowest, *times)
                told = "  ".join(
                    f"{next(iter(payment))} {time:5.1f} ms" for payment, time in zip(PRICES, times, strict=True)
                )
                print(f"{name:34} {told}{'  MISSED' * (max(times) >= BAR_MS)}")
    print(
        f"slowest {slowest:.1f} ms (bar {BAR_MS:g}); a loop of plain Python {median(loop() for _ in range(9)):.1f} ms"
    )
    return int(slowest >= BAR_MS)


if __name__ == "__main__":
    sys.exit(main())
