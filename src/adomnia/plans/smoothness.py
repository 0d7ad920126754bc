"""Terms as smooth functions of noisy sums, wherever noise does not reach a pole or an extreme of theirs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from adomnia.plans.formulas import DATE, Formula, Term, leaves_of
from adomnia.plans.functions import LARGEST, VALUES
from adomnia.statistics.contract import Derivation, Estimate, Floats
from adomnia.statistics.propagation import Computed, Propagation

_SMOOTH = ("+", "-", "*", "/", "negative", "at least 1", DATE)


@dataclass(frozen=True)
class _Leaf:
    """A statistic as a function of noisy sums: the places of those among all, and of its rounding if it has any."""

    derivation: Derivation
    places: tuple[int, ...]
    rounding: int | None

    def compute(self, points: Sequence[Floats]) -> tuple[Floats, ...]:
        values, *divisors = self.derivation.compute([points[place] for place in self.places])
        return values if self.rounding is None else values + points[self.rounding], *divisors


def find_propagation(term: Formula, estimates: Mapping[Any, Estimate]) -> Propagation | None:
    """A formula as a smooth function of noisy sums, if it is one wherever nothing that it divides by is zero."""
    found = {each: find_derivation(estimates[each]) for each in leaves_of(term)}
    if not found or not _is_smooth(term) or None in found.values():
        return None
    derivations = {each: derivation for each, derivation in found.items() if derivation is not None}
    sums = {measured.key: measured for each in derivations.values() for measured in each.sums}
    places = {key: place for place, key in enumerate(sums)}
    roundings = list[Floats]()
    leaves, order = dict[Term, _Leaf](), tuple(derivations)
    for each, derivation in derivations.items():
        rounded = len(sums) + len(roundings) if np.any(derivation.rounding) else None
        roundings += [] if rounded is None else [derivation.rounding]
        leaves[each] = _Leaf(derivation, tuple(places[measured.key] for measured in derivation.sums), rounded)

    def compute(points: Sequence[Floats], fixed: Mapping[int, Floats]) -> Computed:
        computed = {each: leaf.compute(points) for each, leaf in leaves.items()}
        terms = [values for values, *_ in computed.values()]
        for place, value in fixed.items():
            _, *divisors = computed[order[place]]
            computed[order[place]] = (np.broadcast_to(value, np.shape(points[0])), *divisors)
        # Below zero a divisor of a statistic means nothing, whatever its size.
        needed: list[tuple[Floats, ...]] = [
            (np.maximum(divisor, 0.0),) for _, *divisors in computed.values() for divisor in divisors
        ]
        return Computed(_computed(term, computed, needed), needed, terms)

    used = Counter(place for leaf in leaves.values() for place in leaf.places)
    # Of what shares noise with another term, cutting one would cut the other too.
    limits = [
        leaf.derivation.limits if all(used[place] == 1 for place in leaf.places) else (-np.inf, np.inf)
        for leaf in leaves.values()
    ]
    return Propagation(tuple(sums.values()), roundings, compute, limits)


def find_derivation(estimate: Estimate) -> Derivation | None:
    """How an estimate follows from noisy sums, also where these are just added up."""
    if not estimate.parts:
        return estimate.derivation
    factors = [float(factor) for _, factor in estimate.parts]

    def compute(sums: Sequence[Floats]) -> tuple[Floats, ...]:
        return (np.asarray(sum(each * factor for each, factor in zip(sums, factors, strict=True))),)

    return Derivation(tuple(measured for measured, _ in estimate.parts), compute, (-np.inf, np.inf))


def _is_smooth(term: Term) -> bool:
    return not isinstance(term, Formula) or (term.function in _SMOOTH and all(map(_is_smooth, term.terms)))


def _computed(term: Term, leaves: Mapping[Term, tuple[Floats, ...]], needed: list[tuple[Floats, ...]]) -> Floats:
    """The value of a term; `needed` grows by what must keep its sign for the term to have no pole and no extreme."""
    if isinstance(term, Fraction):
        return np.asarray(float(term))
    if not isinstance(term, Formula):
        return leaves[term][0]
    terms = [_computed(part, leaves, needed) for part in term.terms]
    match term.function:
        case "/" if not isinstance(term.terms[1], Fraction):
            needed.append((terms[1],))
        case "at least 1":
            needed.append((np.maximum(terms[0], 0.0),))
        case "*" if not any(isinstance(part, Fraction) for part in term.terms):
            needed.append((terms[0], terms[1]))
    return np.clip(VALUES[term.function](*terms), -LARGEST, LARGEST)
