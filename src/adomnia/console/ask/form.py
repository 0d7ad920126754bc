"""What the form of a question holds: its text, and what is named beside it, as it was typed."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, urlencode

from pydantic import ValidationError

from adomnia.errors import Refusal
from adomnia.wire.asking import Ask, AskedQuestion, AskPrice
from adomnia.wire.releases import AskRelease

if TYPE_CHECKING:
    from collections.abc import Mapping

CURRENCIES = ("epsilon", "rho", "error")  # what an amount may be of
POLICY = "policy"  # the owner sets the price, and no amount is named
_SEPARATORS = ", _\u00a0\u202f"  # between thousands
_GROUPED = re.compile(rf"-?[1-9][0-9]{{0,2}}(?:([{_SEPARATORS}])[0-9]{{3}})(?:\1[0-9]{{3}})*(?:\.[0-9]+)?")
_PASSING = ("request_id", "seen")  # of one request
_TICKED = ("allow_uninformative", "from_release")
_CHANGE = "change"  # fields that a button changes, written as in an address
_Sent = TypeVar("_Sent", bound=AskedQuestion)


@dataclass(frozen=True)
class AskForm:
    """The fields of a question; `amount` is what is paid, or with `pay="error"` the error that it may have."""

    sql: str = ""
    pay: str = "epsilon"
    amount: str = "0.25"
    rows: str = ""
    inference: str = "data"
    effort: str = "normal"
    allow_uninformative: bool = False
    request_id: str = ""
    delta: str = ""
    seen: str = ""  # the price that the page said, and no more is paid
    from_release: bool = False  # a release answers, or nothing does

    @classmethod
    def from_fields(cls, sent: Mapping[str, str]) -> AskForm:
        """The form that was sent, with what the button that sent it changes."""
        changed = {**sent, **dict(parse_qsl(sent.get(_CHANGE, ""), keep_blank_values=True))}
        known = {each.name: changed[each.name] for each in fields(cls) if each.name in changed}
        return cls().changed(known)

    def changed(self, changes: Mapping[str, str]) -> AskForm:
        """The form with other fields."""
        typed: dict[str, Any] = {name: value.strip() for name, value in changes.items()}
        if "sql" in changes:  # browsers send the ends of lines as two characters
            typed["sql"] = changes["sql"].replace("\r\n", "\n")
        typed |= {name: bool(typed[name]) for name in _TICKED if name in changes}
        return replace(self, **typed)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked yet."""
        return not self.sql.strip()

    @property
    def group(self) -> int | None:
        """How many rows a group is supposed to have; None where nothing is said."""
        return None if not self.rows else _read_whole(self.rows)

    def payment(self) -> dict[str, Any]:
        """What is named beside the text, as the wire takes it; a Refusal where it cannot be read."""
        if self.pay not in (*CURRENCIES, POLICY):
            raise Refusal("The currency", "is none", "pay in epsilon or rho, or name an error", code="bad_price")
        named: dict[str, Any] = {"rows": self.group, "inference": self.inference, "effort": self.effort}
        if self.pay != POLICY:
            # A comma in a price is a point to many: it is not read at all. Errors are written with thousands here.
            named[self.pay] = (_ungroup(self.amount) if self.pay == "error" else self.amount) or None
        if self.delta:
            named["delta"] = self.delta
        if self.from_release:
            named["from_release"] = True
        return {name: value for name, value in named.items() if value is not None}

    def asked(self) -> Ask:
        """The question to pay for."""
        return _build(Ask, self, request_id=self.request_id or None, allow_uninformative=self.allow_uninformative)

    def release(self, name: str, *, private: bool) -> AskRelease:
        """The release to make of the question."""
        return _build(AskRelease, self, name=name, private=private)

    def priced(self) -> AskPrice:
        """The question whose price is wanted."""
        return _build(AskPrice, self)

    def address(self) -> str:
        """Where the form stands filled in."""
        kept = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in _PASSING}
        usual = AskForm()
        said = {name: value for name, value in kept.items() if value != getattr(usual, name)}
        return f"/ask?{urlencode(said)}" if said else "/ask"


def _build(kind: type[_Sent], form: AskForm, **more: Any) -> _Sent:  # noqa: ANN401 - fields of the model
    try:
        return kind(sql=form.sql, **form.payment(), **more)
    except ValidationError as wrong:
        field = str(wrong.errors()[0]["loc"][0])
        if field in {*CURRENCIES, "delta"}:
            raise Refusal(f"The {field}", "is not a number", "write for example 0.25", code="bad_price") from None
        raise Refusal(
            f"The field {field}", "cannot be read", "choose one that the page offers", code="bad_field"
        ) from None


def _ungroup(text: str) -> str:
    """A number without separators, if they stand between thousands and nowhere else.

    >>> _ungroup("12,000"), _ungroup("0,25"), _ungroup("1,5")
    ('12000', '0,25', '1,5')
    """
    return text.translate(str.maketrans("", "", _SEPARATORS)) if _GROUPED.fullmatch(text) else text


def _read_whole(text: str) -> int:
    digits = _ungroup(text)
    if not digits.isascii() or not digits.isdigit() or len(digits) > 16:
        raise Refusal("The size of a group", "is not a whole number", "write for example 1000", code="bad_rows")
    return int(digits)
