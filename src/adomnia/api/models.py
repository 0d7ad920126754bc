"""Models of requests and replies about users, datasets and the ledger."""

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, Field

from adomnia.api.access import Role, TokenState
from adomnia.wire.amounts import Amount
from adomnia.wire.models import LARGEST_BODY, Reply, Sent, Time

_SECRET = {"format": "password"}


# The schema says what is right; Access refuses what is not, in its own words.
Name: TypeAlias = Annotated[str, Field(max_length=1000, json_schema_extra={"minLength": 1, "maxLength": 100})]
Password: TypeAlias = Annotated[str, Field(max_length=10_000, json_schema_extra=_SECRET)]
Code: TypeAlias = Annotated[str, Field(max_length=1000, json_schema_extra=_SECRET)]
ChosenRole: TypeAlias = Annotated[Role, Field(strict=False)]  # JSON has no roles, only their names


class HealthReply(BaseModel):
    """The server is there."""

    status: str = Field(examples=["ok"])


class ReadyReply(BaseModel):
    """Questions can be answered."""

    status: str = Field(examples=["ready"])


class SignIn(Sent):
    """Who wants to come in."""

    name: Name
    password: Password


class FirstSignIn(Sent):
    """A one-time code, and the password that is chosen with it."""

    code: Code
    password: Password = Field(description="The new password: 12 characters or more.")


class MeReply(Reply):
    """Who is signed in; browsers send `csrf` back as X-CSRF-Token with everything but GET."""

    name: str
    role: Role
    csrf: str | None = Field(description="null for callers with a token.")


class ChangePassword(Sent):
    """The password until now, and from now on."""

    old: Password
    new: Password


class NewToken(Sent):
    """A token to make."""

    label: str = Field("", max_length=1000, description="To tell it from others.", examples=["laptop"])
    days: int | None = Field(
        90, ge=-(2**31), le=2**31, description="How long it lasts; null: until it is revoked.", examples=[90]
    )


class TokenReply(Reply):
    """A token, without its secret."""

    id: str
    label: str
    created: Time
    expires: Time | None
    revoked: bool
    state: TokenState


class NewTokenReply(TokenReply):
    """A token with its secret, which is shown this once."""

    token: str


class TokensReply(Reply):
    """One's own tokens, oldest first."""

    tokens: list[TokenReply]


class NewUser(Sent):
    """Somebody who may sign in from now on; analysts have to be in the catalog."""

    name: Name
    role: ChosenRole


class ChangeRole(Sent):
    """What somebody may do from now on."""

    role: ChosenRole


class UserReply(Reply):
    """Somebody who may sign in."""

    name: str
    role: Role
    has_password: bool
    created: Time


class UsersReply(Reply):
    """Everybody, by name."""

    users: list[UserReply]


class SignInLinkReply(Reply):
    """How somebody signs in for the first time, once and within a day: by this page, or with the code."""

    path: str = Field(examples=["/sign-in?code=..."])
    code: str


class NewUserReply(UserReply):
    """Somebody new, and their way in."""

    link: SignInLinkReply


class DatasetReply(Reply):
    """A dataset that may be asked about."""

    name: str
    version: int
    problem: str | None = Field(description="To owners: why the catalog on disk is not the one that is served.")


class DatasetsReply(Reply):
    """The datasets that this visitor may ask about."""

    datasets: list[DatasetReply]


class AmountsReply(Reply):
    """Exact amounts; epsilon is null where something has none."""

    epsilon: str | None
    rho: str | None
    delta: str


class EntryReply(Reply):
    """One entry of the ledger, without answers."""

    sequence: int
    kind: str
    hash: str
    at: str | None
    analyst: str | None
    request_id: str | None
    cost: AmountsReply | None
    totals: dict[str, AmountsReply]
    budgets: dict[str, AmountsReply | None]
    reason: str | None


class LedgerReply(Reply):
    """Entries of the ledger, oldest first; `next` is the `after` of the page that follows."""

    entries: list[EntryReply]
    next: int | None


class VerifiedReply(Reply):
    """Whether every hash, admission and total of the ledger was found right."""

    ok: bool
    entries: int | None
    head: str | None
    problem: str | None


class TopUpBudget(Sent):
    """What to add to an analyst's budget, or to the dataset's (null), for good.

    Of the budget that was looked at: where it is another by now nothing is added, so that it is safe to send it again.
    """

    analyst: str | None = Field(max_length=1000, description="null: the dataset's own.")
    epsilon: Amount = 0
    delta: Amount = 0
    reason: str = Field(max_length=10_000, description="Kept in the ledger.")
    seen_epsilon: Amount = Field(description="The budget that was looked at, `given` of /accounts.")
    seen_delta: Amount
    password: Password = Field(description="The owner's own, once more.")


class NewShare(Sent):
    """The answer that a link is to lead to."""

    request_id: str = Field(max_length=LARGEST_BODY, description="One of one's own.")


class CatalogText(Sent):
    """A text that may become the catalog."""

    text: str = Field(max_length=LARGEST_BODY)


class SavedCatalogText(CatalogText):
    """A text that becomes the catalog."""

    identity: str = Field(max_length=1000, description="Of the text that it began from.")
    password: Password = Field(description="The owner's own, once more.")


class DocumentReply(Reply):
    """The OpenAPI document."""

    openapi: str
    info: dict[str, Any]
    paths: dict[str, Any]


def link_record(code: str) -> dict[str, object]:
    """A one-time link as plain data."""
    return {"path": f"/sign-in?code={code}", "code": code}
