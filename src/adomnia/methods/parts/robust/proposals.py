"""Bounds to propose, by public rules from a noisy number of rows, and what comes of them.

A rule supposes normal data of that many rows and asks for the least bound that such data passes the test with, but for
a few of a hundred times. Other data may pass or not: its guarantee does not depend on the rule.

Private routines are put together (Dwork & Lei 2009) one inside another, one after another, or side by side. A routine
is given an allowance, which is an epsilon or rho with a delta beside it, and is a flow: it yields rounds of measures
that cost at most the allowance together, and returns what it found. Each combinator divides its allowance among its
routines, so that what it yields in all costs at most what it was given: by adaptive composition, epsilons, rhos and
deltas add up, whatever a later routine makes of what an earlier one released.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from math import ceil, exp, inf, log, sqrt
from statistics import NormalDist
from typing import Self, TypeAlias, TypeVar

from adomnia.mechanisms.envelopes import LogRange, OrderStatistic
from adomnia.mechanisms.propose_test_release import ProposeTestRelease
from adomnia.messages.texts import NoteTemplate
from adomnia.methods.analysis import with_values
from adomnia.methods.contract import NumberColumn
from adomnia.methods.parts.describe.rounds import SeveralRounds
from adomnia.privacy.events import Approximate, Composed, Concentrated, Price, add_delta
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Relation
from adomnia.privacy.scans import NonNull, Proposal
from adomnia.statistics.contract import Measure, Measured, Round

QUARTILES = (Fraction(1, 4), Fraction(3, 4))
MIDDLE = (Fraction(1, 2),)
ROWS = Fraction(1, 10)  # of the price: the number of rows
_MISSED = 0.01  # so seldom does noise on the number of rows, or noise of the test, go against normal data
_SPACINGS = 1.6  # deviations of the room that so many rows take
_CONFIDENCE = Fraction(19, 20)
_SURE = 3.0  # scales of Laplace noise in an interval of 95%
_WIDEST_FACTOR = log(16)  # no scale is proposed for which an interval would reach from a 16th to 16 times the estimate
_WIDEST_PART = 0.25  # nor a location for which one would reach to both sides by more than that part of the bounds
_LEVELS = 8  # of the exponent, for the bound that is proposed: finer ones would only take time
_PARTS = 256  # of one: ratios are above it by so many at least
_NORMAL = NormalDist()
NORMAL_QUARTILES = _NORMAL.inv_cdf(0.75) - _NORMAL.inv_cdf(0.25)
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


class Allotting(SeveralRounds):
    """An analysis that is private but for a delta, and that finds out first how many rows there are.

    A subclass is a dataclass with a `delta`, which is None until the question names it. Of `shares` it has one.
    """

    delta: Fraction | None

    @property
    def needs_delta(self) -> bool:
        return True

    def event(self, price: Price) -> Composed:
        return Composed((self.allow(price).whole,))

    def allow(self, price: Price) -> Allowance:
        """All that it may spend."""
        if self.delta is None:
            raise TypeError(f"{type(self).__name__} delta must be named by the question, got None.")
        return Allowance(price, self.delta)

    def count_rows(self, price: Price) -> Flow[tuple[float, Allowance]]:
        """About how many rows have a value, seldom more than there are, and what is left to spend."""
        ((query, _),) = self.shares
        (rows,) = yield (Measure(query, price * ROWS),)
        far = rows.noise.interval(1 - 2 * _MISSED).half_width
        left = Allowance(price * (1 - ROWS), self.allow(price).delta)
        return max(float(rows.values) - far, 1.0), left


@dataclass(frozen=True)
class Proposing(Allotting):
    """One number about one column: the number of rows first, then bounds that are proposed, tested and released for."""

    relation: Relation
    column: NumberColumn
    delta: Fraction | None = field(default=None, kw_only=True)

    @property
    def shares(self) -> tuple[tuple[Query, Fraction], ...]:
        return ((Query(self.relation, (), NonNull(self.column.value)), Fraction(1)),)

    def propose(
        self, price: Approximate | Concentrated, shares: tuple[Fraction, ...], bound: int, ratio: Fraction | None = None
    ) -> Measure:
        """One proposal."""
        present, column = with_values(self.relation, self.column.value), self.column
        proposal = Proposal(column.value, column.domain, shares, _CONFIDENCE, bound=bound, ratio=ratio)
        return Measure(Query(present, (), proposal), price, "propose_test_release")


@dataclass(frozen=True)
class ProposalReply:
    """What a proposal came to: None where there was no reply, else the statistic with noise."""

    value: int | None
    mechanism: ProposeTestRelease

    @classmethod
    def of(cls, measured: Measured) -> Self:
        mechanism = measured.mechanism
        assert isinstance(mechanism, ProposeTestRelease)  # noqa: S101 - nothing else is proposed
        replied, value = (int(each) for each in measured.values)
        return cls(value if replied else None, mechanism)

    def half_width(self, confidence: float, cells: int) -> int:
        """How far noise goes, in steps of the statistic."""
        return self.mechanism.adding.interval(confidence, cells).half_width


def ask(measure: Measure) -> Flow[ProposalReply]:
    """One round: the reply to a proposal."""
    (found,) = yield (measure,)
    return ProposalReply.of(found)


def propose_levels(
    size: int, rows_per_person: int, rows: float, price: Approximate | Concentrated
) -> tuple[int, Fraction]:
    """The bound on the level of a distance between quartiles, and the ratio of levels."""
    probe = _probe(rows_per_person, price)
    aside = _aside(Fraction(3, 4), probe, rows)
    inner, outer = (_NORMAL.inv_cdf(_inside(0.75 + side * aside)) for side in (-1, 1))
    spread = log(outer / inner) if inner > 0 else inf
    spread = min(spread, _WIDEST_FACTOR / (_SURE * float(probe.testing.scale)))
    ratio = 1 + Fraction(min(max(ceil((exp(spread / _LEVELS) - 1) * _PARTS), 1), _PARTS), _PARTS)
    bound = ceil(spread / log(ratio)) + 1  # one more, because levels are rounded
    return max(1, min(bound, LogRange(*QUARTILES, size, ratio).top)), ratio


def propose_width(size: int, rows_per_person: int, rows: float, price: Approximate | Concentrated, scale: float) -> int:
    """The bound on a median, in steps of the grid, where quartiles are `scale` steps apart."""
    probe = _probe(rows_per_person, price)
    aside = _aside(Fraction(1, 2), probe, rows)
    spread = 2 * _NORMAL.inv_cdf(_inside(0.5 + aside)) / NORMAL_QUARTILES * scale
    widest = _WIDEST_PART * (size - 1) / (_SURE * float(probe.testing.scale))
    return max(1, int(min(ceil(min(spread, size)) + 1, widest, size - 1)))


def _probe(rows_per_person: int, price: Approximate | Concentrated) -> ProposeTestRelease:
    """A proposal at that price: test and noise are the same for all statistics."""
    return ProposeTestRelease(OrderStatistic(Fraction(1, 2), 2), 1, rows_per_person, price)


def _aside(share: Fraction, probe: ProposeTestRelease, rows: float) -> float:
    """How far from a share of the rows the values lie that normal data must have within the bound, as a share."""
    scale = float(probe.testing.scale)
    people = min(probe.threshold + 1 + ceil(scale * log(1 / (2 * _MISSED))), probe.farthest)
    moved = people * probe.rows * float(max(share, 1 - share))
    return (moved + _SPACINGS * sqrt(moved / 2) + 1) / rows


def _inside(share: float) -> float:
    return min(max(share, 1e-9), 1 - 1e-9)


NOT_REPLIED = NoteTemplate(
    "test_without_reply",
    "There is no reply, and it was charged: a few people more or less might move the {what} by more than was proposed. "
    "That is so where rows are few for the price, or values have gaps. Name a higher price or a larger delta, choose "
    "more rows, or ask {instead}, which always replies.",
)
