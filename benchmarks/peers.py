"""Statistics beside those of diffprivlib and OpenDP: who is nearer to the truth at the same epsilon.

    ADOMNIA_DIFFPRIVLIB=/path/to/python python benchmarks/peers.py [--draws 40]

diffprivlib needs an older scikit-learn, so that it has an environment of its own, whose Python is named there; without
it, and without OpenDP, those cells are left out. Each cell is a method, a law of the data and a number of rows; its
error is the mean over draws of data and noise, one row a person, at epsilon 1. Both know the same bounds; the peers
also know how many rows there are, which we pay for. Exits with 1 where we are no worse in fewer than 80% of the cells.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
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
LAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda random, n: random.normal(50, 12, n),
    "lognormal": lambda random, n: random.lognormal(2.5, 0.7, n),
    "ages": lambda random, n: np.round(random.gamma(6, 7, n)),
}
PEER = Path(__file__).parent / "environments" / "diffprivlib_statistics.py"
# What is asked of us: the same that the peers are asked for.
QUESTIONS = {
    "mean": ("SELECT AVG(x) AS value FROM data", "value"),
    "sd": ("SELECT STDDEV_SAMP(x) AS value FROM data", "value"),
    "median": ("SELECT MEDIAN(x) AS value FROM data", "value"),
    "quartiles": ("SELECT * FROM quantiles(data, column => x, probs => (0.25, 0.75))", "estimate"),
    "histogram": ("SELECT * FROM histogram(data, column => x, bins => 20)", "count"),
    "lm": ("SELECT * FROM lm(data, formula => 'y ~ x + z')", "estimate"),
    "logit": ("SELECT * FROM logit(data, formula => 'b ~ s + z')", "estimate"),
}
WITHOUT_INTERCEPT = {"lm", "logit"}


def draw(law: str, rows: int, seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    x, z = np.clip(LAWS[law](random, rows), LOWER, UPPER), random.uniform(-1, 1, rows)
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
            return np.histogram(x, bins=20, range=(LOWER, UPPER))[0].astype(float)
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


def ask(name: str, data: dict[str, np.ndarray]) -> np.ndarray:
    text, column = QUESTIONS[name]
    table = pa.table(data)
    bounds = {"x": (0, 100), "y": (0, 100), "z": (-1, 1), "b": (0, 1), "s": (-1, 1)}
    with adomnia.protect(table, unit="row", bounds=bounds, epsilon=EPSILON) as own:
        answer = own.sql(text, epsilon=EPSILON, anyway=True)
    values = np.array([np.nan if each is None else float(each) for each in answer[column]])
    return values[1:] if name in WITHOUT_INTERCEPT else values


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
    """The same of OpenDP, of what it has: means and medians of bounded numbers in tables of unknown size."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return {}
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    grid = [float(value) for value in np.linspace(LOWER, UPPER, 1001)]

    def mean(x: np.ndarray, half: float = EPSILON / 2) -> list[float]:
        total = dp.binary_search_chain(
            lambda s: space >> dp.t.then_clamp((LOWER, UPPER)) >> dp.t.then_sum() >> dp.m.then_laplace(s), 1, half
        )
        count = dp.binary_search_chain(lambda s: space >> dp.t.then_count() >> dp.m.then_laplace(s), 1, half)
        return [total(x.tolist()) / max(1, count(x.tolist()))]

    def median(x: np.ndarray) -> list[float]:
        measure = dp.binary_search_chain(
            lambda s: (
                space
                >> dp.t.then_quantile_score_candidates(grid, 0.5)
                >> dp.m.then_noisy_max(dp.max_divergence(), s, negate=True)
            ),
            1,
            EPSILON,
        )
        return [grid[measure(x.tolist())]]

    return {"mean": [mean(cell["x"]) for cell in cells], "median": [median(cell["x"]) for cell in cells]}


def compare(draws: int) -> Iterator[tuple[str, str, int, str, float, float]]:
    """Each cell with the mean error of both, relative to the width of what is estimated."""
    for law in LAWS:
        for rows in ROWS:
            cells = [draw(law, rows, seed) for seed in range(draws)]
            ours = {name: error(name, cells, [ask(name, cell) for cell in cells]) for name in QUESTIONS}
            for peer, told in (("diffprivlib", diffprivlib(cells)), ("OpenDP", opendp(cells))):
                for name, values in told.items():
                    yield name, law, rows, peer, ours[name], error(name, cells, [np.array(each) for each in values])


def error(name: str, cells: list[dict[str, np.ndarray]], found: list[np.ndarray]) -> float:
    off = [np.nanmean(np.abs(values - truth(name, cell))) for cell, values in zip(cells, found, strict=True)]
    return float(np.mean(off))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=40)
    draws = parser.parse_args().draws
    print("| method | data | rows | peer | our error | theirs | ratio |\n|---|---|---|---|---|---|---|")
    cells = []
    for name, law, rows, peer, own, theirs in compare(draws):
        cells.append(own <= TIE * theirs)
        print(f"| {name} | {law} | {rows:,} | {peer} | {own:.4g} | {theirs:.4g} | {own / theirs:.2f} |", flush=True)
    if not cells:
        print("Neither diffprivlib nor OpenDP is here: nothing was compared.")
        return 0
    share = sum(cells) / len(cells)
    print(f"\nNo worse in {sum(cells)} of {len(cells)} cells ({share:.0%}; the bar is {BAR:.0%}).")
    return 0 if share >= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
