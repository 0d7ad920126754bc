from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import exp
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.errors import Refusal
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT
from adomnia.privacy.events import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    Pure,
    ScalarGaussian,
    ScalarLaplace,
)
from adomnia.privacy.filters import Branches, Budget, Filter, Left, Spent
from adomnia.privacy.losses import delta_of
from adomnia.privacy.sensitivity import Sensitivity
from kit.searches import examples
from privacy.references import (
    NOT_FINITE_NUMBERS,
    NOT_POSITIVE,
    TOO_EXTREME,
    best_delta,
    events,
    few,
    hundred_digits,
    real,
    single_events,
)

BUDGETS = [
    Budget(1),
    Budget(1, 1e-6),
    Budget(1, 1e-6, approximate=True),
    Budget(Fraction(7, 3), 1e-9, approximate=True, event_delta=1e-12),
    Budget(3, 0.01, approximate=True, event_delta=0),
    Budget(3, 0.01, approximate=True, event_delta=0.01),
]


# The reference: one rule, read from the design, in Fractions, over the whole history every time.


@cache
def reference_rho(epsilon, delta):
    allowed, refused = 0, 10**15
    with hundred_digits():
        while refused - allowed > 1:
            middle = (allowed + refused) // 2
            fits = best_delta(Fraction(middle, 10**12), epsilon) <= real(delta)
            allowed, refused = (middle, refused) if fits else (allowed, middle)
    return Fraction(allowed, 10**12)


def reference_price(event):  # noqa: PLR0911 - a table of facts
    match event:
        case Pure(epsilon):
            return epsilon, epsilon * epsilon / 2, Fraction(0)
        case BoundedRange(epsilon):
            return epsilon, epsilon * epsilon / 8, Fraction(0)
        case Concentrated(rho, delta):
            return None, rho, delta
        case Approximate(epsilon, delta):
            return epsilon, epsilon * epsilon / 2, delta
        case ScalarLaplace(scale, distance):
            return reference_price(Pure(Fraction(distance) / scale))
        case ScalarGaussian(variance, distance):
            return None, Fraction(distance**2) / variance / 2, Fraction(0)
        case Composed(parts):
            prices = [reference_price(part) for part in parts]
            every = all(price[0] is not None for price in prices)
            return (
                sum((price[0] for price in prices), Fraction(0)) if every else None,
                sum(price[1] for price in prices),
                sum(price[2] for price in prices),
            )


def ceiling(amount, places):
    scaled = amount * 10**places
    return Fraction(-((-scaled.numerator) // scaled.denominator), 10**places)


def reference_admits(budget, history, event):
    prices = [reference_price(done) for done in [*history, event]]
    if (prices[-1][0] is None or prices[-1][2] > 0) and not budget.approximate:
        return False
    if sum(ceiling(price[2], 30) for price in prices) > budget.event_delta:
        return False
    if (
        all(price[0] is not None for price in prices)
        and sum(ceiling(price[0], 12) for price in prices) <= budget.epsilon
    ):
        return True
    conversion_delta = budget.delta - budget.event_delta
    rho = reference_rho(budget.epsilon, conversion_delta) if conversion_delta else 0
    return sum(ceiling(price[1], 12) for price in prices) <= rho


@st.composite
def next_events(draw, left: Left):
    """What an analyst who sees what is left might ask, the very last unit and one unit more included."""
    share = draw(st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(1, 7), Fraction(1, 1000)]))
    extra = draw(st.sampled_from([0, 0, 0, 1]))
    kind = draw(st.sampled_from(["pure", "rho", "pair", "any", "batch"]))
    epsilon = (left.epsilon or Fraction(1, 5)) * share + extra * EPSILON_UNIT
    rho = (left.rho or Fraction(1, 50)) * share + extra * EPSILON_UNIT
    delta = min(left.delta * share + extra * DELTA_UNIT, Fraction(1, 2))
    match kind:
        case "pure":
            return Pure(epsilon)
        case "rho":
            return Concentrated(rho, draw(st.sampled_from([Fraction(0), delta])))
        case "pair":
            return Approximate(min(epsilon, 2 * rho), delta)
        case "any":
            return draw(single_events)
    return Composed([Pure(epsilon / 3)] * 3)


