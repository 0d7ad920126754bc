"""Group privacy: what a guarantee for one person says about several; docs/proofs/groups.md."""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch
from typing import TypeAlias

from adomnia.privacy.amounts import EPSILON_UNIT, whole
from adomnia.privacy.enclosures import exp_down, exp_up
from adomnia.privacy.events import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    Event,
    Pure,
    ScalarGaussian,
    ScalarLaplace,
)
from adomnia.privacy.losses import epsilon_of, loss

Guarantee: TypeAlias = Pure | Concentrated | Approximate

_LARGEST_EPSILON = 5_000  # e**5000 times the smallest delta there is, 1e-300, is far above 1


def group_privacy(event: Event, size: int) -> Guarantee:
    """The guarantee of an event when that many people are added or removed at once.

    Replacing one person by another is a group of two: one leaves and one comes.

    >>> group_privacy(Pure(0.5), 3)
    Pure(epsilon=Fraction(3, 2))
    """
    return _guarantee(event, whole(size, "group_privacy", "size"))


def protect_group(epsilon: Fraction, delta: Fraction, size: int) -> tuple[Fraction, Fraction] | None:
    """The epsilon and delta of a group under a budget of these for one; None where nothing is promised of so many.

    >>> protect_group(Fraction(1, 2), Fraction(0), 3)
    (Fraction(3, 2), Fraction(0, 1))
    """
    try:
        group = group_privacy(Approximate(epsilon, delta) if delta else Pure(epsilon), size)
    except ValueError:
        return None
    assert not isinstance(group, Concentrated)  # noqa: S101 - as docs/proofs/groups.md says of such guarantees
    return group.epsilon, group.delta if isinstance(group, Approximate) else Fraction(0)


@singledispatch
def _guarantee(event: Event, size: int) -> Guarantee:
    raise TypeError(f"group_privacy event must be an event, got {event!r} for a group of {size}.")


@_guarantee.register
def _(event: Pure | BoundedRange, size: int) -> Guarantee:
    return Pure(event.epsilon * size)


@_guarantee.register
def _(event: ScalarLaplace, size: int) -> Guarantee:
    return Pure(event.distance * size / event.scale)


@_guarantee.register
def _(event: ScalarGaussian, size: int) -> Guarantee:
    return Concentrated((event.distance * size) ** 2 / (2 * event.variance))


@_guarantee.register
def _(event: Concentrated, size: int) -> Guarantee:
    if event.delta == 0 or size == 1:
        return Concentrated(event.rho * size**2, event.delta)
    # Approximate zCDP does not chain (the excluded outcomes differ from link to link), so it becomes a pair first.
    epsilon = max(epsilon_of(event.rho, event.delta), EPSILON_UNIT)
    return _chain(epsilon, 2 * event.delta, size)


@_guarantee.register
def _(event: Approximate, size: int) -> Guarantee:
    return _chain(event.epsilon, event.delta, size)


@_guarantee.register
def _(event: Composed, size: int) -> Guarantee:
    parts = [_guarantee(part, size) for part in event.events]
    total = loss(Composed(parts))
    if total.epsilon is not None and not total.delta:
        return Pure(total.epsilon)
    pairs = [part for part in parts if not isinstance(part, Concentrated)]
    if len(pairs) == len(parts):
        return Approximate(sum(pair.epsilon for pair in pairs), _require_below_one(total.delta, size))
    return Concentrated(total.rho, _require_below_one(total.delta, size))


def _chain(epsilon: Fraction, delta: Fraction, size: int) -> Approximate:
    """(size epsilon, delta (1 + e^epsilon + ... + e^((size - 1) epsilon))), the sum rounded up."""
    if delta == 0 or size == 1:
        return Approximate(epsilon * size, _require_below_one(delta, size))
    base = max(epsilon, EPSILON_UNIT)  # the sum grows with epsilon, and stays well away from 0 / 0 this way
    if base * size > _LARGEST_EPSILON:
        raise _vacuous_error(size)
    growth = (exp_up(base * size) - 1) / (exp_down(base) - 1)
    return Approximate(epsilon * size, _require_below_one(delta * growth, size))


def _require_below_one(delta: Fraction, size: int) -> Fraction:
    if delta >= 1:
        raise _vacuous_error(size)
    return delta


def _vacuous_error(size: int) -> ValueError:
    return ValueError(f"group_privacy size must keep delta below 1, got {size}.")
