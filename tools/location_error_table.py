"""How far each method for a middle or a spread is off, on eight distributions: the tables of docs/which-estimator.md.

    python tools/location_error_table.py [--only trimmed_mean] [--again]

What was simulated is kept in docs/which-estimator.json, and only what is missing there is simulated: a method that has
joined the registry since then, or all of it with --again (half an hour). The introduction of the page stays as it is.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from scipy.special import ndtri

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]

from exhibits.drawing import Axis, Picture, draw_curves  # noqa: E402

from adomnia.methods.registry import METHODS  # noqa: E402 - found through the path above, like what follows
from adomnia.pricing.payment import with_delta  # noqa: E402
from adomnia.privacy.events import Pure  # noqa: E402
from adomnia.privacy.filters import Budget  # noqa: E402
from adomnia.session.declared import Declared  # noqa: E402
from adomnia.session.protect import protect_tables  # noqa: E402
from adomnia.sql.lower import lower  # noqa: E402
from kit.analyses import analyse  # noqa: E402
from kit.bits import SeededBits  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from adomnia.statistics.contract import Statistic

PAGE = ROOT / "docs" / "which-estimator.md"
KEPT = ROOT / "docs" / "which-estimator.json"
PICTURE = ROOT / "docs" / "images" / "which-estimator.svg"
BELOW = "\n## The tables\n"  # what follows this line is written by this program

SIZES = {100: 400, 1_000: 400, 10_000: 200, 100_000: 100}  # rows, and how many samples of so many rows
FEWER = {100: 50, 1_000: 100, 10_000: 100, 100_000: 50}  # of methods that take long
PRICES = {"0.1": Pure(0.1), "1": Pure(1)}
DELTA = Fraction(1, 10**6)  # for methods that need one
FIRST = 3  # errors of single samples that are kept, for the test that draws them again
NO_NOISE = "no noise"
_POPULATION = 1_000_000

Floats = np.ndarray
Functional = Callable[[Floats], float]


@dataclass(frozen=True)
class Distribution:
    """What the values of a column are like: their quantiles, the bounds that an owner would declare."""

    name: str
    words: str
    quantile: Callable[[Floats], Floats]
    bounds: tuple[int, int]
    whole: bool = False
    known: Mapping[str, float] | None = None  # what a fine grid of quantiles does not tell

    @property
    def population(self) -> Floats:
        """A million values at evenly spread ranks."""
        return self.quantile((np.arange(_POPULATION) + 0.5) / _POPULATION)

    @property
    def scale(self) -> float:
        """Half of the way from the quantile at 16% to that at 84%: of a normal distribution, its standard deviation."""
        lower, upper = self.quantile(np.array([0.1587, 0.8413]))
        return float(upper - lower) / 2

    def draw(self, rows: int, place: int) -> Floats:
        """The sample of that place: the same for all methods."""
        random = np.random.default_rng([*self.name.encode(), rows, place])
        return self.quantile(random.random(rows))


def _normal(mean: float, deviation: float) -> Callable[[Floats], Floats]:
    return lambda ranks: mean + deviation * ndtri(ranks)


def _both_humps(ranks: Floats) -> Floats:
    low, part = ranks < 0.5, (2 * ranks) % 1
    return np.where(low, 25.0, 75.0) + 5 * ndtri(np.clip(part, 1e-12, 1 - 1e-12))


def _mostly_zero(ranks: Floats) -> Floats:
    return np.where(ranks < 0.6, 0.0, -20 * np.log(np.minimum(1.0, (1 - ranks) / 0.4)))


DISTRIBUTIONS = {
    distribution.name: distribution
    for distribution in (
        Distribution("normal", "mean 50, standard deviation 10; bounds 0 and 100", _normal(50, 10), (0, 100)),
        Distribution(
            "lognormal",
            "median 20, sigma 0.6; bounds 0 and 200",
            lambda ranks: np.exp(3 + 0.6 * ndtri(ranks)),
            (0, 200),
        ),
        Distribution("exponential", "mean 20; bounds 0 and 200", lambda ranks: -20 * np.log1p(-ranks), (0, 200)),
        Distribution("uniform", "0 to 100, which are the bounds", lambda ranks: 100 * ranks, (0, 100)),
        Distribution(
            "Pareto",
            "least value 10, tail index 1.5: no variance; bounds 0 and 1,000",
            lambda ranks: 10 * (1 - ranks) ** (-2 / 3),
            (0, 1000),
            known={"mean": 30.0, "sd": float("nan")},
        ),
        Distribution(
            "bimodal", "humps of one width at 25 and 75, nobody at 50; bounds 0 and 100", _both_humps, (0, 100)
        ),
        Distribution(
            "rounded to fives",
            "normal, mean 50, standard deviation 12, whole numbers 0, 5, 10, ...; bounds 0 and 100",
            lambda ranks: np.clip(5 * np.round((50 + 12 * ndtri(ranks)) / 5), 0, 100),
            (0, 100),
            whole=True,
        ),
        Distribution("60% zeros", "the others exponential with mean 20; bounds 0 and 200", _mostly_zero, (0, 200)),
    )
}


def _trimmed(values: Floats) -> float:
    kept = np.sort(values)[round(0.1 * len(values)) : round(0.9 * len(values))]
    return float(kept.mean())


def _winsorized(values: Floats) -> float:
    return float(np.clip(values, *np.quantile(values, [0.1, 0.9])).mean())


def _huber(values: Floats) -> float:
    """From where distances, cut at 1.345 scales, add up to zero: Newton's steps from the median."""
    centre, reach = float(np.median(values)), 1.345 * _deviation(values)
    for _ in range(20):
        distances = values - centre
        inside = int((np.abs(distances) <= reach).sum())
        centre += float(np.clip(distances, -reach, reach).sum()) / inside
    return centre


