"""Passwords: which ones are good enough, and argon2id to keep them."""

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

__all__ = ["LONGEST", "SHORTEST", "check", "hashed", "is_right", "one_of_few"]

SHORTEST, LONGEST = 12, 1000
_HASHER = PasswordHasher()  # the library's recommendation: argon2id with 64 MiB
_SLOTS = BoundedSemaphore(2)  # 64 MiB each: a crowd at the door must not use up the memory


def _encoded(size: int) -> str:
    return b64encode(bytes(size)).decode().rstrip("=")


# What somebody without a password is compared with: it costs what a real one does, and nothing is known to match it.
_NOBODY = (
    f"$argon2id$v=19$m={_HASHER.memory_cost},t={_HASHER.time_cost},p={_HASHER.parallelism}"
    f"${_encoded(_HASHER.salt_len)}${_encoded(_HASHER.hash_len)}"
)


def check(name: str, password: str) -> None:
    """Refuse what is too easy to guess; length is what counts."""
    what, fix = "The password", f"choose {SHORTEST} to {LONGEST} characters, for example five words that you drew"
    if not SHORTEST <= len(password) <= LONGEST:
        raise Refusal(what, f"is not between {SHORTEST} and {LONGEST} characters long", fix, code="weak_password")
    if _plain(password).casefold().strip() == _plain(name).casefold().strip():
        raise Refusal(what, "is the user's name", fix, code="weak_password")
    if len(set(password)) == 1:
        raise Refusal(what, "is one character again and again", fix, code="weak_password")


@contextmanager
def one_of_few() -> Iterator[None]:
    """To be held while hashing, and before an attempt is counted: at most two wait for their hash at a time."""
    with _SLOTS:
        yield


def hashed(password: str) -> str:
    """What to keep of a password, with a salt of its own."""
    salt = SystemBits().words(_HASHER.salt_len // 8).tobytes()
    with _explained():
        return _HASHER.hash(_bytes(password), salt=salt)


def is_right(password: str, kept: str | None) -> bool:
    """Whether it is the one that was kept. Where none was (None), the answer takes as long."""
    with _explained():
        try:
            _HASHER.verify(kept or _NOBODY, _bytes(password) if len(password) <= LONGEST else b"")
        except (VerifyMismatchError, InvalidHashError):
            return False
        return kept is not None


@contextmanager
def _explained() -> Iterator[None]:
    """Without memory nothing can be hashed, and that says nothing about a password."""
    try:
        yield
    except Argon2Error as error:
        fix = "try again, or give the server more memory"
        raise Refusal("The password", "cannot be hashed for lack of memory", fix, code="busy") from error


def _bytes(password: str) -> bytes:
    return _plain(password).encode("utf-8", "surrogatepass")  # a form or JSON may hold half a character


def _plain(text: str) -> str:
    """One spelling for what looks alike: keyboards differ in how they compose an accent."""
    return normalize("NFKC", text)
