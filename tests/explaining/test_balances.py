"""What accounts say of themselves, in every state that they can be in; and what they say before they change it."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.explaining.balances import say_account, say_left, say_spent, warn
from adomnia.privacy.events import Approximate, Concentrated, Pure
from adomnia.privacy.filters import Budget, Filter
from privacy.references import few, single_events

PURE = Filter(Budget(1))
SMALL = Filter(Budget(1, 1e-6))  # takes pure spends only, but many small ones go further by rho
EITHER = Filter(Budget(1, 1e-6, approximate=True))
RHO_ALONE = (
    "After this question your budget adds up rho and no longer epsilon: a question at epsilon e then costs rho e^2 / 2."
)
PLENTY = Filter(Budget(1000, 1e-3, approximate=True))


def spend(account, *events):
    for event in events:
        account = account.after(event)
    return account


STATES = [
    (PURE, "epsilon 0 of 1", "epsilon 1"),
    (spend(PURE, Pure(0.25)), "epsilon 0.25 of 1", "epsilon 0.75"),
    (spend(PURE, Pure(1)), "epsilon 1 of 1", "nothing"),
    (EITHER, "epsilon 0 of 1", "epsilon 1 or rho 0.0229374, and delta 5e-7"),
    (
        spend(EITHER, Approximate(0.1, 1e-7)),
        "epsilon 0.1 of 1 and delta 1e-7 of 5e-7",
        "epsilon 0.9 or rho 0.0179374, and delta 4e-7",
    ),
    (spend(EITHER, Pure(0.5)), "epsilon 0.5 of 1", "epsilon 0.5, and delta 5e-7"),
    (
        spend(EITHER, Approximate(0.1, 5e-7), Pure(0.3)),
        "epsilon 0.4 of 1 and delta 5e-7 of 5e-7",
        "epsilon 0.6",
    ),
    (
        spend(EITHER, Concentrated(0.01)),
        "rho 0.01 of 0.0229374",
        "rho 0.0129374, and delta 5e-7: one question at epsilon 0.160856, or several smaller ones",
    ),
    (
        spend(SMALL, *[Pure(0.01)] * 216),
        "rho 0.0108 of 0.0229374",
        "one question at epsilon 0.155804, or several smaller ones",
    ),
    (
        spend(SMALL, *[Pure(0.01)] * 95),
        "epsilon 0.95 of 1",
        "epsilon 0.05 (up to 0.190722 in one question, paid from rho)",
    ),
    (Filter(Budget(0.2), spend(PURE, Pure(0.25)).spent), "more than the budget is now", "nothing"),
]


@pytest.mark.parametrize(("account", "spent", "left"), STATES)
def test_an_account_says_what_was_spent_of_what_and_what_may_still_be_paid(account, spent, left):
    assert (say_spent(account), say_left(account)) == (spent, left)
    assert say_account(account) == f"Spent: {spent}. Left: {left}."


@few
@given(
    st.sampled_from([PURE, SMALL, EITHER, Filter(Budget(Fraction(1, 3))), Filter(Budget(2, 0.01, approximate=True))]),
    st.lists(single_events | st.builds(Pure, st.sampled_from([0.001, 0.01, Fraction(1, 3)])), max_size=30),
)
def test_no_account_ever_says_that_more_was_spent_than_there_is(account, asked):
    for event in asked:
        account = account.after(event) if account.admits(event) else account
        for spent, total in re.findall(r"(\S+) of (\S+)", say_spent(account)):
            assert Fraction(spent) <= Fraction(total)


@pytest.mark.parametrize(
    ("account", "event", "says"),
    [
        (PURE, Pure(0.5), None),
        (EITHER, Approximate(0.1, 1e-7), None),
        (EITHER, Concentrated(0.0001, 1e-9), "closes epsilon"),
        (
            EITHER,
            Concentrated(0.01),
            (
                f"{RHO_ALONE} Left: rho 0.0129374, and delta 5e-7: one question at epsilon 0.160856, or several "
                "smaller ones."
            ),
        ),
        (
            spend(SMALL, *[Pure(0.01)] * 95),
            Pure(0.1),
            f"{RHO_ALONE} Left: one question at epsilon 0.162403, or several smaller ones.",
        ),
        (
            EITHER,
            Pure(0.3),
            (
                "After this question your budget adds up epsilon alone: nothing can be paid in rho any more, and many "
                "small questions then cost the sum of their epsilons. Left: epsilon 0.7, and delta 5e-7."
            ),
        ),
        (
            SMALL,
            Pure(0.3),
            (
                "After this question your budget adds up epsilon alone: many small questions then cost the sum of "
                "their epsilons. Left: epsilon 0.7."
            ),
        ),
        (spend(PURE, Pure(0.5)), Pure(0.5), "After this question nothing is left of your budget."),
        (
            spend(PURE, Pure(0.5)),
            Pure(0.6),
            (
                "A new answer would be refused: for your budget it is more than is left (epsilon 0.5 or rho 0, and "
                "delta 0). Fix: spend at most epsilon 0.5."
            ),
        ),
        (
            PURE,
            Concentrated(0.1),
            (
                "A new answer would be refused: for your budget it is not pure, and this budget takes only pure "
                "spends. Fix: pay with epsilon (Laplace noise), or have the owner set approximate = true in [budget]."
            ),
        ),
    ],
)
def test_a_question_that_ends_a_way_to_pay_says_so_before(account, event, says):
    warnings = warn(account, PLENTY, event)
    if says == "closes epsilon":
        assert len(warnings) == 2  # the dataset's way ends too
        return
    mine = [warning for warning in warnings if "your budget" in warning]
    assert mine == ([] if says is None else [says])


def test_the_datasets_budget_warns_beside_ones_own():
    (warning,) = warn(PLENTY, PURE, Pure(1))
    assert warning == "After this question nothing is left of the dataset's budget."
    assert warn(PURE, PURE, Pure(1)) == (warning.replace("the dataset's", "your"), warning)


@few
@given(st.sampled_from([SMALL, EITHER]), st.lists(single_events, max_size=6), single_events)
def test_without_a_warning_no_way_to_pay_ends(account, asked, event):
    for each in asked:
        account = account.after(each) if account.admits(each) else account
    ends = not account.admits(event) or any(
        before and not after for before, after in zip(account.left()[:2], account.after(event).left()[:2], strict=True)
    )
    assert ends == any("your budget" in warning for warning in warn(account, PLENTY, event))
