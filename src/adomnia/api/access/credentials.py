"""Random secrets that are shown once and stored as a digest, and the tables of those that people carry.

One-time links, by which a user chooses a password; browser sessions: who is signed in, until when, and when they were
last seen; and shares: links by which an analyst lets others of the same server have an answer, at their expense.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING

from adomnia.api.access import users
from adomnia.api.access.login_attempts import login_refusal
from adomnia.api.access.model import Share, Visitor
from adomnia.errors import Refusal
from adomnia.noise import SystemBits

if TYPE_CHECKING:
    from typing import Any

    from adomnia.api.access.database import AccessTransaction

_ID = re.compile("[0-9a-f]{16}")
_SHAPE = re.compile(r"([a-z]+)_([0-9a-f]{16})_([0-9a-f]{64})")
LINK_SECONDS = 24 * 60 * 60
SELECT_LINK = 'SELECT "user", digest FROM links WHERE id = ?'
MAX_SECONDS, IDLE_SECONDS = 12 * 60 * 60, 60 * 60
USE_SECONDS = 60  # how often the last use is recorded
SELECT_SESSION = """
    SELECT users.name, users.role, digest, expires, used, latest FROM visits JOIN users ON users.name = "user", clock
    WHERE id = ?
"""
SELECT_SHARES = 'SELECT id, "user", request_id, created FROM shares WHERE "user" = ? ORDER BY created DESC, id'
SELECT_SHARE = 'SELECT id, "user", request_id, created, digest FROM shares WHERE id = ?'
_MAX_SHARES = 100  # of a user


class CredentialKind(StrEnum):
    """The prefix of a secret, so that a secret of one kind is never accepted as another."""

    TOKEN = "ao"  # noqa: S105 - a prefix, not a secret
    BROWSER_SESSION = "visit"
    LINK = "link"
    SHARE = "share"


@dataclass(frozen=True)
class Credential:
    """What is stored of a secret: an id to find it by, and a digest to compare with."""

    id: str
    digest: bytes = field(repr=False)

    def matches(self, stored: bytes) -> bool:
        """Whether the digests are equal, in a time that does not depend on the stored one."""
        return hmac.compare_digest(self.digest, stored)


def draw(kind: CredentialKind) -> tuple[str, Credential]:
    """Draw a secret of 256 bits; gives its text, to be shown once, and what to store of it."""
    drawn = SystemBits().words(5).tobytes().hex()
    text = f"{kind}_{drawn[:16]}_{drawn[16:]}"
    return text, Credential(drawn[:16], _digest(drawn[16:]))


def parse(kind: CredentialKind, text: str) -> Credential | None:
    """Read the credential that a text claims to be; None if `draw` cannot have made the text."""
    match = _SHAPE.fullmatch(text)
    return Credential(match[2], _digest(match[3])) if match and match[1] == kind else None


def is_id(text: str) -> bool:
    """Whether `draw` can have made this id."""
    return _ID.fullmatch(text) is not None


def derive_csrf(secret: str) -> str:
    """Derive the CSRF token of a browser session from its secret; it cannot be derived from the stored digest."""
    return hmac.new(secret.encode(), b"csrf", sha256).hexdigest()


def _digest(secret: str) -> bytes:
    return sha256(secret.encode()).digest()


def create_link(transaction: AccessTransaction, name: str) -> str:
    """Create the code of a link, which replaces an older one of the same user."""
    users.find(transaction, name)
    code, credential = draw(CredentialKind.LINK)
    transaction.run('DELETE FROM links WHERE "user" = ?', name)
    sql = 'INSERT INTO links ("user", id, digest, expires) VALUES (?, ?, ?, ?)'
    transaction.run(sql, name, credential.id, credential.digest, transaction.now + LINK_SECONDS)
    return code


def use_link(transaction: AccessTransaction, link: Credential) -> None:
    """Use up a link; of several uses at once one succeeds, and the others are refused like a wrong link."""
    if not transaction.run("DELETE FROM links WHERE id = ? AND expires > ?", link.id, transaction.now):
        raise login_refusal()


def start_session(transaction: AccessTransaction, name: str) -> tuple[str, Visitor]:
    """Start a session; gives the secret for its cookie, and whose session it is."""
    role = users.find(transaction, name).role
    expired = "DELETE FROM visits WHERE expires <= ? OR used <= ?"
    transaction.run(expired, transaction.now, transaction.now - IDLE_SECONDS)
    secret, credential = draw(CredentialKind.BROWSER_SESSION)
    sql = 'INSERT INTO visits (id, "user", digest, expires, used) VALUES (?, ?, ?, ?, ?)'
    transaction.run(sql, credential.id, name, credential.digest, transaction.now + MAX_SECONDS, transaction.now)
    return secret, Visitor(name, role, csrf=derive_csrf(secret))


def has_session_expired(now: float, expires: float, used: float) -> bool:
    """Whether a session has reached its end, or was not used for too long."""
    return now >= expires or now >= used + IDLE_SECONDS


def record_use(transaction: AccessTransaction, session_id: str) -> None:
    transaction.run("UPDATE visits SET used = ? WHERE id = ?", transaction.now, session_id)


def end_session(transaction: AccessTransaction, session_id: str) -> None:
    transaction.run("DELETE FROM visits WHERE id = ?", session_id)


def create_share(transaction: AccessTransaction, name: str, request_id: str) -> tuple[str, Share]:
    """Create a link to an answer; gives its code, which is not stored, and the share."""
    users.find(transaction, name)
    (number,) = transaction.one('SELECT COUNT(*) FROM shares WHERE "user" = ?', name) or (0,)
    if number >= _MAX_SHARES:
        why = f"would be one of more than {_MAX_SHARES}"
        raise Refusal("The link", why, "end some of yours", code="too_many_links")
    code, credential = draw(CredentialKind.SHARE)
    sql = 'INSERT INTO shares (id, "user", digest, request_id, created) VALUES (?, ?, ?, ?, ?)'
    transaction.run(sql, credential.id, name, credential.digest, request_id, transaction.now)
    return code, Share(credential.id, name, request_id, transaction.now)


def end_share(transaction: AccessTransaction, share_id: str, name: str) -> None:
    """End a link of somebody's own for good."""
    known = is_id(share_id)
    if not known or not transaction.run('DELETE FROM shares WHERE id = ? AND "user" = ?', share_id, name):
        raise Refusal("The link", "is none of yours", "choose one of the list", code="unknown_link")


def share_of(row: tuple[Any, ...]) -> Share:
    return Share(*row)
