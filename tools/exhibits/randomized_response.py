"""Randomised response: the worked example, June, and what it costs beside noise on the count."""

from math import exp, log, sqrt

import numpy as np

from adomnia.accounting.meaning import posterior
from exhibits.contract import Exhibit, Page, Results, Row, tabulate
from exhibits.counts import deviation_of, noise_of
from exhibits.drawing import Axis, Picture, draw_curves

_PEOPLE, _HOLDERS = 1000, 400
_JUNE = 1 / 12


def respond(people: int, holders: int, truth: float) -> tuple[float, float]:
    """Mean and variance of the true count minus that of the responses: each response is a coin of its own."""
    return (1 - truth) * (2 * holders - people), people * truth * (1 - truth)


def respond_as_printed(people: int, holders: int, truth: float) -> tuple[float, float]:
    """The formulas of the paper."""
    lie = 1 - truth
    return -2 * holders * lie + people * lie, 4 * holders * truth * lie + people * truth * lie


def respond_by_trial(people: int, holders: int, truth: float) -> tuple[float, float]:
    """The same by 40,000 surveys."""
    random = np.random.default_rng(3)
    yes = random.binomial(holders, truth, 40_000) + random.binomial(people - holders, 1 - truth, 40_000)
    return float((holders - yes).mean()), float((holders - yes).var())


def ask_about_june() -> tuple[float, float]:
    """The probability of yes with the property and without it: heads asks for it, tails for a birthday in June."""
    return (1 + _JUNE) / 2, _JUNE / 2


def build(_kept: Results) -> Page:
    """The worked example."""
    rows = []
    for truth, printed in ((2 / 3, (100, 467)), (0.9, (30, 189))):
        found, name = respond(_PEOPLE, _HOLDERS, truth), f"truth with probability {truth:.2g}"
        rows.append(Row.compare(f"{name}: ε", {2 / 3: 0.69, 0.9: 2.2}[truth], log(truth / (1 - truth)), ".2g"))
        rows.append(Row.compare(f"{name}: mean error", printed[0], found[0], ".1f"))
        rows.append(Row.compare(f"{name}: variance of the error", printed[1], found[1], ".1f"))
    user, other = ask_about_june()
    epsilon = max(log(user / other), log((1 - other) / (1 - user)))
    rows.append(Row("a birthday in June: ε", "not stated", f"ln 13 = {epsilon:.3f}"))
    rows.append(Row("the error at ε, of n people", "O(√n e^ε)", "√n e^(ε/2) / (e^ε - 1)", "corrected"))
    return Page(
        shows="Each of 1,000 people, of whom 400 have a property, tells the truth with probability p and lies "
        "otherwise; the yeses are counted. The paper gives the mean and the variance of the error, and then shows "
        "that noise on the count itself does better.",
        rows=tuple(rows),
        why="Two slips and a mix-up. The sign of the mean is turned around: (1 - p)(2m - n) is true count minus "
        "responses. The variance counts the property twice: each response is a coin with variance p(1 - p) whatever "
        "is true, so the sum has n p(1 - p). And the printed numbers belong to other people: n = 900 and m = 300 in "
        f"the printed formulas give {_pair(respond_as_printed(900, 300, 2 / 3))} and "
        f"{_pair(respond_as_printed(900, 300, 0.9))}. Forty thousand simulated surveys of the stated 1,000 have mean "
        f"and variance {_pair(respond_by_trial(_PEOPLE, _HOLDERS, 2 / 3))} at p = 2/3.",
        how="Closed forms, checked by simulation; the noise beside them is `DiscreteLaplace`.",
        picture=_draw(),
        beyond=_show_june(user, other, epsilon) + "\n" + _show_costs(),
    )


def _pair(numbers: tuple[float, float]) -> str:
    return f"{numbers[0]:.1f} and {numbers[1]:.1f}"


def _show_june(user: float, other: float, epsilon: float) -> str:
    lines = [
        ("yes", "13/24", "1/24", f"{user / other:.0f}"),
        ("no", "11/24", "23/24", f"{(1 - other) / (1 - user):.2f}"),
    ]
    return (
        "**June.** Heads: did you use an illegal drug? Tails: is your birthday in June? A yes is thirteen times as "
        f"probable from a user: ε = ln 13 = {epsilon:.3f}. It is easy to expect ln 3, which is that of the survey in "
        "which tails asks for another coin. A belief of 1 in 5 that somebody is a user can become "
        f"{posterior(0.2, epsilon):.2f} after a yes; with ln 3 it could become {posterior(0.2, log(3)):.2f}. The "
        "design is that of an unrelated question (Horvitz, Shah & Simmons 1967); Warner's of 1965 asks for the "
        "property or for its opposite.\n\n" + tabulate(("answer", "user", "other", "ratio"), lines)
    )


def _show_costs() -> str:
    lines = []
    for truth in (2 / 3, 0.9):
        epsilon = log(truth / (1 - truth))
        spread = sqrt(_PEOPLE * truth * (1 - truth)) / (2 * truth - 1)
        lines.append((f"{epsilon:.3f}", f"{spread:.1f}", f"{deviation_of(noise_of(epsilon)):.2f}"))
    return "**Beside noise on the count.** Standard deviation of an unbiased count of 1,000 people:\n\n" + tabulate(
        ("ε", "randomised response", "Laplace noise on the count"), lines
    )


def _draw() -> Picture:
    sizes, epsilon = np.geomspace(10, 1e6, 26), log(2)
    spread, flat = exp(epsilon / 2) / (exp(epsilon) - 1), deviation_of(noise_of(epsilon))
    names = ["randomised response", "noise on the count"]
    rows = [{"series": names[0], "people": size, "deviation": sqrt(size) * spread} for size in sizes]
    rows += [{"series": names[1], "people": size, "deviation": flat} for size in sizes]
    x, y = Axis("people", "people", log=True), Axis("deviation", "standard deviation of the count", log=True)
    words = (
        "The error of randomised response grows with the root of the number of people, to 1,414 for a million;"
        f" that of noise on the count stays at {flat:.2f}."
    )
    return Picture(
        "The price of not trusting the curator, ε = ln 2",
        "Standard deviation of an unbiased count",
        words,
        draw_curves(rows, x, y, names),
    )


EXHIBIT = Exhibit("randomised-response", "Randomised response", "strengths", "section III.A", build)
