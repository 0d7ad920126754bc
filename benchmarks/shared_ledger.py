"""The ledger in PostgreSQL: durable pairs of reserve and commit a second, from two processes as two machines have them.

    python benchmarks/shared_ledger.py [--url URL] [--seconds 5] [--threads 32]

Each process has an anchor of its own, so that all they share is the database. Without a URL a server is started for
the purpose, with fsync on. Beside it: what the same server does of plain transactions, one row each, from as many
connections. The bar: at least 1,000 pairs a second, exactly as many as the ledger then says. Exits with 1 otherwise.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from statistics import median
from subprocess import PIPE, Popen
from tempfile import TemporaryDirectory
from time import perf_counter

from adomnia import postgres
from adomnia.ledger import Hold, Ledger
from adomnia.ledger.postgres_place import PostgresPlace
from adomnia.privacy.events import Pure
from adomnia.privacy.filters import Budget

ROOT = Path(__file__).parent.parent
PROCESSES = 2
BAR = 1000
BUDGET, ANALYST, COST = Budget(epsilon=10**6), "alice", Pure(0.01)
PAYLOAD = b"noisy" * 60


def open_ledger(url: str, schema: str, folder: str) -> Ledger:
    return Ledger.open(PostgresPlace(url, schema, "benchmark", Path(folder)), BUDGET, {ANALYST: BUDGET})


def pay(url: str, schema: str, folder: str, seconds: float, threads: int) -> None:
    """One machine: so many threads pay for questions and keep the answers; prints how many."""
    with open_ledger(url, schema, folder) as ledger:
        print("ready", flush=True)
        sys.stdin.readline()
        end = perf_counter() + seconds

        def ask(thread: int) -> int:
            number = 0
            while perf_counter() < end:
                number += 1
                name = f"{os.getpid()} {thread} {number}"
                hold = ledger.reserve(ANALYST, name, sha256(name.encode()).digest(), COST)
                if not isinstance(hold, Hold):
                    raise TypeError(name)
                hold.commit(PAYLOAD)
            return number

        with ThreadPoolExecutor(threads) as pool:
            print(sum(pool.map(ask, range(threads))), flush=True)


def write_plain(url: str, schema: str, _folder: str, seconds: float, threads: int) -> None:
    """The server alone: each thread has a connection, and writes a row in each transaction."""

    def write(_: int) -> int:
        number = 0
        with postgres.connect(url, program="benchmark", autocommit=True) as connection:
            end = perf_counter() + seconds
            while perf_counter() < end:
                connection.execute(f"INSERT INTO {schema}.plain VALUES (%s)", (PAYLOAD,))  # noqa: S608
                number += 1
        return number

    print("ready", flush=True)
    sys.stdin.readline()
    with ThreadPoolExecutor(threads) as pool:
        print(sum(pool.map(write, range(threads))), flush=True)


def race(part: str, ledger: tuple[str, str], folders: list[str], effort: tuple[float, int]) -> int:
    """Run a part in processes of their own, at the same time; gives how much they did."""
    own = [sys.executable, __file__, "--part", part, *ledger]
    commands = [[*own, folder, *map(str, effort)] for folder in folders]
    racers = [Popen(command, stdin=PIPE, stdout=PIPE, text=True) for command in commands]  # noqa: S603 - ourselves
    for racer in racers:
        if racer.stdout is None or racer.stdout.readline() != "ready\n":
            raise RuntimeError(part)
    return sum(int(racer.communicate("go\n")[0]) for racer in racers)


def measure(url: str, seconds: float, threads: int, rounds: int) -> bool:
    schema, pairs, plain = f"benchmark_{os.getpid()}", [], []
    with TemporaryDirectory() as first, TemporaryDirectory() as second:
        with open_ledger(url, schema, first), postgres.connect(url, program="benchmark", autocommit=True) as server:
            server.execute(f"CREATE TABLE {schema}.plain (payload bytea)")
        join(url, schema, first, second)
        for _ in range(rounds):
            pairs.append(race("pay", (url, schema), [first, second], (seconds, threads)))
            plain.append(race("write_plain", (url, schema), [first, second], (seconds, min(threads, 16))))
            print(f"pairs {pairs[-1] / seconds:8.0f} /s   plain transactions {plain[-1] / seconds:8.0f} /s")
        with open_ledger(url, schema, first) as ledger:
            exact = ledger.count_answers(ANALYST) == sum(pairs) == ledger.spent().epsilon_units // 10**10
            ledger.verify()
        with postgres.connect(url, program="benchmark", autocommit=True) as server:
            server.execute(f"DROP SCHEMA {schema} CASCADE")
    rate, raw = median(pairs) / seconds, median(plain) / seconds
    print(
        f"durable pairs of two processes: {rate:.0f} a second, {rate / raw:.2f} of plain transactions; exact: {exact}"
    )
    return exact and rate >= BAR


def join(url: str, schema: str, first: str, second: str) -> None:
    """The second machine gets to know the ledger."""
    source, target = (PostgresPlace(url, schema, "benchmark", Path(folder)).anchor for folder in (first, second))
    target.create(source.read())


def main() -> None:
    if sys.argv[1:2] == ["--part"]:
        part, url, schema, folder, seconds, threads = sys.argv[2:]
        {"pay": pay, "write_plain": write_plain}[part](url, schema, folder, float(seconds), int(threads))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--threads", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    options = chosen.seconds, chosen.threads, chosen.rounds
    if chosen.url:
        reached = measure(chosen.url, *options)
    else:
        sys.path.insert(0, str(ROOT / "tests"))
        from kit.postgres import Server

        server = Server("max_connections=100")
        try:
            reached = measure(server.url(), *options)
        finally:
            server.remove()
    sys.exit(not reached)


if __name__ == "__main__":
    main()
