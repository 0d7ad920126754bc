"""A noisy histogram of salaries, and a distribution that is fitted to it: figures 5 and 6."""

from collections.abc import Mapping

import numpy as np
from scipy.special import ndtri

from adomnia.figures.style import LIGHT
from adomnia.methods.parts.densities.distributions import DISTRIBUTIONS
from exhibits.contract import Exhibit, Page, Results, Row, protect_people, tabulate
from exhibits.drawing import HEIGHT, Axis, Picture, rounded
from exhibits.normal_maximum import DEVIATION, MEAN, PEOPLE, PRINTED, SIMULATION, WAYS, match_moments

_EDGES = (*range(0, 275, 25), 500)
_BREAKS = ", ".join(map(str, _EDGES))


def pay_salaries() -> np.ndarray:
    """Five hundred salaries in thousands at evenly spread ranks: the paper's own are not printed."""
    mu, sigma = match_moments()
    return np.round(np.exp(mu + sigma * ndtri((np.arange(PEOPLE) + 0.5) / PEOPLE)), 2)


def estimate_largest() -> dict[str, float]:
    """What the largest of 500 values of the printed distribution may be taken for."""
    mu, sigma = match_moments()
    shares = np.linspace(0, 1, 200_001)[1:-1]
    ranks = ndtri(shares ** (1 / PEOPLE))
    return {
        "quantile": float(np.exp(mu + sigma * ndtri(1 - 1 / PEOPLE))),
        "median": float(np.exp(mu + sigma * ndtri(0.5 ** (1 / PEOPLE)))),
        "mean": float(np.exp(mu + sigma * ranks).mean()),
        "normal": float(MEAN + DEVIATION * ndtri(1 - 1 / PEOPLE)),
    }


def ask(distribution: str) -> str:
    """The question: a noisy histogram, and the fit to it."""
    asked = f"column => salary, distribution => '{distribution}', breaks => ({_BREAKS})"
    return f"SELECT * FROM fit_distribution(data, {asked})"  # noqa: S608


def build(kept: Results) -> Page:
    """The printed fit beside ours, and what a maximum is."""
    salaries, largest = pay_salaries(), estimate_largest()
    with protect_people("salaries", {"salary": salaries}, epsilon=13, bounds={"salary": (0, 500)}) as session:
        fits = {distribution: session.sql(ask(distribution), epsilon=1) for distribution in ("lognormal", "normal")}
        counted = session.sql(f"SELECT * FROM histogram(data, column => salary, breaks => ({_BREAKS}))", epsilon=1)  # noqa: S608
        sharp = session.sql(ask("normal"), epsilon=10)
    found = {distribution: {row["term"]: row for row in fit.records()} for distribution, fit in fits.items()}
    ours, given = found["lognormal"], kept[SIMULATION.quick]
    rows = (
        Row.compare("the largest of 500, from the printed mean and deviation", 267, largest["quantile"], ".0f"),
        Row("the same from a normal distribution of these moments", f"{PRINTED}", f"{largest['normal']:.1f}"),
        Row("mean of the fit", f"{MEAN}", _show(ours["mean"])),
        Row("standard deviation of the fit", f"{DEVIATION}", _show(ours["sd"])),
        Row("largest of 500 by the fit", "267", _show(ours["maximum"])),
        Row("largest of 500 by a normal fit", f"{PRINTED}", _show(found["normal"]["maximum"])),
        Row("the mechanism", "exponential mechanism", "Laplace mechanism", "corrected"),
    )
    lines = [
        ("printed: the quantile at 1 - 1/500", f"{largest['quantile']:.1f}"),
        ("the median of the largest value", f"{largest['median']:.1f}"),
        ("the mean of the largest value", f"{largest['mean']:.1f}"),
        ("the largest of the made-up salaries", f"{salaries.max():.1f}"),
    ]
    return Page(
        shows="500 salaries of a small company, counted in classes of 25 thousand, the last of them open: exactly in "
        "figure 5, with Laplace noise at ε = 1 in figure 6. A lognormal distribution fitted to the noisy counts has "
        "mean 74.9 and standard deviation 38.3, in thousands. From it the paper estimates the largest salary as 267, "
        "though no question about a maximum can be answered privately without bounds. The true one was 271.45.",
        rows=rows,
        why="267 is the quantile at 1 - 1/500 of the fitted distribution: on average one of 500 people earns more. "
        "The median of the largest value is higher, and its mean higher still. Figure 6 is said to be made by the "
        "exponential mechanism; it is the Laplace mechanism, whose noise is also called double exponential. Our "
        "made-up salaries follow the printed distribution, so our fits should be near the printed numbers, not equal "
        "to them. The normal distribution is the wrong one, and a question to us says so: its p-value of the fit is "
        f"{found['normal']['mean']['fit_p_value']:.3f}, that of the lognormal distribution "
        f"{ours['mean']['fit_p_value']:.2f}: salaries at evenly spread ranks fit better than a sample would.\n\nThe "
        f"printed {PRINTED} is not the quantile of a normal distribution with the printed moments, which is "
        f"{largest['normal']:.1f}. The paper does not say what it is, and prints neither salaries nor noisy counts. "
        "We tried four ways, on salaries drawn from the printed lognormal distribution, and kept what each gives "
        f"where the lognormal fit is the printed one. A normal fit to the same noisy counts {_tell(given, 'fit')}: "
        "that is not it, unless the salaries were far from lognormal. A normal fit that leaves no room below 0 "
        f"{_tell(given, 'above zero')}. The expected largest of 500 normal values, from mean and deviation of the "
        f"exact salaries, {_tell(given, 'expected')}. Either of the last two may be what was done. Which one it was "
        f"is not known. Our own normal fit is lower, {found['normal']['maximum']['estimate']:.1f}: where a normal "
        "distribution leaves room for nobody, its likelihood takes the few people in the upper classes for noise. At "
        f"ε = 10 it cannot, and gives {sharp.records()[-1]['estimate']:.1f}.",
        how=f"`{ask('lognormal')}` at ε = 1, in a session; intervals are about the population, sampling and noise "
        "together. The noise is in the likelihood, so that empty classes with positive noise do not pull the tail up.",
        picture=_draw(salaries, counted.records(), fits["lognormal"].model["point"]),
        beyond="What the largest of 500 values of the printed distribution may be taken for, in thousands:\n\n"
        + tabulate(("", "thousands"), lines)
        + "\nWhat a normal distribution makes of it where the lognormal fit is the printed one:\n\n"
        + tabulate(("", "thousands", "standard deviation", "the printed number is away"), _list_ways(given)),
    )


