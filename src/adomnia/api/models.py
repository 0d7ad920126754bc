"""Models of requests and replies about users, datasets and the ledger."""

from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, BeforeValidator, Field

from adomnia.api.access import Role, TokenState
from adomnia.wire.amounts import Amount
from adomnia.wire.budgets import AccountReply
from adomnia.wire.models import LARGEST_BODY, CostReply, LeftReply, Reply, Sent

_SECRET = {"format": "password"}


def _write_time(told: float | str) -> str:
    return told if isinstance(told, str) else datetime.fromtimestamp(told, UTC).isoformat(timespec="seconds")


# The schema says what is right; Access refuses what is not, in its own words.
Name: TypeAlias = Annotated[str, Field(max_length=1000, json_schema_extra={"minLength": 1, "maxLength": 100})]
Password: TypeAlias = Annotated[str, Field(max_length=10_000, json_schema_extra=_SECRET)]
Code: TypeAlias = Annotated[str, Field(max_length=1000, json_schema_extra=_SECRET)]
ChosenRole: TypeAlias = Annotated[Role, Field(strict=False)]  # JSON has no roles, only their names
Time: TypeAlias = Annotated[str, BeforeValidator(_write_time), Field(json_schema_extra={"format": "date-time"})]


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


class NamedAccountReply(AccountReply):
    """An analyst's account."""

    analyst: str


class AccountsReply(Reply):
    """All budgets, and what was spent of them: the dataset's, and each analyst's."""

    dataset: AccountReply
    analysts: list[NamedAccountReply]


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


class ShareReply(Reply):
    """A link to an answer, without its code."""

    id: str
    request_id: str
    created: Time


class NewShareReply(ShareReply):
    """A link with its code, which is shown this once."""

    code: str
    path: str = Field(examples=["/shared/..."])


class SharesReply(Reply):
    """One's own links that have not ended, newest first."""

    shares: list[ShareReply]


class SharedReply(Reply):
    """What a link leads to: a question and its price, and nothing of the answer."""

    by: str = Field(description="Who shares it.")
    created: Time
    questions: list[str]
    version: int
    confidence: float
    at: str | None
    cost: CostReply
    request_id: str | None = Field(description="Under which one has the answer already; null: one would pay.")
    left: LeftReply | None = Field(description="Of one's own budget, before it is paid.")
    left_after: LeftReply | None
    problem: str | None = Field(description="Why it cannot be had, if so.")


class FaultReply(Reply):
    """Something that is wrong with a text, and its place in it."""

    what: str
    why: str
    fix: str
    position: tuple[int, int] | None = Field(description="Line and column, from 1.")


class KeptTextReply(Reply):
    """A text that was replaced: when, and by whom."""

    name: str
    when: str
    who: str


class CatalogTextReply(Reply):
    """The catalog's text on disk, whether it is the one that is served, and the texts that it replaced."""

    text: str
    identity: str = Field(description="The hash of the file.")
    problems: list[FaultReply]
    state: str = Field(description="served, opening, or kept: the one from before, because of a problem.")
    version: int = Field(description="Of the data that is served.")
    problem: str = Field(description="Why it is not served; its owner sees all of it.")
    kept: list[KeptTextReply]


class CatalogText(Sent):
    """A text that may become the catalog."""

    text: str = Field(max_length=LARGEST_BODY)


class SavedCatalogText(CatalogText):
    """A text that becomes the catalog."""

    identity: str = Field(max_length=1000, description="Of the text that it began from.")
    password: Password = Field(description="The owner's own, once more.")


class CatalogIdentityReply(Reply):
    """The hash of the file that was saved."""

    identity: str


class ConsequenceReply(Reply):
    """What follows from a change, in a sentence."""

    about: str
    says: str
    weight: str = Field(description="stop, price or info.")


class ErrorEffectReply(Reply):
    """A question before and after a change: how far one person moves what it measures, and its error."""

    sql: str
    moves_before: str
    moves_after: str
    error_before: str
    error_after: str


class PromiseChangeReply(Reply):
    """What the catalog promises about something, before and after."""

    about: str
    was: list[str]
    becomes: list[str]


class CatalogPreviewReply(Reply):
    """What is wrong with a text; if nothing is, what follows from it."""

    problems: list[FaultReply]
    consequences: list[ConsequenceReply]
    effects: list[ErrorEffectReply]
    changes: list[PromiseChangeReply]


class DocumentReply(Reply):
    """The OpenAPI document."""

    openapi: str
    info: dict[str, Any]
    paths: dict[str, Any]


def link_record(code: str) -> dict[str, object]:
    """A one-time link as plain data."""
    return {"path": f"/sign-in?code={code}", "code": code}
