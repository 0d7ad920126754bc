"""The records of a ledger in SQLite: each question to them is one statement that finds its rows by an index."""

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adomnia.ledger.chain import damage_refusal
from adomnia.ledger.records import NO_END
from adomnia.ledger.schema import LEDGER_FORMAT, explain_error
from adomnia.ledger.sqlite import is_damage

_ANSWERED = """SELECT request_id FROM entries WHERE kind = 'commit' AND plan = ?
               ORDER BY analyst IS ? DESC, sequence LIMIT 1"""
_CHECKPOINT = """SELECT sequence, json_extract(body, '$.previous') FROM entries
                 WHERE sequence <= ? AND kind = 'checkpoint' ORDER BY sequence DESC LIMIT 1"""
_PAGE = """SELECT debits.body FROM entries AS kept
           JOIN entries AS debits ON debits.kind = 'reserve' AND debits.request_id = kept.request_id
           WHERE kept.kind = 'commit' AND kept.analyst = ? AND kept.sequence > ? ORDER BY kept.sequence LIMIT ?"""
_LATEST = """SELECT kept.sequence, debits.body FROM entries AS kept
             JOIN entries AS debits ON debits.kind = 'reserve' AND debits.request_id = kept.request_id
             WHERE kept.kind = 'commit' AND kept.analyst = ? AND kept.sequence > ?
             ORDER BY kept.sequence DESC LIMIT ?"""
_UNANSWERED = """SELECT body FROM entries AS debits INDEXED BY debits
                 WHERE kind = 'reserve' AND request_id > ? AND request_id < ? AND NOT EXISTS (
                     SELECT 1 FROM entries AS kept WHERE kept.kind = 'commit' AND kept.request_id = debits.request_id
                 ) ORDER BY sequence DESC LIMIT ?"""
_DEBITS = """SELECT body FROM entries INDEXED BY debits
             WHERE kind = 'reserve' AND request_id > ? AND request_id < ? ORDER BY sequence LIMIT ?"""
_STORAGE = "CREATE TABLE IF NOT EXISTS storage (analyst TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID"
_ADD_STORAGE = "INSERT INTO storage VALUES (?, ?) ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes"


class SqliteRecords:
    """What one connection sees."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def read_bodies(self, after: int, last: int = NO_END) -> Iterator[str]:
        query = "SELECT body FROM entries WHERE sequence > ? AND sequence <= ? ORDER BY sequence"
        return (body for (body,) in self.connection.execute(query, (after, last)))

    def find_body(self, sequence: int) -> str | None:
        found: str | None = self._find("SELECT body FROM entries WHERE sequence = ?", sequence)
        return found

    def find_newest(self) -> tuple[int, str] | None:
        found: tuple[int, str] | None = self._find_row(
            "SELECT sequence, body FROM entries ORDER BY sequence DESC LIMIT 1"
        )
        return found

    def find_checkpoint(self, last: int) -> tuple[int, str | None] | None:
        found: tuple[int, str | None] | None = self._find_row(_CHECKPOINT, last)
        return found

    def find_previous(self, sequence: int) -> str | None:
        found: str | None = self._find(
            "SELECT json_extract(body, '$.previous') FROM entries WHERE sequence = ?", sequence
        )
        return found

    def find_debit(self, key: str) -> tuple[int, str] | None:
        found: tuple[int, str] | None = self._find_row(
            "SELECT sequence, body FROM entries WHERE kind = 'reserve' AND request_id = ?", key
        )
        return found

    def find_commit(self, key: str) -> tuple[int, str] | None:
        found: tuple[int, str] | None = self._find_row(
            "SELECT sequence, body FROM entries WHERE kind = 'commit' AND request_id = ?", key
        )
        return found

    def find_answered(self, plan: str, analyst: str | None) -> str | None:
        found: str | None = self._find(_ANSWERED, plan, analyst)
        return found

    def find_payload(self, name: str) -> bytes | None:
        found: bytes | None = self._find("SELECT payload FROM payloads WHERE digest = ?", name)
        return found

    def count_payloads(self) -> int:
        return int(self._find("SELECT COUNT(*) FROM payloads"))

    def list_restorations(self) -> list[str]:
        rows = self.connection.execute("SELECT body FROM entries WHERE kind = 'restored' ORDER BY sequence")
        return [body for (body,) in rows]

    def list_answered(self, analyst: str, after: int, limit: int) -> Iterator[str]:
        return (body for (body,) in self.connection.execute(_PAGE, (analyst, after, limit)))

    def list_latest(self, analyst: str, after: int, limit: int) -> list[tuple[int, str]]:
        return self.connection.execute(_LATEST, (analyst, after, limit)).fetchall()

    def list_unanswered(self, first: str, beyond: str, limit: int) -> list[str]:
        return [body for (body,) in self.connection.execute(_UNANSWERED, (first, beyond, limit))]

    def list_debits(self, first: str, beyond: str, limit: int) -> list[str]:
        return [body for (body,) in self.connection.execute(_DEBITS, (first, beyond, limit))]

    def count_answers(self, analyst: str) -> int:
        return int(self._find("SELECT COUNT(*) FROM entries WHERE kind = 'commit' AND analyst = ?", analyst))

    def find_storage(self, analyst: str) -> int:
        return self._find("SELECT bytes FROM storage WHERE analyst = ?", analyst) or 0

    def add_entry(self, sequence: int, body: str, entry: dict[str, Any]) -> None:  # noqa: ARG002 - derived from the text
        self.connection.execute("INSERT INTO entries (sequence, body) VALUES (?, ?)", (sequence, body))

    def add_payload(self, name: str, payload: bytes) -> None:
        self.connection.execute("INSERT OR IGNORE INTO payloads VALUES (?, ?)", (name, payload))

    def add_storage(self, analyst: str, count: int) -> None:
        self.connection.execute(_ADD_STORAGE, (analyst, count))

    def prepare_storage(self) -> None:
        self.connection.execute(_STORAGE)

    def check(self) -> None:
        try:
            sound = self._find("PRAGMA integrity_check") == "ok"
        except sqlite3.Error as error:
            if is_damage(error):
                raise damage_refusal(explain_error(error).why) from error
            raise
        if not sound:
            raise damage_refusal("is damaged")

    def touch(self) -> None:
        self.connection.execute(f"PRAGMA user_version = {LEDGER_FORMAT.version}")

    def save(self, target: Path) -> None:
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(self.connection.serialize())
            file.flush()
            os.fsync(file.fileno())

    def _find_row(self, query: str, *values: object) -> Any:  # noqa: ANN401 - whatever is in the columns
        return self.connection.execute(query, values).fetchone()

    def _find(self, query: str, *values: object) -> Any:  # noqa: ANN401 - whatever is in the column
        row = self._find_row(query, *values)
        return None if row is None else row[0]