def _list_ways(given: Mapping[str, float]) -> list[tuple[str, ...]]:
    return [
        (words, f"{given[way]:.1f}", f"{given[f'{way} spread']:.1f}", f"{_count_deviations(given, way):.1f} deviations")
        for way, words in WAYS.items()
    ]


def _tell(given: Mapping[str, float], way: str) -> str:
    return f"gives {given[way]:.1f}, and {PRINTED} is {_count_deviations(given, way):.1f} standard deviations away"


def _count_deviations(given: Mapping[str, float], way: str) -> float:
    return (PRINTED - given[way]) / given[f"{way} spread"]


def _show(row: dict) -> str:
    return f"{row['estimate']:.1f} ({row['estimate_lower']:.1f} to {row['estimate_upper']:.1f})"


def _draw(salaries: np.ndarray, counted: list, point: list) -> Picture:
    exact = np.histogram(salaries, _EDGES)[0]
    bars = [
        {"left": left, "right": min(left + 25, 275), "exact": int(true), "noisy": row["count"]}
        for left, true, row in zip(_EDGES, exact, counted, strict=False)
    ]
    grid = np.linspace(1, 275, 138)
    distribution = DISTRIBUTIONS["lognormal"]
    density = np.diff(distribution.below(np.array(point), np.append(grid - 1, grid[-1] + 1))) * PEOPLE * 25 / 2
    curve = [{"salary": x, "people": y} for x, y in zip(grid, density, strict=True)]
    blue, orange = LIGHT.colours[:2]
    x = Axis(
        "left", "salary in thousands; the last class is open", domain=(0, 275), values=tuple(range(0, 275, 25))
    ).encoding
    y = Axis("noisy", "people").encoding
    y["scale"] = {"zero": True}
    body = {
        "width": LIGHT.wide,
        "height": HEIGHT,
        "data": {"values": rounded(bars)},
        "layer": [
            {
                "mark": {"type": "bar", "color": blue, "opacity": 0.35, "binSpacing": 1},
                "encoding": {"x": x, "x2": {"field": "right"}, "y": y, "y2": {"datum": 0}},
            },
            {
                "mark": {"type": "rule", "color": LIGHT.ink, "strokeWidth": 2},
                "encoding": {"x": x, "x2": {"field": "right"}, "y": {**y, "field": "exact"}},
            },
            {
                "data": {"values": rounded(curve)},
                "mark": {"type": "line", "color": orange, "strokeDash": [7, 3]},
                "encoding": {"x": {**x, "field": "salary"}, "y": {**y, "field": "people"}},
            },
        ],
    }
    words = (
        "Noisy counts as bars, exact ones as lines across them, a few people apart, and a lognormal curve that"
        " follows both."
    )
    return Picture(
        "Salaries of 500 people, ε = 1",
        "Bars: noisy counts. Lines across: exact counts. Dashed: the fitted lognormal distribution",
        words,
        body,
    )


EXHIBIT = Exhibit(
    "salary-histogram", "A noisy histogram and its fit", "strengths", "figures 5 and 6", build, SIMULATION
)
