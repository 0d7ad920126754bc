"""A ledger with very many entries, written at once: chained as they should be, but paid for by nobody."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from adomnia.ledger.chain import Anchor, Head, digest, encode_entry
from adomnia.ledger.journal import find_newest
from adomnia.ledger.sqlite_records import SqliteRecords

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ASKED = json.dumps({"sql": "SELECT COUNT(*) FROM people", "epsilon": "1/100"})
_TOTAL = {"delta": "0", "epsilon": "10000000000", "in_epsilon": True, "pure": True, "rho": "50000000"}


def lengthen(path: Path, pairs: int, analyst: str = "alice", asked: str = _ASKED) -> None:
    """Add so many debits and answers of one analyst to a ledger that nobody has open: all to one question."""
    with closing(sqlite3.connect(path)) as connection:
        head = find_newest(SqliteRecords(connection))
        rows = list(_chain(head, _pairs(pairs, analyst, asked)))
        connection.executemany("INSERT INTO entries (sequence, body) VALUES (?, ?)", rows)
        connection.commit()
    Anchor(path).path.write_text(f"{rows[-1][0]:020d} {digest(rows[-1][1].encode())}\n")


def _pairs(pairs: int, analyst: str, asked: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number in range(pairs):
        named = {"analyst": analyst, "request_id": f"{analyst}\nid of {number}", "plan": digest(str(number).encode())}
        spent = {f"analyst:{analyst}": _TOTAL, "dataset": _TOTAL}
        at = f"2026-{1 + number * 12 // pairs:02d}-15T09:30:00+00:00"
        event = {"epsilon": "1/100", "kind": "pure"}
        yield "reserve", {**named, "at": at, "spent": spent, "event": event, "asked": asked}
        yield "commit", {**named, "payload": digest(f"answer {number}".encode())}


def _chain(head: Head, entries: Iterator[tuple[str, dict[str, Any]]]) -> Iterator[tuple[int, str]]:
    for kind, fields in entries:
        body = encode_entry(head, kind, fields)
        head = Head(head.sequence + 1, digest(body.encode()))
        yield head.sequence, body
