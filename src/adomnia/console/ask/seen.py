"""What a page said that a question costs: it is not paid where it costs more, because the text was changed since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.asking.listings import is_listing
from adomnia.console.ask.drafts import plan_draft
from adomnia.console.ask.replays import find_paid
from adomnia.errors import Refusal
from adomnia.explaining.explanations import is_explain
from adomnia.pricing.parts import amount as amount_of_price
from adomnia.privacy.amounts import exact, show_up
from adomnia.privacy.events import Pure
from adomnia.wire.amounts import amount_of
from adomnia.wire.releases import AskRelease
from adomnia.work import limit

if TYPE_CHECKING:
    from fractions import Fraction

    from adomnia.console.visits import Visit
    from adomnia.wire.asking import Ask

__all__ = ["check_seen"]


def check_seen(visit: Visit, asked: Ask | AskRelease, seen: str) -> None:
    """Refuse a question that costs more than the page said; one that was paid for before costs nothing."""
    if not seen or asked.from_release or is_explain(asked.sql) or is_listing(asked.sql):
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
    return "epsilon" if isinstance(quote.price, Pure) else "rho", amount_of_price(quote.price)


def _was_paid(visit: Visit, asked: Ask | AskRelease) -> bool:
    """Whether whoever asks has paid for it; what is published the dataset pays for, whatever they have."""
    if isinstance(asked, AskRelease) and not asked.private:
        return False
    with limit():
        draft = plan_draft(asked.question(), visit.curator.catalog, visit.visitor.name)
        return find_paid(visit, draft.question, draft.plan) is not None
