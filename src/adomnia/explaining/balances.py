"""What an account has spent and has left, in words; and what it cannot pay any more once a question is paid for."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from adomnia.errors import Refusal
from adomnia.messages.texts import Note, NoteTemplate
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT, show_down, show_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adomnia.privacy.events import Event
    from adomnia.privacy.filters import Filter


def say_account(account: Filter) -> str:
    """Both, in two sentences."""
    return f"Spent: {say_spent(account)}. Left: {say_left(account)}."


def say_spent(account: Filter) -> str:
    """What was spent, in the sum that the budget is held to: of epsilons while that may be, of rhos otherwise.

    >>> from adomnia.privacy.events import Pure
    >>> from adomnia.privacy.filters import Budget, Filter
    >>> say_spent(Filter(Budget(epsilon=1)).after(Pure(0.25)))
    'epsilon 0.25 of 1'
    """
    budget, spent, within = account.budget, account.spent, account.branches()
    if not any(within):
        return "more than the budget is now"
    delta = spent.delta_units * DELTA_UNIT
    beside = f" and delta {_part(delta, budget.event_delta)}" if delta else ""
    if within.epsilon:
        return f"epsilon {_part(spent.epsilon_units * EPSILON_UNIT, budget.epsilon)}{beside}"
    return f"rho {_part(spent.rho_units * EPSILON_UNIT, budget.rho)}{beside}"


def say_left(account: Filter) -> str:
    """What may still be paid, and how much of it in one question where that is not the same."""
    left, approximate = account.left(), account.budget.approximate
    delta = f", and delta {show_down(left.delta)}" if approximate and left.delta else ""
    rho = f"rho {show_down(left.rho)}" if approximate and left.rho else ""
    if left.epsilon:
        either = f" or {rho}" if rho else ""
        return f"epsilon {show_down(left.epsilon)}{_beyond(account)}{either}{delta}"
    if not left.rho:
        return "nothing"
    question = f"one question at epsilon {show_down(left.largest_question)}, or several smaller ones"
    return f"{rho}{delta}: {question}" if rho else question


WOULD_BE_REFUSED = NoteTemplate("would_be_refused", "A new answer would be refused: for {whose} it {why}. Fix: {fix}.")
_NOTHING_LEFT = NoteTemplate("nothing_left", "After this question nothing is left of {whose}.")
_RHO_FROM_NOW = NoteTemplate(
    "rho_from_now",
    "After this question {whose} adds up rho and no longer epsilon: a question at epsilon e then costs rho e^2 / 2. "
    "Left: {left}.",
)
_EPSILON_FROM_NOW = NoteTemplate(
    "epsilon_from_now", "After this question {whose} adds up epsilon alone: {end}. Left: {left}."
)


def warn(personal: Filter, dataset: Filter, event: Event, lifetime: Filter | None = None) -> tuple[Note, ...]:
    """What whoever pays for an event should know before, of their own budget, the dataset's, and one that it shares."""
    shared = () if lifetime is None else warn_account(lifetime, "the lifetime budget shared with other datasets", event)
    return (
        *warn_account(personal, "your budget", event),
        *warn_account(dataset, "the dataset's budget", event),
        *shared,
    )


def warn_account(account: Filter, whose: str, event: Event) -> Iterator[Note]:
    """The same of one account."""
    try:
        paid = account.after(event)
    except Refusal as refusal:
        yield WOULD_BE_REFUSED(whose=whose, why=refusal.why, fix=refusal.fix)
        return
    before, after = account.left(), paid.left()
    if not after.epsilon and not after.rho:
        yield _NOTHING_LEFT(whose=whose)
    elif before.epsilon and not after.epsilon:
        yield _RHO_FROM_NOW(whose=whose, left=say_left(paid))
    elif before.rho and not after.rho:
        how = "many small questions then cost the sum of their epsilons"
        end = f"nothing can be paid in rho any more, and {how}" if account.budget.approximate else how
        yield _EPSILON_FROM_NOW(whose=whose, end=end, left=say_left(paid))


def _beyond(account: Filter) -> str:
    """How much more one question may cost than is left of the sum of epsilons, because its rho is left."""
    left = account.left()
    if left.largest_question <= left.epsilon:
        return ""
    return f" (up to {show_down(left.largest_question)} in one question, paid from rho)"


def _part(amount: Fraction, total: Fraction) -> str:
    """An amount of a total: rounded up, but to no more than the total as it is shown."""
    whole = show_down(total)
    return f"{min(show_up(amount), whole, key=Fraction)} of {whole}"
