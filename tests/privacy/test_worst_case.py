"""What the worst adaptive analyst gains under the rule of admission, computed exactly; and under rules that are wrong.

An analyst who may choose every next event in sight of all outcomes, and stop at any time, plays for the excess: the sum
over all histories of max(0, P - e^epsilon P'). That is a game against chance with few states, solved here in Fractions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import ceil, exp, log
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import pytest

from adomnia.privacy.events import Approximate, Concentrated, Event
from adomnia.privacy.filters import Budget, Filter
from adomnia.privacy.losses import loss

if TYPE_CHECKING:
    from collections.abc import Callable

FACTOR = Fraction(6, 5)  # likelihood ratios are powers of this
STEP = Fraction(ceil(log(FACTOR) * 10**12), 10**12)  # and its logarithm, rounded up, is what they cost


class Outcome(NamedTuple):
    """Its probability on one neighbour, and the likelihood ratio of that to the other: a power, or never there."""

    probability: Fraction
    power: int | None


class Game(NamedTuple):
    """An event, and the worst distribution of outcomes of that cost."""

    event: Event
    outcomes: tuple[Outcome, ...]


def response(power: int, delta: Fraction = Fraction(0)) -> Game:
    """Randomised response that tells everything with probability delta: the worst of (epsilon, delta)."""
    yes = (1 - delta) * FACTOR**power / (1 + FACTOR**power)
    sides = (Outcome(yes, power), Outcome(1 - delta - yes, -power))
    return Game(Approximate(power * STEP, delta), (*sides, Outcome(delta, None)))


def concentrated(power: int, delta: Fraction = Fraction(0)) -> Game:
    """The same, paid as what has a rho and no epsilon."""
    game = response(power, delta)
    return game._replace(event=Concentrated(loss(game.event).rho, delta))


def rare(power: int, often: Fraction) -> Game:
    """Much is told, but seldom, and nothing otherwise: far more epsilon than the rho lets expect."""
    sides = response(power).outcomes[:2]
    told = tuple(Outcome(often * each.probability, each.power) for each in sides)
    return Game(Concentrated(rho_of_rare(power, often)), (*told, Outcome(1 - often, 0)))


@cache
def rho_of_rare(power: int, often: Fraction) -> Fraction:
    """A little above the supremum, over all orders alpha, of the Renyi divergence over alpha."""
    epsilon = power * log(FACTOR)
    orders = 1 + np.logspace(-6, 3, 20_000)
    yes, no = 1 / (1 + exp(-epsilon)), 1 / (1 + exp(epsilon))
    told = np.logaddexp(np.log(yes) + (orders - 1) * epsilon, np.log(no) - (orders - 1) * epsilon)
    moments = np.logaddexp(log(1 - often), log(often) + told)
    return Fraction(float(np.max(moments / (orders - 1) / orders)) * 1.001).limit_denominator(10**6)


def worst_excess(rule: Filter | Rule, games: tuple[Game, ...], power: int) -> Fraction:
    """The most that an analyst gains beyond a likelihood ratio of FACTOR**power."""

    @cache
    def moves(rule: Filter | Rule) -> list[tuple[Filter | Rule, Game]]:
        return [(rule.after(game.event), game) for game in games if rule.admits(game.event)]

    @cache
    def gain(rule: Filter | Rule, reached: int) -> Fraction:
        """For each unit of probability of a history whose likelihood ratio is FACTOR**reached."""
        best = max(Fraction(0), 1 - FACTOR ** (power - reached))
        for after, game in moves(rule):
            further = (each.probability * move(after, reached, each.power) for each in game.outcomes)
            best = max(best, sum(further, Fraction(0)))
        return best

    def move(after: Filter | Rule, reached: int, by: int | None) -> Fraction:
        return Fraction(1) if by is None else gain(after, reached + by)

    return gain(rule, 0)


# Rules: what is counted is the same, what is admitted is not.


@dataclass(frozen=True)
class Rule:
    """The sums that rules are made of; `pure` events have no delta, `others` no epsilon."""

    budget: Budget
    epsilon: Fraction = Fraction(0)
    pure_epsilon: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    others_rho: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    others_delta: Fraction = Fraction(0)
    in_epsilon: bool = True
    within: ClassVar[Callable[[Rule], bool]]

    def after(self, event: Event) -> Rule:
        cost = loss(event)
        pure, epsilon = cost.pure, cost.epsilon or Fraction(0)
        return replace(
            self,
            epsilon=self.epsilon + epsilon,
            pure_epsilon=self.pure_epsilon + epsilon * pure,
            rho=self.rho + cost.rho,
            others_rho=self.others_rho + cost.rho * (not pure),
            delta=self.delta + cost.delta,
            others_delta=self.others_delta + cost.delta * (cost.epsilon is None),
            in_epsilon=self.in_epsilon and cost.epsilon is not None,
        )

    def admits(self, event: Event) -> bool:
        return self.after(event).within()


class TwoPots(Rule):
    """Pure events are paid from epsilon and all others from rho, side by side."""

    def within(self):
        rho_fits = self.others_rho <= self.budget.rho and self.delta <= self.budget.event_delta
        return self.pure_epsilon <= self.budget.epsilon and rho_fits


class DeltasOfEachBranch(Rule):
    """What is set aside for deltas is there once for events with an epsilon, and once more for those without."""

    def within(self):
        either = (self.in_epsilon and self.epsilon <= self.budget.epsilon) or self.rho <= self.budget.rho
        return either and max(self.delta - self.others_delta, self.others_delta) <= self.budget.event_delta


class AllOfDelta(Rule):
    """The branch of epsilon may use up all of delta, since it has nothing to convert."""

    def within(self):
        rho_fits = self.rho <= self.budget.rho and self.delta <= self.budget.event_delta
        return rho_fits or (self.epsilon <= self.budget.epsilon and self.in_epsilon and self.delta <= self.budget.delta)


class DeltasForRhoOnly(Rule):
    """The branch of epsilon looks at no delta."""

    def within(self):
        rho_fits = self.rho <= self.budget.rho and self.delta <= self.budget.event_delta
        return rho_fits or (self.in_epsilon and self.epsilon <= self.budget.epsilon)


class EpsilonsLeftOut(Rule):
    """The total of an older version, which has pure epsilons only, is opened again."""

    def within(self):
        either = (self.in_epsilon and self.pure_epsilon <= self.budget.epsilon) or self.rho <= self.budget.rho
        return either and self.delta <= self.budget.event_delta


class NeverClosed(Rule):
    """What has no epsilon costs none, as long as its own rho fits."""

    def within(self):
        either = self.epsilon <= self.budget.epsilon or self.rho <= self.budget.rho
        return either and self.others_rho <= self.budget.rho and self.delta <= self.budget.event_delta


def budget_of(delta: str, event_delta: str, power: int = 4) -> Budget:
    return Budget(power * STEP, Fraction(delta), approximate=True, event_delta=Fraction(event_delta))


MENUS = {
    "both kinds": lambda budget: (
        response(2),
        response(1, budget.event_delta),
        concentrated(1, budget.event_delta),
        concentrated(3),
        rare(6, Fraction(1, 4)),
    ),
    "in epsilon": lambda budget: (
        response(1),
        response(2),
        response(1, budget.event_delta),
        response(1, budget.delta),
    ),
    "little delta": lambda budget: (
        response(4),
        response(3, budget.event_delta / 10),
        concentrated(3, budget.event_delta / 10),
    ),
}
DELTAS = [("1/5", "1/10"), ("1/5", "3/20"), ("1/10", "1/50"), ("1/10", "1/10"), ("3/10", "1/1000")]


@pytest.mark.parametrize("power", [1, 3, 4])
@pytest.mark.parametrize("deltas", DELTAS, ids=str)
@pytest.mark.parametrize("menu", MENUS)
@pytest.mark.no_cover
def test_the_worst_analyst_gains_no_more_than_delta(menu, deltas, power):
    budget = budget_of(*deltas, power)
    gained = worst_excess(Filter(budget), MENUS[menu](budget), power)
    assert gained <= budget.delta


def test_the_worst_analyst_gains_much_of_it():
    budget = budget_of("1/5", "1/10")
    gained = worst_excess(Filter(budget), MENUS["in epsilon"](budget), 4)
    assert Fraction(3, 5) * budget.delta < gained
    # Beyond a smaller epsilon the same analyst gains more than delta: there are moves enough.
    assert worst_excess(Filter(budget), MENUS["in epsilon"](budget), 2) > budget.delta


@pytest.mark.parametrize(
    ("rule", "menu", "deltas"),
    [
        (TwoPots, "both kinds", ("1/5", "1/10")),
        (DeltasOfEachBranch, "both kinds", ("1/5", "3/20")),
        (AllOfDelta, "in epsilon", ("1/5", "1/10")),
        (DeltasForRhoOnly, "both kinds", ("1/5", "1/10")),
        (EpsilonsLeftOut, "little delta", ("1/5", "1/10")),
        (NeverClosed, "both kinds", ("1/5", "1/10")),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
@pytest.mark.no_cover
def test_a_rule_that_is_nearly_right_lets_the_worst_analyst_gain_more(rule, menu, deltas):
    budget = budget_of(*deltas)
    games = MENUS[menu](budget)
    assert worst_excess(rule(budget), games, 4) > budget.delta >= worst_excess(Filter(budget), games, 4)


@pytest.mark.parametrize("game", [response(3), response(2, Fraction(1, 10)), rare(4, Fraction(1, 20))], ids=str)
def test_the_distributions_of_the_games_are_distributions_and_cost_what_is_said(game):
    assert sum(each.probability for each in game.outcomes) == 1
    shared = [each for each in game.outcomes if each.power is not None]
    cost = loss(game.event)
    # On the other neighbour the same outcomes have the rest of the probability that the coin leaves them.
    assert sum(each.probability / FACTOR**each.power for each in shared) == 1 - cost.delta
    assert cost.epsilon is None or all(abs(each.power) * STEP <= cost.epsilon for each in shared)
    for order in (1.01, 1.5, 2, 5, 30):
        moment = sum(float(each.probability) * float(FACTOR) ** (each.power * (order - 1)) for each in shared)
        assert log(moment / float(1 - cost.delta)) / (order - 1) <= order * float(cost.rho) + 1e-12
