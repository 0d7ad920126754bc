"""Several counts for one price: figure 4."""

from math import sqrt

import numpy as np

from exhibits.contract import Exhibit, Page, Results, Row, protect_people, tabulate
from exhibits.counts import deviation_of, pay_salaries
from exhibits.drawing import Axis, Picture, draw_curves

_NUMBERS = (1, 2, 5)
_HISTOGRAM = "SELECT FLOOR(salary / 50000) AS class, COUNT(*) AS people FROM data GROUP BY class"


def ask(number: int) -> str:
    """A question with so many overlapping counts."""
    counts = ", ".join(
        f"COUNT(*) FILTER (WHERE salary > {45_000 + 1000 * place}) AS n{place}" for place in range(number)
    )
    return f"SELECT {counts} FROM data"  # noqa: S608 - of our own making


def build(_kept: Results) -> Page:
    """Quotes of a session beside the figure."""
    rows, noises = [], {}
    with protect_people("repeated", {"salary": pay_salaries()}, epsilon=20, bounds={"salary": (0, 500_000)}) as session:
        for number in _NUMBERS:
            quote = session.price(ask(number), epsilon=1)
            noise = noises[number] = quote.measurements[0].noise
            rows.append(Row.compare(f"N = {number}: scale of the noise", number, float(noise.scale), "g"))
            printed, ours = sqrt(2) * number, deviation_of(noise)
            rows.append(Row(f"N = {number}: standard deviation", f"{printed:.3g}", f"{ours:.3g}"))
        classes = session.price(_HISTOGRAM, epsilon=1).measurements[0]
        answer = session.sql(ask(5), epsilon=1).records()[0]
    rows.append(Row.compare("a histogram of any number of classes: scale", 1, float(classes.noise.scale), "g"))
    cells = [
        (
            f"more than {45_000 + 1000 * place:,}",
            f"{answer[f'n{place}']}",
            f"{answer[f'n{place}_lower']} to {answer[f'n{place}_upper']}",
        )
        for place in range(5)
    ]
    return Page(
        shows="If N counts are asked at once for ε = 1 in all, each gets noise of scale N / ε. Figure 4 draws the "
        "answers around 205 for N = 1, 2 and 5. Counts of classes that do not overlap are another matter: a person "
        "is in one of them, and the scale stays 1 / ε however many there are.",
        rows=tuple(rows),
        why="Nothing to correct. Our standard deviations are a little smaller, because the noise is whole numbers. "
        "Who pays may also give some counts of a question a larger part of the price.",
        how="The scales are what `session.price` says a question would be measured with; nothing is spent for that. "
        f"The histogram is `{_HISTOGRAM}`.",
        picture=_draw(noises),
        beyond="Five overlapping counts in one question for ε = 1, answered:\n\n"
        + tabulate(("people who earn", "answer", "95% interval"), cells),
    )


def _draw(noises: dict) -> Picture:
    rows = [
        {"series": f"N = {number}", "answer": int(answer), "probability": noise.probability(int(answer) - 205)}
        for number, noise in noises.items()
        for answer in np.arange(185, 226)
    ]
    body = draw_curves(
        rows,
        Axis("answer", "answer", domain=(185, 225)),
        Axis("probability", "probability"),
        [f"N = {number}" for number in _NUMBERS],
        points=True,
    )
    words = (
        "Three distributions around 205: sharp for one count, half as high for two, a fifth as high and flat for five."
    )
    return Picture(
        "One of N counts, for ε = 1 in all", "Probability of each answer; the true count is 205", words, body
    )


EXHIBIT = Exhibit("several-counts", "Several counts for one price", "strengths", "figure 4", build)