@settings(max_examples=examples(30), deadline=None, derandomize=True)
@given(st.data(), st.sampled_from(BUDGETS))
def test_the_filter_is_the_rule_on_adaptive_histories(data, budget):
    spending, history = Filter(budget), []
    for _ in range(data.draw(st.integers(1, 10))):
        event = data.draw(next_events(spending.left()) | events)
        admitted = reference_admits(budget, history, event)
        assert spending.admits(event) is admitted
        if not admitted:
            with pytest.raises(Refusal):
                spending.after(event)
            continue
        history.append(event)
        spending = spending.after(event)
        exact = [reference_price(done) for done in history]
        epsilon_branch = (
            all(price[0] is not None for price in exact) and sum(price[0] for price in exact) <= budget.epsilon
        )
        rho_branch = sum(price[1] for price in exact) <= budget.rho
        assert sum(price[2] for price in exact) <= budget.event_delta
        assert epsilon_branch or rho_branch
        assert any(spending.branches())


@few
@given(st.sampled_from(BUDGETS), st.lists(events, max_size=6), events)
def test_what_is_refused_once_is_refused_for_ever(budget, asked, event):
    spending = Filter(budget)
    refused = not spending.admits(event)
    for other in asked:
        spending = spending.after(other) if spending.admits(other) else spending
        assert not (refused and spending.admits(event))
        refused = refused or not spending.admits(event)


@pytest.mark.no_cover
def test_the_rho_of_a_budget_is_the_tight_conversion_of_its_share_of_delta():
    for budget in BUDGETS[1:5]:
        assert budget.rho == reference_rho(budget.epsilon, budget.delta - budget.event_delta)
        assert delta_of(budget.rho, budget.epsilon) + budget.event_delta <= budget.delta
    assert BUDGETS[0].rho == BUDGETS[5].rho == 0


# What the rule is for: the whole interaction keeps (epsilon, delta), whatever the analyst does.


def outcomes(event):
    """Randomised response, the worst mechanism of its price: the probabilities of each outcome on two neighbours."""
    epsilon, delta = float(event.epsilon), float(getattr(event, "delta", 0))
    yes, no = (1 - delta) / (1 + exp(-epsilon)), (1 - delta) / (1 + exp(epsilon))
    always = [("yes", yes, no), ("no", no, yes)]
    return [*always, ("surely", delta, 0.0), ("never", 0.0, delta)] if delta else always


def leaves(spending, analyst, history=(), one=1.0, other=1.0):
    event = next((event for event in analyst(history) if spending.admits(event)), None)
    if event is None or len(history) == 9:
        yield one, other
        return
    after = spending.after(event)
    for name, on_one, on_other in outcomes(event):
        yield from leaves(after, analyst, (*history, name), one * on_one, other * on_other)


def excess(pairs, epsilon):
    return sum(max(0.0, one - exp(epsilon) * other) for one, other in pairs)


def moody_analyst(mood):
    prices = [Pure(0.2), Pure(0.4), Pure(0.8), Approximate(0.2, 0.01), Approximate(0.5, 0.01), Approximate(0.8, 0.04)]

    def analyst(history):
        return Random(f"{mood}{history}").sample(prices, 2 + mood % 3)

    return analyst


@pytest.mark.parametrize("mood", range(12))
@pytest.mark.no_cover
def test_an_adaptive_interaction_keeps_the_promise_of_the_budget(mood):
    budget = Budget(1.5, 0.2, approximate=True)
    pairs = list(leaves(Filter(budget), moody_analyst(mood)))
    assert sum(one for one, _ in pairs) == pytest.approx(1)
    assert sum(other for _, other in pairs) == pytest.approx(1)
    assert excess(pairs, 1.5) <= 0.2
    assert excess(pairs, 0.5) > 0.01  # the analyst did learn something


class TwoPots(NamedTuple):
    """A plausible mistake: pure events drawn from epsilon and the others from rho, side by side."""

    pure: Filter
    others: Filter

    def admits(self, event):
        return (self.pure if isinstance(event, Pure) else self.others).admits(event)

    def after(self, event):
        if isinstance(event, Pure):
            return self._replace(pure=self.pure.after(event))
        return self._replace(others=self.others.after(event))


def test_two_separate_pots_would_break_the_promise():
    budget = Budget(1.5, 0.2, approximate=True)
    pairs = list(leaves(TwoPots(Filter(budget), Filter(budget)), lambda history: [Pure(1.5), Approximate(0.5, 0.04)]))
    assert excess(pairs, 1.5) > 0.2


# The corners of the rule.


def test_ten_tenths_make_one():
    spending = Filter(Budget(1))
    for _ in range(10):
        spending = spending.after(Pure(0.1))
    assert spending.left().epsilon == 0
    assert not spending.admits(Pure(EPSILON_UNIT / 1000))


