"""What a page said that a question costs: nothing is paid that costs more, or of which it said no price."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.api.actions.drafts import find_paid, is_about_nobody, makes_release, plan_draft
from adomnia.errors import Refusal
from adomnia.privacy.amounts import exact, show_up
from adomnia.wire.amounts import amount_of, name_price
from adomnia.wire.releases import AskRelease
from adomnia.work import limit

if TYPE_CHECKING:
    from fractions import Fraction

    from adomnia.api.requests import Visit
    from adomnia.wire.asking import Ask


def refuse_creation(sql: str) -> None:
    """Refuse to make a release of a text: its method has a form, which shows the price."""
    if makes_release(sql):
        why, fix = "is not asked on this page", "fill in the form of its method, at /methods, and publish there"
        raise Refusal("CREATE TABLE", why, fix, (1, 1), code="statement_not_allowed")


def check_seen(visit: Visit, asked: Ask | AskRelease, seen: str) -> None:
    """Refuse a question that costs more than the page said; one that was paid for before costs nothing."""
    if not seen or asked.from_release or is_about_nobody(asked.sql):
        return
    word, _, said = seen.partition(" ")
    try:
        currency, price = _find_price(visit, asked)
        if (currency == word and price <= amount_of(said)) or _was_paid(visit, asked):
            return
    except (Refusal, ValueError):  # it is not paid at all, and asking says why
        return
    why = f"is {currency} {show_up(price)}, and the page said {seen}"
    raise Refusal("The price", why, "look at it, and ask again", code="price_changed")


def _find_price(visit: Visit, asked: Ask | AskRelease) -> tuple[str, Fraction]:
    for currency in ("epsilon", "rho"):
        named = getattr(asked, currency)
        if named is not None:
            return currency, exact(named, "Question", currency)
    quote = visit.session.price(asked.sql, confidence=asked.confidence, **asked.payment())
    assert quote.price is not None  # noqa: S101 - of one question
    return name_price(quote.price)


def _was_paid(visit: Visit, asked: Ask | AskRelease) -> bool:
    """Whether whoever asks has paid for it; what is published the dataset pays for, whatever they have."""
    if isinstance(asked, AskRelease) and not asked.private:
        return False
    with limit():
        return find_paid(visit, plan_draft(visit, asked.question())) is not None
