"""What the next question costs, where the owner and not the analyst sets the price; docs/policies.md."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log, log1p

from adomnia.catalog.model import Policy
from adomnia.errors import Refusal
from adomnia.messages.texts import write
from adomnia.privacy.amounts import EPSILON_UNIT, round_down, round_up, show_down, show_up
from adomnia.privacy.enclosures import sqrt_down
from adomnia.privacy.events import Composed, Event, Pure
from adomnia.privacy.filters import Filter
from adomnia.privacy.losses import loss

_LEFT_OVER = 100  # a budget of which one part in so many is left counts as used up
_ALMOST = 1 - 1e-12  # two questions that keep a tenth leave a hundredth, whatever the rounding of logarithms


@dataclass(frozen=True)
class Terms:
    """What a question costs from here on, in a sentence and in numbers.

    `price` is that of the next question, or None: the analyst names it, at most the `ceiling`. `questions` is how many
    more the policy pays for, or None: that depends on their prices. At 0 there is no next question, and no price.
    """

    price: Pure | None
    questions: int | None
    ceiling: Fraction | None
    says: str


def sets_price(policy: Policy) -> bool:
    """Whether the policy, and not the analyst, sets the price of a question."""
    return policy.name != "on_demand"


def next_price(policy: Policy, account: Filter) -> Pure | None:
    """What the next question costs, a Refusal if nothing is left to pay for it; None: the analyst names the price."""
    found = terms(policy, account)
    if found.questions == 0:
        why = f"has no price left under the policy {policy.name}: what it may spend is used up"
        raise Refusal("The question", why, "ask the owner for a larger budget", code="budget")
    return found.price


def terms(policy: Policy, account: Filter) -> Terms:
    """The terms of an analyst with this account.

    >>> from adomnia.privacy.filters import Budget
    >>> terms(Policy("equal_split", questions=20), Filter(Budget(epsilon=2)).after(Pure(0.1))).says
    'Each question costs epsilon 0.1, and 19 are left.'
    """
    match policy:
        case Policy(name="equal_split", questions=int(number)):
            price, more = _equal(policy, account, number)
            says = f"Each question costs epsilon {show_up(price)}, and {_are(more)} left."
        case Policy(name="geometric", spend=Fraction() as share):
            price, more = _geometric(policy, account, share)
            says = f"The next question costs epsilon {show_up(price)}, {_part(policy, price, share)}; {_last(more)}."
        case _:
            most = "" if policy.ceiling is None else f", at most epsilon {show_down(policy.ceiling)}"
            return Terms(None, None, policy.ceiling, f"The analyst names the price of each question{most}.")
    if not price or not more:
        return Terms(None, 0, policy.ceiling, "Nothing is left to pay for a question.")
    return Terms(Pure(price), more, policy.ceiling, says)


def check_named(policy: Policy, named: bool) -> None:
    """Refuse a question that names its price (epsilon=, rho= or error=) where the policy sets it."""
    if named and sets_price(policy):
        why, fix = f"is set by the policy {policy.name}", write("leave {epsilon=}, {rho=} and {error=} out")
        raise Refusal("The price", why, fix, code="policy_price")


def check_ceiling(policy: Policy, event: Event) -> None:
    """Refuse a question that costs more than the ceiling.

    A ceiling is an epsilon, and what is paid in epsilon is compared by the sum of all parts, whatever their deltas.
    What is paid in rho may be ceiling**2 / 2, which is what a pure question at the ceiling is worth at most (Bun &
    Steinke 2016, prop. 1.4); of both, epsilon counts with the square of its sum.
    """
    if policy.ceiling is None:
        return
    epsilon, rho = _paid(event)
    worth, most = epsilon**2 / 2 + rho, policy.ceiling**2 / 2
    if worth <= most:
        return
    if rho:
        asked, limit = f"rho {show_up(worth)}", f"rho {show_down(most)}"
    else:
        asked, limit = f"epsilon {show_up(epsilon)}", f"epsilon {show_down(policy.ceiling)}"
    why, fix = f"costs {asked}, and the ceiling for one question is {limit}", "pay less, or split the question"
    raise Refusal("The question", why, fix, code="ceiling")


def _paid(event: Event) -> tuple[Fraction, Fraction]:
    """What the parts of an event cost in epsilon, and in rho where they were paid in that."""
    if isinstance(event, Composed):
        parts = [_paid(part) for part in event.events]
        return sum((epsilon for epsilon, _ in parts), Fraction(0)), sum((rho for _, rho in parts), Fraction(0))
    spent = loss(event)
    return (Fraction(0), spent.rho) if spent.epsilon is None else (spent.epsilon, Fraction(0))


def _equal(policy: Policy, account: Filter, number: int) -> tuple[Fraction, int]:
    """The budget's epsilon over the number of questions, and how many of them are left.

    Rounded down once, so that three thirds of 1 are all granted. The number is kept to even where rounding leaves
    enough for one more. Once the account is held to its rho alone, the questions are counted by theirs.
    """
    price = _allowed(account.budget.epsilon / number, policy)
    if not price:
        return price, 0
    left, spent, in_epsilon = account.left(), account.spent, account.branches().epsilon
    each = round_up(price if in_epsilon else price**2 / 2, EPSILON_UNIT)
    used = spent.epsilon_units if in_epsilon else spent.rho_units
    paid = round_down(left.epsilon if in_epsilon else left.rho, EPSILON_UNIT) // each
    return price, max(0, min(paid, number + -used // each))


def _geometric(policy: Policy, account: Filter, share: Fraction) -> tuple[Fraction, int]:
    """A share of what is left, and how many questions leave a hundredth of that.

    The k-th price is share * (1 - share)**(k - 1) of the budget. In an account that is held to its rho alone, it is the
    epsilon that spends this share of the rho.
    """
    left, in_epsilon = account.left(), account.branches().epsilon
    rest = left.epsilon if in_epsilon else left.rho
    price = _allowed(share * rest if in_epsilon else sqrt_down(2 * share * rest), policy)
    if not price:
        return price, 0
    if policy.ceiling is None:
        return price, _geometric_number(share, Fraction(_LEFT_OVER))
    return price, _limited_number(share, policy.ceiling / rest if in_epsilon else policy.ceiling**2 / 2 / rest)


def _geometric_number(share: Fraction, factor: Fraction) -> int:
    """How many questions leave one part in `factor`: ceil(ln factor / ln (1 / (1 - share)))."""
    keep = log1p(-float(share)) if share < Fraction(1, 2) else log(1 - share)
    return ceil(log(factor) / -keep * _ALMOST)


def _limited_number(share: Fraction, most: Fraction) -> int:
    """The same where no question takes more than `most`, as a part of what is left now."""
    if share <= most:
        return _geometric_number(share, Fraction(_LEFT_OVER))
    alike = ceil(min(1 - most / share, 1 - Fraction(1, _LEFT_OVER)) / most)  # questions at the ceiling
    factor = (1 - alike * most) * _LEFT_OVER
    return alike + (_geometric_number(share, factor) if factor > 1 else 0)


def _allowed(price: Fraction, policy: Policy) -> Fraction:
    """At most the ceiling, in whole units of what ledgers count."""
    most = price if policy.ceiling is None else min(price, policy.ceiling)
    return round_down(most, EPSILON_UNIT) * EPSILON_UNIT


def _part(policy: Policy, price: Fraction, share: Fraction) -> str:
    limited = policy.ceiling is not None and price == _allowed(policy.ceiling, policy)
    return "its ceiling" if limited else f"{show_up(100 * share)}% of what is left"


def _are(number: int) -> str:
    return f"{number:,} {'is' if number == 1 else 'are'}"


def _last(number: int) -> str:
    return f"{number:,} such {'question uses' if number == 1 else 'questions use'} up 99% of the rest"
