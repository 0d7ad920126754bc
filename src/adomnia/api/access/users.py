"""The table of users, with their roles and password hashes; one owner always remains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adomnia.api.access import login_attempts
from adomnia.api.access.model import Role, User
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from adomnia.api.access.database import AccessTransaction

MAX_LENGTH = 100
SELECT = "SELECT name, role, password IS NOT NULL, created FROM users"
SELECT_BY_NAME = f"{SELECT} WHERE name = ?"
SELECT_PASSWORD = "SELECT password FROM users WHERE name = ?"  # noqa: S105 - a query, not a password


def is_valid_name(name: str) -> bool:
    return 0 < len(name) <= MAX_LENGTH and name.isprintable()


def check_name(name: str) -> None:
    """Refuse a name that cannot be shown on a page or in a log."""
    if not is_valid_name(name):
        fix = f"choose 1 to {MAX_LENGTH} printable characters"
        raise Refusal("The name", f"is not 1 to {MAX_LENGTH} printable characters long", fix, code="bad_name")


def from_row(row: tuple[Any, ...]) -> User:
    name, role, has_password, created = row
    return User(name, Role(role), bool(has_password), created)


def unknown_user_refusal(name: str) -> Refusal:
    """The refusal of a name that no user has; it repeats the name only if it is a valid one."""
    what = f"User {name}" if is_valid_name(name) else "A user of that name"
    return Refusal(what, "does not exist", "name one of the users, or add this one", code="unknown_user")


def add(transaction: AccessTransaction, name: str, role: Role, password: str | None) -> None:
    if transaction.one(SELECT_BY_NAME, name) is not None:
        raise Refusal(f"User {name}", "exists already", "choose another name, or change the role", code="user_exists")
    transaction.run("INSERT INTO users VALUES (?, ?, ?, ?)", name, role, password, transaction.now)


def set_role(transaction: AccessTransaction, name: str, role: Role) -> None:
    before = find(transaction, name)
    if role is not Role.OWNER:
        _check_owner_remains(transaction, before)
    transaction.run("UPDATE users SET role = ? WHERE name = ?", role, name)


def remove(transaction: AccessTransaction, name: str) -> None:
    """Remove a user with their tokens, browser sessions, links and shares; what they paid for stays in the ledger."""
    _check_owner_remains(transaction, find(transaction, name))
    transaction.run('UPDATE tokens SET revoked = TRUE WHERE "user" = ?', name)
    for table in ("visits", "links", "shares"):
        transaction.run(f'DELETE FROM {table} WHERE "user" = ?', name)  # noqa: S608 - a name from the line above
    transaction.run("DELETE FROM users WHERE name = ?", name)


def set_password(transaction: AccessTransaction, name: str, hashed: str, keep_session: str) -> None:
    """Store a new password hash; ends the user's link, and their browser sessions but the one with this id."""
    if not transaction.run("UPDATE users SET password = ? WHERE name = ?", hashed, name):
        raise unknown_user_refusal(name)
    transaction.run('DELETE FROM visits WHERE "user" = ? AND id <> ?', name, keep_session)
    transaction.run('DELETE FROM links WHERE "user" = ?', name)
    login_attempts.clear_name(transaction, name)


def check_password_unchanged(transaction: AccessTransaction, name: str, hashed: str) -> None:
    """Refuse the login if the password hash that was compared has been replaced in the meantime."""
    if transaction.one("SELECT 1 FROM users WHERE name = ? AND password = ?", name, hashed) is None:
        raise login_attempts.login_refusal()


def find(transaction: AccessTransaction, name: str) -> User:
    """Find the user of that name, or refuse."""
    row = transaction.one(SELECT_BY_NAME, name) if is_valid_name(name) else None
    if row is None:
        raise unknown_user_refusal(name)
    return from_row(row)


def _check_owner_remains(transaction: AccessTransaction, user: User) -> None:
    """Refuse to remove or demote the last owner."""
    if user.role is not Role.OWNER:
        return
    others = transaction.one("SELECT 1 FROM users WHERE role = ? AND name <> ?", Role.OWNER, user.name)
    if others is None:
        why = "is the last owner, and nobody could let one in again"
        raise Refusal(f"User {user.name}", why, "make somebody else an owner first", code="last_owner")
