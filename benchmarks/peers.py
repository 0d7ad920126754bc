"""Statistics beside those of diffprivlib and OpenDP: who is nearer to the truth at the same epsilon.

    ADOMNIA_DIFFPRIVLIB=/path/to/python python benchmarks/peers.py [--draws 40] [--data normal]

diffprivlib needs an older scikit-learn, so that it has an environment of its own, whose Python is named there; without
it, and without OpenDP, those cells are left out. Each cell is a method, a distribution of the data and a number of
rows; its error is the mean over draws of data and noise, one row a person, at epsilon 1, with its standard error. All
know the same bounds; diffprivlib also knows how many rows there are, which we and OpenDP pay for. Our numbers come with
intervals and theirs do not: rows "alone" are ours without, and rows "cut at 0" are our counts as diffprivlib reports
its own. A number that is not estimable counts as a guess from the bounds alone. Exits with 1 where we are no worse,
within 5%, in fewer than 80% of the cells.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

import adomnia

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EPSILON = 1.0
BAR = 0.8
TIE = 1.05  # within the noise of the benchmark itself
ROWS = (1_000, 10_000)
LOWER, UPPER = 0.0, 100.0
DISTRIBUTIONS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda random, n: random.normal(50, 12, n),
    "lognormal": lambda random, n: random.lognormal(2.5, 0.7, n),
    "ages": lambda random, n: np.round(random.gamma(6, 7, n)),
}
PEER = Path(__file__).parent / "environments" / "diffprivlib_statistics.py"
BOUNDS = {"x": (0, 100), "y": (0, 100), "z": (-1, 1), "b": (0, 1), "s": (-1, 1)}
BINS = 20
ALONE, CUT = ", alone", ", cut at 0"
# What is asked of us: the same that the peers are asked for.
QUESTIONS = {
    "mean": "SELECT AVG(x) AS value FROM data",
    "sd": "SELECT STDDEV_SAMP(x) AS value FROM data",
    "median": "SELECT MEDIAN(x) AS value FROM data",
    "quartiles": "SELECT QUANTILE(x, 0.25) AS value, QUANTILE(x, 0.75) AS other FROM data",
    "histogram": "SELECT count AS value FROM histogram(data, column => x, bins => 20)",
    "lm": "SELECT estimate AS value FROM lm(data, formula => 'y ~ x + z')",
    "logit": "SELECT estimate AS value FROM logit(data, formula => 'b ~ s + z')",
}
FURTHER = {"median": ALONE, "quartiles": ALONE, "histogram": CUT}
WITHOUT_INTERCEPT = {"lm", "logit"}
GUESSES = {"lm": 0.0, "logit": 0.0, "histogram": 0.0, "sd": (UPPER - LOWER) / 4}  # else the middle of the bounds


def draw(distribution: str, rows: int, seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    x, z = np.clip(DISTRIBUTIONS[distribution](random, rows), LOWER, UPPER), random.uniform(-1, 1, rows)
    y = np.clip(20 + 0.5 * x + 5 * z + random.normal(0, 5, rows), LOWER, UPPER)
    chance = 1 / (1 + np.exp(-(-0.5 + 1.5 * (x - 50) / 50 + z)))
    return {"x": x, "z": z, "y": y, "b": (random.random(rows) < chance).astype(int), "s": (x - 50) / 50}


def truth(name: str, data: dict[str, np.ndarray]) -> np.ndarray:  # noqa: PLR0911 - one for each method
    """What the method says of the data without noise."""
    x = data["x"]
    match name:
        case "mean":
            return np.array([x.mean()])
        case "sd":
            return np.array([x.std(ddof=1)])
        case "median":
            return np.array([np.median(x)])
        case "quartiles":
            return np.quantile(x, [0.25, 0.75], method="inverted_cdf")
        case "histogram":
            return np.histogram(x, bins=BINS, range=(LOWER, UPPER))[0].astype(float)
        case "lm":
            design = np.stack([np.ones_like(x), x, data["z"]], 1)
            return np.linalg.lstsq(design, data["y"], rcond=None)[0][1:]
    return newton(np.stack([np.ones_like(x), data["s"], data["z"]], 1), data["b"])[1:]


def newton(design: np.ndarray, response: np.ndarray) -> np.ndarray:
    found = np.zeros(design.shape[1])
    for _ in range(25):
        chance = 1 / (1 + np.exp(-design @ found))
        weights = design * (chance * (1 - chance))[:, None]
        found = found + np.linalg.solve(weights.T @ design, design.T @ (response - chance))
    return found


def ask(data: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What we say of a data set, each question for the whole epsilon."""
    names = [*QUESTIONS, *(name + ALONE for name, further in FURTHER.items() if further == ALONE)]
    with adomnia.protect(pa.table(data), unit="row", bounds=BOUNDS, epsilon=EPSILON * len(names)) as own:
        told = {name: ask_once(own, name) for name in names}
    return told | {name + CUT: np.maximum(told[name], 0) for name, further in FURTHER.items() if further == CUT}


