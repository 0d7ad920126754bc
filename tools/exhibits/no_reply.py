"""Propose, test, release: how often the interquartile range gets no reply."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import ceil, floor, log, sqrt

import numpy as np

from adomnia.privacy.events import Pure
from exhibits.contract import Exhibit, Page, Results, Row, Simulation, tabulate
from exhibits.drawing import Axis, Picture, draw_curves
from kit.analyses import analyse, frame
from kit.bits import SeededBits
from kit.describing import build as build_method

_SIZES = (200, 500, 1000, 2000, 3000, 4000, 5000, 7000, 10_000)
_TESTS = {"printed": "1 + ln² n, as printed", "chosen": "for δ = 10⁻⁶", "ours 1": "ptr_iqr, ε = 1 for all of it"}
_DELTA = Fraction(1, 10**6)
_EPSILONS = (1, 4)  # of our own method in all: as much as one part of the paper's, and as much as its four parts
_FRAME = frame({"x": (-10, 10)})
_REPETITIONS, _OURS = 1000, 300  # samples, and how many of them our own is asked about


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


def ask_ours(seed: str) -> Callable[[np.ndarray, int], float]:
    """Our own ptr_iqr, with noise from a seed; NaN where it does not reply."""
    asked = build_method("ptr_iqr", _FRAME, column=_FRAME.numbers["x"]).with_delta(_DELTA)  # type: ignore[attr-defined]
    bits = SeededBits(seed)

    def ask(values: np.ndarray, epsilon: int) -> float:
        result = analyse(asked, Pure(epsilon), {"x": values}, bits)
        return float(result.estimates["estimate"].values[0])  # type: ignore[union-attr]

    return ask


def run(case: str, repetitions: int) -> dict[str, float]:
    """The share of samples without a reply, by both thresholds and of our own; and by which factor our own is off."""
    people, random, ask = int(case), np.random.default_rng(int(case)), ask_ours(f"no reply, {case}")
    limits = {"printed": 1 + log(people) ** 2, "chosen": 1 + log(1 / float(_DELTA))}
    silent: dict[str, list[bool]] = {name: [] for name in limits}
    ours: dict[int, list[float]] = {epsilon: [] for epsilon in _EPSILONS}
    for repetition in range(repetitions):
        ordered = np.sort(random.normal(size=people))
        tests = [find_distance(ordered, offset) + random.laplace() for offset in (0.0, 0.5)]
        for name, limit in limits.items():
            silent[name].append(max(tests) <= limit)
        for epsilon, found in ours.items() if repetition < _OURS else ():
            found.append(ask(ordered, epsilon) / float(np.subtract(*np.quantile(ordered, [0.75, 0.25]))))
    rates = {name: float(np.mean(found)) for name, found in silent.items()}
    for epsilon, found in ours.items():
        rates |= _summarize(f"ours {epsilon}", np.array(found))
    return rates


def _summarize(name: str, ratios: np.ndarray) -> dict[str, float]:
    """The share without a reply, and the median factor among replies; 0 where there is none."""
    replies = ratios[~np.isnan(ratios)]
    factor = float(np.exp(np.median(np.abs(np.log(replies))))) if len(replies) else 0.0
    return {name: 1 - len(replies) / len(ratios), f"{name} factor": factor}


SIMULATION = Simulation(run, tuple(map(str, _SIZES)), _REPETITIONS, 10, "1000")


def build(kept: Results) -> Page:
    """The rates of no reply."""
    small, large = kept["1000"], kept["10000"]
    rows = (
        Row("P(no reply) as n grows", "to 0", f"{large['printed']:.2f} at n = 10,000", "agrees"),
        Row("P(no reply) at n = 1,000", "not stated", f"{small['printed']:.2f}"),
        Row("P(no reply) at n = 3,000", "not stated", f"{kept['3000']['printed']:.2f}"),
        *(
            Row(f"P(no reply) of `ptr_iqr` at n = {people:,}", "", f"{kept[str(people)]['ours 1']:.2f}")
            for people in (1000, 3000, 10_000)
        ),
    )
    return Page(
        shows="The interquartile range has no bounded sensitivity, but most data sets are far from those where it is "
        "sensitive. So the algorithm counts how many rows would have to be replaced to move it by a factor of "
        "1 + 1 / ln n, adds noise, and says nothing unless that is above 1 + ln² n. The paper shows that the rate of "
        "no replies goes to zero.",
        rows=rows,
        why="It does, but late. With 1,000 people from a normal distribution and ε = 1 there is never a reply, with "
        f"3,000 in {1 - kept['3000']['printed']:.0%} of all cases. The threshold 1 + ln² n is there to make δ smaller "
        "than any power of 1/n, and for 1,000 people buys a δ below 10⁻²⁰, which nobody asked for. With the "
        "threshold for a chosen δ = 10⁻⁶ replies come with a fraction of the people. No reply is an answer like any "
        "other, and is paid for; with two tests and two releases the whole costs 4ε.\n\nOur own `ptr_iqr` takes a δ, "
        "here 10⁻⁶, and proposes the factor that normal data of so many people would pass the test with, instead of "
        f"1 + 1 / ln n. So it nearly always replies, from {_find_enough(kept):,} people on, and ε = 1 pays for all of "
        "it. But of few people the answer is coarse: of 1,000 it is typically off by a factor of "
        f"{small['ours 1 factor']:.2f}, of 10,000 by {large['ours 1 factor']:.2f}. At the paper's whole price of ε = "
        f"4 the factors are {small['ours 4 factor']:.2f} and {large['ours 4 factor']:.3f}. `iqr`, which chooses by "
        "rank, needs no δ, always replies, and is off by 3% at 1,000 people and ε = 1: [ask "
        "that](../which-estimator.md).",
        how="The paper's own algorithm, in NumPy: neighbours replace a row, two grids, Laplace noise of scale 1/ε on "
        "the test. `ptr_iqr` as it is released, with bounds -10 and 10: people come or go, and their number is private "
        f"too. Normal data, ε = 1, {_REPETITIONS:,} samples, of `ptr_iqr` {_OURS}; a standard error of a rate is "
        f"at most {sqrt(0.25 / _REPETITIONS):.3f}, of `ptr_iqr` {sqrt(0.25 / _OURS):.3f}.",
        picture=_draw(kept),
        beyond=f"Rates of no reply of the paper's algorithm, both grids together:\n\n{_tabulate_printed(kept)}\n"
        "Rates of no reply of `ptr_iqr` at δ = 10⁻⁶, and the factor by which half of the replies are off at most; "
        f"of the paper's algorithm its noise alone, where it replies:\n\n{_tabulate_ours(kept)}",
    )


def _find_enough(kept: Results) -> int:
    """From how many people on our own replies at least 95 times of 100."""
    return min(people for people in _SIZES if kept[str(people)]["ours 1"] <= 0.05)


def _tabulate_printed(kept: Results) -> str:
    head = (
        "people",
        "threshold 1 + ln² n",
        "no reply",
        "no reply with the threshold for δ = 10⁻⁶",
        "δ that 1 + ln² n buys",
    )
    lines = [
        (
            f"{people:,}",
            f"{1 + log(people) ** 2:.1f}",
            f"{kept[str(people)]['printed']:.3f}",
            f"{kept[str(people)]['chosen']:.3f}",
            _show_delta(people),
        )
        for people in _SIZES
    ]
    return tabulate(head, lines)


def _tabulate_ours(kept: Results) -> str:
    head = ("people", "no reply, ε = 1", "factor", "no reply, ε = 4", "factor", "factor of the paper's, ε = 4")
    lines = []
    for people in _SIZES:
        found, noise = (
            kept[str(people)],
            (1 + 1 / log(people)) ** log(2),
        )  # ln 2: the median of Laplace noise of scale 1
        ours = [show for epsilon in _EPSILONS for show in _show_ours(found, epsilon)]
        lines.append((f"{people:,}", *ours, f"{noise:.2f}" if found["printed"] < 1 else ""))
    return tabulate(head, lines)


def _show_ours(found: Mapping[str, float], epsilon: int) -> tuple[str, str]:
    silent, factor = found[f"ours {epsilon}"], found[f"ours {epsilon} factor"]
    return f"{silent:.3f}", f"{factor:.2f}" if factor else ""


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
        "at 10,000. With the threshold for a chosen delta the curve is far to the left, and that of ptr_iqr further."
    )
    return Picture(
        "How often the test says nothing, ε = 1",
        "Interquartile range of normal data: the paper's test with two thresholds, and ptr_iqr",
        words,
        draw_curves(rows, x, y, list(_TESTS.values()), points=True),
    )


EXHIBIT = Exhibit("no-reply", "Propose, test, and no reply", "statistics", "section 3.2", build, SIMULATION)
