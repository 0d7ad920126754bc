"""How private routines are put together (Dwork & Lei 2009): one inside another, one after another, side by side.

A routine is given an allowance, which is an epsilon or rho with a delta beside it, and is a flow: it yields rounds of
measures that cost at most the allowance together, and returns what it found. Each combinator divides its allowance
among its routines, so that what it yields in all costs at most what it was given: by adaptive composition, epsilons,
rhos and deltas add up, whatever a later routine makes of what an earlier one released.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TypeAlias, TypeVar

from adomnia.privacy.events import Approximate, Concentrated, Price, add_delta
from adomnia.statistics.contract import Measured, Round

_Found = TypeVar("_Found")
_Final = TypeVar("_Final")
Flow: TypeAlias = Generator[Round, tuple[Measured, ...], _Found]


@dataclass(frozen=True)
class Allowance:
    """What a routine may spend."""

    price: Price
    delta: Fraction

    def __mul__(self, part: Fraction) -> "Allowance":
        return Allowance(self.price * part, self.delta * part)

    @property
    def whole(self) -> Approximate | Concentrated:
        """All of it as the price of one measurement."""
        return add_delta(self.price, self.delta)


Routine: TypeAlias = Callable[[Allowance], Flow[_Found]]


def subroutine(
    allowance: Allowance, part: Fraction, first: Routine[_Found], then: Callable[[_Found], Routine[_Final]]
) -> Flow[_Final]:
    """A routine that another one needs, for a part of the allowance, and then that other one for the rest.

    Proof. The first costs at most `part` of the allowance. Given any outcome of it, the second costs at most the rest,
    and which routine it is depends on that outcome alone. Both together cost at most the sum, which is the allowance.
    """
    found = yield from first(allowance * part)
    return (yield from then(found)(allowance * (1 - part)))


def cascade(
    allowance: Allowance, attempts: Sequence[Routine[_Found]], replied: Callable[[_Found], bool]
) -> Flow[_Found]:
    """Attempts in turn, each for an equal part of the allowance, until one replies; what the last one found.

    Proof. Were all attempts made, they would cost the allowance, by adaptive composition: that there was no reply is an
    outcome like any other, and is paid. To stop early is to drop the others, which no outcome makes dearer. What they
    would have cost stays spent: it was reserved before anything was read, and a refund would tell of the data.
    """
    part = Fraction(1, len(attempts))
    for attempt in attempts[:-1]:
        found = yield from attempt(allowance * part)
        if replied(found):
            return found
    return (yield from attempts[-1](allowance * part))


def parallel(allowance: Allowance, routines: Sequence[Routine[_Found]]) -> Flow[list[_Found]]:
    """Routines about the same people side by side, each for an equal part of the allowance; what each of them found.

    Proof. One person may be in the data of all p of them, so that costs add up to p parts of 1 / p. Rounds are shared
    to read the data less often. No routine is sent what another one measured, and composition allows even that.
    """
    flows = [routine(allowance * Fraction(1, len(routines))) for routine in routines]
    found: dict[int, _Found] = {}
    asked: dict[int, Round] = {}
    for place, flow in enumerate(flows):
        _advance(place, flow, None, asked, found)
    while asked:
        measured = iter((yield tuple(chain.from_iterable(asked.values()))))
        answers = {place: tuple(next(measured) for _ in each) for place, each in asked.items()}
        asked = {}
        for place, answer in answers.items():
            _advance(place, flows[place], answer, asked, found)
    return [found[place] for place in range(len(flows))]


def _advance(
    place: int,
    flow: Flow[_Found],
    answer: tuple[Measured, ...] | None,
    asked: dict[int, Round],
    found: dict[int, _Found],
) -> None:
    try:
        asked[place] = next(flow) if answer is None else flow.send(answer)
    except StopIteration as end:
        found[place] = end.value
