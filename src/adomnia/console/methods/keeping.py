"""What becomes of what a method makes: it is only asked, published as a release for everybody, or kept for oneself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adomnia.api.actions.releases import SCHEMA, check_release_name
from adomnia.console.ask.affording import find_most
from adomnia.console.ask.price_view import build_bar
from adomnia.console.methods.fields import BadField, refuse_field
from adomnia.errors import Refusal, render
from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import show_all
from adomnia.pricing.policies import sets_price
from adomnia.privacy.amounts import EPSILON_UNIT

if TYPE_CHECKING:
    from adomnia.api.requests import Visit
    from adomnia.console.ask.form import AskForm
    from adomnia.console.ask.price_view import PriceView
    from adomnia.console.methods.fields import Fields
    from adomnia.methods.contract import Method

KEEP, NAME = "keep", "release-name"  # the fields
PUBLISH, PRIVATE = "publish", "private"
_WHOSE = frozenset({"may_not_publish", "policy_price"})


@dataclass(frozen=True)
class Keeping:
    """How it is kept, if it is, and under which name."""

    how: str = ""
    name: str = ""

    @property
    def is_private(self) -> bool:
        """Whether one analyst buys it for themselves."""
        return self.how == PRIVATE


def read_keeping(method: Method, fields: Fields) -> Keeping | None:
    """What a form says of it; None where the method makes no release."""
    if method.chapter != SCHEMA:
        return None
    how = fields.get(KEEP, "")
    return Keeping(how if how in {PUBLISH, PRIVATE} else "", fields.get(NAME, "").strip())


def may_publish(visit: Visit) -> bool:
    """Whether the catalog lets this analyst publish; where a policy sets prices, nobody can."""
    analyst = visit.catalog.analyst(visit.visitor.name)
    return analyst is not None and analyst.publish and not sets_price(analyst.policy)


def check_keeping(visit: Visit, keeping: Keeping) -> Refusal | None:
    """What is wrong with the name, from what this analyst may read; what else is there, making it tells."""
    if not keeping.name:
        return BadField(NAME, "The release", "has no name", "write what it is to be called", code="release_name")
    try:
        check_release_name(keeping.name)
    except Refusal as cause:
        return refuse_field(NAME, cause, None)
    if keeping.name.lower() in {entry.name.lower() for entry in visit.session.releases()}:
        what, fix = f"{SCHEMA}.{keeping.name}", "choose another name: a name is given once"
        return BadField(NAME, what, "is there already", fix, code="release_taken")
    return None


def locate_keeping(refusal: Refusal) -> Refusal:
    """The same refusal, at the field that it is about, if it is about how something is kept."""
    field = KEEP if refusal.code in _WHOSE else NAME if refusal.code.startswith("release_") else ""
    if not field:
        return refusal
    told = render(refusal, Surface.PAGE)
    return BadField(field, told.what, told.why, told.fix, None, refusal.code)


def price_keeping(visit: Visit, price: PriceView, asked: AskForm, keeping: Keeping) -> PriceView:
    """The price panel of a release: who pays, from which budget, and what the button does."""
    if keeping.how != PUBLISH:
        return replace(price, verb="keep")
    if price.state != "priced":
        return replace(price, verb=PUBLISH)
    budgets = visit.session.budget()
    creation = replace(asked, sql=f"CREATE TABLE {SCHEMA}.it AS {asked.sql}", pay=price.form.pay)
    quote = creation.priced().put_to(visit.session)
    return replace(
        price,
        verb=PUBLISH,
        payer="The dataset's budget",
        bar=build_bar(budgets.dataset, quote.event),
        paid_as="",  # the dataset pays, whoever has the answer already
        is_spent=find_most(replace(budgets, personal=budgets.dataset), price.word) < EPSILON_UNIT,
        is_too_dear=not budgets.dataset.admits(quote.event),
        too_dear=None,
        warnings=show_all(quote.warnings, Surface.PAGE),
    )
