"""A second question helps with the first: height and weight."""

from math import sqrt

import numpy as np

from adomnia.noise import discrete_laplace
from exhibits.contract import Exhibit, Page, Results, Row, tabulate
from exhibits.drawing import Axis, Picture, draw_curves, draw_rule
from kit.bits import SeededBits

_SLOPE, _RESIDUAL = 0.63, 20.0
_DRAWS = 400_000
_FINE = 1024  # steps of noise in one unit


def combine(noise: float) -> float:
    """The variance of the mean of both estimates of a weight, where each answer has noise of that variance."""
    return (noise + _SLOPE**2 * noise + _RESIDUAL) / 4


def combine_as_printed(noise: float) -> float:
    """The variance that the paper prints."""
    return 0.7 * noise + 10


def weigh(noise: float) -> float:
    """The variance of the best weighted mean."""
    other = _SLOPE**2 * noise + _RESIDUAL
    return noise * other / (noise + other)


def simulate(epsilon: float) -> tuple[float, float]:
    """The variances of the direct answer and of the plain mean, with our own noise on a fine grid."""
    scale = _FINE / epsilon
    weight, height = discrete_laplace(scale, (2, _DRAWS), SeededBits(f"height {epsilon}")) / _FINE
    residual = np.random.default_rng(5).normal(0, sqrt(_RESIDUAL), _DRAWS)
    return float(np.var(weight)), float(np.var((weight + _SLOPE * height + residual) / 2))


def build(_kept: Results) -> Page:
    """Both thresholds."""
    threshold = sqrt(2 / (5 / (1 - (1 + _SLOPE**2) / 4)))
    printed = sqrt(2 / (10 / 0.3))
    rows = (
        Row(
            "variance of the plain mean, e the variance of an answer",
            "0.7 e + 10",
            f"{(1 + _SLOPE**2) / 4:.4f} e + 5",
            "corrected",
        ),
        Row.compare("it is better than the direct answer below ε =", 0.25, threshold, ".2f"),
        Row("the same, from the printed variance", "0.25", f"{printed:.3f}", "agrees"),
    )
    lines = []
    for epsilon in (0.2, 0.4, 0.6, 1.0):
        direct, mean = simulate(epsilon)
        noise = 2 / epsilon**2
        lines.append(
            (
                f"{epsilon:g}",
                f"{noise:.1f}",
                f"{direct:.1f}",
                f"{combine(noise):.1f}",
                f"{mean:.1f}",
                f"{weigh(noise):.2f}",
            )
        )
    head = ("ε", "direct", "simulated", "plain mean", "simulated", "best weights")
    return Page(
        shows="A database answers the mean weight and the mean height, each with noise of variance e = 2 / ε². A study "
        "says that weight is -45.7 + 0.63 height, up to a residual of variance 20. So the second answer is a second "
        "estimate of the first one. The paper takes the mean of both.",
        rows=rows,
        why="The mean of two independent estimates has a quarter of the sum of their variances: (e + 0.63² e + 20) / "
        "4. The paper divides by two. With the right variance the plain mean helps already below ε = 0.51, twice the "
        "printed 0.25. The point of the example stands, and more strongly: with weights by the inverse of each "
        "variance the second answer helps at every ε.",
        how="The simulated columns draw 400,000 pairs of answers with `discrete_laplace` of "
        "[`noise/discrete.py`](../../src/adomnia/noise/discrete.py) on a grid of 1/1024.",
        picture=_draw(threshold),
        beyond="Variances of the estimated weight:\n\n"
        + tabulate(head, lines)
        + "\nA session charges both questions to one budget, whatever they have to do with each other.",
    )


def _draw(threshold: float) -> Picture:
    grid = np.geomspace(0.15, 2, 60)
    names = ["direct answer", "plain mean", "plain mean, as printed", "best weights"]
    distributions = (lambda noise: noise, combine, combine_as_printed, weigh)
    rows = [
        {"series": name, "epsilon": each, "variance": distribution(2 / each**2)}
        for name, distribution in zip(names, distributions, strict=True)
        for each in grid
    ]
    body = draw_curves(
        rows,
        Axis("epsilon", "ε", log=True, values=(0.15, 0.25, 0.5, 1, 2), domain=(0.15, 2)),
        Axis("variance", "variance of the estimated weight", log=True),
        names,
        draw_rule(threshold, "x", f"{threshold:.2f}", ("y", 250)),
    )
    words = (
        f"Four falling curves. That of the plain mean crosses that of the direct answer at {threshold:.2f}; the"
        " best weighted mean is below both everywhere."
    )
    return Picture("What a second question tells about the first", "Variance of the estimated mean weight", words, body)


EXHIBIT = Exhibit("height-and-weight", "A second question helps with the first", "strengths", "section III.C", build)
