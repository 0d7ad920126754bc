"""What terms may be if each of their pieces is between two bounds: the least and the greatest value.

A term that is NULL has no bounds to be within: those of a box are about the others. Of what can only be NULL they are
the wrong way round, and so add nothing to the other cases of a CASE.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from adomnia.plans.formulas import COMPARISONS, Formula, Term, may_be_null
from adomnia.plans.functions import UNKNOWN, divide, inside, logarithm, noisy_values, raise_to, root, round_half_away
from adomnia.plans.smoothness import find_derivation
from adomnia.statistics.contract import Bounds, Estimate, Floats


def find_box(term: Term, bounds: Mapping[int, Bounds]) -> Bounds:  # noqa: PLR0911 - one for each kind of function
    """The box of a term whose pieces have such bounds, each by its id."""
    if id(term) in bounds:
        return bounds[id(term)]
    if not isinstance(term, Formula):
        constant = np.asarray(float(term))  # type: ignore[arg-type]  # every other leaf is a piece
        return constant, constant
    boxes = [find_box(part, bounds) for part in term.terms]
    nullable = list(map(may_be_null, term.terms))
    match term.function:
        case sign if sign in COMPARISONS:
            return _compared(sign, boxes[0], boxes[1], any(nullable))
        case "is null":
            return np.asarray(0.0), np.asarray(float(any(nullable)))
        case "greatest":
            return _greatest(boxes, nullable)
        case "least":
            return _turn(_greatest([_turn(box) for box in boxes], nullable))
        case "coalesce":
            return _unite(boxes[: [*nullable, False].index(False) + 1])
    return _certain(_BOXES[term.function](*boxes))


def _certain(bounds: Bounds) -> Bounds:
    """What infinite ends make of each other may be no number: then nothing is known."""
    unknown = np.isnan(bounds[0]) | np.isnan(bounds[1])
    return np.where(unknown, -np.inf, bounds[0]) + 0.0, np.where(unknown, np.inf, bounds[1]) + 0.0


def find_limits(term: Term, estimates: Mapping[Any, Estimate]) -> Bounds:
    """What a term can be at all, if nothing that it divides by is zero or of another sign than it seems."""
    if isinstance(term, Fraction):
        return np.asarray(float(term)), np.asarray(float(term))
    if not isinstance(term, Formula):
        derivation = find_derivation(estimates[term])
        lower, upper = (-np.inf, np.inf) if derivation is None else derivation.limits
        return np.asarray(lower), np.asarray(upper)
    terms = [find_limits(part, estimates) for part in term.terms]
    if term.function != "/":
        return _certain(_BOXES[term.function](*terms))
    (low, high), divisor = terms[0], noisy_values(term.terms[1], estimates)
    # Turned so that the divisor is above zero: then its end that is nearer to zero may be zero itself.
    turned = (np.where(divisor < 0, -high, low), np.where(divisor < 0, -low, high))
    near, far = (np.where(divisor < 0, -one, other) for one, other in (terms[1][::-1], terms[1]))
    near = np.maximum(near, 0.0)
    return _certain(
        (
            np.where(turned[0] < 0, turned[0] / near, turned[0] / far),
            np.where(turned[1] > 0, turned[1] / near, turned[1] / far),
        )
    )


def _least_and_greatest(combine: Callable[[Floats, Floats], Floats], left: Bounds, right: Bounds) -> Bounds:
    corners = [combine(one, other) for one in left for other in right]
    # minimum and maximum, not fmin and fmax: one corner that is no number makes the end none.
    return np.minimum.reduce(np.broadcast_arrays(*corners)), np.maximum.reduce(np.broadcast_arrays(*corners))


def _quotient_box(left: Bounds, right: Bounds) -> Bounds:
    lower, upper = _least_and_greatest(divide, left, right)
    around_zero = (right[0] <= 0) & (right[1] >= 0)
    return np.where(around_zero, -np.inf, lower), np.where(around_zero, np.inf, upper)


def _turn(box: Bounds) -> Bounds:
    return -box[1], -box[0]


def _rising(function: Callable[..., Floats]) -> Callable[..., Bounds]:
    """The box of a function that rises with its first argument; the others are constants."""
    return lambda value, *others: (
        function(value[0], *(each[0] for each in others)),
        function(value[1], *(each[0] for each in others)),
    )


def _from(start: float, find: Callable[[Floats], Floats], least: float) -> Callable[[Bounds], Bounds]:
    """The box of a rising function that is NULL up to `start`, and near to it as small as `least`."""

    def box(value: Bounds) -> Bounds:
        lower = np.where(value[0] <= start, least, find(np.maximum(value[0], start)))
        return _or_nothing(lower, find(value[1]))

    return box


def _or_nothing(lower: Floats, upper: Floats) -> Bounds:
    """The ends, the wrong way round where the upper one is NULL."""
    return np.where(np.isnan(upper), np.inf, lower), np.where(np.isnan(upper), -np.inf, upper)


def _size_box(value: Bounds) -> Bounds:
    ends = np.abs(value[0]), np.abs(value[1])
    around_zero = (value[0] <= 0) & (value[1] >= 0)
    return np.where(around_zero, 0.0, np.minimum(*ends)), np.maximum(*ends)


def _power_box(value: Bounds, constant: Bounds) -> Bounds:
    exponent = float(constant[0])
    if exponent < 0:
        return _quotient_box((np.asarray(1.0), np.asarray(1.0)), _power_box(value, (-constant[0], -constant[0])))
    if not exponent.is_integer():
        return _from(0.0, lambda end: raise_to(end, constant[0]), 0.0)(value)
    return _rising(raise_to)(value if exponent % 2 else _size_box(value), constant)


def _inside_box(value: Bounds, least: Bounds, most: Bounds) -> Bounds:
    lower, upper = np.maximum(value[0], least[0]), np.minimum(value[1], most[0])
    return _or_nothing(lower, np.where(lower <= upper, inside(upper, least[0], most[0]), np.nan))


def _compared(sign: str, left: Bounds, right: Bounds, nullable: bool) -> Bounds:
    """The least and the greatest that a comparison may be; between them, where it may be NULL."""
    match sign:
        case "<" | "<=":
            return _turned_truth(_compared(">=" if sign == "<" else ">", left, right, nullable))
        case "<>":
            return _turned_truth(_compared("=", left, right, nullable))
        case "=":
            sure = (left[0] == left[1]) & (right[0] == right[1]) & (left[0] == right[0])
            maybe = (left[0] <= right[1]) & (right[0] <= left[1])
        case ">":
            sure, maybe = left[0] > right[1], left[1] > right[0]
        case _:
            sure, maybe = left[0] >= right[1], left[1] >= right[0]
    if nullable:
        return np.where(sure, UNKNOWN, 0.0), np.where(maybe, 1.0, UNKNOWN)
    return np.asarray(sure, dtype=np.float64), np.asarray(maybe, dtype=np.float64)


def _turned_truth(box: Bounds) -> Bounds:
    return 1.0 - box[1], 1.0 - box[0]


def _chain_box(combine: np.ufunc, start: float) -> Callable[..., Bounds]:
    def box(*parts: Bounds) -> Bounds:
        ends = np.asarray(start), np.asarray(start)
        for part in parts:
            ends = combine(ends[0], part[0]), combine(ends[1], part[1])
        return ends

    return box


def _unite(boxes: list[Bounds]) -> Bounds:
    lower, upper = boxes[0]
    for box in boxes[1:]:
        lower, upper = np.minimum(lower, box[0]), np.maximum(upper, box[1])
    return lower, upper


def _greatest(boxes: list[Bounds], nullable: list[bool]) -> Bounds:
    """What is NULL is passed over: only what cannot be makes the greatest at least as large as it is."""
    lower, upper = _unite(boxes)
    for box, absent in zip(boxes, nullable, strict=True):
        lower = lower if absent else np.maximum(lower, box[0])
    return lower, upper


def _case_box(*terms: Bounds) -> Bounds:
    """All values of cases that may hold, up to the first that surely does."""
    conditions, values = (*terms[:-1:2], (np.asarray(1.0), np.asarray(1.0))), (*terms[1::2], terms[-1])
    lower, upper, open_yet = np.asarray(np.inf), np.asarray(-np.inf), np.asarray(True)
    for condition, value in zip(conditions, values, strict=True):
        reached = open_yet & (condition[1] == 1)
        lower = np.where(reached, np.minimum(lower, value[0]), lower)
        upper = np.where(reached, np.maximum(upper, value[1]), upper)
        open_yet = open_yet & (condition[0] < 1)
    return lower, upper


_BOXES: dict[str, Callable[..., Bounds]] = {
    "+": lambda left, right: (left[0] + right[0], left[1] + right[1]),
    "-": lambda left, right: (left[0] - right[1], left[1] - right[0]),
    "*": lambda left, right: _least_and_greatest(np.multiply, left, right),
    "/": _quotient_box,
    "negative": _turn,
    "round": _rising(round_half_away),
    "at least 1": lambda value: (np.maximum(value[0], 1.0), np.maximum(value[1], 1.0)),
    "abs": _size_box,
    "floor": _rising(np.floor),
    "ceil": _rising(np.ceil),
    "sqrt": _from(0.0, root, 0.0),
    "ln": _from(0.0, logarithm(np.log), -np.inf),
    "log10": _from(0.0, logarithm(np.log10), -np.inf),
    "exp": _rising(np.exp),
    "power": _power_box,
    "nullif": lambda value, _: value,
    "inside": _inside_box,
    "null": lambda: (np.asarray(np.inf), np.asarray(-np.inf)),
    "case": _case_box,
    "and": _chain_box(np.minimum, 1.0),
    "or": _chain_box(np.maximum, 0.0),
    "not": _turned_truth,
}
