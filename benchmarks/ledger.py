"""The ledger with a million entries against a fresh one: opening it, asking, and paying while others open and verify.

    python benchmarks/ledger.py [--entries 1000000] [--folder DIR]

Prints ratios of one run: the disk decides about a payment, so both ledgers lie in one folder and take turns. The bars:
opening takes at most 0.5 s more than opening a fresh one, a question at most 1.3 times as long. Exits with 1 where a
bar is missed.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import median
from subprocess import Popen
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from adomnia.ledger import Hold, Ledger
from adomnia.ledger.accounts import DATASET, account_name, encode_spent
from adomnia.ledger.chain import digest
from adomnia.ledger.file_store import FileStore
from adomnia.ledger.journal import Journal
from adomnia.ledger.owner import declare
from adomnia.privacy.events import Pure, to_record
from adomnia.privacy.filters import Budget
from adomnia.privacy.losses import loss

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adomnia.ledger.journal import Transaction

BUDGET = Budget(epsilon=10**6)
ANALYST, COST = "alice", Pure(0.01)
MORE_SECONDS, LONGER = 0.5, 1.3
GROUP = 4096  # questions in a transaction, while the ledger is filled
OPEN = "import sys; from ledger import open_ledger; open_ledger(sys.argv[1]).close()"
VERIFY = "import sys; from ledger import open_ledger; open_ledger(sys.argv[1]).verify()"


def open_ledger(path: str | Path) -> Ledger:
    return Ledger.open(path, BUDGET, {ANALYST: BUDGET})


def fill(path: Path, entries: int) -> None:
    """Write a ledger with so many entries, as questions would have written them, through the chain's own code."""
    journal = Journal(FileStore(path))
    with closing(journal):
        journal.open(partial(declare, dataset=BUDGET, analysts={ANALYST: BUDGET}))
        for start in range(0, entries // 2, GROUP):
            journal.run([partial(_ask, numbers=range(start, min(start + GROUP, entries // 2)))])


def _ask(transaction: Transaction, numbers: Sequence[int]) -> None:
    spent, cost, event = transaction.accounts[DATASET].spent, loss(COST), to_record(COST)
    for number in numbers:
        spent, name = spent.plus(cost), str(number).encode()
        question = {"analyst": ANALYST, "request_id": f"{ANALYST}\nearlier {number}", "plan": digest(name)}
        totals = dict.fromkeys((account_name(ANALYST), DATASET), encode_spent(spent))
        at = "2026-11-16T00:00:00+00:00"
        transaction.append("reserve", at=at, asked="SELECT COUNT(*)", event=event, spent=totals, **question)
        transaction.records.add_payload(digest(name), name)
        transaction.append("commit", payload=digest(name), **question)


def ask(ledger: Ledger, name: str) -> float:
    """Pay for a question and keep its answer; gives the seconds it took."""
    start = perf_counter()
    hold = ledger.reserve(ANALYST, name, sha256(name.encode()).digest(), COST)
    if not isinstance(hold, Hold):
        raise TypeError(name)
    hold.commit(b"noisy" * 60)
    return perf_counter() - start


def _ask_one(ledgers: dict[Path, Ledger], path: Path, number: int) -> float:
    return ask(ledgers[path], f"new {number}")


def time_opening(path: Path) -> float:
    start = perf_counter()
    open_ledger(path).close()
    return perf_counter() - start


def compare(
    name: str, measure: Callable[[Path, int], float], ledgers: tuple[Path, Path], rounds: int
) -> tuple[float, float]:
    """Print and give the medians of a fresh and a full ledger, which take turns, and their ratio."""
    fresh, full = ledgers
    times = [(measure(fresh, number), measure(full, number)) for number in range(rounds)]
    small, large = (median(column) for column in zip(*times, strict=True))
    print(f"{name:34} fresh {small * 1e3:9.2f} ms   full {large * 1e3:9.2f} ms   ratio {large / small:6.2f}")
    return small, large


def pay_beside(ledger: Ledger, label: str, script: str, path: Path, most: int = 2000) -> None:
    """Print how long payments take while another process is at work on the same ledger, and the longest of them."""
    arguments = [sys.executable, "-c", script, str(path)]
    alone = [ask(ledger, f"{label} alone {number}") for number in range(100)]
    with Popen(arguments, cwd=Path(__file__).parent) as other:  # noqa: S603 - our own two lines
        beside = []
        while other.poll() is None and len(beside) < most:
            beside.append(ask(ledger, f"{label} beside {len(beside)}"))
        if other.wait(timeout=3600):
            raise RuntimeError(script)
    words = f"median {median(beside) * 1e3:7.2f} ms, longest {max(beside) * 1e3:8.2f} ms"
    print(f"{label:34} alone {median(alone) * 1e3:9.2f} ms   {words}, of {len(beside)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path)
    chosen = parser.parse_args()
    with TemporaryDirectory(dir=chosen.folder) as place:
        fresh, full = Path(place, "fresh.sqlite"), Path(place, "full.sqlite")
        start = perf_counter()
        fill(full, chosen.entries)
        print(f"{chosen.entries:,} entries written in {perf_counter() - start:.0f} s")
        fill(fresh, 2)
        opening = compare("opening", lambda path, _: time_opening(path), (fresh, full), 15)
        with open_ledger(fresh) as small, open_ledger(full) as large:
            ledgers = {fresh: small, full: large}
            pay = partial(_ask_one, ledgers)
            paying = compare("paying and keeping an answer", pay, (fresh, full), 400)
            pay_beside(large, "paying while another opens", OPEN, full)
            pay_beside(large, "paying while another verifies", VERIFY, full)
    if opening[1] - opening[0] > MORE_SECONDS or paying[1] > LONGER * paying[0]:
        sys.exit(1)


if __name__ == "__main__":
    main()
