"""What stands in the price panel: the price, how wrong the answer may be, what is left afterwards; or why not.

Nothing is read and nothing is spent: all of it follows from the text, the catalog and the analyst's own budget.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.explaining.explanations import is_explain
from adomnia.explaining.surfaces import Surface, reword_lines
from adomnia.pricing.bills import HIGH_EFFORT
from adomnia.pricing.parts import amount as amount_of_price
from adomnia.privacy.amounts import EPSILON_UNIT, show_down, show_up
from adomnia.privacy.events import Pure
from adomnia.server.console.ask.budget_bar import BudgetBar, build_bar
from adomnia.server.console.ask.drafts import Draft, is_quick, plan_draft
from adomnia.server.console.ask.expectations import (
    ErrorLine,
    SizeTable,
    find_roughest,
    list_errors,
    show_digits,
    show_error,
    tabulate_sizes,
)
from adomnia.server.console.ask.fixes import Fix, Situation, change_fields, list_fixes
from adomnia.server.console.ask.form import POLICY, AskForm
from adomnia.server.console.ask.funnel import Funnel, Scale, draw_funnel
from adomnia.server.console.ask.reading import Piece, read_plan
from adomnia.server.console.ask.refusals import RefusalView, view_refusal
from adomnia.server.console.ask.replays import find_paid
from adomnia.server.routes.questions import choose_id
from adomnia.session.listings import is_listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adomnia.pricing.quotes import Expected, Quote
    from adomnia.privacy.filters import Left
    from adomnia.server.console.visits import Visit
    from adomnia.session.accounts import Budgets

__all__ = ["Coming", "PriceView", "build_price", "view_problem"]

_POINTS = 5  # prices at which the funnel is known
_SIZES = (100, 250, 1000, 3000)
_SMALL = 100
_NEVER = "A new answer would be refused"  # how a warning begins that the panel says better
_SIGNS = {"epsilon": "ε", "rho": "ρ"}


@dataclass(frozen=True)
class Coming:
    """What would come back: how many rows, and how the error of the roughest column depends on the size of groups."""

    rows: str
    grouped: bool
    sizes: SizeTable | None = None
    counted: str = ""  # the column that will tell how large the groups are


@dataclass(frozen=True)
class PriceView:
    """The price panel. `state` is empty, free, refused or priced."""

    state: str
    form: AskForm
    bar: BudgetBar
    request_id: str
    sign: str = "ε"
    word: str = "epsilon"
    price: str = ""
    delta: str = ""
    policy: str = ""  # what the owner's policy says, where it sets the price
    funnel: Funnel | None = None
    errors: tuple[ErrorLine, ...] = ()
    rough: str = ""
    vacuous: tuple[str, ...] = ()
    vacuous_fixes: tuple[Fix, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    paid_as: str = ""  # the request id of an equal question that was paid before
    too_dear: Fix | None = None
    is_too_dear: bool = False
    is_spent: bool = False  # nothing is left
    instead: str = ""  # the change to an error instead of a price, or back
    other: str = ""  # the change to the other currency
    reads: tuple[Piece, ...] = ()
    coming: Coming | None = None
    refusal: RefusalView | None = None

    @property
    def may_ask(self) -> bool:
        """Whether the button works."""
        if self.state == "priced":
            return bool(self.paid_as) or not (self.is_too_dear or self.is_spent)
        return self.state == "free"

    @property
    def button(self) -> str:
        """What the button says."""
        if self.state == "free":
            return "Ask, free"
        if self.paid_as:
            return "See it again, free"
        return f"Pay {self.price} and ask" if self.state == "priced" else "Pay and ask"


def build_price(visit: Visit, form: AskForm) -> PriceView:
    """The panel of a form as it stands."""
    budgets = visit.session.budget()
    form = _settle(form, budgets)
    policy = budgets.terms.says if form.pay == POLICY else ""
    empty = PriceView(
        "empty",
        form,
        build_bar(budgets.personal),
        form.request_id or choose_id(None),
        **_currency(form),
        policy=policy,
        is_spent=_most(budgets, form.pay) < EPSILON_UNIT,
    )
    if form.is_empty:
        return _with_slider(empty, budgets)
    if is_explain(form.sql) or is_listing(form.sql):
        return replace(empty, state="free", reads=(Piece("What is public, as text: free."),))
    try:
        return _price(visit, budgets, empty)
    except Refusal as refusal:
        told = view_refusal(refusal, _situate(visit, budgets, form))
        return replace(_with_slider(empty, budgets), state="refused", refusal=told)


def view_problem(visit: Visit, form: AskForm, refusal: Refusal) -> RefusalView:
    """A refusal that came when a form was asked, with the ways out of it."""
    return view_refusal(refusal, _situate(visit, visit.session.budget(), form))


def _price(visit: Visit, budgets: Budgets, empty: PriceView) -> PriceView:
    form, catalog = empty.form, visit.curator.catalog
    asked = form.priced()
    draft = plan_draft(asked.question(), catalog)
    if not isinstance(draft, Draft):
        rows = Coming("Rows of public tables, exact and free: they are about nobody.", grouped=False)
        return replace(empty, state="free", reads=(Piece("Rows of public tables, as they are."),), coming=rows)
    quote = asked.put_to(visit.session)
    paid = find_paid(visit, draft.question, draft.plan)
    priced = replace(
        empty,
        state="priced",
        **_show_price(quote),
        bar=build_bar(budgets.personal, None if paid else quote.event),
        reads=read_plan(draft.plan),
        paid_as="" if paid is None else paid.request_id,
        **_list_words(quote),
    )
    return _with_affordance(_with_errors(priced, draft, quote, budgets), visit, budgets, quote)


def _settle(form: AskForm, budgets: Budgets) -> AskForm:
    """The form with the price left to the policy, where one sets it; and the other way round."""
    terms = budgets.terms
    sets = terms.price is not None or terms.questions is not None
    if sets != (form.pay == POLICY):
        return replace(form, pay=POLICY if sets else "epsilon")
    return form


def _currency(form: AskForm) -> dict[str, str]:
    word = "rho" if form.pay == "rho" else "epsilon"
    return {"sign": _SIGNS[word], "word": word}


def _show_price(quote: Quote) -> dict[str, str]:
    assert quote.price is not None  # noqa: S101 - of one question
    word = "epsilon" if isinstance(quote.price, Pure) else "rho"
    delta = show_up(sum((each.price.delta for each in quote.findings), Fraction(0))) if quote.findings else ""
    return {"sign": _SIGNS[word], "word": word, "price": show_up(amount_of_price(quote.price)), "delta": delta}


def _list_words(quote: Quote) -> dict[str, tuple[str, ...]]:
    """What else there is to know, in the words of the page."""
    caps = tuple(f"{cap}." for cap in quote.caps)
    findings = tuple(f"{finding}." for finding in quote.findings)
    effort = (HIGH_EFFORT,) if quote.effort == "high" else ()
    warnings = tuple(line for line in quote.warnings if not line.startswith(_NEVER))
    return {
        "vacuous": reword_lines(quote.vacuous, Surface.PAGE),
        "warnings": reword_lines(warnings, Surface.PAGE),
        "notes": reword_lines((*caps, *quote.notes, *findings, *effort), Surface.PAGE),
    }


def _with_errors(priced: PriceView, draft: Draft, quote: Quote, budgets: Budgets) -> PriceView:
    """With errors by column, by size of group, and by price."""
    rough = find_roughest(quote.outputs)
    depends = any(line.rows is not None for line in quote.outputs)
    quick, rows = is_quick(), quote.rows
    sizes = {rows: quote.outputs}
    if quick and depends:
        sizes |= {size: draft.expect_in(size, quote.price) for size in (*_SIZES, rows // 10 or 1) if size != rows}
    small = sizes.get(_SMALL if rows > _SMALL else rows // 10 or 1, ())
    errors = list_errors(quote.outputs, small if len(small) == len(quote.outputs) else ())
    says = "" if rough is None else f"{rough.name} {show_error(rough)}"
    funnel = _draw(priced, draft if quick else None, quote, budgets)
    instead = "" if rough is None else _name_error(rough)
    if priced.form.pay == "error":
        instead = change_fields(pay="epsilon", amount=show_digits(float(priced.price), 2))
    return replace(
        priced,
        errors=errors,
        rough=says,
        funnel=funnel,
        coming=_describe_coming(draft, quote, sizes, rough),
        instead=instead,
    )


def _name_error(rough: Expected) -> str:
    return change_fields(pay="error", amount=show_digits(rough.error or 1.0, 2), rows=str(rough.rows or ""))


def _draw(priced: PriceView, draft: Draft | None, quote: Quote, budgets: Budgets) -> Funnel | None:
    """The slider at the price, with the error of the roughest column at a few others."""
    currency, most = priced.word, _most(budgets, priced.word)
    if priced.policy or quote.price is None or most < EPSILON_UNIT:
        return None
    scale, here, rough = Scale.up_to(most, currency), amount_of_price(quote.price), find_roughest(quote.outputs)
    if rough is None or draft is None:
        return draw_funnel(scale, here, f"Price {priced.price}")
    known = [(here, rough.error or 0.0)] if scale.least <= here <= scale.most else []
    for point in scale.list_points(_POINTS):
        found = next((line for line in draft.expect_at(currency, point, quote.rows) if line.name == rough.name), None)
        if found is not None and found.error is not None:
            known.append((point, found.error))
    where = "in any group" if rough.rows is None else f"in a group of {rough.rows:,}"
    says = f"Price {priced.price}: {rough.name} within {show_digits(rough.error or 0.0)} {where}"
    return draw_funnel(scale, here, says, known, rough.name, where)


def _describe_coming(
    draft: Draft, quote: Quote, sizes: dict[int, Sequence[Expected]], rough: Expected | None
) -> Coming:
    plan = draft.plan
    counted = next((line.name for line in quote.outputs if line.what == "COUNT(*)"), "")
    table = None
    if rough is not None and rough.rows is not None:
        lines = [(size, line) for size in sorted(sizes) for line in sizes[size] if line.name == rough.name]
        table = tabulate_sizes(rough.name, lines)
    return Coming(_count_rows(draft, quote), bool(plan.keys) and not quote.findings, table, counted)


def _count_rows(draft: Draft, quote: Quote) -> str:
    plan = draft.plan
    if plan.view is not None:
        return "A table of estimates"
    if quote.findings:
        return "A row for each value that is found"
    if plan.choices or plan.limit is not None:
        most = plan.rows if plan.limit is None else min(plan.limit, plan.rows)
        return f"At most {most:,} {'row' if most == 1 else 'rows'}"
    return "One row" if plan.rows == 1 else f"{plan.rows:,} rows, one for each group"


def _with_affordance(priced: PriceView, visit: Visit, budgets: Budgets, quote: Quote) -> PriceView:
    """With what cannot be paid, what would say nothing, and the other currency."""
    dear = not budgets.personal.admits(quote.event) or not budgets.dataset.admits(quote.event)
    situation, cheaper, helps = _situate(visit, budgets, priced.form), (), ()
    if dear and not priced.paid_as:
        cheaper = list_fixes(Refusal("The price", "is more than is left", "pay less", code="budget"), situation)
    if quote.vacuous:
        helps = list_fixes(Refusal("It", "says nothing", quote.vacuous[0], code="vacuous"), situation)
    return replace(
        priced,
        is_too_dear=dear,
        too_dear=next(iter(cheaper), None),
        vacuous_fixes=tuple(fix for fix in helps if "anyway" not in fix.change),
        other=_other_currency(priced, budgets),
    )


def _other_currency(priced: PriceView, budgets: Budgets) -> str:
    """The change to the other currency at about the same worth, where the budgets take both."""
    accounts = (budgets.personal, budgets.dataset)
    if priced.policy or not all(each.budget.approximate and each.left().rho for each in accounts):
        return ""
    paid = float(priced.price)
    if priced.word == "rho":
        return change_fields(pay="epsilon", amount=f"{sqrt(2 * paid):.2g}")
    return change_fields(pay="rho", amount=f"{min(paid**2 / 2, float(_most(budgets, 'rho'))):.2g}")


def _with_slider(view: PriceView, budgets: Budgets) -> PriceView:
    """With the slider where nothing is known of errors yet."""
    most = _most(budgets, view.word)
    if view.policy or view.form.pay not in _SIGNS or most < EPSILON_UNIT:
        return view
    try:
        here = Fraction(view.form.amount)
    except (ValueError, ZeroDivisionError):
        return view
    if here <= 0:
        return view
    return replace(
        view,
        price=view.form.amount,
        funnel=draw_funnel(Scale.up_to(most, view.word), here, f"Price {view.form.amount}"),
    )


def _most(budgets: Budgets, currency: str) -> Fraction:
    """The most that one question may cost, in the currency that it is paid in."""
    left = [budgets.personal.left(), budgets.dataset.left()]
    if currency == "rho":
        return min(each.rho for each in left)
    most = min(map(_most_epsilon, left))
    ceiling = budgets.terms.ceiling
    return most if ceiling is None else min(most, ceiling)


def _most_epsilon(left: Left) -> Fraction:
    return left.epsilon or left.largest_question


def _situate(visit: Visit, budgets: Budgets, form: AskForm) -> Situation:
    has_delta = all(each.budget.approximate and each.left().delta for each in (budgets.personal, budgets.dataset))
    most = Fraction(show_down(_most(budgets, form.pay)))
    return Situation(form, visit.session, visit.curator.catalog, most, bool(has_delta))
