"""The rows of visits and links: a browser that is signed in, and the way in for who has no password yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.server.access import keys, users
from adomnia.server.access.attempts import wrong
from adomnia.server.access.model import Visitor

if TYPE_CHECKING:
    from adomnia.server.access.database import Page
    from adomnia.server.access.keys import Key

__all__ = ["IDENTIFIED", "LINKED", "TOUCH_SECONDS", "begin", "end", "invite", "is_over", "touch", "use_up"]

VISIT_SECONDS, IDLE_SECONDS = 12 * 60 * 60, 60 * 60
LINK_SECONDS = 24 * 60 * 60
TOUCH_SECONDS = 60  # how often a visit's last use is written down
IDENTIFIED = """
    SELECT users.name, users.role, digest, expires, used, latest FROM visits JOIN users ON users.name = user, clock
    WHERE id = ?
"""
LINKED = "SELECT user, digest FROM links WHERE id = ?"


def begin(page: Page, name: str) -> tuple[str, Visitor]:
    """A fresh visit: the secret of its cookie, and who it is."""
    role = users.found(page, name).role
    over = "DELETE FROM visits WHERE expires <= ? OR used <= ?"
    page.run(over, page.now, page.now - IDLE_SECONDS)
    secret, key = keys.draw(keys.Kind.VISIT)
    sql = "INSERT INTO visits (id, user, digest, expires, used) VALUES (?, ?, ?, ?, ?)"
    page.run(sql, key.id, name, key.digest, page.now + VISIT_SECONDS, page.now)
    return secret, Visitor(name, role, csrf=keys.csrf_of(secret))


def is_over(now: float, expires: float, used: float) -> bool:
    return now >= expires or now >= used + IDLE_SECONDS


def touch(page: Page, visit: str) -> None:
    page.run("UPDATE visits SET used = ? WHERE id = ?", page.now, visit)


def end(page: Page, visit: str) -> None:
    page.run("DELETE FROM visits WHERE id = ?", visit)


def invite(page: Page, name: str) -> str:
    """A code that lets its holder choose the password, once; an older one of the same user ends."""
    users.found(page, name)
    code, key = keys.draw(keys.Kind.LINK)
    sql = "INSERT OR REPLACE INTO links (user, id, digest, expires) VALUES (?, ?, ?, ?)"
    page.run(sql, name, key.id, key.digest, page.now + LINK_SECONDS)
    return code


def use_up(page: Page, link: Key) -> None:
    """Of several at once, one; the others are refused like a wrong one."""
    if not page.run("DELETE FROM links WHERE id = ? AND expires > ?", link.id, page.now):
        raise wrong()
