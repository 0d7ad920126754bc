"""A noisy histogram as a density: how fast its error falls."""

from fractions import Fraction

import numpy as np

from adomnia.distributions.projections import project_shares
from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.noise import discrete_laplace
from adomnia.privacy.events import Pure
from exhibits.contract import Exhibit, Page, Results, Row, Simulation, tabulate
from exhibits.drawing import Axis, Picture, draw_curves
from kit.analyses import frame
from kit.bits import SeededBits
from kit.trials import build as build_method

_ROUGHNESS = 1.2  # the integral of the squared density 6 x (1 - x)
_SLOPES = 12.0  # that of its squared derivative
_SIZES = {1000: 10, 8000: 20, 27_000: 30, 64_000: 40, 125_000: 50, 1_000_000: 100}  # people, and the cube root: bins
_REPETITIONS = 1500


def scale_of(epsilon: Fraction, bins: int) -> Fraction:
    """The scale of the noise that the method `histogram` is measured with."""
    rows = frame({"x": (0, 1)})
    ((query, _),) = build_method("histogram", rows, column=rows.numbers["x"], bins=bins).shares  # type: ignore[attr-defined]
    return DiscreteLaplace.for_query(query, Pure(epsilon)).scale


def expect(people: int, bins: int, scale: float) -> float:
    """The integrated squared error to expect: of the classes, of sampling, of the noise."""
    return _SLOPES / (12 * bins**2) + (bins - _ROUGHNESS) / people + 2 * scale**2 * bins**2 / people**2


def read_case(case: str) -> tuple[int, Fraction]:
    """The number of people, and epsilon: 1, or the least that keeps the rate."""
    people, price = case.split(", ")
    return int(people), Fraction(1) if price == "1" else Fraction(1, _SIZES[int(people)])


def run(case: str, repetitions: int) -> dict[str, float]:
    """Mean errors without noise, with that of neighbours who come or go, of those who are replaced, and projected."""
    people, epsilon = read_case(case)
    bins = _SIZES[people]
    edges = np.linspace(0, 1, bins + 1)
    shares = np.diff(3 * edges**2 - 2 * edges**3)
    random, bits, scale = (
        np.random.default_rng([people, epsilon.denominator]),
        SeededBits(case),
        scale_of(epsilon, bins),
    )
    errors = []
    for _ in range(repetitions):  # one by one, so that few of them are the first of many
        counts = random.multinomial(people, shares)
        noise = discrete_laplace(scale, (bins,), bits)
        other = discrete_laplace(2 * scale, (bins,), bits)
        noisy = (counts + noise).astype(float)
        held = (counts / people, noisy / people, (counts + other) / people, project_shares(noisy))
        errors.append([_measure(each, shares) for each in held])
    means = np.mean(errors, axis=0)
    return dict(zip(("exact", "ours", "replaced", "projected"), map(float, means), strict=True))


def _measure(found: np.ndarray, shares: np.ndarray) -> float:
    """The integrated squared error of a histogram with those shares."""
    return float(len(shares) * (found @ found - 2 * found @ shares) + _ROUGHNESS)


SIMULATION = Simulation(
    run, tuple(f"{people}, {price}" for price in ("1", "least") for people in _SIZES), _REPETITIONS, 20, "1000, 1"
)


def find_slope(kept: Results, price: str, column: str) -> float:
    """By which power of the number of people the error falls."""
    errors = [kept[f"{people}, {price}"][column] for people in _SIZES]
    return float(np.polyfit(np.log(list(_SIZES)), np.log(errors), 1)[0])


def build(kept: Results) -> Page:
    """The rate, with noise and without."""
    rows = [
        Row(
            "global sensitivity, and noise of each count",
            "2 and Lap(1/ε)",
            f"1 and Lap({scale_of(Fraction(1), 10)}/ε)",
            "corrected",
        ),
        Row.compare("L2 error falls like n to the power, no noise", -1 / 3, find_slope(kept, "1", "exact") / 2, ".2f"),
        Row.compare("the same, ε = 1", -1 / 3, find_slope(kept, "1", "ours") / 2, ".2f"),
        Row.compare("the same, ε = n^(-1/3)", -1 / 3, find_slope(kept, "least", "ours") / 2, ".2f"),
    ]
    lines = []
    for case in SIMULATION.cases:
        (people, epsilon), found = read_case(case), kept[case]
        expected = expect(people, _SIZES[people], float(1 / epsilon))
        shown = (found["exact"], found["ours"], expected, found["projected"], found["replaced"])
        lines.append((f"{people:,}", f"{_SIZES[people]}", f"{float(epsilon):.3g}", *(f"{each:.5f}" for each in shown)))
    head = ("people", "bins", "ε", "no noise", "noise 1/ε", "formula", "as `histogram` gives it", "noise 2/ε")
    return Page(
        shows="n values between 0 and 1 are counted in d = n^(1/3) equal classes, and noise is added to each count. "
        "For every smooth density the noisy histogram converges to it as fast as the exact one: the expected L2 error "
        "is O(n^(-1/3)) if ε is at least about n^(-1/3).",
        rows=tuple(rows),
        why="The rate is right. The slide says that the sensitivity is 2 and that Lap(1/ε) is enough, and both cannot "
        "be. Where neighbours replace a person, one count falls and another grows: 2, and Lap(2/ε). Where a person "
        "comes or goes, as with us, one count changes: 1, and Lap(1/ε). The difference is a factor of four in the "
        "noise's part of the squared error, and nothing in the rate.",
        how="Values from the density 6x(1 - x), noise from `discrete_laplace` at the scale that the method "
        "[`histogram`](../statistics.md#histogram) is measured with. The squared error is that of the classes, "
        f"1 / d², plus sampling, plus noise, 2 d² / (ε n)²: the column *formula*. Means of {_REPETITIONS:,} samples.",
        picture=_draw(kept),
        beyond="Integrated squared error, the square of the L2 error. What `histogram` returns is made not negative "
        "first, with the number of people itself noisy:\n\n" + tabulate(head, lines),
    )


def _draw(kept: Results) -> Picture:
    names = ["no noise", "ε = 1", "ε = n^(-1/3)", "n^(-2/3)"]
    columns = {"no noise": ("1", "exact"), "ε = 1": ("1", "ours"), "ε = n^(-1/3)": ("least", "ours")}
    rows = [
        {"series": name, "people": people, "error": kept[f"{people}, {price}"][column]}
        for name, (price, column) in columns.items()
        for people in _SIZES
    ]
    rows += [{"series": "n^(-2/3)", "people": people, "error": people ** (-2 / 3)} for people in _SIZES]
    x, y = Axis("people", "people", log=True), Axis("error", "integrated squared error", log=True)
    words = (
        "Three straight lines of one slope, minus two thirds: without noise and with epsilon 1 almost the "
        "same, with the least epsilon about twice as high."
    )
    return Picture(
        "The error of a histogram with n^(1/3) bins",
        "Density 6x(1 - x); mean of 1,500 samples",
        words,
        draw_curves(rows, x, y, names, points=True),
    )


EXHIBIT = Exhibit("histogram-rate", "How fast a noisy histogram learns", "theory", "histograms", build, SIMULATION)
