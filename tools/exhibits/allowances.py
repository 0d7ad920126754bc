"""A budget of which each question takes a part of what is left."""

from fractions import Fraction
from math import sqrt

from adomnia.catalog.model import Policy
from adomnia.pricing.policies import terms
from adomnia.privacy.filters import Budget, Filter
from exhibits.contract import Exhibit, Page, Results, Row, tabulate
from exhibits.drawing import Axis, Picture, draw_curves, draw_rule

_HALF, _THIRD, _MORE = Fraction(1, 2), Fraction(1, 3), Fraction(2, 3)
_LEAST = Fraction(1, 1000)  # part of a budget that is still drawn


def count_questions(part: Fraction) -> int:
    """After how many questions a hundredth of the budget is left, by the policy `geometric`."""
    found = terms(Policy("geometric", spend=part), Filter(Budget(1))).questions
    assert found is not None  # noqa: S101 - this policy always says
    return found


def spend(part: Fraction, number: int) -> list[Fraction]:
    """What the first questions cost, one after the other."""
    account, prices = Filter(Budget(1)), []
    for _ in range(number):
        price = terms(Policy("geometric", spend=part), account).price
        assert price is not None  # noqa: S101 - something is always left
        prices.append(price.epsilon)
        account = account.after(price)
    return prices


def build(_kept: Results) -> Page:
    """The printed limits, by the policy and by the printed formula."""
    rows = (
        Row.compare("θ = 1/2: questions until 1% is left", 7, count_questions(_HALF), "d"),
        Row.compare("θ = 1/3: questions until 1% is left", 12, count_questions(_THIRD), "d"),
        Row.compare("θ = 1/3 by the printed formula, which keeps θ", 12, count_questions(1 - _THIRD), "d"),
        Row("what the k-th question may spend of E", "(1 - θ) θ^(k-1) E", "θ (1 - θ)^(k-1) E", "corrected"),
    )
    lines = [
        (
            f"{place + 1}",
            *(f"{float(prices[place]):.4f}" for prices in (spend(_HALF, 5), spend(_THIRD, 5))),
            f"{sqrt(2) / float(spend(_THIRD, 5)[place]):.1f}",
        )
        for place in range(5)
    ]
    return Page(
        shows="A user has a budget E, and each question takes the part θ of what is left of it. There is no last "
        "question, but in effect there is: the paper counts those until 1% is left, 7 for θ = 1/2 and 12 for θ = 1/3. "
        "θ near 1 is said to make the first question the most useful one.",
        rows=rows,
        why="The formula and the words disagree. The printed formula *keeps* the part θ for later: with it θ = 1/3 "
        "lasts for 5 questions, and θ near 1 makes the first one useless. The words and the numbers 7 and 12 are those "
        "of *spending* the part θ, θ (1 - θ)^(k-1) E. At θ = 1/2 both are the same, which may be why nobody noticed.",
        how="The policy `geometric` of [`pricing/policies.py`](../../src/adomnia/pricing/policies.py) with exactly "
        "1/3: the prices below are what it charges an account, one question after another. A [catalog](../policies.md) "
        "takes a decimal number, such as `spend = 0.3333`.",
        picture=_draw(),
        beyond="What the first five questions cost of E = 1, and the deviation of a count that is bought with it:\n\n"
        + tabulate(("question", "spend 1/2", "spend 1/3", "deviation, spend 1/3"), lines),
    )


def _draw() -> Picture:
    names = ["spend 1/2", "spend 1/3", "1/3 in the printed formula"]
    rows = []
    for name, part in zip(names, (_HALF, _THIRD, _MORE), strict=True):
        left = Fraction(1)
        rows.append({"series": name, "question": 0, "left": 1.0})
        for place, price in enumerate(spend(part, 14), 1):
            left -= price
            if left >= _LEAST:
                rows.append({"series": name, "question": place, "left": float(left)})
    body = draw_curves(
        rows,
        Axis("question", "questions asked", domain=(0, 14)),
        Axis("left", "part of the budget that is left", log=True, domain=(float(_LEAST), 1)),
        names,
        draw_rule(0.01, "y", "1%"),
        points=True,
    )
    words = (
        "The budget that is left falls to one hundredth after 7 questions that spend a half, after 12 that "
        "spend a third, and after 5 by the printed formula with a third."
    )
    return Picture("How long a budget lasts", "Each question takes a part of what is left", words, body)


EXHIBIT = Exhibit("allowances", "A part of what is left", "strengths", "section V.B", build)
