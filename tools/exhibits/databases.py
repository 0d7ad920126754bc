"""A person in many databases that know nothing of each other."""

from fractions import Fraction
from functools import cache
from math import ceil, exp, sqrt

from adomnia.accounting.calculators import advanced_composition, compose_datasets, optimal_composition
from adomnia.privacy.amounts import Number
from adomnia.privacy.filters import Budget
from exhibits.contract import Exhibit, Page, Results, Row, tabulate
from exhibits.counts import deviation_of, noise_of
from exhibits.drawing import Axis, Picture, draw_curves

_SLACK = Fraction(exp(-32)).limit_denominator(10**30)
_COMPOSE = {"advanced": advanced_composition, "optimal": optimal_composition}
_NUMBERS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)


@cache
def afford(number: int, theorem: str, slack: Number = _SLACK) -> float:
    """The largest epsilon of each of so many databases that costs a person 1 in all, by bisection."""
    lower, upper = 0.5 / number, 1.0
    while upper - lower > 1e-6 * upper:
        middle = (lower + upper) / 2
        fits = _COMPOSE[theorem](Fraction(middle).limit_denominator(10**12), 0, number, slack).epsilon <= 1
        lower, upper = (middle, upper) if fits else (lower, middle)
    return max(lower, 1 / number)  # the sum of all is a bound as well


def build(_kept: Results) -> Page:
    """The worked example of a lifetime, and how the noise grows."""
    advanced, optimal = afford(10_000, "advanced"), afford(10_000, "optimal")
    book = float(advanced_composition(Fraction(1, 801), 0, 10_000, _SLACK).epsilon)
    rows = (
        Row.compare("ε of each of 10,000 databases, one over", 801, ceil(1 / advanced), "d"),
        Row.compare("total for 1/801", 1.0, book, ".4f"),
        Row("one over, by optimal composition", "", f"{1 / optimal:.1f}"),
        Row("error of an answer that k databases cost", "√k / ε", "√k / ε times about 4, at δ = 10⁻⁶"),
    )
    lines = []
    for number in (10, 100, 1000, 10_000):
        each = afford(number, "optimal", Fraction(1, 10**6))
        lines.append(
            (
                f"{number:,}",
                f"{1 / number:g}",
                f"{each:.5f}",
                f"{deviation_of(noise_of(each)):.1f}",
                f"{sqrt(2) * number:,.1f}",
            )
        )
    lifetime = compose_datasets([Budget(Fraction(1, 10))] * 50)
    losses = ", ".join(f"{float(each.total.epsilon):.2f} by {each.theorem}" for each in lifetime if each.total)
    return Page(
        shows="A person is in k databases, each of them private by itself, and nobody coordinates their noise. What "
        "does the person lose in all? The same theorem of composition answers it. The worked example is that of Dwork "
        "& Roth 2014 (example 3.7): 10,000 databases in a lifetime, a total of ε = 1, δ = e⁻³². Each may spend 1/801.",
        rows=rows,
        why=f"The book rounds: 1/801 in its own theorem gives {book:.4f}, a little more than 1, and 1/813 is the "
        "largest unit fraction that keeps to 1. Optimal composition allows more. Either way the answer of each "
        "database has noise that grows like √k. Coordinated noise would do better, and the paper's point is that "
        "nothing else does: databases that know nothing of each other are at the end of the line.",
        how="[`accounting/calculators.py`](../../src/adomnia/accounting/calculators.py) and the calculators, "
        "searched for the largest ε. For datasets that do know each other there is a "
        "[budget of a lifetime](../ledger.md#a-budget-for-a-lifetime).",
        picture=_draw(),
        beyond="A total of ε = 1 at δ = 10⁻⁶: what each of k databases may spend, and the standard deviation of a "
        "count that is bought with it.\n\n"
        + tabulate(("k", "ε each, by the sum", "ε each, optimal", "deviation, optimal", "deviation, by the sum"), lines)
        + f"\n`compose_datasets` for 50 datasets with a budget of 0.1 each: ε = {losses}, the latter two at "
        "δ = 10⁻⁶.\n",
    )


def _draw() -> Picture:
    names = ["the sum of all ε", "optimal composition", "√k, the rate without its constant"]
    rows = []
    for number in _NUMBERS:
        each = afford(number, "optimal", Fraction(1, 10**6))
        values = (sqrt(2) * number, sqrt(2) / each, sqrt(2 * number))
        rows += [
            {"series": name, "databases": number, "deviation": value} for name, value in zip(names, values, strict=True)
        ]
    body = draw_curves(
        rows,
        Axis("databases", "k, the number of databases", log=True),
        Axis("deviation", "deviation of a count in each", log=True),
        names,
    )
    words = (
        "The noise of each database for a total of epsilon 1: it grows like k if epsilons are added, and like "
        "root k, about four times as high, by optimal composition."
    )
    return Picture(
        "One person in k databases, ε = 1 in all",
        "Standard deviation of a count in each of them; δ = 10⁻⁶",
        words,
        body,
    )


EXHIBIT = Exhibit("many-databases", "One person in many databases", "negative", "lifetime loss", build)