def _interquartile(values: Floats) -> float:
    lower, upper = np.quantile(values, [0.25, 0.75])
    return float(upper - lower)


def _deviation(values: Floats) -> float:
    return float(1.4826 * np.median(np.abs(values - np.median(values))))


FUNCTIONALS: dict[str, Functional] = {
    "mean": lambda values: float(values.mean()),
    "median": lambda values: float(np.median(values)),
    "lower quartile": lambda values: float(np.quantile(values, 0.25)),
    "trimmed mean": _trimmed,
    "winsorized mean": _winsorized,
    "sd": lambda values: float(values.std(ddof=1)),
    "Huber's location": _huber,
    "IQR": _interquartile,
    "MAD": _deviation,
}


@dataclass(frozen=True)
class Estimator:
    """A question in SQL about one number of a column `x`, and which number of the population it asks for."""

    asks: str
    target: str
    method: str = ""  # as the registry calls it, where it is one of the methods
    samples: Mapping[int, int] = field(default_factory=lambda: SIZES, compare=False)

    @property
    def name(self) -> str:
        """What its row is called."""
        return self.method or self.asks.split()[1]

    def build(self, distribution: Distribution) -> Statistic:
        """The statistic that the question is planned as."""
        values = pa.table({"x": pa.array([], pa.int64() if distribution.whole else pa.float64())})
        declared = Declared("row", Budget(1), None, {"x": distribution.bounds}, {}, None, {})
        catalog = protect_tables(values, {}, declared, lambda _rows, _table: ()).catalog
        (statistic,) = with_delta(lower(self.asks, catalog), DELTA).statistics
        return statistic


def _method(name: str, target: str, arguments: str = "", samples: Mapping[int, int] = SIZES) -> Estimator:
    return Estimator(f"SELECT * FROM {name}(data, column => x{arguments})", target, name, samples)  # noqa: S608 - our own


ESTIMATORS = (
    Estimator("SELECT AVG(x) FROM data", "mean"),
    Estimator("SELECT MEDIAN(x) FROM data", "median"),
    _method("quantiles", "median", ", probs => (0.5)"),
    _method("smooth_quantile", "median", ", prob => 0.5"),
    _method("ptr_median", "median", samples=FEWER),
    _method("trimmed_mean", "trimmed mean"),
    _method("winsorized_mean", "winsorized mean"),
    _method("huber_location", "Huber's location", samples=FEWER),
    Estimator("SELECT STDDEV(x) FROM data", "sd"),
    _method("iqr", "IQR"),
    _method("ptr_iqr", "IQR", samples=FEWER),
    _method("mad", "MAD"),
)


