"""The rows of tokens: what programs sign in with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.server.access import keys, users
from adomnia.server.access.model import Token

if TYPE_CHECKING:
    from typing import Any

    from adomnia.server.access.database import Page

__all__ = ["ALL", "IDENTIFIED", "check", "create", "made", "revoke"]

ALL = "SELECT id, user, label, created, expires, revoked FROM tokens"
IDENTIFIED = """
    SELECT users.name, users.role, digest, expires, latest FROM tokens JOIN users ON users.name = user, clock
    WHERE id = ? AND NOT revoked
"""
_LONGEST_LABEL = 100
_MOST_DAYS = 3650
_MOST = 100  # of one user: a program that asks for a new token at each start is told so
_DAY_SECONDS = 24 * 60 * 60
_LIVE = "user = ? AND NOT revoked AND (expires IS NULL OR expires > ?)"


def check(label: str, days: int | None) -> None:
    """Refuse a label that a page could not show, or a token of a strange age."""
    if not label.isprintable() or len(label) > _LONGEST_LABEL:
        fix = f"choose at most {_LONGEST_LABEL} printable characters"
        raise Refusal("The token's label", "cannot be shown on one line", fix, code="bad_label")
    if days is not None and not 1 <= days <= _MOST_DAYS:
        fix = f"name 1 to {_MOST_DAYS} days, or none for a token that lasts until it is revoked"
        raise Refusal("The token", f"cannot expire after {days} days", fix, code="bad_days")


def create(page: Page, name: str, label: str, days: int | None) -> tuple[str, Token]:
    """A fresh token, and its secret, which is not kept."""
    users.found(page, name)
    _make_room(page, name)
    secret, key = keys.draw(keys.Kind.TOKEN)
    expires = None if days is None else page.now + days * _DAY_SECONDS
    sql = "INSERT INTO tokens (id, user, digest, label, created, expires) VALUES (?, ?, ?, ?, ?, ?)"
    page.run(sql, key.id, name, key.digest, label, page.now, expires)
    return secret, Token(key.id, name, label, page.now, expires, revoked=False)


def revoke(page: Page, token_id: str, name: str | None) -> None:
    """For good; of a user who is named only if it is theirs."""
    row = page.one("SELECT user FROM tokens WHERE id = ?", token_id) if token_id.isascii() else None
    if row is None or name not in {None, row[0]}:
        fix = "list the tokens and name one by its id"
        raise Refusal("A token of that id", "does not exist", fix, code="unknown_token")
    page.run("UPDATE tokens SET revoked = 1 WHERE id = ?", token_id)


def made(row: tuple[Any, ...]) -> Token:
    token_id, user, label, created, expires, revoked = row
    return Token(token_id, user, label, created, expires, bool(revoked))


def _make_room(page: Page, name: str) -> None:
    """Refuse more live tokens than anybody needs, and forget the oldest of the dead beside them."""
    (live,) = page.one(f"SELECT COUNT(*) FROM tokens WHERE {_LIVE}", name, page.now) or (0,)  # noqa: S608 - our own text
    if live >= _MOST:
        fix = "revoke those that are not in use"
        raise Refusal(f"User {name}", f"has {live} tokens already", fix, code="too_many_tokens")
    sql = f"""DELETE FROM tokens WHERE id IN (
        SELECT id FROM tokens WHERE user = ? AND NOT ({_LIVE}) ORDER BY created DESC LIMIT -1 OFFSET ?
    )"""  # noqa: S608 - our own text
    page.run(sql, name, name, page.now, _MOST - live - 1)
