"""What diffprivlib says of data sets in a file, at epsilon 1, as JSON: run by its own Python, for peers.py."""

import json
import sys
import warnings
from collections.abc import Callable

import numpy as np
from diffprivlib import models, tools

EPSILON, BOUNDS = 1.0, (0.0, 100.0)


def regression(x: np.ndarray, z: np.ndarray, y: np.ndarray, _: np.ndarray) -> np.ndarray:
    model = models.LinearRegression(epsilon=EPSILON, bounds_X=([0, -1], [100, 1]), bounds_y=BOUNDS)
    return model.fit(np.stack([x, z], 1), y).coef_


def logistic(x: np.ndarray, z: np.ndarray, _: np.ndarray, b: np.ndarray) -> np.ndarray:
    model = models.LogisticRegression(epsilon=EPSILON, data_norm=2**0.5, C=1e6, max_iter=1000)
    return model.fit(np.stack([(x - 50) / 50, z], 1), b).coef_


def quartiles(x: np.ndarray, *_: np.ndarray) -> list[float]:
    return [tools.quantile(x, share, epsilon=EPSILON / 2, bounds=BOUNDS) for share in (0.25, 0.75)]


METHODS: dict[str, Callable[..., object]] = {
    "mean": lambda x, *_: tools.mean(x, epsilon=EPSILON, bounds=BOUNDS),
    "sd": lambda x, *_: tools.std(x, epsilon=EPSILON, bounds=BOUNDS),
    "median": lambda x, *_: tools.median(x, epsilon=EPSILON, bounds=BOUNDS),
    "quartiles": quartiles,
    "histogram": lambda x, *_: tools.histogram(x, epsilon=EPSILON, bins=20, range=BOUNDS)[0],
    "lm": regression,
    "logit": logistic,
}


def main() -> None:
    warnings.filterwarnings("ignore")
    given = np.load(sys.argv[1])
    sets = list(zip(*(given[name] for name in ("x", "z", "y", "b")), strict=True))
    told = {name: [np.ravel(method(*each)).tolist() for each in sets] for name, method in METHODS.items()}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
