"""What the tests of the ledger share: small budgets, plans by name, and ways to break things."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from adomnia import postgres
from adomnia.ledger import Ledger
from adomnia.ledger.chain import GENESIS, Anchor, digest
from adomnia.ledger.postgres_place import PostgresPlace
from adomnia.privacy.events import Pure
from adomnia.privacy.filters import Budget
from kit.children import Child
from kit.waiting import wait_until

COST = Pure(0.01)
BUDGET = Budget(epsilon=1)
ANALYSTS = {"alice": Budget(epsilon=1), "bob": Budget(epsilon=1)}
PLENTY = Budget(epsilon=10_000), {"alice": Budget(epsilon=10_000)}


def plan(name: object) -> bytes:
    return sha256(repr(name).encode()).digest()


def opened(place, budget=BUDGET, analysts=ANALYSTS) -> Ledger:
    return Ledger.open(read_place(place), budget, analysts)


def write_place(place) -> str:
    """How another process is told of a place."""
    if not isinstance(place, PostgresPlace):
        return str(place)
    return json.dumps([place.url, place.schema, place.dataset, str(place.folder), place.lifetime])


def read_place(text):
    """The place that a process was told of."""
    if not isinstance(text, str) or not text.startswith("["):
        return text
    url, schema, dataset, folder, lifetime = json.loads(text)
    return PostgresPlace(url, schema, dataset, Path(folder), lifetime)


def on_another_machine(place, folder) -> PostgresPlace:
    """The same ledger, as a machine has it that keeps its anchor in another folder and has joined."""
    folder.mkdir()
    other = replace(place, folder=folder)
    other.anchor.create(place.anchor.read())
    return other


def answered(ledger, analyst="alice", name="q", event=COST, payload=b"noisy"):
    """One question from debit to answer."""
    return ledger.reserve(analyst, f"id of {name}", plan(name), event).commit(payload)


def connect(place):
    """A connection to the tables, as somebody has it who knows the database and nothing of ledgers."""
    if not isinstance(place, PostgresPlace):
        return sqlite3.connect(place, isolation_level=None)
    return postgres.connect(place.url, program="test", settings={"search_path": place.schema}, autocommit=True)


def entries(place) -> list[str]:
    with closing(connect(place)) as connection:
        return [body for (body,) in connection.execute("SELECT body FROM entries ORDER BY sequence")]


def tamper(place, *statements) -> None:
    """Change the database as somebody could who may write it, and knows how."""
    shared = isinstance(place, PostgresPlace)
    tables = {name: name.split("_")[0] for name in ("entries_stay", "entries_keep", "payloads_stay", "payloads_keep")}
    with closing(connect(place)) as connection:
        for name, table in tables.items():
            connection.execute(f"DROP TRIGGER IF EXISTS {name}" + f" ON {table}" * shared)
        for statement in statements:
            text, *values = statement if isinstance(statement, tuple) else (statement,)
            connection.execute(text.replace("?", "%s").replace("x'00'", r"'\x00'") if shared else text, *values)


def rewrite(path, number, change) -> None:
    """Change one entry and link everything anew, anchor included: what somebody with both files can do."""
    bodies, previous = [], GENESIS.hash
    for sequence, body in enumerate(entries(path), start=1):
        entry = {**json.loads(body), "previous": previous}
        if sequence == number:
            change(entry)
        bodies.append(json.dumps(entry, sort_keys=True, separators=(",", ":")))
        previous = digest(bodies[-1].encode())
    rows = list(enumerate(bodies, start=1))
    tamper(path, "DELETE FROM entries", *(("INSERT INTO entries (sequence, body) VALUES (?, ?)", row) for row in rows))
    Anchor(path).path.write_text(f"{len(bodies):020d} {previous}\n")


def child(part: str, *arguments) -> Child:
    """A process of its own that runs one part of `children.py`."""
    return Child("ledger.children", part, *map(write_place, arguments))


def list_answers(ledger, analyst="alice") -> list:
    """The receipts of all answers of an analyst, page by page."""
    found = []
    while page := ledger.answers(analyst, found[-1].request_id if found else None):
        found += page
    return found


def wait_until_recovered(ledger) -> None:
    """Wait for a ledger to heal by itself; one that does not fails the test."""
    wait_until(lambda: ledger.trouble is None, lambda: ledger.trouble)


def wait_until_closed(ledger) -> None:
    """Wait for a ledger to be unavailable for good: it tries no more."""
    wait_until(lambda: ledger._writer._closed is not None, lambda: ledger.trouble)


def units_of(cost_count: int) -> int:
    """What so many spends of COST come to, in units of the ledger."""
    return cost_count * 10**10