def test_a_batch_is_rounded_once():
    thirds = [Pure(Fraction(1, 3))] * 3
    assert Filter(Budget(1)).admits(Composed(thirds))
    one_by_one = Filter(Budget(1)).after(thirds[0]).after(thirds[1])
    assert not one_by_one.admits(thirds[2])


@pytest.mark.parametrize("units", [1, 3, 10**12])
def test_exactly_the_budget_is_admitted_and_a_hair_more_is_not(units):
    budget = Budget(units * EPSILON_UNIT)
    assert Filter(budget).admits(Pure(units * EPSILON_UNIT))
    assert not Filter(budget).admits(Pure(units * EPSILON_UNIT + Fraction(1, 10**40)))


def test_exactly_the_rho_and_the_delta_are_admitted_and_a_hair_more_is_not():
    budget = Budget(1, 1e-6, approximate=True)
    hair = Fraction(1, 10**60)
    assert Filter(budget).admits(Concentrated(budget.rho, budget.event_delta))
    assert not Filter(budget).admits(Concentrated(budget.rho + hair, budget.event_delta))
    assert not Filter(budget).admits(Concentrated(budget.rho, budget.event_delta + hair))


def test_budgets_are_rounded_down_to_units():
    assert not Filter(Budget(EPSILON_UNIT * Fraction(3, 2))).admits(Pure(EPSILON_UNIT * Fraction(3, 2)))
    budget = Budget(1, 4 * DELTA_UNIT, approximate=True, event_delta=DELTA_UNIT * Fraction(3, 2))
    assert Filter(budget).admits(Approximate(1e-6, DELTA_UNIT))
    assert not Filter(budget).admits(Approximate(1e-6, DELTA_UNIT * Fraction(3, 2)))


def test_the_least_event_costs_a_unit_so_that_nothing_is_free():
    spent = Filter(Budget(1, 1e-6, approximate=True)).after(Pure(Fraction(1, 10**200))).spent
    assert spent == Spent(1, 1, 0, in_epsilon=True)
    approximate = Filter(Budget(1, 1e-6, approximate=True))
    assert approximate.after(Concentrated(1e-200, 1e-200)).spent == Spent(0, 1, 1, in_epsilon=False)
    assert approximate.after(Approximate(1e-200, 1e-200)).spent == Spent(1, 1, 1, in_epsilon=True)


def test_many_small_pure_events_go_further_by_rho():
    spending = Filter(Budget(1, 1e-6))
    for _ in range(400):
        spending = spending.after(Pure(0.01))
    assert spending.spent.epsilon_units == 4 * 10**12
    assert spending.left().epsilon == 0
    assert spending.left().rho == spending.budget.rho - 400 * Fraction(1, 20_000)


def test_large_pure_events_still_fit_when_their_rho_is_long_gone():
    spending = Filter(Budget(1, 1e-6)).after(Pure(0.9))
    assert spending.left().rho == 0
    assert spending.admits(Pure(0.1))


@pytest.mark.parametrize("event", [Concentrated(1e-9), Concentrated(1e-9, 1e-9), ScalarGaussian(10**9, 1)], ids=str)
def test_the_first_event_without_an_epsilon_closes_the_branch_of_epsilon(event):
    spending = Filter(Budget(1, 1e-6, approximate=True)).after(event)
    assert (spending.left().epsilon, spending.spent_epsilon()) == (0, None)
    assert spending.branches() == Branches(epsilon=False, rho=True)
    assert not spending.admits(Pure(0.9))
    assert not spending.admits(Composed([Approximate(0.8, 1e-9), Pure(0.1)]))
    assert spending.admits(Pure(0.1))


def test_an_event_with_a_small_delta_leaves_the_rest_of_epsilon_to_others():
    spending = Filter(Budget(1, 1e-6, approximate=True)).after(Approximate(0.1, 1e-7))
    assert spending.left()[::2] == (Fraction(9, 10), Fraction(4, 10**7))
    for _ in range(3):
        spending = spending.after(Pure(0.3))
    assert spending.branches() == Branches(epsilon=True, rho=False)
    assert (spending.spent_epsilon(), spending.spent.pure) == (1, False)
    assert not spending.admits(Pure(EPSILON_UNIT))


