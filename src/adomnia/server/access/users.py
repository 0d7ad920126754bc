"""The rows of users: who there is, with which role, and that an owner remains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adomnia.errors import Refusal
from adomnia.server.access import attempts
from adomnia.server.access.model import Role, User

if TYPE_CHECKING:
    from adomnia.server.access.database import Page

__all__ = [
    "ALL",
    "ONE",
    "PASSWORD",
    "add",
    "check_name",
    "check_password",
    "found",
    "is_name",
    "keep_password",
    "made",
    "remove",
    "set_role",
    "unknown",
]

LONGEST = 100
ALL = "SELECT name, role, password IS NOT NULL, created FROM users"
ONE = f"{ALL} WHERE name = ?"
PASSWORD = "SELECT password FROM users WHERE name = ?"  # noqa: S105 - a question, not a password


def is_name(name: str) -> bool:
    return 0 < len(name) <= LONGEST and name.isprintable()


def check_name(name: str) -> None:
    """Refuse a name that a page or a log could not show."""
    if not is_name(name):
        fix = f"choose 1 to {LONGEST} printable characters"
        raise Refusal("The name", f"is not 1 to {LONGEST} printable characters long", fix, code="bad_name")


def made(row: tuple[Any, ...]) -> User:
    name, role, has_password, created = row
    return User(name, Role(role), bool(has_password), created)


def unknown(name: str) -> Refusal:
    """For a name that nobody has, whatever it holds."""
    shown = f"User {name}" if is_name(name) else "A user of that name"
    return Refusal(shown, "does not exist", "name one of the users, or add this one", code="unknown_user")


def add(page: Page, name: str, role: Role, password: str | None) -> None:
    if page.one(ONE, name) is not None:
        raise Refusal(f"User {name}", "exists already", "choose another name, or change the role", code="user_exists")
    page.run("INSERT INTO users VALUES (?, ?, ?, ?)", name, role, password, page.now)


def set_role(page: Page, name: str, role: Role) -> None:
    before = found(page, name)
    if role is not Role.OWNER:
        _leave_an_owner(page, before)
    page.run("UPDATE users SET role = ? WHERE name = ?", role, name)


def remove(page: Page, name: str) -> None:
    """With everything they could enter by; what they paid for stays in the ledger."""
    _leave_an_owner(page, found(page, name))
    page.run("UPDATE tokens SET revoked = 1 WHERE user = ?", name)
    for table in ("visits", "links"):
        page.run(f"DELETE FROM {table} WHERE user = ?", name)  # noqa: S608 - a name from the line above
    page.run("DELETE FROM users WHERE name = ?", name)


def keep_password(page: Page, name: str, password: str, visit: str) -> None:
    """A new password, hashed; it ends the user's open link, and their visits but the one with this id."""
    if not page.run("UPDATE users SET password = ? WHERE name = ?", password, name):
        raise unknown(name)
    page.run("DELETE FROM visits WHERE user = ? AND id <> ?", name, visit)
    page.run("DELETE FROM links WHERE user = ?", name)
    attempts.forget(page, name)


def check_password(page: Page, name: str, password: str) -> None:
    """Refuse the sign-in if what was compared is no longer what is kept: somebody has changed it meanwhile."""
    if page.one("SELECT 1 FROM users WHERE name = ? AND password = ?", name, password) is None:
        raise attempts.wrong()


def found(page: Page, name: str) -> User:
    """The user of that name, or a refusal."""
    row = page.one(ONE, name) if is_name(name) else None
    if row is None:
        raise unknown(name)
    return made(row)


def _leave_an_owner(page: Page, user: User) -> None:
    if user.role is not Role.OWNER:
        return
    others = page.one("SELECT 1 FROM users WHERE role = ? AND name <> ?", Role.OWNER, user.name)
    if others is None:
        why = "is the last owner, and nobody could let one in again"
        raise Refusal(f"User {user.name}", why, "make somebody else an owner first", code="last_owner")
