"""Combinators: what they yield costs what they were given, whatever is replied."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from adomnia.methods.parts.robust.composition import Allowance, cascade, parallel, subroutine
from adomnia.privacy.events import Approximate, Composed, Concentrated, Pure
from adomnia.privacy.losses import covers, loss
from adomnia.statistics.contract import Measured
from kit.analyses import frame
from kit.describing import build

FRAME = frame({"x": (0, 100)})
ASKED = build("ptr_iqr", FRAME, column=FRAME.numbers["x"])
SPENT = [Allowance(Pure(1), Fraction(1, 10**6)), Allowance(Concentrated(Fraction(1, 3)), Fraction(1, 10**6))]
every_allowance = pytest.mark.parametrize("allowance", SPENT, ids=["epsilon", "rho"])


def routine(bound, rounds=1):
    """Proposes a bound so many times, each for an equal part, and returns the last reply."""

    def flow(allowance):
        for _ in range(rounds):
            price = (allowance * Fraction(1, rounds)).whole
            (found,) = yield (ASKED.propose(price, (Fraction(1, 2),), bound),)
        return int(found.values[0])

    return flow


def run(flow, replies):
    """The events of all that a flow asks for, how many there are in each round, and what it returns."""
    events, rounds, answers = [], [], iter(replies)
    asked = next(flow)
    while True:
        events += [each.mechanism.event(each.query.sensitivity()) for each in asked]
        rounds.append(len(asked))
        try:
            asked = flow.send(tuple(Measured(np.array([next(answers), 0]), each.mechanism) for each in asked))
        except StopIteration as end:
            return Composed(events), rounds, end.value


def is_all_of(event, allowance):
    """Whether an event costs the allowance, to the last bit, and no more."""
    spent, offered = loss(event), loss(allowance.whole)
    if isinstance(allowance.price, Pure):
        return (spent.epsilon, spent.delta) == (offered.epsilon, offered.delta)
    return (spent.rho, spent.delta) == (offered.rho, offered.delta)


@every_allowance
def test_a_subroutine_and_what_follows_cost_the_allowance(allowance):
    for reply in (0, 1):
        flow = subroutine(allowance, Fraction(2, 5), routine(3), lambda found: routine(1 + found))
        event, rounds, _ = run(flow, [reply, 1])
        assert rounds == [1, 1]
        assert is_all_of(event, allowance)


def test_what_follows_a_subroutine_may_depend_on_what_it_found():
    asked = []
    flow = subroutine(SPENT[0], Fraction(1, 2), routine(3), lambda found: asked.append(found) or routine(1))
    assert run(flow, [1, 0])[2] == 0
    assert asked == [1]


@every_allowance
@pytest.mark.parametrize("replies", list(product((0, 1), repeat=3)), ids=str)
def test_a_cascade_never_costs_more_than_its_allowance_and_all_of_it_without_a_reply(allowance, replies):
    flow = cascade(allowance, [routine(4**number) for number in range(3)], bool)
    event, rounds, found = run(flow, replies)
    made = replies.index(1) + 1 if 1 in replies else 3
    assert rounds == [1] * made
    assert found == (1 in replies)
    assert covers(allowance.whole, event)
    assert is_all_of(event, allowance) == (made == 3)
    assert is_all_of(event, allowance * Fraction(made, 3))


@every_allowance
def test_routines_side_by_side_share_rounds_and_cost_the_allowance(allowance):
    """Of different lengths: the shorter ones end, and the others go on."""
    event, rounds, found = run(parallel(allowance, [routine(2), routine(3, rounds=3), routine(4)]), [1, 1, 0, 1, 0])
    assert rounds == [3, 1, 1]
    assert found == [1, 0, 0]
    assert is_all_of(event, allowance)


@every_allowance
def test_routines_nest(allowance):
    inner = lambda given: subroutine(given, Fraction(1, 3), routine(2), lambda _: routine(5))  # noqa: E731
    event, rounds, _ = run(parallel(allowance, [inner, inner]), [0] * 4)
    assert rounds == [2, 2]
    assert is_all_of(event, allowance)


def test_a_routine_that_asks_for_nothing_costs_nothing():
    def silent(_):
        yield from ()
        return 7

    event, rounds, found = run(parallel(SPENT[0], [silent, routine(2)]), [1])
    assert (rounds, found) == ([1], [7, 1])
    assert loss(event).epsilon == Fraction(1, 2)


def test_an_allowance_is_divided_with_its_delta():
    assert (SPENT[0] * Fraction(1, 4)).whole == Approximate(Fraction(1, 4), Fraction(1, 4 * 10**6))
