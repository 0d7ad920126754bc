"""Random secrets that are shown once and stored as a digest: of tokens, browser sessions, links and shares."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256

from adomnia.noise import SystemBits

_ID = re.compile("[0-9a-f]{16}")
_SHAPE = re.compile(r"([a-z]+)_([0-9a-f]{16})_([0-9a-f]{64})")


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