def offered() -> list[Estimator]:
    """Those that can be asked: methods appear here once they are in the registry."""
    return [each for each in ESTIMATORS if not each.method or each.method in METHODS]


@dataclass(frozen=True)
class Cell:
    """One number of the tables: an estimator, a distribution, how many rows, and a price or none."""

    estimator: Estimator
    distribution: Distribution
    rows: int
    price: str

    @property
    def key(self) -> str:
        """What it is kept under."""
        return f"{self.estimator.name} | {self.distribution.name} | {self.rows} | {self.price}"

    @property
    def is_asked(self) -> bool:
        """Whether the distribution has such a number at all."""
        return not np.isnan((self.distribution.known or {}).get(self.estimator.target, 0.0))

    @property
    def truth(self) -> float:
        """The number of the population."""
        return find_truth(self.distribution.name, self.estimator.target)

    def errors(self, samples: int) -> Floats:
        """Of so many samples, how far the answer is off, in units of the distribution's scale; NaN without a reply."""
        if np.isnan(truth := self.truth):
            return np.full(samples, np.nan)
        answer = FUNCTIONALS[self.estimator.target] if self.price == NO_NOISE else self._ask()
        found = [answer(self.distribution.draw(self.rows, place)) for place in range(samples)]
        return np.abs(np.array(found) - truth) / self.distribution.scale

    def _ask(self) -> Functional:
        statistic, bits = self.estimator.build(self.distribution), SeededBits(self.key)
        return lambda values: read(analyse(statistic, PRICES[self.price], {"x": values}, bits))

    def simulate(self) -> dict[str, Any]:
        """What is kept of it."""
        errors = self.errors(self.estimator.samples[self.rows])
        silent = np.isnan(errors)
        middle = float(np.median(errors[~silent])) if silent.mean() < 0.5 else None
        first = [None if np.isnan(each) else float(f"{each:.6g}") for each in errors[:FIRST]]
        return {"error": middle and float(f"{middle:.3g}"), "silent": float(silent.mean()), "first": first}


@cache
def find_truth(distribution: str, target: str) -> float:
    """The number of a distribution's population."""
    known = DISTRIBUTIONS[distribution].known or {}
    return known[target] if target in known else FUNCTIONALS[target](DISTRIBUTIONS[distribution].population)


def read(result: Any) -> float:  # noqa: ANN401 - an Estimate of SQL, or a table with one
    """The one number of an answer, NaN where there is none."""
    if hasattr(result, "values"):
        values = result.values
    elif result.estimates:
        values = next(iter(result.estimates.values())).values
    else:
        values = result.facts["value"]()  # a number that has no interval
    return float(np.asarray(values, dtype=float).reshape(-1)[0])


def list_cells() -> Iterator[Cell]:
    """All of them, those of few rows first."""
    for rows, distribution, estimator, price in product(SIZES, DISTRIBUTIONS.values(), offered(), (*PRICES, NO_NOISE)):
        yield Cell(estimator, distribution, rows, price)


def draw(kept: Mapping[str, Any]) -> Picture:
    """The errors of four methods at a small price, on a nice distribution and on one with a heavy tail."""
    rows = [
        {
            "series": name,
            "panel": distribution,
            "people": rows,
            "error": kept[f"{name} | {distribution} | {rows} | 0.1"]["error"],
        }
        for distribution, name, rows in product(("normal", "Pareto"), _DRAWN, SIZES)
    ]
    y = Axis("error", "median error", log=True, values=(0.001, 0.01, 0.1, 1, 10))
    body = draw_curves(rows, Axis("people", "people", log=True, values=tuple(SIZES)), y, _DRAWN, points=True)
    header = {"title": None, "labelAnchor": "start"}
    panels = {"field": "panel", "type": "nominal", "sort": ["normal", "Pareto"], "header": header}
    facet = {"data": body["data"], "facet": {"column": panels}, "spec": {"width": 230, "height": 220, **_layers(body)}}
    words = (
        "On the normal distribution MEDIAN is best for few people, and all four fall alike from 10,000 people on. On "
        "the Pareto distribution AVG stays off by a sixth of the scale, and the others go on falling."
    )
    return Picture(
        "Errors at ε = 0.1", "Median error in units of the distribution's own scale, by number of people", words, facet
    )


