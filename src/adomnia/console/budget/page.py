"""The page of budgets, and how one was spent over time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import floor, log10
from typing import TYPE_CHECKING, Any

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations

from adomnia.api.actions.answers import list_unanswered
from adomnia.console.budget.debits import add_totals, from_past, from_receipt
from adomnia.console.budget.gauges import EPSILON, build_gauge, count_units, find_currency
from adomnia.console.budget.meaning import explain_budget
from adomnia.console.frame import show
from adomnia.console.history.index import histories_of
from adomnia.console.rendering import Page
from adomnia.errors import Refusal
from adomnia.pricing.policies import terms
from adomnia.privacy.amounts import EPSILON_UNIT, show_down, show_up
from adomnia.work import spend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.responses import Response

    from adomnia.api.requests import Visit
    from adomnia.catalog.model import Policy
    from adomnia.console.budget.debits import CountedDebit
    from adomnia.console.budget.gauges import Currency
    from adomnia.console.history.index import History
    from adomnia.privacy.filters import Filter, Spent

_PRIORS = (1, 10, 50)
_USUAL_PRIOR = 10
_SHOWN = 50  # debits in the table
_POLICIES = {
    "on_demand": "you name each price",
    "equal_split": "each question costs the same",
    "geometric": "each question costs a share of what is left",
}
_SIDE = 1000  # units of the picture, both ways; the page stretches it
_FINEST = 2  # units between two steps; nobody sees finer ones
_MARKS = 5  # on each axis, about


async def budget(request: Request) -> Response:
    """What is left, how it went, what it means to a person, and what the next question costs."""
    prior, histories = _read_prior(request.query_params.get("prior", "")), histories_of(request)

    def read(visit: Visit) -> Page:
        return Page("budget.html", _fill(visit, histories.read(visit.session), prior))

    return await show(request, read)


def _fill(visit: Visit, kept: History, prior: int) -> dict[str, Any]:
    budgets, policy = visit.session.budget(), _find_policy(visit)
    personal, currency = budgets.personal, find_currency(budgets.personal)
    debits = _list_debits(visit, kept, personal.spent, currency)
    return {
        "personal": build_gauge(personal),
        "dataset": build_gauge(budgets.dataset),
        "policy": _POLICIES[policy.name],
        "terms": budgets.terms,
        "ahead": list_prices(policy, personal),
        "currency": currency,
        "burn": draw_burn_down(debits, personal, currency, datetime.now(UTC)) if debits else None,
        "debits": debits[:_SHOWN],
        "number": len(debits),
        "since": debits[-1].debit.at if debits else "",
        "more": _count_more(personal, debits[0].debit.cost, currency) if debits else None,
        "complete": kept.complete,
        "meaning": explain_budget(personal, debits[0].debit.cost if debits else None, prior, visit.catalog.unit.noun),
        "priors": _PRIORS,
    }


def _list_debits(visit: Visit, kept: History, spent: Spent, currency: Currency) -> list[CountedDebit]:
    """All that was paid, newest first: what was answered, and what was not."""
    unanswered = list_unanswered(visit)
    answered = kept.newest_first()
    spend(len(answered) + len(unanswered))
    return add_totals([*map(from_receipt, unanswered), *map(from_past, answered)], spent, currency)


def _count_more(account: Filter, cost: Spent, currency: Currency) -> int:
    """How many more questions at this cost are paid for by the sum that the budget is held to; 0 if it takes none."""
    left, by_epsilon, units = account.left(), currency is EPSILON, count_units(cost, currency)
    if not units or (by_epsilon and not cost.in_epsilon):
        return 0
    return int((left.epsilon if by_epsilon else left.rho) // (units * EPSILON_UNIT))


def _find_policy(visit: Visit) -> Policy:
    declared = visit.catalog.analyst(visit.visitor.name)
    assert declared is not None  # noqa: S101 - only analysts of the catalog see the page
    return declared.policy


def _read_prior(text: str) -> int:
    """So many in 100, from 1 to 99; whatever is none is the usual one."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 2 else 0
    return number or _USUAL_PRIOR


_MOST = 12


