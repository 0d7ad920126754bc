"""The table of browser sessions: who is signed in, until when, and when they were last seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.api.access import credentials, users
from adomnia.api.access.credentials import CredentialKind
from adomnia.api.access.model import Visitor

if TYPE_CHECKING:
    from adomnia.api.access.database import AccessTransaction

MAX_SECONDS, IDLE_SECONDS = 12 * 60 * 60, 60 * 60
USE_SECONDS = 60  # how often the last use is recorded
SELECT_BY_ID = """
    SELECT users.name, users.role, digest, expires, used, latest FROM visits JOIN users ON users.name = "user", clock
    WHERE id = ?
"""


def start(transaction: AccessTransaction, name: str) -> tuple[str, Visitor]:
    """Start a session; gives the secret for its cookie, and whose session it is."""
    role = users.find(transaction, name).role
    expired = "DELETE FROM visits WHERE expires <= ? OR used <= ?"
    transaction.run(expired, transaction.now, transaction.now - IDLE_SECONDS)
    secret, credential = credentials.draw(CredentialKind.BROWSER_SESSION)
    sql = 'INSERT INTO visits (id, "user", digest, expires, used) VALUES (?, ?, ?, ?, ?)'
    transaction.run(sql, credential.id, name, credential.digest, transaction.now + MAX_SECONDS, transaction.now)
    return secret, Visitor(name, role, csrf=credentials.derive_csrf(secret))


def has_expired(now: float, expires: float, used: float) -> bool:
    """Whether a session has reached its end, or was not used for too long."""
    return now >= expires or now >= used + IDLE_SECONDS


def record_use(transaction: AccessTransaction, session_id: str) -> None:
    transaction.run("UPDATE visits SET used = ? WHERE id = ?", transaction.now, session_id)


def end(transaction: AccessTransaction, session_id: str) -> None:
    transaction.run("DELETE FROM visits WHERE id = ?", session_id)
