"""What an analyst can pay: the most of one question, and the ways out where a price is too high or too low."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

from adomnia.console.ask.fixes import Situation, change_fields, list_fixes
from adomnia.errors import Refusal
from adomnia.messages.fixes import PAY
from adomnia.messages.texts import Fix
from adomnia.privacy.amounts import show_down

if TYPE_CHECKING:
    from adomnia.api.requests import Visit
    from adomnia.console.ask.fixes import SuggestedFix
    from adomnia.console.ask.form import AskForm
    from adomnia.console.ask.price_view import PriceView
    from adomnia.pricing.bills import Quote
    from adomnia.privacy.filters import Left
    from adomnia.session.accounts import Budgets


def find_most(budgets: Budgets, currency: str) -> Fraction:
    """The most that one question may cost, in the currency that it is paid in."""
    left = [budgets.personal.left(), budgets.dataset.left()]
    if currency == "rho":
        return min(each.rho for each in left)
    most = min(map(_most_epsilon, left))
    ceiling = budgets.terms.ceiling
    return most if ceiling is None else min(most, ceiling)


def describe_situation(visit: Visit, budgets: Budgets, form: AskForm) -> Situation:
    """What ways out of a refusal may depend on."""
    has_delta = all(each.budget.approximate and each.left().delta for each in (budgets.personal, budgets.dataset))
    most = Fraction(show_down(find_most(budgets, form.pay)))
    return Situation(form, visit.session, visit.catalog, most, bool(has_delta))


def add_affordance(priced: PriceView, visit: Visit, budgets: Budgets, quote: Quote) -> PriceView:
    """The panel with what cannot be paid, what would say nothing, and the other currency."""
    dear = not all(account.admits(quote.event) for account in (budgets.personal, budgets.dataset))
    situation = describe_situation(visit, budgets, priced.form)
    cheaper: tuple[SuggestedFix, ...] = ()
    if dear and not priced.paid_as:
        cheaper = list_fixes(Refusal("The price", "is more than is left", "pay less", code="budget"), situation)
    return replace(
        priced,
        is_too_dear=dear,
        too_dear=next(iter(cheaper), None),
        vacuous_fixes=_list_sharper(quote, situation),
        other=_other_currency(priced, budgets),
    )


def _list_sharper(quote: Quote, situation: Situation) -> tuple[SuggestedFix, ...]:
    """Prices at which an answer that would say nothing would say something."""
    if not quote.vacuous:
        return ()
    (told, *_) = quote.vacuous
    fix = Fix(told, PAY, **told.facts) if "currency" in told.facts else Fix(told)
    fixes = list_fixes(Refusal("It", "says nothing", fix, code="vacuous"), situation)
    return tuple(fix for fix in fixes if "allow_uninformative" not in fix.change)


def _other_currency(priced: PriceView, budgets: Budgets) -> str:
    """The change to the other currency at about the same worth, where the budgets take both."""
    accounts = (budgets.personal, budgets.dataset)
    if priced.policy or not all(each.budget.approximate and each.left().rho for each in accounts):
        return ""
    paid = float(priced.price)
    if priced.word == "rho":
        return change_fields(pay="epsilon", amount=f"{sqrt(2 * paid):.2g}")
    return change_fields(pay="rho", amount=f"{min(paid**2 / 2, float(find_most(budgets, 'rho'))):.2g}")


def _most_epsilon(left: Left) -> Fraction:
    return left.epsilon or left.largest_question
