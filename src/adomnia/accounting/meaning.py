"""What an epsilon means to the person behind it: how far beliefs can move, how well any test can find them.

"Detection" is the best true positive rate of a test of "is she in the data?" that wrongly names absent people at the
given rate; "advantage" is the most by which a test's hits exceed its false alarms. Both hold whatever the tester knows.
"""

from __future__ import annotations

from math import exp, expm1, inf, log, sqrt
from statistics import NormalDist

from adomnia.privacy.amounts import Number, exact, positive, proportion
from adomnia.privacy.events import Approximate, Event, Pure
from adomnia.privacy.losses import loss

_LARGEST_LOGARITHM = 700.0  # exp of it is still a float, and times the smallest rate, 1e-300, it is still above 1
FALSE_ALARMS = 0.01  # the rate of the test that sentences speak of


def odds_factor(epsilon: Number) -> float:
    """The largest factor by which answers can change the odds of any statement about one person's rows."""
    growth = float(positive(epsilon, "odds_factor", "epsilon"))
    return exp(growth) if growth <= _LARGEST_LOGARITHM else inf


def posterior(prior: Number, epsilon: Number) -> float:
    """The largest probability that a prior one can become; the smallest follows from the complement of the prior.

    >>> round(posterior(0.01, 1), 4)
    0.0267
    """
    before = _probability(prior, "posterior", "prior")
    shrinking = exp(-float(positive(epsilon, "posterior", "epsilon")))
    return before / (before + (1 - before) * shrinking)


def detection(false_positive_rate: Number, epsilon: Number, delta: Number = 0) -> float:
    """The best true positive rate under (epsilon, delta).

    >>> round(detection(0.01, 1, 0), 4)
    0.0272
    """
    rate = _probability(false_positive_rate, "detection", "false_positive_rate")
    growth = exp(min(float(positive(epsilon, "detection", "epsilon")), _LARGEST_LOGARITHM))
    failure = float(proportion(delta, "detection", "delta"))
    return min(growth * rate + failure, 1 - max(0.0, 1 - failure - rate) / growth)


def advantage(epsilon: Number, delta: Number = 0) -> float:
    """The best advantage under (epsilon, delta): tanh(epsilon / 2) at delta = 0."""
    shrunk = -expm1(-float(positive(epsilon, "advantage", "epsilon")))  # 1 - e^-epsilon
    failure = float(proportion(delta, "advantage", "delta"))
    return (shrunk + 2 * failure * (1 - shrunk)) / (2 - shrunk)


def gaussian_detection(false_positive_rate: Number, rho: Number) -> float:
    """The best true positive rate against continuous Gaussian noise of that rho; it is exact."""
    rate = _probability(false_positive_rate, "gaussian_detection", "false_positive_rate")
    if rate in (0.0, 1.0):
        return rate
    normal = NormalDist()
    return normal.cdf(_gaussian_shift(rho, "gaussian_detection") + normal.inv_cdf(rate))


def gaussian_advantage(rho: Number) -> float:
    """The best advantage against continuous Gaussian noise of that rho."""
    return 2 * NormalDist().cdf(_gaussian_shift(rho, "gaussian_advantage") / 2) - 1


def concentrated_detection(false_positive_rate: Number, rho: Number, delta: Number = 0) -> float:
    """The best true positive rate against any delta-approximate rho-zCDP mechanism; docs/proofs/conversions.md."""
    rate = _probability(false_positive_rate, "concentrated_detection", "false_positive_rate")
    root = sqrt(positive(rho, "concentrated_detection", "rho"))
    failure = float(proportion(delta, "concentrated_detection", "delta"))
    kept = min(1.0, rate / (1 - failure))
    if kept in (0.0, 1.0):
        return failure + (1 - failure) * kept
    hits = exp(-(max(0.0, sqrt(-log(kept)) - root) ** 2))
    misses = exp(-((sqrt(-log(1 - kept)) + root) ** 2))
    return failure + (1 - failure) * min(hits, 1 - misses)


def concentrated_advantage(rho: Number, delta: Number = 0) -> float:
    """A bound on the advantage against any delta-approximate rho-zCDP mechanism (Pinsker; Bretagnolle & Huber 1979)."""
    spread = float(positive(rho, "concentrated_advantage", "rho"))
    failure = float(proportion(delta, "concentrated_advantage", "delta"))
    return failure + (1 - failure) * min(sqrt(spread / 2), sqrt(-expm1(-spread)))


def explain_guarantee(guarantee: Event | Number, prior: Number) -> str:
    """Say in plain words what a guarantee means.

    >>> print(explain_guarantee(1, 0.01))  # doctest: +ELLIPSIS
    If someone thinks the chance that you are in the data is 1 in 100, everything released can raise it to 2.67 in 10...
    """
    event = guarantee if isinstance(guarantee, Event) else Pure(guarantee)
    before = _probability(prior, "explain_guarantee", "prior")
    limits = "It bounds what your own rows reveal, not what can be learned about you from everybody else's."
    cost = loss(event)
    opening = f"If someone thinks the chance that you are in the data is {_format_probability(before)},"
    if cost.epsilon is not None and not cost.delta:
        after = _format_probability(posterior(prior, cost.epsilon))
        return f"{opening} everything released can raise it to {after} at most. {limits}"
    hits = _best_detection(event)
    named = _format_probability(before * hits / (before * hits + (1 - before) * FALSE_ALARMS))
    return (
        f"{opening} a test that names you can raise it to {named} at most. After everything released, any test that "
        f"names {_format_probability(FALSE_ALARMS)} of the people who are not in the data names at most "
        f"{_format_probability(hits)} of those who are. {limits}"
    )


def _best_detection(event: Event) -> float:
    if isinstance(event, Approximate):
        return detection(FALSE_ALARMS, event.epsilon, event.delta)
    cost = loss(event)
    return concentrated_detection(FALSE_ALARMS, cost.rho, cost.delta)


def _gaussian_shift(rho: Number, owner: str) -> float:
    return sqrt(2 * positive(rho, owner, "rho"))


def _probability(value: Number, owner: str, field: str) -> float:
    number = exact(value, owner, field)
    if not 0 <= number <= 1:
        raise ValueError(f"{owner} {field} must be >= 0 and <= 1, got {value}.")
    return float(number)


def _format_probability(probability: float) -> str:
    return f"{100 * probability:.3g} in 100"