def ask_once(own: adomnia.Session, name: str) -> np.ndarray:
    """The numbers of one question, with intervals or "alone"."""
    method = name.removesuffix(ALONE)
    answer = own.sql(QUESTIONS[method], epsilon=EPSILON, allow_uninformative=True, interval=not name.endswith(ALONE))
    columns = ("value", "other") if method == "quartiles" else ("value",)
    guess = GUESSES.get(method, (LOWER + UPPER) / 2)
    values = np.array([guess if each is None else float(each) for column in columns for each in answer[column]])
    return values[1:] if method in WITHOUT_INTERCEPT else values


def diffprivlib(cells: list[dict[str, np.ndarray]]) -> dict[str, list[list[float]]]:
    """What the peer says of several data sets of one size; nothing where it is not there."""
    python = os.environ.get("ADOMNIA_DIFFPRIVLIB")
    if not python:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, **{name: np.stack([cell[name] for cell in cells]) for name in ("x", "z", "y", "b")})
        done = subprocess.run([python, str(PEER), str(path)], capture_output=True, text=True, check=True)  # noqa: S603
    found: dict[str, list[list[float]]] = json.loads(done.stdout)
    return found


def opendp(cells: list[dict[str, np.ndarray]]) -> dict[str, list[list[float]]]:
    """The same of OpenDP."""
    return {name: [method(cell["x"].tolist()) for cell in cells] for name, method in build_opendp().items()}