def _layers(body: Mapping[str, Any]) -> dict[str, Any]:
    return {"layer": body["layer"]}


def render(kept: Mapping[str, Any]) -> str:
    """The tables."""
    return "\n".join([_HOW, *(_render_distribution(distribution, kept) for distribution in DISTRIBUTIONS.values())])


_HOW = (
    f"{BELOW}Each number is the median, over some hundred samples, of how far the answer is from the number of the "
    "population that the method asks for, in units of the distribution's own scale: half of the way from its "
    "quantile at 16% to that at 84%, which of a normal distribution is the standard deviation. 0.10 is an answer "
    "that is off by a tenth of that. *none* is the same statistic without noise, so what is left there is the "
    f"sampling. One row is one person. There are {SIZES[100]} samples of 100 and of 1,000 rows, {SIZES[10_000]} of "
    f"10,000 and {SIZES[100_000]} of 100,000: a number that is a tenth larger than another may well be the same. Of "
    f"`ptr_median`, `ptr_iqr` and `huber_location` there are {FEWER[100]}, {FEWER[1_000]}, {FEWER[10_000]} and "
    f"{FEWER[100_000]}: there a fifth says little. The two whose names begin with `ptr` take δ = 10⁻⁶ beside ε, and "
    "do not always reply: how often they do not is told, and the error is the median over replies, where more than "
    "half of the answers are some.\n\n`tools/location_error_table.py` writes all below this line, with the methods "
    "that there are.\n"
)
_DRAWN = ["AVG(x)", "MEDIAN(x)", "trimmed_mean", "winsorized_mean"]


def _render_distribution(distribution: Distribution, kept: Mapping[str, Any]) -> str:
    prices = (*(f"ε {price}" for price in PRICES), "none")
    head = [
        "method",
        *(f"n = {rows:,}: {price}" if not place else price for rows in SIZES for place, price in enumerate(prices)),
    ]
    lines = [
        f"### {distribution.name.capitalize()}: {distribution.words}",
        "",
        _line(head),
        "|---|" + "---:|" * (len(head) - 1),
    ]
    for estimator in ESTIMATORS:
        if not any(key.startswith(f"{estimator.name} | ") for key in kept):
            continue
        cells = [Cell(estimator, distribution, rows, price) for rows in SIZES for price in (*PRICES, NO_NOISE)]
        shown = [_show(kept.get(cell.key)) if cell.is_asked else "" for cell in cells]
        lines.append(_line([f"`{estimator.name}`", *shown]))
    return "\n".join([*lines, ""])


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _show(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return ""
    silent = f"no reply {found['silent']:.0%}"
    if found["error"] is None:
        return silent
    return show_two_digits(found["error"]) + (f" ({silent})" if found["silent"] else "")


def show_two_digits(value: float) -> str:
    """0.012, 0.35, 1.2, 14: two digits that count."""
    if value < 5e-5:
        return "0"
    value = float(f"{value:.1e}")
    return f"{value:.{max(0, 1 - int(np.floor(np.log10(value))))}f}"


def main() -> None:
    """Simulate what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="the name of one method")
    parser.add_argument("--again", action="store_true", help="simulate also what is there")
    given = parser.parse_args()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    wanted = [cell for cell in list_cells() if given.only in ("", cell.estimator.name)]
    missing = [cell for cell in wanted if given.again or cell.key not in kept]
    for place, cell in enumerate(missing, 1):
        kept[cell.key] = cell.simulate()
        print(f"{place} of {len(missing)}: {cell.key}: {_show(kept[cell.key])}", flush=True)
        if place % 20 == 0 or place == len(missing):
            write_kept(kept)
    introduction = PAGE.read_text().split(BELOW)[0] if PAGE.exists() else "# Which estimator?\n"
    PAGE.write_text(introduction + render(kept))
    PICTURE.write_text(draw(kept).svg())


def write_kept(kept: Mapping[str, Any]) -> None:
    """Keep what was simulated, a line for each number."""
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(kept[key])}" for key in sorted(kept))
    KEPT.write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main()
