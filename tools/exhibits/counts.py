"""A count with Laplace noise at two prices: figures 2 and 3."""

from fractions import Fraction
from math import log, sqrt

import numpy as np

from adomnia.figures.style import LIGHT
from adomnia.mechanisms.laplace import DiscreteLaplace
from exhibits.contract import Exhibit, Page, Results, Row, protect_people, tabulate
from exhibits.drawing import Axis, Picture, name_series, rounded

_COUNT = 205
_WORDS = {1.0: "figure 2", 0.2: "figure 3"}
QUESTION = "SELECT COUNT(*) AS people FROM data WHERE salary > 45000"


def noise_of(epsilon: float) -> DiscreteLaplace:
    """The noise of a count at that price."""
    return DiscreteLaplace(1 / Fraction(str(epsilon)))


def deviation_of(noise: DiscreteLaplace) -> float:
    """The standard deviation, from the probabilities of all numbers that matter."""
    reach = np.arange(-int(60 * noise.scale) - 1, int(60 * noise.scale) + 2)
    return sqrt(sum(noise.probability(int(each)) * int(each) ** 2 for each in reach))


def pay_salaries() -> np.ndarray:
    """Five hundred people, of whom 205 earn more than 45,000."""
    return np.concatenate([np.linspace(20_000, 45_000, 500 - _COUNT), np.linspace(45_100, 250_000, _COUNT)])


def build(_kept: Results) -> Page:
    """The distribution of both figures, and answers of a session."""
    rows, lines = [], []
    with protect_people("counts", {"salary": pay_salaries()}, epsilon=20, bounds={"salary": (0, 1_000_000)}) as session:
        for epsilon, figure in _WORDS.items():
            noise = noise_of(epsilon)
            deviation = deviation_of(noise)
            worst = max(abs(log(noise.probability(k) / noise.probability(k - 1))) for k in range(-60, 61))
            rows.append(Row(f"{figure}: ε", f"{epsilon:g}", f"{worst:.4g}", "agrees"))
            rows.append(
                Row(f"{figure}: standard deviation of an answer", f"{sqrt(2) / epsilon:.4g}", f"{deviation:.4g}")
            )
            reach = noise.interval(0.95)
            wide = f"±{reach.half_width} ({reach.coverage:.1%})"
            rows.append(Row(f"{figure}: 95% of answers are within", f"±{log(20) / epsilon:.3g}", wide))
            [found] = session.sql(QUESTION, epsilon=epsilon).records()
            lines.append((f"{epsilon:g}", f"{found['people']}", f"{found['people_lower']} to {found['people_upper']}"))
    rows.append(Row("how the error grows", "O(ε)", "O(1 / ε)", "corrected"))
    return Page(
        shows="How many of the people in a database earn more than 45,000? With the CEO it is 205, without 204. The "
        "figures draw the distribution of the answer for both databases, at ε = 1 and at ε = 0.2.",
        rows=tuple(rows),
        why="The paper's noise is a real number; ours is a whole number from the two-sided geometric distribution, "
        "which has the same ε and a little less spread. Its probabilities for neighbours differ by a factor of e^ε "
        "everywhere, and by no more: the ε in the table is the largest logarithm of that ratio. The paper says that "
        "the error is O(ε). It is of the order of 1 / ε: a fifth of the price means five times the error, as its own "
        "figures show.",
        how="`DiscreteLaplace` of [`mechanisms/laplace.py`](../../src/adomnia/mechanisms/laplace.py): its "
        "`probability` and `interval`.",
        picture=_draw(),
        beyond=f"The same question in a session, `{QUESTION}`, about 500 made-up people of whom 205 earn more:\n\n"
        + tabulate(("ε", "answer", "95% interval"), lines),
    )


def _draw() -> Picture:
    rows = [
        {
            "panel": f"{name}: ε = {epsilon:g}",
            "answer": answer,
            "probability": noise_of(epsilon).probability(answer - held),
            "series": series,
        }
        for epsilon, name in _WORDS.items()
        for held, series in ((_COUNT, "with the CEO: 205"), (_COUNT - 1, "without: 204"))
        for answer in range(_COUNT - 20, _COUNT + 21)
    ]
    names = ["with the CEO: 205", "without: 204"]
    encoding = {
        "x": Axis("answer", "answer", domain=(184, 226)).encoding,
        "y": {**Axis("probability", "probability").encoding, "scale": {"zero": True}},
        **name_series(names, shapes=True),
    }
    body = {
        "data": {"values": rounded(rows)},
        "facet": {
            "row": {
                "field": "panel",
                "type": "nominal",
                "header": {"title": None, "labelOrient": "top", "labelAnchor": "start"},
            }
        },
        "spec": {
            "width": LIGHT.wide,
            "height": 130,
            "layer": [
                {
                    "mark": {"type": "line", "strokeWidth": 1, "opacity": 0.5},
                    "encoding": {key: encoding[key] for key in ("x", "y", "color")},
                },
                {"mark": {"type": "point", "filled": True, "size": 30, "opacity": 1}, "encoding": encoding},
            ],
        },
        "resolve": {"scale": {"y": "independent"}},
    }
    words = (
        "Two bell-like distributions with a sharp peak, one at 205 and one at 204. At epsilon 1 most answers are within"
        f" 3 of them, at 0.2 within {noise_of(0.2).interval(0.95).half_width}."
    )
    return Picture(
        "A count of 205 at two prices", "Probability of each answer, with one person and without", words, body
    )


EXHIBIT = Exhibit("laplace-counts", "A count with Laplace noise", "strengths", "figures 2 and 3", build)