@cache
def build_opendp() -> dict[str, Callable[[list[float]], list[float]]]:
    """What OpenDP has for tables of unknown size; nothing where it is not there."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return {}
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    grid = [float(value) for value in np.linspace(LOWER, UPPER, 10_001)]
    edges = [float(value) for value in np.linspace(LOWER, UPPER, BINS + 1)[1:-1]]

    def choose(share: float, epsilon: float) -> Callable[[list[float]], float]:
        scores = space >> dp.t.then_quantile_score_candidates(grid, share)
        measure = dp.binary_search_chain(
            lambda s: scores >> dp.m.then_noisy_max(dp.max_divergence(), s, negate=True), 1, epsilon
        )
        return lambda x: grid[measure(x)]

    def add_noise(query: dp.Transformation, epsilon: float) -> dp.Measurement:
        return dp.binary_search_chain(lambda s: query >> dp.m.then_laplace(s), 1, epsilon)

    total = add_noise(space >> dp.t.then_clamp((LOWER, UPPER)) >> dp.t.then_sum(), EPSILON / 2)
    count = add_noise(space >> dp.t.then_count(), EPSILON / 2)
    bins = space >> dp.t.then_find_bin(edges) >> dp.t.then_count_by_categories(list(range(BINS)), null_category=False)
    median, counts = choose(0.5, EPSILON), add_noise(bins, EPSILON)
    lower, upper = (choose(share, EPSILON / 2) for share in (0.25, 0.75))
    return {
        "mean": lambda x: [total(x) / max(1, count(x))],
        "median": lambda x: [median(x)],
        "quartiles": lambda x: [lower(x), upper(x)],
        "histogram": counts,
    }


@dataclass(frozen=True)
class Cell:
    """One comparison: the mean errors of both, and their standard errors."""

    method: str
    distribution: str
    rows: int
    peer: str
    own: tuple[float, float]
    theirs: tuple[float, float]

    @property
    def kept(self) -> bool:
        """Whether we are no worse."""
        return self.own[0] <= TIE * self.theirs[0]

    @property
    def clearly_worse(self) -> bool:
        """Whether we are worse beyond three standard errors."""
        return self.own[0] - self.theirs[0] > 3 * float(np.hypot(self.own[1], self.theirs[1]))

    def __str__(self) -> str:
        errors = " | ".join("{:.3g} ± {:.1g}".format(*each) for each in (self.own, self.theirs))
        ratio = f"{self.own[0] / self.theirs[0]:.2f}{' (worse)' if self.clearly_worse else ''}"
        return f"| {self.method} | {self.distribution} | {self.rows:,} | {self.peer} | {errors} | {ratio} |"


def compare(distributions: list[str], draws: int) -> Iterator[Cell]:
    """All cells of some distributions."""
    for distribution in distributions:
        for rows in ROWS:
            cells = [draw(distribution, rows, seed) for seed in range(draws)]
            answers = [ask(cell) for cell in cells]
            ours = {name: error(name, cells, [told[name] for told in answers]) for name in answers[0]}
            for peer, told in (("diffprivlib", diffprivlib(cells)), ("OpenDP", opendp(cells))):
                for name, values in told.items():
                    theirs = error(name, cells, [np.array(each) for each in values])
                    yield Cell(name, distribution, rows, peer, ours[name], theirs)
                    if name in FURTHER and (FURTHER[name], peer) != (CUT, "OpenDP"):
                        asked = name + FURTHER[name]
                        yield Cell(asked, distribution, rows, peer, ours[asked], theirs)


def error(name: str, cells: list[dict[str, np.ndarray]], found: list[np.ndarray]) -> tuple[float, float]:
    """The mean absolute error of all numbers, and its standard error between draws."""
    method = name.split(",", maxsplit=1)[0]
    off = [np.abs(values - truth(method, cell)).mean() for cell, values in zip(cells, found, strict=True)]
    return float(np.mean(off)), float(np.std(off, ddof=1) / np.sqrt(len(off)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--data", nargs="+", choices=DISTRIBUTIONS, default=list(DISTRIBUTIONS))
    given = parser.parse_args()
    print("| method | data | rows | peer | our error | theirs | ratio |\n|---|---|---|---|---|---|---|")
    cells = []
    for cell in compare(given.data, given.draws):
        cells.append(cell)
        print(cell, flush=True)
    if not cells:
        print("Neither diffprivlib nor OpenDP is here: nothing was compared.")
        return 0
    further = {(each.method.split(",")[0], each.peer) for each in cells if "," in each.method}
    alike = [each for each in cells if "," in each.method or (each.method, each.peer) not in further]
    usual = [each for each in cells if "," not in each.method]
    print(f"\nWith our intervals: {count(usual)}\n\nAs the peers answer, alone and cut at 0: {count(alike)}\n")
    for peer in dict.fromkeys(each.peer for each in usual):
        print(f"{peer}, with our intervals: {count([each for each in usual if each.peer == peer])}\n")
    return int(sum(each.kept for each in usual) < BAR * len(usual))


def count(cells: list[Cell]) -> str:
    """In how many cells we are no worse, and in how many clearly worse."""
    kept, worse = sum(each.kept for each in cells), sum(each.clearly_worse for each in cells)
    share = f"no worse in {kept} of {len(cells)} cells ({kept / len(cells):.0%}; the bar is {BAR:.0%})"
    return f"{share}, clearly worse in {worse}."


if __name__ == "__main__":
    sys.exit(main())
