"""Policies grant what they promise: N questions alike, or parts of the rest that never add up to all of it."""

from __future__ import annotations

import json
from fractions import Fraction
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.catalog.model import Policy
from adomnia.errors import Refusal
from adomnia.ledger import Ledger
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.pricing.policies import Terms, check_ceiling, check_named, next_price, sets_price, terms
from adomnia.privacy.amounts import EPSILON_UNIT, round_down
from adomnia.privacy.events import Approximate, BoundedRange, Composed, Concentrated, Pure
from adomnia.privacy.filters import Budget, Filter
from conftest import FIXTURES

GEOMETRIC = json.loads((FIXTURES / "vectors.json").read_text())["geometric"]

budgets = st.fractions(min_value=Fraction(1, 1000), max_value=50, max_denominator=10**15)
shares = st.fractions(min_value=Fraction(1, 50), max_value=Fraction(49, 50), max_denominator=1000)


def equal(questions, ceiling=None):
    return Policy("equal_split", questions=questions, ceiling=ceiling)


def geometric(spend, ceiling=None):
    return Policy("geometric", spend=Fraction(spend), ceiling=ceiling)


def asked(policy, account, most=10**9):
    """The prices of the questions that are granted one after the other."""
    granted = []
    while len(granted) < most and terms(policy, account).questions:
        price = next_price(policy, account)
        account = account.after(price)
        granted.append(price.epsilon)
    return granted


def granted_by_a_ledger(ledger, policy):
    number = 0
    while terms(policy, account := ledger.account("alice")).questions:
        plan = str(number).encode()
        ledger.reserve("alice", f"request {number}", plan, next_price(policy, account)).commit(b"an answer")
        number += 1
    with pytest.raises(Refusal, match="has no price left"):
        next_price(policy, account)
    return number


@pytest.mark.parametrize("questions", [1, 2, 3, 7, 13, 60, 199])
@pytest.mark.parametrize("epsilon", [1, 0.1, Fraction(22, 7), 1e-9])
def test_a_ledger_grants_exactly_the_number_of_questions(questions, epsilon):
    with Ledger.open(":memory:", Budget(100), {"alice": Budget(epsilon)}) as ledger:
        assert granted_by_a_ledger(ledger, equal(questions)) == questions


@pytest.mark.parametrize("epsilon", [1, 0.1, 2, Fraction(22, 7), Fraction(1, 3), 1e-9, 3.7e-11])
def test_every_number_of_questions_is_granted_and_no_more(epsilon):
    account = Filter(Budget(epsilon))
    units = round_down(account.budget.epsilon, EPSILON_UNIT)
    fitting = [questions for questions in (*range(1, 41), *range(41, 201, 13)) if questions <= units]
    assert [len(asked(equal(questions), account)) for questions in fitting] == fitting


@given(epsilon=budgets, questions=st.integers(1, 200), done=st.integers(0, 200))
def test_what_equal_terms_say_is_what_comes(epsilon, questions, done):
    account = Filter(Budget(epsilon))
    for price in asked(equal(questions), account, done):
        account = account.after(Pure(price))
    found = terms(equal(questions), account)
    assert found.questions == max(0, questions - done)
    assert (found.price is None) is (done >= questions)
    assert found.price is None or epsilon / questions - EPSILON_UNIT < found.price.epsilon <= epsilon / questions


def test_three_thirds_of_one_are_all_granted():
    assert asked(equal(3), Filter(Budget(1))) == [Fraction(333_333_333_333, 10**12)] * 3


def test_what_is_added_to_a_budget_is_split_as_well():
    with Ledger.open(":memory:", Budget(100), {"alice": Budget(1)}) as ledger:
        assert granted_by_a_ledger(ledger, equal(10)) == 10
        ledger.top_up("alice", "ten were too few", epsilon=1)
        assert terms(equal(10), ledger.account("alice")) == Terms(
            Pure(0.2), 5, None, "Each question costs epsilon 0.2, and 5 are left."
        )


def test_a_lower_budget_than_what_was_spent_pays_for_nothing():
    account = Filter(Budget(1), Filter(Budget(2)).after(Pure(1.5)).spent)
    assert terms(equal(10), account).questions == 0
    assert terms(geometric("1/10"), account).questions == 0


@given(epsilon=budgets, share=shares, number=st.integers(1, 60))
def test_geometric_prices_are_parts_of_the_rest_and_never_add_up_to_all(epsilon, share, number):
    prices = asked(geometric(share), Filter(Budget(epsilon)), number)
    keep = 1 - share
    for place, price in enumerate(prices):
        assert abs(price - share * keep**place * epsilon) <= 2 * EPSILON_UNIT
    assert sum(prices) < epsilon
    assert abs(sum(prices) - epsilon * (1 - keep ** len(prices))) <= (1 + len(prices)) * EPSILON_UNIT


