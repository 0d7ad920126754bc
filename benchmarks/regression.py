"""Linear regression: how long it takes of ten million rows, and from text to price.

    python benchmarks/regression.py [--rows 10000000] [--threads 1]

The time is that of `lm` with six terms against one plain statement of the same sums of doubles in the same engine, on
rows that are made once. A rho buys these sums one by one. An epsilon buys 48 sums of products of four distances, which
have less noise together, and are more to compute. Exits with 1 where either takes over three times the plain statement,
or its price over 30 ms.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from itertools import combinations_with_replacement
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import duckdb

from adomnia.engines.limits import Limits
from adomnia.session.curator import open_folder

if TYPE_CHECKING:
    import adomnia

NAMES = ("y", "x1", "x2", "x3", "x4", "x5")
FORMULA = "y ~ x1 + x2 + x3 + x4 + x5"
TEXT = f"SELECT * FROM lm(people, formula => '{FORMULA}')"  # noqa: S608 - of our own making
SLOWEST = 3.0  # times the plain statement
SLOWEST_PRICE = 30.0  # milliseconds
CATALOG = """
[dataset]
name = "regression"
version = 1
unit = "people.id"
[budget]
epsilon = 1000.0
delta = 1e-6
approximate = true
[analysts.alice]
epsilon = 1000.0
delta = 5e-7
policy = "on_demand"
[tables.people]
source = "people.parquet"
rows_per_person = 1
[tables.people.columns]
id = {{ type = "id" }}
{columns}
"""


def prepare(folder: Path, rows: int) -> None:
    """Write the rows and what is declared of them."""
    xs = ", ".join(f"random() * 2 - 1 AS x{k}" for k in range(1, 6))
    noise = " + ".join(["random()"] * 6)
    made = f"SELECT range AS id, {xs} FROM range({rows})"  # noqa: S608 - of our own making
    y = f"0.5 + x1 - 0.5 * x2 + 0.25 * x3 + 0.1 * x4 + ({noise} - 3)"
    duckdb.sql(f"COPY (SELECT *, {y} AS y FROM ({made})) TO '{folder}/people.parquet'")  # noqa: S608
    columns = "\n".join(f'{name} = {{ type = "number", lower = {-4 if name == "y" else -1}, upper = {4 if name == "y" else 1} }}' for name in NAMES)  # fmt: skip  # noqa: E501
    (folder / "catalog.toml").write_text(CATALOG.format(columns=columns))


def plain(folder: Path, threads: int | None) -> float:
    """Seconds of the plain statement."""
    sums = [f"SUM({one} * {two})" for one, two in combinations_with_replacement(NAMES, 2)]
    both = ", ".join(["COUNT(*)", *(f"SUM({name})" for name in NAMES), *sums])
    with duckdb.connect(config={} if threads is None else {"threads": threads}) as connection:
        start = perf_counter()
        connection.sql(f"SELECT {both} FROM '{folder}/people.parquet'").fetchall()  # noqa: S608
        return perf_counter() - start


def asked(session: adomnia.Session, **payment: float) -> float:
    start = perf_counter()
    session.sql(TEXT, replay=False, **payment)
    return perf_counter() - start


def priced(session: adomnia.Session, formula: str) -> float:
    """Milliseconds of the processor from a text that nobody asked before to its price."""
    start = process_time()
    session.price(f"SELECT * FROM lm(people, formula => '{formula}')", epsilon=1)  # noqa: S608
    return 1000 * (process_time() - start)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--threads", type=int, help="of the engine; as many as there are cores unless it is given")
    arguments = parser.parse_args()
    rows, threads = arguments.rows, arguments.threads
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, rows)
        session = open_folder(folder, limits=Limits(threads)).session("alice")
        asked(session, epsilon=1)
        runs = [(plain(folder, threads), asked(session, epsilon=1), asked(session, rho=0.01)) for _ in range(3)]
        base, laplace, gaussian = (median(each) for each in zip(*runs, strict=True))
        texts = ["y ~ x2 + x1 + x3 + x4 + x5", "y ~ x3 + x2 + x1 + x4 + x5", "y ~ x5 + x2 + x3 + x4 + x1"]
        price = median(priced(session, text) for text in texts)
    print(f"{rows:,} rows, {FORMULA}")
    print(f"the same sums in one statement  {base:6.2f} s")
    print(f"lm for an epsilon               {laplace:6.2f} s  {laplace / base:4.1f} times as long")
    print(f"lm for a rho                    {gaussian:6.2f} s  {gaussian / base:4.1f} times as long")
    print(f"text to price                   {price:6.1f} ms")
    return int(max(laplace, gaussian) > SLOWEST * base or price > SLOWEST_PRICE)


if __name__ == "__main__":
    sys.exit(main())
