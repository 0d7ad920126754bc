"""The total cost of a batch of events that is fixed in advance; docs/proofs/calculators.md.

Calculators explain and compare. They never admit: their theorems need the number and the prices of the events to be
fixed before the first answer, which an analyst who adapts does not do. Only `privacy/filters.py` admits.

A person may be in several datasets, each of which spends all that it may. Each is one interactive mechanism with the
guarantee of its budget. Such mechanisms compose as if each were asked once, also when analysts go back and forth
between them: Vadhan & Wang 2021, Lyu 2022, Vadhan & Zhang 2023.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import reduce, singledispatch
from math import inf, isinf, nextafter, sqrt
from typing import TYPE_CHECKING, Any, TypeAlias

from adomnia.errors import install_extra
from adomnia.privacy.amounts import EPSILON_UNIT, Number, positive, proportion, round_up, whole
from adomnia.privacy.enclosures import exp_up, ln_up, sqrt_up
from adomnia.privacy.events import (
    Approximate,
    BoundedRange,
    Composed,
    Event,
    Pure,
    ScalarGaussian,
    ScalarLaplace,
)
from adomnia.privacy.losses import loss

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from adomnia.privacy.filters import Budget

_Distribution: TypeAlias = Any  # dp-accounting ships no types

_DIGITS = 60  # ten thousand roundings leave 55 of them
_UP = Context(prec=_DIGITS, rounding=ROUND_CEILING, Emax=MAX_EMAX, Emin=MIN_EMIN)
_DOWN = Context(prec=_DIGITS, rounding=ROUND_FLOOR, Emax=MAX_EMAX, Emin=MIN_EMIN)
_FOURIER_ERROR = 1e-14  # in probability; seen below 1e-15, allowed for and not proved
_LARGEST_VARIANCE = 10**10  # dp-accounting lists the support: a second and a half here
SLACK = Fraction(1, 10**6)  # the probability with which the loss may be larger, beside the datasets' own deltas


def basic_composition(events: Iterable[Event]) -> Approximate:
    """Epsilons and deltas add up, for adaptive analysts too.

    >>> basic_composition([Pure(0.5), Approximate(0.25, 1e-6)])
    Approximate(epsilon=Fraction(3, 4), delta=Fraction(1, 1000000))
    """
    pairs = _pairs(events, "basic_composition")
    return Approximate(sum(epsilon for epsilon, _ in pairs), sum(delta for _, delta in pairs))


def parallel_composition(events: Iterable[Event]) -> Approximate:
    """The largest cost among the parts of a public partition in which all rows of a person are in one part.

    Only where neighbours add or remove a person: a replaced one may leave one part and enter another.
    """
    pairs = _pairs(events, "parallel_composition")
    return Approximate(max(epsilon for epsilon, _ in pairs), max(delta for _, delta in pairs))


def advanced_composition(epsilon: Number, delta: Number, times: int, slack: Number) -> Approximate:
    """The total of `times` events, but for a probability of `slack`; for few or large epsilons the basic one is less.

    Cite        Dwork, Rothblum & Vadhan 2010; theorem 3.20 of Dwork & Roth 2014.
    """
    return _compose_with_drift(epsilon, delta, times, slack, drift=lambda one: exp_up(one) - 1)


def tight_advanced_composition(epsilon: Number, delta: Number, times: int, slack: Number) -> Approximate:
    """Advanced composition with the exact worst-case mean of the loss, epsilon tanh(epsilon / 2), as drift."""
    return _compose_with_drift(epsilon, delta, times, slack, drift=lambda one: 1 - 2 / (exp_up(one) + 1))


def optimal_composition(epsilon: Number, delta: Number, times: int, target_delta: Number) -> Approximate:
    """The least epsilon that `times` events of (epsilon, delta) have together at a total target delta.

    Cite        Kairouz, Oh & Viswanath 2015: randomised response is the worst (epsilon, delta)-DP mechanism.
    """
    one, count = positive(epsilon, "optimal_composition", "epsilon"), whole(times, "optimal_composition", "times")
    target = proportion(target_delta, "optimal_composition", "target_delta")
    kept = _power(_decimal(1 - proportion(delta, "optimal_composition", "delta"), _DOWN), count, _DOWN)
    remaining = _decimal(1 - (1 - target) / Fraction(kept), _DOWN)
    if remaining < 0:
        rule = f"must be at least what {count} events use up"
        raise ValueError(f"optimal_composition target_delta {rule}, got {target_delta}.")
    # A slightly larger epsilon only makes the bound larger, so from here on the growth is taken as exact.
    growth = _decimal(exp_up(one, _DIGITS), _UP)
    factor = max(Decimal(1), *_likelihood_ratios(growth, count, remaining))
    return Approximate(_round_up_epsilon(ln_up(Fraction(factor))), target)


def numerical_composition(events: Iterable[Event], delta: Number) -> Approximate:
    """The total by convolving privacy-loss distributions with `dp-accounting`, rounded up but for floating point.

    Scalar noise counts by its own distribution, pure and approximate events as randomised response, their worst case.
    """
    identity = _accountant().privacy_loss_distribution.identity
    target = proportion(delta, "numerical_composition", "delta")
    counts = Counter(part for event in events for part in _flatten(event))
    if not counts:
        raise ValueError("numerical_composition events must hold at least one event, got ().")
    interval = _grid_step(counts)
    parts = (_loss_distribution(part, interval).self_compose(count) for part, count in counts.items())
    total = reduce(lambda left, right: left.compose(right), parts, identity(interval))
    epsilon = total.get_epsilon_for_delta(max(0.0, float(target) * (1 - 1e-6) - _FOURIER_ERROR))
    if isinf(epsilon):
        raise ValueError(f"numerical_composition delta must be above what the events use up, got {delta}.")
    return Approximate(_round_up_epsilon(Fraction(epsilon)), target)


def _pairs(events: Iterable[Event], owner: str) -> list[tuple[Fraction, Fraction]]:
    pairs = [_pair(event, owner) for event in events]
    if not pairs:
        raise ValueError(f"{owner} events must hold at least one event, got ().")
    return pairs


def _pair(event: Event, owner: str) -> tuple[Fraction, Fraction]:
    if isinstance(event, Composed):
        together = basic_composition(event.events)
        return together.epsilon, together.delta
    if isinstance(event, Approximate):
        return event.epsilon, event.delta
    epsilon = loss(event).epsilon
    if epsilon is None:
        raise ValueError(f"{owner} events must have an epsilon of their own, got {event!r}.")
    return epsilon, Fraction(0)


def _compose_with_drift(
    epsilon: Number, delta: Number, times: int, slack: Number, drift: Callable[[Fraction], Fraction]
) -> Approximate:
    one, count = positive(epsilon, "advanced_composition", "epsilon"), whole(times, "advanced_composition", "times")
    failure = proportion(slack, "advanced_composition", "slack")
    if failure == 0:
        raise ValueError(f"advanced_composition slack must be > 0, got {slack}.")
    deviation = sqrt_up(2 * count * ln_up(1 / failure)) * one
    total_delta = count * proportion(delta, "advanced_composition", "delta") + failure
    return Approximate(_round_up_epsilon(deviation + count * one * drift(one)), total_delta)


def _likelihood_ratios(growth: Decimal, count: int, remaining: Decimal) -> Iterator[Decimal]:
    """The e^epsilon that each set of outcomes demands, rounded up: docs/proofs/calculators.md.

    A set holds the outcomes with at most so many flipped answers; `upper` and `lower` are the probabilities of exactly
    `flipped` of them under the two neighbours, times (1 + growth)**count.
    """
    charged = _DOWN.multiply(remaining, _power(_DOWN.add(1, growth), count, _DOWN))
    upper, lower = _power(growth, count, _UP), Decimal(1)
    total_upper = total_lower = Decimal(0)
    for flipped in range((count + 1) // 2):
        total_upper, total_lower = _UP.add(total_upper, upper), _DOWN.add(total_lower, lower)
        yield _UP.divide(_UP.subtract(total_upper, charged), total_lower)
        upper = _UP.divide(_UP.divide(_UP.multiply(upper, count - flipped), flipped + 1), growth)
        lower = _DOWN.multiply(_DOWN.divide(_DOWN.multiply(lower, count - flipped), flipped + 1), growth)


def _power(base: Decimal, exponent: int, context: Context) -> Decimal:
    # Context.power is not correctly rounded; products are, and of positive numbers they all err to the same side.
    result = Decimal(1)
    for bit in f"{exponent:b}":
        result = context.multiply(result, result)
        result = context.multiply(result, base) if bit == "1" else result
    return result


def _decimal(x: Fraction, context: Context) -> Decimal:
    return context.divide(x.numerator, x.denominator)


def _round_up_epsilon(epsilon: Fraction) -> Fraction:
    return max(1, round_up(epsilon, EPSILON_UNIT)) * EPSILON_UNIT


def _flatten(event: Event) -> Iterator[Event]:
    if isinstance(event, Composed):
        for part in event.events:
            yield from _flatten(part)
    else:
        yield event


def _grid_step(counts: Counter[Event]) -> float:
    """A grid for privacy losses: finer than the smallest, and of at most two million points."""
    sizes = {part: sqrt(2 * loss(part).rho) for part in counts}
    reach = sum(count * (8 * sizes[part] + sizes[part] ** 2 / 2) for part, count in counts.items())
    return max(min(1e-4, min(sizes.values()) / 4), reach / 2e6)


def _accountant() -> Any:  # noqa: ANN401 - dp-accounting ships no types
    """The library behind `numerical_composition`: an extra, and seconds to import."""
    try:
        from dp_accounting import pld
    except ImportError:
        fix = install_extra("accounting")
        raise ImportError(f"numerical_composition needs dp-accounting. Fix: {fix}.") from None
    return pld


@singledispatch
def _loss_distribution(event: Event, interval: float) -> _Distribution:
    rule = "must have a loss distribution of their own"
    raise ValueError(f"numerical_composition events {rule}, got {event!r} at {interval}.")


@_loss_distribution.register
def _(event: Pure | BoundedRange, interval: float) -> _Distribution:
    # Discrete Laplace noise on an integer that moves by one *is* randomised response: its loss is +-epsilon.
    return _loss_distribution(ScalarLaplace(1 / event.epsilon, 1), interval)


@_loss_distribution.register
def _(event: Approximate, interval: float) -> _Distribution:
    pld = _accountant()
    failure = pld.common.DifferentialPrivacyParameters(0.0, nextafter(float(event.delta), 1.0))
    lost = pld.privacy_loss_distribution.from_privacy_parameters(failure, interval)
    return _loss_distribution(Pure(event.epsilon), interval).compose(lost)


@_loss_distribution.register
def _(event: ScalarLaplace, interval: float) -> _Distribution:
    rate = nextafter(float(1 / event.scale), inf)
    return _accountant().privacy_loss_distribution.from_discrete_laplace_mechanism(
        rate, event.distance, value_discretization_interval=interval, use_connect_dots=True
    )


@_loss_distribution.register
def _(event: ScalarGaussian, interval: float) -> _Distribution:
    if event.variance > _LARGEST_VARIANCE:
        raise ValueError(f"numerical_composition variance must be <= 1e10, got {event.variance}.")
    sigma = nextafter(sqrt(event.variance), 0.0)
    return _accountant().privacy_loss_distribution.from_discrete_gaussian_mechanism(
        sigma, event.distance, value_discretization_interval=interval, use_connect_dots=True
    )


@dataclass(frozen=True)
class LifetimeLoss:
    """The loss of a person in all datasets by one theorem: its name, and the total (None: it bounds nothing)."""

    theorem: str
    total: Approximate | None


def compose_datasets(budgets: Sequence[Budget]) -> list[LifetimeLoss]:
    """The lifetime loss by three theorems; the latter two take each dataset for the one with the largest budget.

    >>> from adomnia.privacy.filters import Budget
    >>> [round(float(each.total.epsilon), 2) for each in compose_datasets([Budget(0.1)] * 50)]
    [5.0, 4.24, 3.17]
    """
    count, equal = len(budgets), len({(each.epsilon, each.delta) for each in budgets}) == 1
    epsilon, delta = max(each.epsilon for each in budgets), max(each.delta for each in budgets)
    events = [Approximate(each.epsilon, each.delta) if each.delta else Pure(each.epsilon) for each in budgets]
    theorems: dict[str, Callable[[], Approximate]] = {
        "basic": lambda: basic_composition(events),
        "advanced (Dwork, Rothblum and Vadhan)": lambda: advanced_composition(epsilon, delta, count, SLACK),
        "optimal (Kairouz, Oh and Viswanath)": lambda: optimal_composition(
            epsilon, delta, count, count * delta + SLACK
        ),
    }
    taken = "" if equal else ", each taken for the largest"
    return [LifetimeLoss(name + taken * (name != "basic"), _bound(compose)) for name, compose in theorems.items()]


def _bound(compose: Callable[[], Approximate]) -> Approximate | None:
    """The total; None where deltas add up to 1, or an epsilon is so large that its exponential is no number."""
    try:
        return compose()
    except ValueError:
        return None
