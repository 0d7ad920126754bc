"""Limits on failed logins: each attempt is counted before it is tried, by name and by address."""

from __future__ import annotations

from hashlib import sha256
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING

from adomnia.errors import Refusal

if TYPE_CHECKING:
    from adomnia.api.access.database import AccessTransaction

WINDOW_SECONDS = 15 * 60
LOGIN_FAILED = "sign_in"
# Few for a name from one address, so that nobody guesses; more for a name from all addresses, so that whoever fails on
# purpose under somebody's name keeps only themselves out.
_MAX_FOR_NAME_AND_ADDRESS, _MAX_FOR_NAME, _MAX_FOR_ADDRESS = 5, 50, 20
_HOST_BITS = 64  # of an IPv6 address: its holder may choose them freely


def login_refusal() -> Refusal:
    """The same refusal for every wrong name, password and link: nobody learns which of them was right."""
    why = "was refused: name and password, or the link, are not right or no longer valid"
    return Refusal("The sign-in", why, "check them, or ask the owner for a new link", code=LOGIN_FAILED)


def count(transaction: AccessTransaction, name: str | None, address: str) -> int:
    """Count an attempt as failed until it is cleared, or refuse it; gives its id. A link names nobody (None)."""
    transaction.run("DELETE FROM attempts WHERE at <= ?", transaction.now - WINDOW_SECONDS)
    hashed_name, hashed_address = None if name is None else _digest(name), _digest(_network(address))
    sql = "SELECT COUNT(*), COUNT(*) FILTER (WHERE address = ?) FROM attempts WHERE name = ?"
    of_name, of_both = transaction.one(sql, hashed_address, hashed_name) or (0, 0)
    (of_address,) = transaction.one("SELECT COUNT(*) FROM attempts WHERE address = ?", hashed_address) or (0,)
    if of_both >= _MAX_FOR_NAME_AND_ADDRESS or of_name >= _MAX_FOR_NAME or of_address >= _MAX_FOR_ADDRESS:
        why = "came after too many others that failed"
        raise Refusal("The sign-in", why, f"wait {WINDOW_SECONDS // 60} minutes", code="too_many_attempts")
    sql = "INSERT INTO attempts (at, name, address) VALUES (?, ?, ?) RETURNING id"
    (attempt,) = transaction.one(sql, transaction.now, hashed_name, hashed_address) or (0,)
    return int(attempt)


def clear(transaction: AccessTransaction, attempt: int) -> None:
    """Remove an attempt that did not fail."""
    transaction.run("DELETE FROM attempts WHERE id = ?", attempt)


def clear_name(transaction: AccessTransaction, name: str) -> None:
    """Remove all attempts for a name whose password has changed."""
    transaction.run("DELETE FROM attempts WHERE name = ?", _digest(name))


def _network(address: str) -> str:
    """The network of one client: the holder of one IPv6 address has 2**64 of them."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or int(parsed) >> _HOST_BITS)


def _digest(text: str) -> bytes:
    """Hash what was typed: people type passwords where names belong."""
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
