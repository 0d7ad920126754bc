"""What the form of a question holds: its text, and what is named beside it, as it was typed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import parse_qsl, urlencode

from pydantic import ValidationError

from adomnia.console.ask.option_fields import (
    FALSE,
    FIELDS,
    TRUE,
    keep_typed,
    read_typed,
    refuse_option,
    show_option,
    ungroup,
)
from adomnia.errors import Refusal
from adomnia.options import ASK, CURRENCIES, OPTIONS, PRICE, RELEASE
from adomnia.privacy.amounts import exact
from adomnia.wire.amounts import text_of
from adomnia.wire.asking import Ask, AskedQuestion, AskPrice
from adomnia.wire.releases import AskRelease

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adomnia.pricing.questions import Question

POLICY = "policy"  # the owner sets the price, and no amount is named
_OWN = ("sql", "pay", "amount", "request_id", "seen")
_CHANGE = "change"  # fields that a button changes, written as in an address
_Sent = TypeVar("_Sent", bound=AskedQuestion)


class PaidQuestions(Protocol):
    """Questions that were paid for together, as sessions tell them."""

    @property
    def questions(self) -> Sequence[Question]:
        """Their texts, and what each of them paid."""

    def list_named(self, place: int) -> dict[str, Any]:
        """What was named beside one of them, by the names of options."""


@dataclass(frozen=True)
class AskForm:
    """The fields of a question; `amount` is what is paid, or with `pay="error"` the error that it may have.

    `options` are the other rows of the table as they were typed, without those that are what is usual.
    """

    sql: str = ""
    pay: str = "epsilon"
    amount: str = "0.25"
    request_id: str = ""
    seen: str = ""  # the price that the page said, and no more is paid
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_fields(cls, sent: Mapping[str, str]) -> AskForm:
        """The form that was sent, with what the button that sent it changes."""
        return cls().changed({**sent, **dict(parse_qsl(sent.get(_CHANGE, ""), keep_blank_values=True))})

    @classmethod
    def from_paid(cls, paid: PaidQuestions, place: int = 0) -> AskForm:
        """The form in which a question was asked, with all that was named beside it."""
        named = paid.list_named(place)
        form = cls(
            paid.questions[place].text,
            POLICY,
            options={name: show_option(FIELDS[name], value) for name, value in named.items() if name in FIELDS},
        )
        pay = next((name for name in CURRENCIES if name in named), "")
        return replace(form, pay=pay, amount=text_of(exact(named[pay], "Question", pay))) if pay else form

    def changed(self, changes: Mapping[str, str]) -> AskForm:
        """The form with other fields; what it has no field for is left out."""
        own: dict[str, Any] = {name: changes[name].strip() for name in _OWN if name in changes}
        if "sql" in changes:  # browsers send the ends of lines as two characters
            own["sql"] = changes["sql"].replace("\r\n", "\n")
        typed = {name: keep_typed(name, value) for name, value in changes.items() if name in FIELDS}
        kept = {**self.options, **typed}
        return replace(self, **own, options={name: value for name, value in kept.items() if value})

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked yet."""
        return not self.sql.strip()

    @property
    def is_from_release(self) -> bool:
        """Whether a release is to answer, or nothing."""
        return self.options.get("from_release") == TRUE

    @property
    def is_fresh(self) -> bool:
        """Whether an answer that was paid for before is not taken."""
        return self.options.get("replay") == FALSE

    def named(self, request: str) -> dict[str, Any]:
        """What is named beside the text, as the wire takes it for a request; a Refusal where it cannot be read."""
        if self.pay not in (*CURRENCIES, POLICY):
            raise Refusal("The currency", "is none", "pay in epsilon or rho, or name an error", code="bad_price")
        named = read_typed(self.options, request)
        if self.pay != POLICY:
            # A comma in a price is a point to many: it is not read at all. Errors are written with thousands here.
            named[self.pay] = (ungroup(self.amount) if self.pay == "error" else self.amount) or None
        return {name: value for name, value in named.items() if value is not None}

    def asked(self) -> Ask:
        """The question to pay for."""
        return _build(Ask, self, ASK, request_id=self.request_id or None)

    def release(self, name: str, *, private: bool) -> AskRelease:
        """The release to make of the question."""
        return _build(AskRelease, self, RELEASE, name=name, private=private)

    def priced(self) -> AskPrice:
        """The question whose price is wanted."""
        return _build(AskPrice, self, PRICE)

    def address(self) -> str:
        """Where the form stands filled in; who leaves the price to the owner has none in it."""
        usual = AskForm()
        said = {name: getattr(self, name) for name in ("sql", *(() if self.pay == POLICY else ("pay", "amount")))}
        said = {name: value for name, value in said.items() if value != getattr(usual, name)} | dict(self.options)
        return f"/ask?{urlencode(said)}" if said else "/ask"


def _build(kind: type[_Sent], form: AskForm, request: str, **more: Any) -> _Sent:  # noqa: ANN401 - fields of the model
    try:
        return kind(sql=form.sql, **form.named(request), **more)
    except ValidationError as wrong:
        name = str(wrong.errors()[0]["loc"][0])
        if name in CURRENCIES:
            raise Refusal(f"The {name}", "is not a number", "write for example 0.25", code="bad_price") from None
        if name in FIELDS and FIELDS[name].kind == "amount":
            raise refuse_option(FIELDS[name], "is not a number") from None
        if name in FIELDS and FIELDS[name].kind == "amounts":
            raise refuse_option(FIELDS[name], "has something that is not a number") from None
        what = f"The field {OPTIONS[name].in_words if name in OPTIONS else name}"
        raise Refusal(what, "cannot be read", "choose one that the page offers", code="bad_field") from None