@dataclass(frozen=True)
class PriceAhead:
    """The price of the k-th question from now, as a share of the next one's too, and what is left after it."""

    number: int
    price: str
    share: float
    left: str


def list_prices(policy: Policy, account: Filter) -> list[PriceAhead]:
    """The next prices that the policy sets; none where the analyst names them, or nothing is left."""
    prices: list[PriceAhead] = []
    first = terms(policy, account).price
    while first is not None and len(prices) < _MOST:
        price = terms(policy, account).price
        if price is None:
            break
        try:
            account = account.after(price)
        except Refusal:  # rounding left less than a whole price
            break
        share = float(price.epsilon / first.epsilon)
        left = account.left()
        rest = f"ε {show_down(left.epsilon)}" if account.branches().epsilon else f"ρ {show_down(left.rho)}"
        prices.append(PriceAhead(len(prices) + 1, show_up(price.epsilon), share, rest))
    return prices


@dataclass(frozen=True)
class AxisMark:
    """A place on an axis, from 0 to 1, and what stands there."""

    place: float
    label: str


@dataclass(frozen=True)
class BurnDown:
    """The line and the area below it, as paths of SVG, and the marks of both axes.

    `end` is where the line ends, from 0 to 1 from the top, and `left` what that stands for.
    """

    line: str
    area: str
    end: float
    left: str
    amounts: tuple[AxisMark, ...]
    times: tuple[AxisMark, ...]


def draw_burn_down(debits: Sequence[CountedDebit], account: Filter, currency: Currency, now: datetime) -> BurnDown:
    """The picture of debits, newest first, of which there is at least one."""
    amount = account.budget.epsilon if currency is EPSILON else account.budget.rho
    whole = float(amount / EPSILON_UNIT)
    moments = [_read_time(each.debit.at) for each in reversed(debits)]
    start, end = _frame(moments[0], max(now, moments[-1]))
    levels = [_height(each.total, whole) for each in reversed(debits)]
    steps = _thin([(_SIDE * (moment - start) / (end - start)) for moment in moments], levels)
    line = f"M0 {_height(debits[-1].before, whole):.1f}" + "".join(
        f"H{place:.1f}V{level:.1f}" for place, level in steps
    )
    line += f"H{_SIDE}"
    marks = _mark_amounts(float(amount)), _mark_times(start, end)
    return BurnDown(line, f"{line}V{_SIDE}H0Z", levels[-1] / _SIDE, _show_left(account, currency), *marks)


def _thin(places: list[float], levels: list[float]) -> list[tuple[float, float]]:
    """The steps, of which those that would stand in one place are one."""
    steps: dict[int, tuple[float, float]] = {}
    for place, level in zip(places, levels, strict=True):
        first = steps.get(int(place / _FINEST), (place, level))
        steps[int(place / _FINEST)] = (first[0], level)
    return list(steps.values())


def _frame(first: datetime, last: datetime) -> tuple[datetime, datetime]:
    """Some time before the first debit, so that the whole budget is seen."""
    return first - max((last - first) / 20, timedelta(minutes=1)), last


def _height(spent: float, whole: float) -> float:
    """How far below the top what is left stands."""
    return _SIDE * min(max(spent / whole, 0.0), 1.0)


def _show_left(account: Filter, currency: Currency) -> str:
    left = account.left()
    return show_down(left.epsilon if currency is EPSILON else left.rho)


def _mark_amounts(whole: float) -> tuple[AxisMark, ...]:
    """Round amounts from 0 to the whole."""
    power = 10.0 ** floor(log10(whole / _MARKS))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor * _MARKS >= whole * (1 - 1e-9))
    return tuple(AxisMark(1 - k * step / whole, f"{k * step:.6g}") for k in range(int(whole / step * (1 + 1e-9)) + 1))


def _mark_times(start: datetime, end: datetime) -> tuple[AxisMark, ...]:
    span = end - start
    form = "%-d %b" if span > timedelta(days=_MARKS) else "%-d %b, %H:%M" if span > timedelta(days=1) else "%H:%M"
    places = [k / (_MARKS - 1) for k in range(_MARKS)]
    return tuple(AxisMark(place, f"{start + place * span:{form}}") for place in places)


def _read_time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