@given(share=shares)
def test_the_effective_number_of_questions_leaves_a_hundredth_and_one_less_leaves_more(share):
    number = terms(geometric(share), Filter(Budget(1))).questions
    assert (1 - share) ** number <= Fraction(1, 100) < (1 - share) ** (number - 1)


@pytest.mark.parametrize(
    ("spend", "number"),
    [
        ("9/10", 2),
        ("99/100", 1),
        ("999/1000", 1),
        ("1/2", 7),
        ("1/10", 44),
        ("1/1000000", 4_605_168),
        (1 - Fraction(1, 10**200), 1),
        (Fraction(1, 10**11), 460_517_018_597),
    ],
)
def test_the_effective_number_is_exact_at_the_edges(spend, number):
    assert terms(geometric(spend), Filter(Budget(1))).questions == number


@given(share=shares, ceiling=st.fractions(min_value=Fraction(1, 200), max_value=1, max_denominator=1000))
def test_a_ceiling_makes_the_effective_number_larger_by_what_it_holds_back(share, ceiling):
    account = Filter(Budget(1))
    policy = geometric(share, ceiling)
    number = terms(policy, account).questions
    prices = asked(policy, account, number)
    assert max(prices) <= ceiling
    rounding = (1 + number) * EPSILON_UNIT
    assert 1 - sum(prices) <= Fraction(1, 100) + rounding
    assert 1 - sum(prices[:-1]) > Fraction(1, 100) - rounding


def test_a_ceiling_holds_equal_prices_down_and_their_number_stays():
    assert asked(equal(5, Fraction(1, 10)), Filter(Budget(2))) == [Fraction(1, 10)] * 5


@pytest.mark.parametrize(("epsilon", "spend", "place", "vector"), [(2, 0.5, 1, "eps1.0"), (2, 0.5, 2, "eps0.5")])
def test_the_noise_of_the_kth_answer_is_that_of_its_price(epsilon, spend, place, vector):
    share = Fraction(str(spend))
    price = asked(geometric(share), Filter(Budget(epsilon)), place)[-1]
    expected = GEOMETRIC[vector]
    noise = DiscreteLaplace(1 / price)
    assert [noise.probability(0), noise.probability(1)] == pytest.approx([expected["p0"], expected["p1"]])
    # The continuous distribution that the discrete one approaches from below.
    deviation = sqrt(2) / (spend * (1 - spend) ** (place - 1) * epsilon)
    assert sqrt(expected["var"]) < deviation < 1.05 * sqrt(expected["var"])


def test_the_first_answer_at_a_tenth_of_one_has_the_noise_of_a_tenth():
    (price,) = asked(geometric("1/10"), Filter(Budget(1)), 1)
    noise, expected = DiscreteLaplace(1 / price), GEOMETRIC["eps0.1"]
    assert sum(k**2 * noise.probability(k) for k in range(-2000, 2001)) == pytest.approx(expected["var"])
    assert sqrt(expected["var"]) == pytest.approx(sqrt(2) / 0.1, rel=1e-3)


@pytest.mark.parametrize("policy", [equal(10**6), geometric("1/1000000")])
def test_a_price_that_rounds_to_nothing_is_refused(policy):
    account = Filter(Budget(1e-7))
    assert terms(policy, account) == Terms(None, 0, None, "Nothing is left to pay for a question.")
    with pytest.raises(Refusal) as caught:
        next_price(policy, account)
    assert caught.value.code == "budget"
    assert str(caught.value) == (
        f"The question has no price left under the policy {policy.name}: what it may spend is used up. "
        "Fix: ask the owner for a larger budget."
    )


def test_an_analyst_who_names_prices_has_none_set():
    used_up = Filter(Budget(1)).after(Pure(1))
    assert not sets_price(Policy())
    assert next_price(Policy(), used_up) is None
    assert terms(Policy(), used_up) == Terms(None, None, None, "The analyst names the price of each question.")
    assert terms(Policy(ceiling=Fraction(1, 2)), used_up).says.endswith("of each question, at most epsilon 0.5.")


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (equal(1), "Each question costs epsilon 2, and 1 is left."),
        (equal(1000), "Each question costs epsilon 0.002, and 1,000 are left."),
        (
            geometric("1/10"),
            "The next question costs epsilon 0.2, 10% of what is left; 44 such questions use up 99% of the rest.",
        ),
        (
            geometric("999/1000"),
            "The next question costs epsilon 1.998, 99.9% of what is left; 1 such question uses up 99% of the rest.",
        ),
        (
            geometric("1/2", Fraction(1, 10)),
            "The next question costs epsilon 0.1, its ceiling; 22 such questions use up 99% of the rest.",
        ),
    ],
)
def test_terms_are_told_in_a_sentence(policy, says):
    assert terms(policy, Filter(Budget(2))).says == says


