"""What is known about those who may enter. No secret is ever part of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

__all__ = ["Role", "Token", "User", "Visitor"]


class Role(StrEnum):
    """What somebody may do: own the dataset, ask it, or look over the ledger."""

    OWNER = "owner"
    ANALYST = "analyst"
    AUDITOR = "auditor"


@dataclass(frozen=True)
class User:
    """Somebody who may sign in; times are seconds since 1970."""

    name: str
    role: Role
    has_password: bool
    created: float


@dataclass(frozen=True)
class Token:
    """What a program signs in with, without its secret; `expires` is None for one that lasts until it is revoked."""

    id: str
    user: str
    label: str
    created: float
    expires: float | None
    revoked: bool


@dataclass(frozen=True)
class Visitor:
    """Who a request comes from: a program with a token, or a browser, whose changes must carry `csrf`."""

    name: str
    role: Role
    token_id: str | None = None
    csrf: str | None = field(default=None, repr=False)
