"""The table of tokens, with which programs sign in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.api.access import credentials, users
from adomnia.api.access.credentials import CredentialKind
from adomnia.api.access.model import Token, TokenState
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from typing import Any

    from adomnia.api.access.database import AccessTransaction

SELECT = 'SELECT id, "user", label, created, expires, revoked FROM tokens WHERE ? OR "user" = ? ORDER BY created, id'
SELECT_BY_ID = """
    SELECT users.name, users.role, digest, expires, latest FROM tokens JOIN users ON users.name = "user", clock
    WHERE id = ? AND NOT revoked
"""
_MAX_LABEL_LENGTH = 100
_MAX_DAYS = 3650
_MAX_TOKENS = 100  # valid ones of a user: a program that makes a token at each start finds out
_DAY_SECONDS = 24 * 60 * 60
_VALID = '"user" = ? AND NOT revoked AND (expires IS NULL OR expires > ?)'


def check(label: str, days: int | None) -> None:
    """Refuse a label that cannot be shown on a page, or a number of days that is out of range."""
    if not label.isprintable() or len(label) > _MAX_LABEL_LENGTH:
        fix = f"choose at most {_MAX_LABEL_LENGTH} printable characters"
        raise Refusal("The token's label", "cannot be shown on one line", fix, code="bad_label")
    if days is not None and not 1 <= days <= _MAX_DAYS:
        fix = f"name 1 to {_MAX_DAYS} days, or none for a token that lasts until it is revoked"
        raise Refusal("The token", f"cannot expire after {days} days", fix, code="bad_days")


def create(transaction: AccessTransaction, name: str, label: str, days: int | None) -> tuple[str, Token]:
    """Create a token; gives its secret, which is not stored, and the token."""
    users.find(transaction, name)
    _make_room(transaction, name)
    secret, credential = credentials.draw(CredentialKind.TOKEN)
    expires = None if days is None else transaction.now + days * _DAY_SECONDS
    sql = 'INSERT INTO tokens (id, "user", digest, label, created, expires) VALUES (?, ?, ?, ?, ?, ?)'
    transaction.run(sql, credential.id, name, credential.digest, label, transaction.now, expires)
    return secret, Token(credential.id, name, label, transaction.now, expires, revoked=False, state=TokenState.VALID)


def revoke(transaction: AccessTransaction, token_id: str, name: str | None) -> None:
    """Revoke a token for good; with a user's name, only if it is theirs."""
    row = transaction.one('SELECT "user" FROM tokens WHERE id = ?', token_id) if credentials.is_id(token_id) else None
    if row is None or name not in {None, row[0]}:
        fix = "list the tokens and name one by its id"
        raise Refusal("A token of that id", "does not exist", fix, code="unknown_token")
    transaction.run("UPDATE tokens SET revoked = TRUE WHERE id = ?", token_id)


def from_row(row: tuple[Any, ...], now: float) -> Token:
    token_id, user, label, created, expires, revoked = row
    lasting = TokenState.EXPIRED if has_expired(expires, now) else TokenState.VALID
    state = TokenState.REVOKED if revoked else lasting
    return Token(token_id, user, label, created, expires, bool(revoked), state)


def has_expired(expires: float | None, now: float) -> bool:
    return expires is not None and now >= expires


def _make_room(transaction: AccessTransaction, name: str) -> None:
    """Refuse another token if a user has too many valid ones; delete the oldest that are not valid any more."""
    (valid,) = transaction.one(f"SELECT COUNT(*) FROM tokens WHERE {_VALID}", name, transaction.now) or (0,)  # noqa: S608 - our own text
    if valid >= _MAX_TOKENS:
        fix = "revoke those that are not in use"
        raise Refusal(f"User {name}", f"has {valid} tokens already", fix, code="too_many_tokens")
    sql = f"""DELETE FROM tokens WHERE id IN (
        SELECT id FROM tokens WHERE "user" = ? AND NOT ({_VALID}) ORDER BY created DESC LIMIT ? OFFSET ?
    )"""  # noqa: S608 - our own text
    transaction.run(sql, name, name, transaction.now, _MAX_TOKENS, _MAX_TOKENS - valid - 1)
