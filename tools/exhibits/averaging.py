"""Averaging the answers to one question that is asked again and again."""

from collections.abc import Callable
from functools import partial
from math import ceil, exp, sqrt

import numpy as np
from scipy.stats import binom

from adomnia.errors import Refusal
from exhibits.contract import Exhibit, Page, Results, Row, protect_people, tabulate
from exhibits.counts import noise_of, pay_salaries
from exhibits.drawing import Axis, Picture, draw_curves, draw_rule

_WANTED = 0.95
_PRINTED = {1.0: 20, 0.2: 500}
_DISGUISES = tuple(
    f"SELECT COUNT(*) AS people FROM data WHERE salary > 45000 AND salary > -{place}"  # noqa: S608 - our own
    for place in range(1, 7)
)


def reveal_by_mean(epsilon: float, number: int) -> float:
    """The probability that the mean of so many answers with continuous Laplace noise rounds to the count.

    By Fourier inversion of the distribution of the sum.
    """
    grid = (np.arange(200_000) + 0.5) * (40 / sqrt(number) * epsilon / 200_000)
    waves = np.sin(grid * number / 2) / grid * (1 + (grid / epsilon) ** 2) ** -float(number)
    return float(2 / np.pi * waves.sum() * (grid[1] - grid[0]))


def _convolve(one: np.ndarray, number: int) -> float:
    size = len(one)
    distribution = np.fft.irfft(np.fft.rfft(np.fft.ifftshift(one)) ** number, size)
    most = ceil(number / 2) - 1  # |sum| / number < 1/2
    return float(distribution[: most + 1].sum() + distribution[size - most :].sum()) if most else float(distribution[0])


def reveal_by_median(epsilon: float, number: int) -> float:
    """The probability that the median of an odd number of answers rounds to the count."""
    beyond = exp(-epsilon / 2) / 2
    return 1 - 2 * float(binom.sf((number - 1) // 2, number, beyond))


def find_least(reveal: Callable[[int], float], below: int, above: int) -> int:
    """The least number of answers that reveals the count often enough, between two of one parity, by halving."""
    step = 2 if (above - below) % 2 == 0 and below % 2 else 1
    while above - below > step:
        middle = below + (above - below) // (2 * step) * step
        below, above = (middle, above) if reveal(middle) < _WANTED else (below, middle)
    return above


def attack() -> tuple[int, int, int]:
    """Ask a session the same thing: answers that differ among ten alike, those among disguised ones, and refusals."""
    with protect_people("averaging", {"salary": pay_salaries()}, epsilon=5, bounds={"salary": (0, 500_000)}) as session:
        alike = [
            session.sql("SELECT COUNT(*) AS people FROM data WHERE salary > 45000", epsilon=1)["people"][0]
            for _ in range(10)
        ]
        told, refused = [], 0
        for question in _DISGUISES:
            try:
                told.append(session.sql(question, epsilon=1)["people"][0])
            except Refusal:
                refused += 1
    return len(set(alike)), len(told), refused


def build(_kept: Results) -> Page:
    """The printed numbers of questions beside the right ones."""
    rows = []
    for epsilon, printed in _PRINTED.items():
        least = find_least(partial(reveal_by_mean, epsilon), printed, 1000)
        rows.append(Row.compare(f"ε = {epsilon:g}: answers that reveal the count with 95%", printed, least, "d"))
    for epsilon, printed in _PRINTED.items():
        chance = reveal_by_mean(epsilon, printed)
        rows.append(Row(f"ε = {epsilon:g}: chance after {printed} answers", "95%", f"{chance:.1%}", "corrected"))
    medians = {each: find_least(partial(reveal_by_median, each), 1, 1001) for each in _PRINTED}
    ours = {each: find_least(reveal_our_noise(each), 1, 1001) for each in _PRINTED}
    different, told, refused = attack()
    lines = [(f"{epsilon:g}", f"{medians[epsilon]}", f"{ours[epsilon]}") for epsilon in _PRINTED]
    return Page(
        shows="An adversary asks for the same count N times and averages. With Laplace noise at ε = 1, the paper says, "
        "20 answers give the exact count with 95% confidence, and 500 at ε = 0.2.",
        rows=tuple(rows),
        why="The mean of N answers has variance 2 / (N ε²). It rounds to the count if it is within a half of it, "
        "which needs N = 2 (1.96 / 0.5)² / ε². That is 31 at ε = 1 and 769 at ε = 0.2, by the exact distribution of "
        "the mean too. The printed numbers are nearly those of a one-sided test; after 20 answers an adversary is "
        "right in nine cases of ten. The median needs fewer answers than the mean: Laplace noise has a sharp peak. "
        "All of this costs N ε: twenty answers at ε = 1 are 20-differentially private, which protects nobody.",
        how="The sum of N Laplace variables by Fourier inversion; our own noise by convolving "
        "`DiscreteLaplace.probability`.",
        picture=_draw(),
        beyond="Answers, odd in number, after which the median, and the mean of our whole-numbered noise, reveal the "
        "count with 95%:\n\n"
        + tabulate(("ε", "median", "mean, our noise"), lines)
        + "\nAgainst a session with a budget of ε = 5 none of it works. Ten times the same question is "
        f"{_one(different)}, paid for once: the same answer comes back. The paper is right that this alone would not "
        f"help, because a question can be disguised. Disguised by a condition that is always true, {told} more are "
        f"answered, each for another ε = 1; then the budget is spent, and {refused} are refused.",
    )


def _one(different: int) -> str:
    return "one answer" if different == 1 else f"{different} answers"


def reveal_our_noise(epsilon: float) -> Callable[[int], float]:
    """The same for the mean of our own noise, by the number of answers."""
    noise, reach = noise_of(epsilon), 2**13
    one = np.array([noise.probability(int(k)) for k in np.arange(-reach, reach)])
    return lambda number: _convolve(one, number)


def _draw() -> Picture:
    numbers = sorted({*range(1, 61, 2), 20, 31})
    rows = [{"series": "mean", "answers": number, "chance": reveal_by_mean(1.0, number)} for number in numbers]
    rows += [
        {"series": "median", "answers": number, "chance": reveal_by_median(1.0, number)}
        for number in numbers
        if number % 2
    ]
    body = draw_curves(
        rows,
        Axis("answers", "answers to the same question", domain=(0, 60)),
        Axis("chance", "chance that they reveal the count", domain=(0, 1)),
        ["mean", "median"],
        draw_rule(_WANTED, "y", "95%"),
        draw_rule(20, "x", "20, as printed", ("y", 230)),
        draw_rule(31, "x", "31", ("y", 230)),
    )
    words = (
        "The chance to find the exact count by averaging grows from 0.39 for one answer to 0.89 for 20 and "
        "0.95 for 31; the median is faster."
    )
    return Picture(
        "Averaging answers at ε = 1", "Noise drawn anew for each answer, which a session does not do", words, body
    )


EXHIBIT = Exhibit("averaging", "The same question, again and again", "strengths", "section III.C", build)
