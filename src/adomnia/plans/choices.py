"""Which groups of an answer are shown: conditions over noisy values and declared keys, so they are free."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from operator import eq, ge, gt, le, lt
from typing import Any, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from adomnia.plans.formulas import Term, count_nodes, noisy_values
from adomnia.privacy.keys import Key, Label, key_cells, key_values
from adomnia.statistics.contract import Estimate, Floats, Statistic

Flags: TypeAlias = NDArray[np.bool_]
Condition: TypeAlias = Union["Compared", "Keyed", "Chain", "Contrary"]

_KEY_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {"=": eq, "<": lt, "<=": le, ">": gt, ">=": ge}
_COMPARISONS: dict[str, Callable[[Floats, Floats], Flags]] = {
    "=": np.equal,
    "<>": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


@dataclass(frozen=True)
class Compared:
    """A comparison of noisy values, or of one with a constant."""

    sign: str
    left: Term
    right: Term


@dataclass(frozen=True)
class Keyed:
    """A key compares so with a constant, which need not be one of its values."""

    key: Key
    value: Label
    sign: str = "="


@dataclass(frozen=True)
class Chain:
    """All conditions (`and`) or any of them (`or`); of none, all hold and none does."""

    function: str
    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Contrary:
    """A condition that does not hold."""

    of: Condition


def list_terms(condition: Condition) -> Iterator[Term]:
    """The terms that a condition compares, as often as they are written."""
    match condition:
        case Compared(left=left, right=right):
            yield from (left, right)
        case Chain(parts=parts):
            for part in parts:
                yield from list_terms(part)
        case Contrary(of=part):
            yield from list_terms(part)


def rewrite_condition(
    condition: Condition,
    change: Callable[[Term], Term] = lambda term: term,
    keys: Callable[[Key], Key] = lambda key: key,
) -> Condition:
    """The same condition with every compared term, or key, changed."""
    match condition:
        case Compared(sign=sign, left=left, right=right):
            return Compared(sign, change(left), change(right))
        case Chain(function=function, parts=parts):
            return Chain(function, tuple(rewrite_condition(part, change, keys) for part in parts))
        case Contrary(of=part):
            return Contrary(rewrite_condition(part, change, keys))
    return replace(condition, key=keys(condition.key))


def count_operations(condition: Condition) -> int:
    """How many operations it takes in each group."""
    match condition:
        case Compared(left=left, right=right):
            return 1 + count_nodes(left) + count_nodes(right)
        case Chain(parts=parts):
            return 1 + sum(map(count_operations, parts))
        case Contrary(of=part):
            return 1 + count_operations(part)
    return 1


def evaluate_condition(condition: Condition, keys: tuple[Key, ...], estimates: Mapping[Statistic, Estimate]) -> Flags:
    """Whether the condition holds, cell by cell, counted with the last key fastest. No value is NULL."""
    shape = tuple(len(key_cells(key)) for key in keys)
    return np.broadcast_to(_flags(condition, keys, estimates), shape).reshape(prod(shape))


def _flags(condition: Condition, keys: tuple[Key, ...], estimates: Mapping[Statistic, Estimate]) -> Flags:
    match condition:
        case Compared(sign=sign, left=left, right=right):
            return _COMPARISONS[sign](noisy_values(left, estimates), noisy_values(right, estimates))
        case Keyed(key=key, value=value, sign=sign):
            flags: Flags = np.array([_KEY_COMPARISONS[sign](label, value) for label in key_values(key)], dtype=bool)
            return flags.reshape([-1 if each == key else 1 for each in keys])
        case Contrary(of=part):
            return np.logical_not(_flags(part, keys, estimates))
    found: Flags = np.array(condition.function == "and")
    for part in condition.parts:
        other = _flags(part, keys, estimates)
        found = found & other if condition.function == "and" else found | other
    return found
