"""Attempts to sign in, counted before they are tried: who guesses, alone or from many places at once, has to wait."""

from __future__ import annotations

from hashlib import sha256
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING

from adomnia.errors import Refusal

if TYPE_CHECKING:
    from adomnia.server.access.database import Page

__all__ = ["WINDOW_SECONDS", "WRONG", "begin", "forget", "forgive", "wrong"]

WINDOW_SECONDS = 15 * 60
WRONG = "sign_in"
# Of a name from one address, and from all: few from one, so that nobody guesses; more from all, so that whoever fails
# on purpose under somebody's name keeps only themselves out.
_MOST_OF_BOTH, _MOST_OF_A_NAME, _MOST_OF_AN_ADDRESS = 5, 50, 20
_HOUSEHOLD = 64  # the bits of an IPv6 address that its holder did not choose


def wrong() -> Refusal:
    """The same for every name, password and link that does not open: nobody learns which of them was right."""
    why = "was refused: name and password, or the link, are not right or no longer valid"
    return Refusal("The sign-in", why, "check them, or ask the owner for a new link", code=WRONG)


def begin(page: Page, name: str | None, address: str) -> int:
    """Count an attempt as failed until it is forgiven, or refuse it; None: for a link, which names nobody."""
    page.run("DELETE FROM attempts WHERE at <= ?", page.now - WINDOW_SECONDS)
    who, where = None if name is None else _digest(name), _digest(_household(address))
    sql = "SELECT COUNT(*), TOTAL(address = ?) FROM attempts WHERE name = ?"
    of_name, of_both = page.one(sql, where, who) or (0, 0)
    (of_address,) = page.one("SELECT COUNT(*) FROM attempts WHERE address = ?", where) or (0,)
    if of_both >= _MOST_OF_BOTH or of_name >= _MOST_OF_A_NAME or of_address >= _MOST_OF_AN_ADDRESS:
        why = "came after too many others that failed"
        raise Refusal("The sign-in", why, f"wait {WINDOW_SECONDS // 60} minutes", code="too_many_attempts")
    sql = "INSERT INTO attempts (at, name, address) VALUES (?, ?, ?)"
    return page.connection.execute(sql, (page.now, who, where)).lastrowid or 0


def forgive(page: Page, attempt: int) -> None:
    """It did not fail."""
    page.run("DELETE FROM attempts WHERE id = ?", attempt)


def forget(page: Page, name: str) -> None:
    """Guesses at a password that is no longer the password."""
    page.run("DELETE FROM attempts WHERE name = ?", _digest(name))


def _household(address: str) -> str:
    """Where somebody comes from: who has one IPv6 address has 2**64 of them."""
    try:
        place = ip_address(address)
    except ValueError:
        return address
    if not isinstance(place, IPv6Address):
        return str(place)
    return str(place.ipv4_mapped or int(place) >> _HOUSEHOLD)


def _digest(text: str) -> bytes:
    """People type passwords where names belong: what was typed is not kept."""
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
