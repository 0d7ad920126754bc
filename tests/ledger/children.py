"""What tests run in processes of their own: spenders that race, and a client that is killed at a failpoint."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Lock

from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.ledger import Ledger, file_store, journal
from adomnia.ledger.failpoints import VARIABLE
from adomnia.ledger.postgres_records import PostgresRecords
from adomnia.ledger.postgres_store import PostgresStore
from adomnia.ledger.restore import Restoration, restore
from kit.waiting import HANG_SECONDS, wait_until
from ledger.references import ANALYSTS, BUDGET, COST, PLENTY, opened, plan, read_place

THREADS, REQUESTS = 16, 50
GRANTED = 100  # spends of COST that BUDGET admits
_printing = Lock()


def say(*words: object) -> None:
    """What the outside world sees: on its way before the next step is taken."""
    with _printing:
        sys.stdout.write(" ".join(map(str, words)) + "\n")
        sys.stdout.flush()


def race(name: str) -> None:
    """For each path that arrives, spend with all threads as often as allowed, and say how many were granted."""
    for line in sys.stdin:
        with opened(line.strip()) as ledger:

            def spend(number: int, ledger=ledger) -> bool:
                try:
                    hold = ledger.reserve("alice", f"{name} {number}", plan((name, number)), COST)
                except Refusal:
                    return False
                hold.commit(b"noisy")
                return True

            with ThreadPoolExecutor(THREADS) as threads:
                say(sum(threads.map(spend, range(THREADS * REQUESTS))))


def race_for_lifetime(place: str, name: str) -> None:
    """Spend with all threads as often as the account that several datasets share allows; say how many were granted."""
    with Ledger.open(read_place(place), BUDGET, ANALYSTS, BUDGET) as ledger, ThreadPoolExecutor(THREADS) as threads:

        def spend(number: int) -> bool:
            try:
                ledger.reserve("alice", str(number), plan((name, number)), COST).commit(b"noisy")
            except Refusal:
                return False
            return True

        say(sum(threads.map(spend, range(THREADS * 10))))


def crash(path: str, stage: str, failpoint: str) -> None:
    """One whole question, then another that ends at a failpoint reached in the given stage."""
    if stage == "open":
        os.environ[VARIABLE] = failpoint
    ledger = opened(path)
    say("opened")
    for name in ("whole", "cut"):
        if name == "cut" and stage == "reserve":
            os.environ[VARIABLE] = failpoint
        hold = ledger.reserve("alice", f"id of {name}", plan(name), COST)
        say("granted", name)
        if name == "cut" and stage == "commit":
            os.environ[VARIABLE] = failpoint
        hold.commit(name.encode())
        say("answered", name)


def share(path: str, failpoint: str) -> None:
    """Bob asks what alice has an answer to, and is cut off."""
    ledger = opened(path)
    os.environ[VARIABLE] = failpoint
    say("answered", ledger.reserve("bob", "id of shared", plan("q"), COST).payload.decode())


def endless(path: str) -> None:
    """Questions from several threads, with a checkpoint every few entries, until somebody kills the process."""
    journal._CHECKPOINT_EVERY = 8
    ledger = opened(path, *PLENTY)
    say("opened")
    numbers = count()

    def ask(_: int) -> None:
        while True:
            name = f"{os.getpid()} {next(numbers)}"
            try:
                hold = ledger.reserve("alice", name, plan(name), COST)
            except Refusal:
                return say("refused", name)
            say("granted", name)
            hold.commit(name.encode())
            say("answered", name)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(ask, range(4)))


def cramped(path: str) -> None:
    """Spend while files may not grow, again once they may, and say how every question ended."""
    ledger = opened(path)
    wall = Path(f"{path}-wal")
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (wall.stat().st_size + 10_000, resource.RLIM_INFINITY))
    for number in range(40):
        if number == 20:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            wait_until(lambda: ledger.trouble is None)
        try:
            ledger.reserve("alice", str(number), plan(number), COST).commit(b"noisy" * 100)
            say("answered", number)
        except (Unavailable, Failure) as error:
            say(type(error).__name__, number, error)


def persist(path: str, name: str) -> None:
    """Ask until the budget is spent, and open the ledger again whenever it stops; say what was granted."""
    number, refused = 0, 0
    while refused < 30:
        try:
            with opened(path) as ledger:
                while number < 2 * GRANTED:
                    number += 1
                    hold = ledger.reserve("alice", f"{name} {number}", plan((name, number)), COST)
                    say("granted", name, number)
                    hold.commit(b"noisy")
                return
        except (Failure, Unavailable):
            time.sleep(0.01)
        except Refusal as refusal:
            if refusal.code == "budget":
                return
            refused += 1
            time.sleep(0.01)


def overlook(path: str) -> None:
    """Pay once when told to, whatever has become of the files, and wait to be killed."""
    file_store.identify = file_store.identify_open = lambda _: ()
    ledger = opened(path)
    say("opened")
    sys.stdin.readline()
    ledger.reserve("alice", "overlooked", plan("overlooked"), COST)
    say("granted")
    sys.stdin.readline()


def open_patiently(path: str) -> Ledger:
    """Open a ledger; who alone has its log may just be about to save it."""
    for _ in range(int(100 * HANG_SECONDS)):
        with suppress(Refusal, Unavailable):
            return opened(path)
        time.sleep(0.01)
    return opened(path)


def endure(path: str, name: str) -> None:
    """Ask until the budget is spent, and wait for the ledger to heal; say what was granted, and if it never heals."""
    with open_patiently(path) as ledger:
        for number in range(2 * GRANTED):
            try:
                hold = ledger.reserve("alice", f"{name} {number}", plan((name, number)), COST)
                say("granted", name, number)
                hold.commit(b"noisy")
            except Refusal:  # the budget is spent
                return
            except (Failure, Unavailable):
                deadline = time.monotonic() + HANG_SECONDS / 2
                while ledger.trouble is not None:
                    if ledger._writer._closed or time.monotonic() > deadline:
                        return
                    time.sleep(0.01)


def stop_within(place: str, moment: str) -> None:
    """Stop in the middle of a round trip, with the lock of all writers in hand; once continued, pay and say so."""
    ledger = opened(place)
    parts = {"begin": (PostgresStore, "_lock"), "commit": (PostgresRecords, "flush")}
    owner, name = parts[moment]
    whole = getattr(owner, name)

    def stop(self: object, *values: object) -> None:
        whole(self, *values)
        connection = getattr(self, "connection", None) or self._connection
        wrote = moment == "begin" or self.last is not None
        if connection.pgconn.pipeline_status and wrote and left and left.pop():
            connection.pgconn.flush()  # what is sent so far arrives; the end of the round trip does not
            say("stopping")
            os.kill(os.getpid(), signal.SIGSTOP)
            time.sleep(0.5)  # it reaches this thread a little later

    left = [True]
    setattr(owner, name, stop)
    for number in range(3):
        try:
            ledger.reserve("alice", f"stopped {number}", plan(("stopped", number)), COST)
            say("granted", number)
        except Unavailable:
            say("unavailable", number)
        wait_until(lambda: ledger.trouble is None)


def put_back(path: str, backup: str, failpoint: str) -> None:
    """Restore a backup, and end at a failpoint."""
    os.environ[VARIABLE] = failpoint
    place = read_place(path)
    say(restore(Path(place) if isinstance(place, str) else place, Path(backup), Restoration(BUDGET, ANALYSTS)))


def unprivileged(path: str) -> None:
    """Open as a user who may read and write nothing here."""
    from kit.shared_files import find_kind  # what no other part needs

    os.setegid(65534)
    os.seteuid(65534)
    try:
        find_kind(Path(path)).open(Path(path))
    except Unavailable as trouble:
        say(trouble)