def test_the_deltas_of_the_branch_of_epsilon_are_those_that_are_set_aside_and_no_more():
    budget = Budget(1, 1e-6, approximate=True)
    spending = Filter(budget).after(Approximate(0.9, budget.event_delta))
    assert spending.left() == Left(Fraction(1, 10), Fraction(0), Fraction(0))
    assert spending.admits(Pure(0.1))
    assert not spending.admits(Approximate(0.01, DELTA_UNIT))
    assert not Filter(budget).admits(Approximate(0.9, budget.event_delta + DELTA_UNIT))


def test_deltas_of_both_kinds_of_events_add_up_to_one_sum():
    budget = Budget(1, 1e-6, approximate=True)
    spending = Filter(budget).after(Approximate(0.01, 3e-7)).after(Concentrated(0.001, 1e-7))
    assert spending.left().delta == Fraction(1, 10**7)
    assert not spending.admits(Concentrated(0.001, 2e-7))
    assert not spending.admits(Approximate(0.001, 2e-7))


def test_what_older_versions_closed_stays_closed():
    closed = Filter(Budget(1, 1e-6, approximate=True), Spent(0, 1, 1, in_epsilon=False))
    assert not closed.admits(Pure(0.5))
    assert not closed.after(Pure(0.01)).spent.in_epsilon


def test_nothing_is_left_where_the_owner_took_away_what_was_spent():
    spent = Filter(Budget(1, 1e-6, approximate=True)).after(Approximate(0.1, 4e-7)).spent
    for lower in (Budget(0.05), Budget(1, 1e-7, approximate=True)):
        assert Filter(lower, spent).branches() == (False, False)
        assert Filter(lower, spent).left() == (0, 0, 0)
        assert Filter(lower, spent).spent_epsilon() is None
        assert not Filter(lower, spent).admits(Pure(EPSILON_UNIT))


@few
@given(st.sampled_from(BUDGETS), st.lists(single_events, max_size=5))
def test_the_largest_question_is_admitted_and_a_little_more_is_not(budget, asked):
    spending = Filter(budget)
    for event in asked:
        spending = spending.after(event) if spending.admits(event) else spending
        most = spending.left().largest_question
        assert not most or spending.admits(Pure(most))
        assert not spending.admits(Pure(most + 2 * EPSILON_UNIT))


def test_a_branch_that_closed_never_opens_again():
    budget = Budget(1, 1e-6, approximate=True)
    spending = Filter(budget).after(Pure(0.9))
    assert not spending.admits(Concentrated(1e-9))


def test_without_permission_no_event_but_a_pure_one_is_admitted():
    spending = Filter(Budget(1, 1e-6))
    assert spending.admits(Pure(0.1))
    assert not spending.admits(Concentrated(1e-9))
    assert not spending.admits(Approximate(0.1, 1e-9))
    assert not spending.admits(Composed([Pure(0.1), Concentrated(1e-9)]))
    assert not spending.admits(Composed([Pure(0.1), Approximate(0.1, 1e-9)]))


def test_without_delta_permission_alone_is_of_no_use():
    assert not Filter(Budget(1, approximate=True)).admits(Concentrated(1e-9))
    assert not Filter(Budget(1, approximate=True)).admits(Approximate(1e-9, 1e-9))
    assert not Filter(Budget(1, 1e-6, approximate=True, event_delta=0)).admits(Approximate(1e-9, 1e-9))


# What the analyst is told.


def test_a_refusal_says_what_it_takes_what_is_left_and_what_to_do():
    with pytest.raises(Refusal) as refused:
        Filter(Budget(1)).after(Pure(0.75)).after(Pure(0.5))
    assert str(refused.value) == (
        "A spend of epsilon 0.5 (rho 0.125) is more than is left (epsilon 0.25 or rho 0, and delta 0). "
        "Fix: spend at most epsilon 0.25."
    )
    with pytest.raises(Refusal) as refused:
        Filter(Budget(1, 1e-6, approximate=True)).after(Pure(0.75)).after(Approximate(0.5, 1e-9))
    assert str(refused.value) == (
        "A spend of epsilon 0.5 and delta 1e-9 (rho 0.125) is more than is left (epsilon 0.25 or rho 0, and delta "
        "5e-7). Fix: spend at most epsilon 0.25 and delta 5e-7."
    )


def test_a_refusal_of_what_is_not_pure_says_who_can_allow_it():
    with pytest.raises(Refusal, match=r"rho 0\.1 is not pure, .* Fix: .*approximate = true in \[budget\]\."):
        Filter(Budget(1, 1e-6)).after(Concentrated(0.1))


