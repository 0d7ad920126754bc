"""Secrets that are drawn, shown once, and kept as a digest: tokens, visits and links."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256

from adomnia.noise import SystemBits

__all__ = ["Key", "Kind", "csrf_of", "draw", "parse"]

_SHAPE = re.compile(r"([a-z]+)_([0-9a-f]{16})_([0-9a-f]{64})")


class Kind(StrEnum):
    """How a secret begins: one of one kind is never taken for another."""

    TOKEN = "ao"  # noqa: S105 - how every token begins
    VISIT = "visit"
    LINK = "link"


@dataclass(frozen=True)
class Key:
    """A name to find it by, and what to compare; the secret itself is not kept."""

    id: str
    digest: bytes = field(repr=False)

    def opens(self, stored: bytes) -> bool:
        """Whether this is the secret that was drawn, told in a time that says nothing about the stored one."""
        return hmac.compare_digest(self.digest, stored)


def draw(kind: Kind) -> tuple[str, Key]:
    """A fresh secret of 256 bits, to be shown once, and what to keep of it."""
    drawn = SystemBits().words(5).tobytes().hex()
    text = f"{kind}_{drawn[:16]}_{drawn[16:]}"
    return text, Key(drawn[:16], _digest(drawn[16:]))


def parse(kind: Kind, text: str) -> Key | None:
    """The key that a text claims to be; None for one that no draw can have made."""
    match = _SHAPE.fullmatch(text)
    return Key(match[2], _digest(match[3])) if match and match[1] == kind else None


def csrf_of(visit: str) -> str:
    """What a page has to send back to show that it can read its own visit; the stored digest does not give it away."""
    return hmac.new(visit.encode(), b"csrf", sha256).hexdigest()


def _digest(secret: str) -> bytes:
    return sha256(secret.encode()).digest()
