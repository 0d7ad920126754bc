"""The table of shares: links by which an analyst lets others of the same server have an answer, at their expense."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.api.access import credentials, users
from adomnia.api.access.credentials import CredentialKind
from adomnia.api.access.model import Share
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from typing import Any

    from adomnia.api.access.database import AccessTransaction

# Files of version 1 that were made before there were shares get the table when they are opened.
TABLES = (
    """CREATE TABLE IF NOT EXISTS shares (
        id TEXT PRIMARY KEY, user TEXT NOT NULL, digest BLOB NOT NULL, request_id TEXT NOT NULL, created REAL NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS shares_of ON shares (user)",
)
SELECT = 'SELECT id, "user", request_id, created FROM shares WHERE "user" = ? ORDER BY created DESC, id'
SELECT_BY_ID = 'SELECT id, "user", request_id, created, digest FROM shares WHERE id = ?'
_MAX_SHARES = 100  # of a user


def create(transaction: AccessTransaction, name: str, request_id: str) -> tuple[str, Share]:
    """Create a link to an answer; gives its code, which is not stored, and the share."""
    users.find(transaction, name)
    (number,) = transaction.one('SELECT COUNT(*) FROM shares WHERE "user" = ?', name) or (0,)
    if number >= _MAX_SHARES:
        why = f"would be one of more than {_MAX_SHARES}"
        raise Refusal("The link", why, "end some of yours", code="too_many_links")
    code, credential = credentials.draw(CredentialKind.SHARE)
    sql = 'INSERT INTO shares (id, "user", digest, request_id, created) VALUES (?, ?, ?, ?, ?)'
    transaction.run(sql, credential.id, name, credential.digest, request_id, transaction.now)
    return code, Share(credential.id, name, request_id, transaction.now)


def end(transaction: AccessTransaction, share_id: str, name: str) -> None:
    """End a link of somebody's own for good."""
    known = credentials.is_id(share_id)
    if not known or not transaction.run('DELETE FROM shares WHERE id = ? AND "user" = ?', share_id, name):
        raise Refusal("The link", "is none of yours", "choose one of the list", code="unknown_link")


def from_row(row: tuple[Any, ...]) -> Share:
    return Share(*row)