def test_a_refusal_of_gaussian_noise_says_how_much_is_left_of_it():
    spending = Filter(Budget(1, 1e-6, approximate=True))
    with pytest.raises(Refusal, match=r"Fix: spend at most rho 0\.0\d+\."):
        spending.after(Concentrated(10))
    with pytest.raises(Refusal, match=r"Fix: spend at most rho 0\.0\d+ and delta 5e-7\."):
        spending.after(Concentrated(10, 1e-9))
    with pytest.raises(Refusal, match=r"Fix: ask the owner for a larger budget\."):
        Filter(Budget(1, 1e-6, approximate=True, event_delta=0)).after(Approximate(0.01, 1e-9))
    with pytest.raises(Refusal, match=r"Fix: ask the owner for a larger budget\."):
        Filter(Budget(1, approximate=True)).after(Concentrated(1e-9))


def test_a_refusal_with_nothing_left_sends_to_the_owner():
    with pytest.raises(Refusal, match=r"Fix: ask the owner for a larger budget\."):
        Filter(Budget(1)).after(Pure(1)).after(Pure(0.1))


@few
@given(st.sampled_from(BUDGETS), st.lists(single_events, max_size=5))
def test_what_a_refusal_advises_is_admitted(budget, asked):
    spending = Filter(budget)
    for event in [*asked, Pure(100)]:
        if spending.admits(event):
            spending = spending.after(event)
            continue
        with pytest.raises(Refusal) as refused:
            spending.after(event)
        words = refused.value.fix.split()
        delta = Fraction(words[7]) if len(words) == 8 else Fraction(0)
        if words[:4] == ["spend", "at", "most", "epsilon"]:
            assert spending.admits(Approximate(Fraction(words[4]), delta))
        elif words[:4] == ["spend", "at", "most", "rho"]:
            assert spending.admits(Concentrated(Fraction(words[4]), delta))


# Bad input.


@pytest.mark.parametrize(
    "value", NOT_FINITE_NUMBERS + TOO_EXTREME + NOT_POSITIVE, ids=lambda value: type(value).__name__
)
def test_a_bad_epsilon_is_no_budget(value):
    with pytest.raises(ValueError, match=r"^Budget epsilon must be "):
        Budget(value)


@pytest.mark.parametrize("value", [*NOT_FINITE_NUMBERS, *TOO_EXTREME, -1e-9, 1], ids=lambda value: type(value).__name__)
def test_a_bad_delta_is_no_budget(value):
    with pytest.raises(ValueError, match=r"^Budget delta must be "):
        Budget(1, value)
    if value is not None:
        with pytest.raises(ValueError, match=r"^Budget event_delta must be "):
            Budget(1, 1e-6, event_delta=value)


def test_events_cannot_use_more_delta_than_there_is():
    with pytest.raises(ValueError, match=r"^Budget event_delta must be <= delta = 1e-06, got 1e-05\.$"):
        Budget(1, 1e-6, event_delta=1e-5)


def test_permission_is_yes_or_no():
    with pytest.raises(TypeError, match=r"^Budget approximate must be True or False, got 'no'\.$"):
        Budget(1, approximate="no")


@pytest.mark.parametrize("field", ["epsilon_units", "rho_units", "delta_units"])
@pytest.mark.parametrize("value", [-1, 0.5, True, None, "1"])
def test_what_was_spent_is_counted_in_whole_units(field, value):
    with pytest.raises(ValueError, match=f"^Spent {field} must be a whole number >= 0, got "):
        Spent(**{field: value})


def test_whether_epsilons_are_complete_is_yes_or_no():
    with pytest.raises(TypeError, match=r"^Spent in_epsilon must be True or False, got 1\.$"):
        Spent(in_epsilon=1)


def test_a_personal_filter_does_not_bound_what_its_analyst_sees():
    """Bob buys a count, and another question if the count is above 0. Alice looks at what the dataset has left.

    On neighbours, whose counts are 0 and 1, her view differs by what Bob paid for, and her own filter was never asked.
    """
    paid, dataset, alice = Pure(2), Filter(Budget(5)), Filter(Budget(Fraction(1, 10)))
    noise = DiscreteLaplace.calibrated(Sensitivity(l1=1, l2_squared=1, linf=1), paid)

    def see(count):
        above = sum(noise.probability(k) for k in range(1 - count, 200))
        once = dataset.after(paid)
        return {once.after(Pure(1)).left().epsilon: above, once.left().epsilon: 1 - above}

    ratios = [max(one / other, other / one) for one, other in zip(see(0).values(), see(1).values(), strict=True)]
    assert alice.left().epsilon == Fraction(1, 10)
    assert max(ratios) == pytest.approx(exp(2))
