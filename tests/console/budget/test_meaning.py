from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.accounting.meaning import FALSE_ALARMS, concentrated_detection, posterior
from adomnia.console.budget.meaning import _in_hundred, draw_dots, explain_budget
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.filters import Budget, Filter
from adomnia.wire.amounts import count_cost

PURE = Filter(Budget(epsilon=2))
BOTH = Filter(Budget(epsilon=2, delta=Fraction(1, 10**6), approximate=True))


def test_pure_prices_are_what_they_can_do_to_a_belief():
    meaning = explain_budget(PURE.after(Pure(0.5)).after(Pure(0.25)), count_cost(Pure(0.25)), 10)
    numbers = [float(picture.number) for picture in meaning.pictures]
    wanted = [0.1, *(posterior(0.1, epsilon) for epsilon in (0.25, 0.75, 2))]
    assert numbers == pytest.approx([100 * each for each in wanted], abs=0.1)
    assert all(shown >= 100 * exact - 1e-9 for shown, exact in zip(numbers, wanted, strict=True))
    assert [picture.price for picture in meaning.pictures] == ["", "ε 0.25", "ε 0.75", "ε 2"]
    assert meaning.odds.startswith("7.39")
    assert not meaning.tested


def test_where_there_is_a_delta_a_test_is_spoken_of():
    meaning = explain_budget(BOTH.after(Concentrated(Fraction(1, 50))), count_cost(Concentrated(Fraction(1, 50))), 10)
    hits = concentrated_detection(FALSE_ALARMS, Fraction(1, 50))
    assert float(meaning.pictures[2].number) == pytest.approx(10 * hits / (0.1 * hits + 0.9 * 0.01), abs=0.1)
    assert meaning.tested
    assert not meaning.odds
    assert all("a test has named" in picture.says for picture in meaning.pictures[1:])


def test_a_budget_with_a_delta_is_never_told_as_better_than_without():
    for epsilon in (1, 5, 8):
        plain, both = (Filter(Budget(epsilon=epsilon, delta=each)) for each in (0, Fraction(1, 10**6)))
        for prior in (1, 10, 50):
            numbers = [float(explain_budget(each, None, prior).pictures[3].number) for each in (plain, both)]
            assert numbers[0] <= numbers[1]


def test_before_anything_is_paid_nothing_has_changed():
    meaning = explain_budget(PURE, None, 50)
    assert [picture.number for picture in meaning.pictures] == ["50", "50", "50", "88.1"]
    assert meaning.pictures[1].says == "nothing was paid yet"


def test_a_household_of_which_nothing_is_promised_is_not_given_a_number():
    assert not explain_budget(Filter(Budget(epsilon=100, delta=Fraction(1, 100))), None, 10).household
    assert explain_budget(Filter(Budget(epsilon=1)), None, 10).household == "85.9"


def test_dots_are_a_hundred_and_those_of_before_and_after():
    dots = draw_dots(0.1, 0.25)
    assert [dot.kind for dot in dots].count("p") == 100
    assert [dot.kind for dot in dots].count("before") == 10
    assert [dot.kind for dot in dots].count("after") == 15
    assert not any(dot.path for dot in dots)


def test_a_part_of_a_dot_is_a_slice():
    *_, part = draw_dots(0.01, 0.0225)
    assert part.kind == "after"
    assert part.path == "M50 10V3A7 7 0 0 1 57.00 10.00Z"


def test_a_belief_that_is_shared_by_before_and_after_shows_both():
    kinds = [dot.kind for dot in draw_dots(0.005, 0.02)]
    assert kinds[100:] == ["after", "before", "after"]


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.5, "50"),
        (0.12482, "12.5"),
        (0.12501, "12.6"),
        (0.99999, "99.999"),
        (0.999999994, "99.9999994"),
        (0.9991, "99.91"),
        (1.0, "100"),
    ],
)
def test_numbers_are_rounded_up_and_never_to_what_they_are_not(share, shown):
    assert _in_hundred(share) == shown
