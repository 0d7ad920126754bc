"""What a price means to a person: how sure somebody can become that they are in the data, as 100 dots."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING

from adomnia.accounting.groups import protect_group
from adomnia.accounting.meaning import FALSE_ALARMS, concentrated_detection, detection, odds_factor, posterior
from adomnia.console.rendering import cut_slice
from adomnia.explaining.promises import format_factor
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT, show_up

if TYPE_CHECKING:
    from fractions import Fraction

    from adomnia.privacy.filters import Budget, Filter, Spent

_DOTS, _ROW, _PITCH = 100, 10, 20
_HOUSEHOLD = 4
_BEFORE = "the chance that somebody gives that one {} is in the data"
_LEAST_PART = 0.01  # of a dot that is drawn at all


@dataclass(frozen=True)
class Dot:
    """One of a hundred: `kind` is p (neither), before or after; a part of one has a path."""

    x: int
    y: int
    kind: str
    path: str = ""


@dataclass(frozen=True)
class Picture:
    """A belief: what it is of, its price if any, so many in 100, what to say of it, and the dots."""

    title: str
    price: str
    number: str
    says: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True)
class BudgetMeaning:
    """The pictures, and what else there is to say. `tested`: the last speaks of a test, because there is a delta.

    `odds` and `household` are empty where nothing is promised of them.
    """

    prior: int
    pictures: tuple[Picture, ...]
    odds: str
    household: str
    tested: bool


@dataclass(frozen=True)
class Belief:
    """What was or may be released: its price in words, the belief that it can lead to, and whether a test is meant."""

    price: str
    after: float
    tested: bool


def explain_budget(account: Filter, last: Spent | None, prior: int, hidden: str = "person") -> BudgetMeaning:
    """The four pictures: before, the last question, all so far, the whole budget. `prior` is so many in 100."""
    before = prior / 100
    asked = None if last is None else _judge_spent(last, before)
    so_far = _judge_spent(account.spent, before) if account.spent.rho_units else None  # whatever is paid has a rho
    whole = _judge_budget(account.budget, before)
    pictures = (
        Picture("Before any answer", "", _in_hundred(before), _BEFORE.format(hidden), draw_dots(before, before)),
        _picture("Your last question", asked, before, "after it"),
        _picture("All yours so far", so_far, before, "after all your answers"),
        _picture("Your whole budget", whole, before, "after all that it pays for"),
    )
    odds = "" if whole.tested else format_factor(odds_factor(account.budget.epsilon))
    return BudgetMeaning(prior, pictures, odds, _judge_household(account.budget, before), whole.tested)


def _judge_spent(spent: Spent, before: float) -> Belief:
    """Of a sum of prices: exact where all of it is pure, else by the best test that rho and delta allow."""
    epsilon, rho = spent.epsilon_units * EPSILON_UNIT, spent.rho_units * EPSILON_UNIT
    if spent.pure:
        return Belief(f"ε {show_up(epsilon)}", posterior(before, epsilon), tested=False)
    hits = concentrated_detection(FALSE_ALARMS, rho, spent.delta_units * DELTA_UNIT)
    return Belief(f"ρ {show_up(rho)}", _name(before, hits), tested=True)


def _judge_budget(budget: Budget, before: float) -> Belief:
    price = f"ε {show_up(budget.epsilon)}"
    if not budget.delta:
        return Belief(price, posterior(before, budget.epsilon), tested=False)
    return Belief(price, _name_at(before, budget.epsilon, budget.delta), tested=True)


def _judge_household(budget: Budget, before: float) -> str:
    """How sure somebody can become about a household as a whole; empty where nothing is promised of so many."""
    group = protect_group(budget.epsilon, budget.delta, _HOUSEHOLD)
    if group is None:
        return ""
    epsilon, delta = group
    return _in_hundred(_name_at(before, epsilon, delta) if delta else posterior(before, epsilon))


def _name_at(before: float, epsilon: Fraction, delta: Fraction) -> float:
    """The same under epsilon and delta; never less than without the delta, which a rarer test would come near."""
    return max(_name(before, detection(FALSE_ALARMS, epsilon, delta)), posterior(before, epsilon))


def _name(before: float, hits: float) -> float:
    """The belief once a test has named somebody that names one in a hundred of those who are not in the data."""
    return before * hits / (before * hits + (1 - before) * FALSE_ALARMS)


def _picture(title: str, found: Belief | None, before: float, when: str) -> Picture:
    if found is None:
        return Picture(title, "", _in_hundred(before), "nothing was paid yet", draw_dots(before, before))
    after = max(found.after, before)
    says = f"{when}, of whom a test has named" if found.tested else f"the most they can give {when}"
    return Picture(title, found.price, _in_hundred(after), says, draw_dots(before, after))


def draw_dots(before: float, after: float) -> tuple[Dot, ...]:
    """A hundred dots: those of before, those that answers can add at most, the last of them as a part."""
    dots = [Dot(_PITCH * (k % _ROW) + _PITCH // 2, _PITCH * (k // _ROW) + _PITCH // 2, "p") for k in range(_DOTS)]
    shown = list(dots)
    for k, dot in enumerate(dots):
        known, added = _part(_DOTS * before - k), _part(_DOTS * after - k)
        if added > known:
            shown.append(_fill(dot, "after", added))
        if known:
            shown.append(_fill(dot, "before", known))
    return tuple(shown)


def _part(rest: float) -> float:
    part = min(max(rest, 0.0), 1.0)
    return 0.0 if part < _LEAST_PART else part


def _fill(dot: Dot, kind: str, part: float) -> Dot:
    """A dot, or the slice of it that a part is, clockwise from the top."""
    if part > 1 - _LEAST_PART:
        return Dot(dot.x, dot.y, kind)
    return Dot(dot.x, dot.y, kind, cut_slice(dot.x, dot.y, part))


def _in_hundred(share: float) -> str:
    """Three digits, rounded up, because it is the most; more of them only where three would say 100.

    >>> _in_hundred(0.1), _in_hundred(0.18999), _in_hundred(0.99971)
    ('10', '19', '99.98')
    """
    hundredths = Decimal(repr(round(100 * share, 9)))
    digits = 3
    while (shown := Context(prec=digits, rounding=ROUND_CEILING).plus(hundredths)) >= _DOTS > hundredths:
        digits += 1
    return f"{shown.normalize():f}"
