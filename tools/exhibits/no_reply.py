"""Propose, test, release: how often the interquartile range gets no reply."""

from math import ceil, floor, log, sqrt

import numpy as np

from exhibits.contract import Exhibit, Page, Results, Row, Simulation, tabulate
from exhibits.drawing import Axis, Picture, draw_curves

_SIZES = (200, 500, 1000, 2000, 3000, 4000, 5000, 7000, 10_000)
_TESTS = {"printed": "1 + ln² n, as printed", "chosen": "for δ = 10⁻⁶"}
_DELTA = 1e-6
_REPETITIONS = 1000


def count_moves(ordered: np.ndarray, lower: float, upper: float) -> int:
    """How many rows have to be replaced until the interquartile range leaves an interval that it is in."""
    people = len(ordered)
    low, high = ceil(people / 4) - 1, ceil(3 * people / 4) - 1
    for moves in range(1, people):
        first = np.arange(moves + 1)  # so many of them at the lower quartile, the others at the upper one
        widest = _pick(ordered, high + moves - first) - _pick(ordered, low - first)
        narrowest = np.maximum(0.0, _pick(ordered, high - moves + first) - _pick(ordered, low + first))
        if widest.max() >= upper or narrowest.min() < lower:
            return moves
    return people


def _pick(ordered: np.ndarray, places: np.ndarray) -> np.ndarray:
    inside = ordered[np.clip(places, 0, len(ordered) - 1)]
    return np.where(places < 0, -np.inf, np.where(places >= len(ordered), np.inf, inside))


def find_distance(ordered: np.ndarray, offset: float) -> int:
    """The paper's A0 for one of the two grids, of intervals of the logarithm to the base 1 + 1 / ln n."""
    people = len(ordered)
    base = 1 + 1 / log(people)
    spread = ordered[ceil(3 * people / 4) - 1] - ordered[ceil(people / 4) - 1]
    if spread <= 0:
        return 1
    place = floor(log(spread) / log(base) - offset) + offset
    return count_moves(ordered, base**place, base ** (place + 1))


def run(case: str, repetitions: int) -> dict[str, float]:
    """The share of samples without a reply, by both thresholds, and how far the scale is off where there is one."""
    people, random = int(case), np.random.default_rng(int(case))
    limits = {"printed": 1 + log(people) ** 2, "chosen": 1 + log(1 / _DELTA)}
    silent: dict[str, list[bool]] = {name: [] for name in limits}
    for _ in range(repetitions):
        ordered = np.sort(random.normal(size=people))
        tests = [find_distance(ordered, offset) + random.laplace() for offset in (0.0, 0.5)]
        for name, limit in limits.items():
            silent[name].append(max(tests) <= limit)
    return {name: float(np.mean(found)) for name, found in silent.items()}


SIMULATION = Simulation(run, tuple(map(str, _SIZES)), _REPETITIONS, 10, "1000")


def build(kept: Results) -> Page:
    """The rates of no reply."""
    rows = [
        Row("P(no reply) as n grows", "to 0", f"{kept['10000']['printed']:.2f} at n = 10,000", "agrees"),
        Row("P(no reply) at n = 1,000", "not stated", f"{kept['1000']['printed']:.2f}"),
        Row("P(no reply) at n = 3,000", "not stated", f"{kept['3000']['printed']:.2f}"),
    ]
    lines = [
        (
            f"{people:,}",
            f"{1 + log(people) ** 2:.1f}",
            f"{kept[str(people)]['printed']:.3f}",
            f"{kept[str(people)]['chosen']:.3f}",
            f"{_show_delta(people)}",
        )
        for people in _SIZES
    ]
    head = (
        "people",
        "threshold 1 + ln² n",
        "no reply",
        "no reply with the threshold for δ = 10⁻⁶",
        "δ that 1 + ln² n buys",
    )
    return Page(
        shows="The interquartile range has no bounded sensitivity, but most data sets are far from those where it is "
        "sensitive. So the algorithm counts how many rows would have to be replaced to move it by a factor of "
        "1 + 1 / ln n, adds noise, and says nothing unless that is above 1 + ln² n. The paper shows that the rate of "
        "no replies goes to zero.",
        rows=tuple(rows),
        why="It does, but late. With 1,000 people from a normal law and ε = 1 there is never a reply, with 3,000 in "
        f"{1 - kept['3000']['printed']:.0%} of all cases. "
        "The threshold 1 + ln² n is there to make δ smaller than any power of 1/n, and for 1,000 people "
        "buys a δ below 10⁻²⁰, which nobody asked for. With the threshold for a chosen δ = 10⁻⁶ replies come with a "
        "fraction of the people. No reply is an answer like any other, and is paid for; with two tests and two "
        "releases the whole costs 4ε.",
        how="The paper's own algorithm, in NumPy: neighbours replace a row, two grids, Laplace noise of scale 1/ε on "
        f"the test. Normal data, ε = 1, {_REPETITIONS:,} samples; a standard error is at most "
        f"{sqrt(0.25 / _REPETITIONS):.3f}.",
        picture=_draw(kept),
        beyond="Rates of no reply, both grids together:\n\n" + tabulate(head, lines),
    )


def _show_delta(people: int) -> str:
    power = log(people) ** 2 / log(10)
    return f"10^-{power:.0f}"


def _draw(kept: Results) -> Picture:
    rows = [
        {"series": words, "people": people, "silent": kept[str(people)][name]}
        for name, words in _TESTS.items()
        for people in _SIZES
    ]
    x = Axis("people", "people", log=True, domain=(200, 10_000), values=(200, 500, 1000, 2000, 5000, 10_000))
    y = Axis("silent", "share without a reply", domain=(0, 1))
    words = (
        "With the printed threshold nobody of 1,000 gets a reply, most get none at 3,000, all get one "
        "at 10,000. With the threshold for a chosen delta the curve is far to the left."
    )
    return Picture(
        "How often the test says nothing, ε = 1",
        "Interquartile range of normal data, by threshold",
        words,
        draw_curves(rows, x, y, list(_TESTS.values()), points=True),
    )


EXHIBIT = Exhibit("no-reply", "Propose, test, and no reply", "statistics", "section 3.2", build, SIMULATION)
