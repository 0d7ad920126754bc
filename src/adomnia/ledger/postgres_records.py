"""The records of a ledger in PostgreSQL: what a group looks up comes in one round trip, and what it writes goes in one.

Nobody else writes meanwhile, so that what was found stays so. What is written waits for the end of the transaction, or
until something else is asked of the server.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

from adomnia.ledger import sqlite
from adomnia.ledger.chain import Head, damage_refusal, digest
from adomnia.ledger.postgres_schema import Connection, create_tables, find_format, lock_number, write_statements
from adomnia.ledger.records import NO_END, Records, Wanted
from adomnia.ledger.schema import LEDGER_FORMAT
from adomnia.ledger.sqlite_records import SqliteRecords

_PAGE = 256  # rows of a round trip
_MOST_WAITING_BYTES = 2**24  # of answers for one statement: the server takes none of a gigabyte
_COPIED = {
    "entries": "sequence, body, kind, analyst, request_id, plan",
    "payloads": "digest, payload",
    "storage": "analyst, bytes",
}
_LONGEST = 50
_FEW = 16  # stored answers of a round trip: one may have megabytes


class PostgresRecords:
    """What one transaction sees, and what it writes. Answers that were looked up are kept until it ends."""

    def __init__(self, connection: Connection, schema: str) -> None:
        self.connection, self.schema = connection, schema
        self._statements = write_statements(schema)
        self._tail: dict[int, str] | None = None  # the texts of all entries from some number on, once they are here
        self._requests: dict[tuple[str, str], tuple[int, str] | None] = {}
        self._answered: dict[str, dict[str | None, str | None]] = {}  # by plan and analyst
        self._storage: dict[str, int] = {}
        self._new_entries: list[tuple[object, ...]] = []
        self._new_payloads: dict[str, bytes] = {}
        self._waiting_bytes = 0
        self._counted: dict[str, int] = {}
        self.last: Head | None = None  # the end of what was written

    def ask_ahead(self, since: int, wanted: Sequence[Wanted]) -> Callable[[], None]:
        """Ask for what a group is going to look up, in a pipeline; gives what takes in the replies afterwards."""
        bodies = self._ask("bodies", since - 1, NO_END, _PAGE)
        wanted = [each for each in wanted if _is_storable(each.analyst, *each.keys)]
        keys = [key for each in wanted for key in each.keys]
        plans = [(each.plan, each.analyst) for each in wanted]
        analysts = [each.analyst for each in wanted if each.analyst is not None]
        asked: list[tuple[Callable[[Any, Any], None], Any, Any]] = (
            [
                (self._take_requests, keys, self._ask("requests", keys)),
                (self._take_answered, plans, self._ask("answered", *map(list, zip(*plans, strict=True)))),
                (self._take_storage, analysts, self._ask("storage", analysts)),
            ]
            if wanted
            else []
        )

        def take() -> None:
            rows = bodies.fetchall()
            self._tail = dict(rows) if len(rows) < _PAGE else None
            for take_in, about, cursor in asked:
                take_in(about, cursor.fetchall())

        return take

    def _take_requests(self, keys: Sequence[str], rows: Sequence[tuple[str, str, int, str]]) -> None:
        self._requests |= {(kind, key): None for key in keys for kind in ("reserve", "commit")}
        self._requests |= {(kind, key): (sequence, body) for kind, key, sequence, body in rows}

    def _take_answered(
        self, plans: Sequence[tuple[str, str | None]], rows: Sequence[tuple[str, str | None, str]]
    ) -> None:
        for plan, analyst in plans:
            self._answered.setdefault(plan, {})[analyst] = None
        for plan, analyst, key in rows:
            self._answered[plan][analyst] = key

    def _take_storage(self, analysts: Sequence[str], rows: Sequence[tuple[str, int]]) -> None:
        self._storage |= dict.fromkeys(analysts, 0) | dict(rows)

    def read_bodies(self, after: int, last: int = NO_END) -> Iterator[str]:
        if self._tail and after + 1 >= min(self._tail):
            yield from [body for sequence, body in self._tail.items() if after < sequence <= last]
            return
        while rows := self._ask("bodies", after, last, _PAGE).fetchall():
            yield from (body for _, body in rows)
            after = rows[-1][0]

    def find_body(self, sequence: int) -> str | None:
        if self._tail and sequence in self._tail:
            return self._tail[sequence]
        rows = self._ask("bodies", sequence - 1, sequence, 1).fetchall()
        return rows[0][1] if rows else None

    def find_newest(self) -> tuple[int, str] | None:
        found: tuple[int, str] | None = self._find_row("newest")
        return found

    def find_checkpoint(self, last: int) -> tuple[int, str | None] | None:
        row = self._find_row("checkpoint", last)
        return None if row is None else (row[0], _read_previous(row[1]))

    def find_previous(self, sequence: int) -> str | None:
        body = self.find_body(sequence)
        return None if body is None else _read_previous(body)

    def find_debit(self, key: str) -> tuple[int, str] | None:
        return self._find_request("reserve", key)

    def find_commit(self, key: str) -> tuple[int, str] | None:
        return self._find_request("commit", key)

    def _find_request(self, kind: str, key: str) -> tuple[int, str] | None:
        if (kind, key) not in self._requests:
            storable = [key] if _is_storable(key) else []
            self._take_requests([key], self._ask("requests", storable).fetchall())
        return self._requests[kind, key]

    def find_answered(self, plan: str, analyst: str | None) -> str | None:
        if analyst not in self._answered.get(plan, {}):
            known = analyst if _is_storable(analyst) else None
            self._take_answered([(plan, analyst)], self._ask("answered", [plan], [known]).fetchall())
        return self._answered[plan][analyst]

    def find_payload(self, name: str) -> bytes | None:
        row = self._find_row("payload", name)
        return None if row is None else bytes(row[0])

    def count_payloads(self) -> int:
        return int(self._find_row("payloads")[0])

    def list_restorations(self) -> list[str]:
        return [body for (body,) in self._ask("restorations")]

    def list_answered(self, analyst: str, after: int, limit: int) -> Iterator[str]:
        while limit > 0 and (rows := self._ask("page", analyst, after, min(limit, _PAGE)).fetchall()):
            yield from (body for _, body in rows)
            after, limit = rows[-1][0], limit - len(rows)

    def list_latest(self, analyst: str, after: int, limit: int) -> list[tuple[int, str]]:
        found: list[tuple[int, str]] = self._ask("latest", analyst, after, limit).fetchall()
        return found

    def list_unanswered(self, first: str, beyond: str, limit: int) -> list[str]:
        return [body for (body,) in self._ask("unanswered", first, beyond, limit)]

    def list_debits(self, first: str, beyond: str, limit: int) -> list[str]:
        return [body for (body,) in self._ask("debits", first, beyond, limit)]

    def count_answers(self, analyst: str) -> int:
        return int(self._find_row("answers", analyst)[0])

    def find_storage(self, analyst: str) -> int:
        if analyst not in self._storage:
            self._take_storage([analyst], self._ask("storage", [analyst]).fetchall())
        return self._storage[analyst]

    def add_entry(self, sequence: int, body: str, entry: dict[str, Any]) -> None:
        kind, key, plan = entry["kind"], entry.get("request_id"), entry.get("plan")
        self._new_entries.append((sequence, body, kind, entry.get("analyst"), key, plan))
        self.last = Head(sequence, digest(body.encode()))
        if self._tail is not None:
            self._tail[sequence] = body
        if key is not None:
            self._requests[kind, key] = sequence, body
        if kind == "commit" and plan is not None:
            self._answered.pop(plan, None)  # to be looked up again

    def add_payload(self, name: str, payload: bytes) -> None:
        self._new_payloads[name] = payload
        self._waiting_bytes += len(payload)
        if self._waiting_bytes > _MOST_WAITING_BYTES:
            self.flush()

    def add_storage(self, analyst: str, count: int) -> None:
        self._storage[analyst] = self._counted[analyst] = self.find_storage(analyst) + count

    def prepare_storage(self) -> None:
        """They were made with the other tables."""

    def flush(self) -> None:
        """Send what was written; inside a pipeline without waiting for it."""
        entries, payloads, counts = self._new_entries, self._new_payloads, self._counted
        self._new_entries, self._new_payloads, self._counted, self._waiting_bytes = [], {}, {}, 0
        for name, rows in (("entries", entries), ("payloads", payloads.items()), ("storage", counts.items())):
            if rows:
                columns = map(list, zip(*rows, strict=True))
                self.connection.execute(self._statements[f"add_{name}"], tuple(columns))

    def check(self) -> None:
        """Refuse entries that would be found by something else than what they say."""
        after = 0
        while rows := self._ask("rows", after, _PAGE).fetchall():
            for sequence, body, *columns in rows:
                try:
                    entry = json.loads(body)
                    same = columns == [entry.get(name) for name in ("kind", "analyst", "request_id", "plan")]
                except (ValueError, AttributeError):
                    same = False
                if not same:
                    raise damage_refusal(f"has an entry {sequence} whose columns do not match its text")
                after = sequence

    def touch(self) -> None:
        self._ask("touch")

    def save(self, target: Path) -> None:
        save_copy(self, self.connection, self.schema, target)

    def _find_row(self, name: str, *values: object) -> Any:  # noqa: ANN401 - whatever is in the columns
        return self._ask(name, *values).fetchone()

    def _ask(self, name: str, *values: object) -> Any:  # noqa: ANN401 - a cursor
        self.flush()
        return self.connection.execute(self._statements[name], values)


def _is_storable(*texts: str | None) -> bool:
    """Whether the server can hold these texts: somebody's odd name must not fail the group it is asked for with."""
    text = "".join(filter(None, texts))
    return "\0" not in text and text.encode(errors="ignore").decode() == text


