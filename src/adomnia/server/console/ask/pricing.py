"""The price of a question as a page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.server.console.ask.refusals import RefusalView, view_refusal
from adomnia.server.routes.questions import choose_id

if TYPE_CHECKING:
    from adomnia.server.console.ask.form import AskForm
    from adomnia.server.console.visits import Visit


@dataclass(frozen=True)
class PriceView:
    """A price, or why there is none."""

    amount: str
    request_id: str
    is_priced: bool = False
    expected: tuple[tuple[str, float | None], ...] = ()
    refusal: RefusalView | None = None


def build_price(visit: Visit, form: AskForm) -> PriceView:
    """The price of a question."""
    if not form.sql:
        return PriceView(form.amount, form.request_id or choose_id(None))
    try:
        quote = form.priced().put_to(visit.session)
    except Refusal as refusal:
        return PriceView(form.amount, form.request_id or choose_id(None), refusal=view_refusal(refusal))
    expected = tuple((each.name, each.error) for each in quote.outputs)
    return PriceView(form.amount, form.request_id or choose_id(None), is_priced=True, expected=expected)
