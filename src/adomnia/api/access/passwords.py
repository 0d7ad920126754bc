"""Passwords: which ones are strong enough, and hashing them with argon2id."""

from __future__ import annotations

from base64 import b64encode
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import TYPE_CHECKING
from unicodedata import normalize

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError, VerifyMismatchError

from adomnia.errors import Refusal
from adomnia.noise import SystemBits

if TYPE_CHECKING:
    from collections.abc import Iterator

MIN_LENGTH, MAX_LENGTH = 12, 1000
_HASHER = PasswordHasher()  # the library's recommendation: argon2id with 64 MiB
_SLOTS = BoundedSemaphore(2)  # 64 MiB each: many logins at once must not use up the memory


def _zeros(size: int) -> str:
    return b64encode(bytes(size)).decode().rstrip("=")


# Compared with if there is no password: as expensive as a real hash, and no password is known to match it.
_UNMATCHED = (
    f"$argon2id$v=19$m={_HASHER.memory_cost},t={_HASHER.time_cost},p={_HASHER.parallelism}"
    f"${_zeros(_HASHER.salt_len)}${_zeros(_HASHER.hash_len)}"
)


def check_strength(name: str, password: str) -> None:
    """Refuse a password that is too easy to guess; length is what counts."""
    what, fix = "The password", f"choose {MIN_LENGTH} to {MAX_LENGTH} characters, for example five words that you drew"
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        raise Refusal(what, f"is not between {MIN_LENGTH} and {MAX_LENGTH} characters long", fix, code="weak_password")
    if _normalize(password).casefold().strip() == _normalize(name).casefold().strip():
        raise Refusal(what, "is the user's name", fix, code="weak_password")
    if len(set(password)) == 1:
        raise Refusal(what, "is one character again and again", fix, code="weak_password")


@contextmanager
def limit_hashing() -> Iterator[None]:
    """Wait until fewer than two others hash. To be held while hashing, and before an attempt is counted."""
    with _SLOTS:
        yield


def hash_password(password: str) -> str:
    """Hash a password with a fresh salt."""
    salt = SystemBits().words(_HASHER.salt_len // 8).tobytes()
    with _explain_errors():
        return _HASHER.hash(_encode(password), salt=salt)


def verify(password: str, stored: str | None) -> bool:
    """Whether a password matches the stored hash; without one (None) it takes as long, and the answer is no."""
    with _explain_errors():
        try:
            _HASHER.verify(stored or _UNMATCHED, _encode(password) if len(password) <= MAX_LENGTH else b"")
        except (VerifyMismatchError, InvalidHashError):
            return False
        return stored is not None


@contextmanager
def _explain_errors() -> Iterator[None]:
    """Turn a lack of memory into a refusal: it says nothing about the password."""
    try:
        yield
    except Argon2Error as error:
        fix = "try again, or give the server more memory"
        raise Refusal("The password", "cannot be hashed for lack of memory", fix, code="busy") from error


def _encode(password: str) -> bytes:
    return _normalize(password).encode("utf-8", "surrogatepass")  # a form or JSON may hold half a character


def _normalize(text: str) -> str:
    """Normalize the spelling of what looks alike: keyboards differ in how they compose an accent."""
    return normalize("NFKC", text)
