"""Users, roles, tokens, and who a request comes from; none of these objects holds a secret."""

from dataclasses import dataclass, field
from enum import StrEnum


class Role(StrEnum):
    """What a user may do: manage the dataset, ask questions, or audit the ledger."""

    OWNER = "owner"
    ANALYST = "analyst"
    AUDITOR = "auditor"


@dataclass(frozen=True)
class User:
    """A user who may sign in; times are seconds since 1970."""

    name: str
    role: Role
    has_password: bool
    created: float


class TokenState(StrEnum):
    """Whether a token opens anything, and if it does not, why."""

    VALID = "valid"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True)
class Token:
    """The token of a program, without its secret; `expires` is None if it is valid until it is revoked.

    `state` was found with the clock that decides who may sign in, which may be ahead of the machine's.
    """

    id: str
    user: str
    label: str
    created: float
    expires: float | None
    revoked: bool
    state: TokenState


@dataclass(frozen=True)
class Share:
    """A link to an answer, without its code: whose it is, and the request id that they paid for it under."""

    id: str
    user: str
    request_id: str
    created: float


@dataclass(frozen=True)
class Visitor:
    """The user a request comes from, through a token, or through a browser, whose changes must carry `csrf`."""

    name: str
    role: Role
    token_id: str | None = None
    csrf: str | None = field(default=None, repr=False)