def _read_previous(body: str) -> str:
    """What an entry says is the hash of the one before it; no hash at all where it cannot be read."""
    try:
        return str(json.loads(body)["previous"])
    except (ValueError, KeyError, TypeError):
        return ""


def save_copy(records: Records, connection: Connection, schema: str, target: Path) -> None:
    """Write all of a ledger durably into a new file of SQLite."""
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))  # nobody has it open as a database yet
    with closing(sqlite3.connect(target, isolation_level=None)) as copy:
        copy.execute("PRAGMA synchronous = FULL")
        copy.execute("BEGIN IMMEDIATE")
        sqlite.create_tables(copy, LEDGER_FORMAT)
        bodies = enumerate(records.read_bodies(0), start=1)
        copy.executemany("INSERT INTO entries (sequence, body) VALUES (?, ?)", bodies)
        copy.executemany("INSERT INTO payloads VALUES (?, ?)", _list_stored(connection, schema))
        SqliteRecords(copy).prepare_storage()
        counts = connection.execute(write_statements(schema)["counts"]).fetchall()
        copy.executemany("INSERT INTO storage VALUES (?, ?)", counts)
        copy.execute("COMMIT")


def load_copy(connection: Connection, schema: str, dataset: str, source: Path) -> None:
    """Load a file into a new schema, inside a transaction; one that is there is moved aside."""
    connection.execute("SELECT pg_catalog.pg_advisory_xact_lock(%s)", (lock_number(schema),))
    if find_format(connection, schema, dataset):
        connection.execute(f"ALTER SCHEMA {schema} RENAME TO {_find_free_name(connection, schema)}")
    create_tables(connection, schema, dataset)
    with closing(sqlite3.connect(source, isolation_level=None)) as copy:
        for table, columns in _COPIED.items():
            with connection.cursor().copy(f"COPY {schema}.{table} ({columns}) FROM STDIN") as rows:
                for row in copy.execute(f"SELECT {columns} FROM {table}"):  # noqa: S608 - our own names
                    rows.write_row(row)


def _find_free_name(connection: Connection, schema: str) -> str:
    """What an old schema is called from now on: nothing reads it."""
    names = (f"{schema[:_LONGEST]}_replaced_{number}" for number in count(1))
    is_free = "SELECT pg_catalog.to_regnamespace(%s) IS NULL"
    return next(name for name in names if connection.execute(is_free, (name,)).fetchone()[0])


def _list_stored(connection: Connection, schema: str) -> Iterator[tuple[str, bytes]]:
    """All stored answers with their hashes, a few at a time."""
    name = ""
    while rows := connection.execute(write_statements(schema)["stored"], (name, _FEW)).fetchall():
        yield from ((name, bytes(payload)) for name, payload in rows)
        name = rows[-1][0]