SEARCHED = Filter(Budget(2, 1e-6, approximate=True)).after(Approximate(0.01, 1e-9))
CONCENTRATED = Filter(Budget(2, 1e-6, approximate=True)).after(Concentrated(0.00005, 1e-9))


def test_a_search_for_values_is_one_of_the_questions_that_a_policy_pays_for():
    assert terms(equal(200), SEARCHED).questions == 199
    assert asked(equal(2), SEARCHED) == [Fraction(1)]
    assert terms(geometric("1/10"), SEARCHED).price == Pure(Fraction(199, 1000))


def test_a_policy_counts_rho_where_small_questions_went_beyond_epsilon():
    account = Filter(Budget(2, 1e-6))
    for _ in range(300):
        account = account.after(Pure(0.01))
    # 0.02**2 / 2 each of a rho that 300 questions of 0.01**2 / 2 were paid from: as many as 75 of these.
    assert terms(equal(100), account).questions == 25
    assert terms(geometric("1/10"), account).price.epsilon ** 2 / 2 <= account.left().rho / 10


def test_equal_questions_go_on_where_rho_is_counted():
    assert terms(equal(200), CONCENTRATED).questions == 199
    assert asked(equal(200), CONCENTRATED) == [Fraction(1, 100)] * 199
    # Two questions of epsilon 1 are worth rho 0.5 each, which the account never had.
    assert terms(equal(2), CONCENTRATED).questions == 0


def test_geometric_questions_spend_their_share_of_the_rho():
    account, left = CONCENTRATED, CONCENTRATED.left().rho
    for price in asked(geometric("1/10"), account, 44):
        account = account.after(Pure(price))
    assert float(account.left().rho / left) == pytest.approx(0.9**44)
    limited = geometric("1/10", Fraction(1, 100))
    prices = asked(limited, CONCENTRATED, terms(limited, CONCENTRATED).questions)
    assert set(prices[:10]) == {Fraction(1, 100)}
    assert left / 100 >= left - sum(price**2 / 2 for price in prices) > 0


@pytest.mark.parametrize("policy", [equal(3), geometric("1/2")])
def test_a_price_that_is_named_is_refused_where_a_policy_sets_it(policy):
    assert sets_price(policy)
    check_named(policy, named=False)
    check_named(Policy(), named=True)
    with pytest.raises(Refusal) as caught:
        check_named(policy, named=True)
    assert caught.value.code == "policy_price"
    assert str(caught.value) == (
        f"The price is set by the policy {policy.name}. Fix: leave epsilon=, rho= and error= out."
    )


HALF = Policy(ceiling=Fraction(1, 2))


@pytest.mark.parametrize(
    "event",
    [
        Pure(0.5),
        BoundedRange(0.5),
        Concentrated(0.125),
        Composed([Pure(0.3), Pure(0.2)]),
        Composed([Approximate(0.3, 1e-9), Pure(0.2)]),
    ],
)
def test_a_question_at_the_ceiling_is_let_through(event):
    check_ceiling(HALF, event)
    check_ceiling(Policy(), event)


@pytest.mark.parametrize(
    ("event", "costs"),
    [
        (
            Pure(Fraction(1, 2) + EPSILON_UNIT),
            "costs epsilon 0.500001, and the ceiling for one question is epsilon 0.5",
        ),
        (BoundedRange(0.6), "costs epsilon 0.6, and the ceiling for one question is epsilon 0.5"),
        (Composed([Pure(0.3), Pure(0.3)]), "costs epsilon 0.6, and the ceiling for one question is epsilon 0.5"),
        (Concentrated(0.126), "costs rho 0.126, and the ceiling for one question is rho 0.125"),
        (Approximate(0.6, 1e-9), "costs epsilon 0.6, and the ceiling for one question is epsilon 0.5"),
        (Composed([Approximate(0.3, 1e-9)] * 2), "costs epsilon 0.6, and the ceiling for one question is epsilon 0.5"),
        (Composed([Pure(0.3), Concentrated(0.1)]), "costs rho 0.145, and the ceiling for one question is rho 0.125"),
    ],
)
def test_a_question_above_the_ceiling_is_refused(event, costs):
    with pytest.raises(Refusal) as caught:
        check_ceiling(HALF, event)
    assert caught.value.code == "ceiling"
    assert caught.value.why == costs
    check_ceiling(Policy(), event)
