"""Every method and aggregate that has a number to compare, with what it is compared with, and how near it must be.

`near` is by column of the answer: how far it may be from the oracle where noise is as small as it can be drawn, as a
part of the oracle's largest number; `why` is the reason where that is not rounding. `covers` is by column what its
intervals are about and how wide they may be: in standard deviations of x, or by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from adomnia.methods.analysis import Analysis
from adomnia.methods.registry import METHODS
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Histogram, NonNull, Total
from adomnia.statistics.contract import Estimate, ResultTable
from adomnia.statistics.correlation import Correlation
from adomnia.statistics.count import Count
from adomnia.statistics.covariance import COVARIANCES, Covariance
from adomnia.statistics.extreme import Extreme
from adomnia.statistics.mean import Mean
from adomnia.statistics.population.mean import PopulationMean
from adomnia.statistics.population.quantile import PopulationQuantile, with_ladder
from adomnia.statistics.population.variance import PopulationVariance
from adomnia.statistics.quantile import Quantile
from adomnia.statistics.sum import Sum
from adomnia.statistics.variance import VARIANCES, Variance
from kit import describing, fitting, oracles
from kit.analyses import analyse
from kit.bits import SeededBits
from kit.columns import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from adomnia.methods.contract import Frame
    from adomnia.privacy.events import Price
    from adomnia.statistics.contract import Statistic
    from kit.oracles import Oracle
    from kit.trials import Data

ALL = tuple(KINDS)
FEW_ZEROS = tuple(name for name in ALL if name != "counts with zeros")
GROUPED = ("skewed money", "half times", "smooth")  # as times: of numbers there are 20 intervals
APART = tuple(name for name in ALL if name not in GROUPED)
NOT_HEAVY = tuple(name for name in ALL if name not in {"counts with zeros", "skewed money"})
EXACT, FINE, GRID = 1e-6, 1e-3, 1e-2
FIRST = (0, 1)


@dataclass(frozen=True)
class Bar:
    """Which rows of a column of intervals are judged, and how wide the median one may be at 2,000 rows, epsilon 1."""

    widest: float
    unit: Literal["deviation", "variance", "density", "range", "itself"] = "deviation"
    rows: tuple[int, int | None] = (0, None)
    simultaneous: bool = False  # a band: it holds everywhere or not at all

    def scale(self, data: Data) -> float:
        """The greatest width, for the population that these rows are."""
        deviation = float(data["x"].std())
        units = {
            "deviation": deviation,
            "variance": deviation**2,
            "density": 1 / deviation,
            "range": float(np.ptp(data["x"])),
            "itself": 1.0,
        }
        return self.widest * units[self.unit]


@dataclass(frozen=True)
class Case:
    """One question about x, y and factors, with its oracle."""

    name: str
    method: str
    build: Callable[[Frame], Statistic]
    oracle: Oracle
    near: Mapping[str, float]
    why: str = ""
    covers: Mapping[str, Bar] = field(default_factory=dict)
    about: Literal["population", "data"] = "population"
    kinds: tuple[str, ...] = ALL
    covered: tuple[str, ...] | None = None  # the kinds whose intervals are judged, where they are fewer
    released: bool = False  # the oracle reads what was released, and not only labels
    slow: bool = False
    compared_rows: int = 2000
    given: Mapping[str, Any] = field(default_factory=dict)  # the arguments, as a question names them

    def answer(self, statistic: Statistic, price: Price, data: Data, seed: object) -> ResultTable:
        """The table of one data set; that of an aggregate has one row."""
        statistic = specialize_for(statistic, price)
        if self.method == "mle":
            return fitting.fit(statistic, price, data["x"], np.random.default_rng(list(repr(seed).encode())))
        found = analyse(statistic, price, data, SeededBits(seed))
        return _tabulate(found) if isinstance(found, Estimate) else found


def specialize_for(statistic: Statistic, price: Price) -> Statistic:
    """What is measured at a price, as when a question is asked."""
    return statistic.specialize_for(price) if isinstance(statistic, Analysis) else statistic


def _tabulate(found: Estimate) -> ResultTable:
    def interval(confidence: float, cells: int) -> tuple[np.ndarray, np.ndarray]:
        lower, upper = found.interval(confidence, cells)
        return np.atleast_1d(lower), np.atleast_1d(upper)

    return ResultTable({}, {"estimate": replace(found, values=np.atleast_1d(found.values), interval=interval)})


def _resolve(rows: Frame, kind: str, given: Any) -> Any:
    """Columns by their names, as a signature takes them."""
    match kind:
        case "column":
            return rows.numbers[given]
        case "factor":
            return rows.factors[given]
        case "columns":
            return tuple(rows.numbers[name] for name in given)
    return given


def _ask(method: str, oracle: Oracle, near: Mapping[str, float], given: dict[str, Any], **more: Any) -> Case:
    signature = METHODS[method]

    def build(rows: Frame) -> Statistic:
        arguments = {}
        for name, value in given.items():
            parameter = signature.parameter(name)
            assert parameter, name
            arguments[name] = _resolve(rows, parameter.kind, value)
        return describing.build(method, rows, **arguments)

    name = more.pop("name", method)
    if "p_value" in near:  # of fewer rows, whose p-values are no smaller than simulations tell
        more.setdefault("compared_rows", 400)
    return Case(name, method, build, oracle, near, given=given, **more)


def _about_data(case: Case) -> Case:
    """The same question, with intervals about the rows that there are."""
    given = {**case.given, "inference": "data"}
    kept = {name: getattr(case, name) for name in ("covers", "kinds", "covered", "released", "slow")}
    return _ask(case.method, case.oracle, {}, given, name=f"{case.name} about the data", about="data", **kept)


def _estimate(widest: float, unit: Any = "deviation", **more: Any) -> dict[str, Bar]:
    return {"estimate": Bar(widest, unit, **more)}


_X = {"column": "x"}
_MODEL = {"formula": "y ~ x + C(g)"}
_SHARE = Bar(0.1, "itself")
_RANKS = "a quantile is told to the row: where two values share the rank, either is right"
_BINNED = "values between two cuts count as equal"
_DRAWS = "p-values are shares of 10,000 simulations"

METHOD_CASES = (
    _ask(
        "summary",
        oracles.summary,
        {"mean": FINE, "sd": GRID},
        {"columns": ("x",)},
        why="the price is in many parts",
        covers={"mean": Bar(0.3), "sd": Bar(0.8), **{name: Bar(0.5) for name in ("q1", "median", "q3")}},
        covered=FEW_ZEROS,
    ),
    _ask("quantiles", oracles.quantiles, {"estimate": FINE}, _X, why=_RANKS, covers=_estimate(0.5)),
    _ask("iqr", oracles.iqr, {"estimate": FINE}, _X, why=_RANKS, covers=_estimate(0.6)),
    _ask("mad", oracles.mad, {"estimate": FINE}, _X, why=_RANKS, covers=_estimate(1.1)),
    _ask(
        "trimmed_mean", oracles.trimmed_mean, {"estimate": GRID}, _X, why="SciPy cuts whole rows", covers=_estimate(0.2)
    ),
    _ask("winsorized_mean", oracles.winsorized_mean, {"estimate": GRID}, _X, why=_RANKS, covers=_estimate(0.25)),
    _ask("huber_location", oracles.huber_location, {"estimate": FINE}, _X, covers=_estimate(0.15), released=True),
    _ask(
        "covariances",
        oracles.covariances,
        {"estimate": FINE},
        {"columns": ("x", "y")},
        covers=_estimate(0.5, "variance"),
        covered=NOT_HEAVY,
    ),
    _ask(
        "correlations",
        oracles.correlations,
        {"estimate": FINE},
        {"columns": ("x", "y")},
        covers=_estimate(0.5, "itself"),
        covered=FEW_ZEROS,
    ),
    _ask(
        "frequencies", oracles.frequencies, {"share": EXACT}, {"factor": "h"}, covers={"share": _SHARE}, kinds=ALL[:1]
    ),
    _ask("modes", oracles.modes, {"share": EXACT}, {"column": "x", "top": 3}, covers={"share": _SHARE}, released=True),
    _ask(
        "crosstab",
        oracles.crosstab,
        dict.fromkeys(("share", "row_share", "column_share"), EXACT),
        {"row": "g", "column": "h"},
        covers=dict.fromkeys(("share", "row_share", "column_share"), _SHARE),
        kinds=ALL[:1],
    ),
    _ask(
        "association",
        oracles.association,
        {"estimate": GRID},
        {"row": "g", "column": "s"},
        why="V is corrected for chance, ratios for empty cells",
        covers=_estimate(1, "itself"),
        kinds=ALL[:1],
    ),
    _ask("ecdf", oracles.ecdf, {"estimate": EXACT}, _X, covers=_estimate(0.1, "itself", simultaneous=True)),
    _ask(
        "histogram",
        oracles.histogram,
        {"density": EXACT, "count": EXACT},
        _X,
        covers={"density": Bar(1, "density")},
    ),
    _ask(
        "density",
        oracles.density,
        {"density": EXACT},
        _X,
        covers={"density": Bar(3, "density", simultaneous=True)},
        released=True,
    ),
    _ask(
        "fit_distribution",
        oracles.normal,
        {"estimate": 0.05},
        {"column": "x", "distribution": "normal"},
        name="fit_distribution of normal values",
        why="bins, and values at the bounds are taken for censored",
        covers=_estimate(0.2),
        kinds=("smooth",),
    ),
    _ask(
        "fit_distribution",
        oracles.lognormal,
        {"estimate": 0.05},
        {"column": "x", "distribution": "lognormal"},
        name="fit_distribution of lognormal values",
        why="bins: most values are in three of them",
        covers=_estimate(0.4, "itself"),
        kinds=("skewed money",),
    ),
    _ask("fit_family", oracles.normal, {"estimate": FINE}, _X, covers=_estimate(0.2, rows=FIRST)),
    _ask(
        "fit_family",
        oracles.normal,
        {},
        _X,
        name="fit_family of normal values",
        covers=_estimate(0.2),
        kinds=("smooth",),
    ),
    _ask(
        "fit_family",
        oracles.lognormal,
        {"estimate": FINE},
        {"column": "x", "family": "lognormal"},
        name="fit_family of lognormal values",
        covers=_estimate(0.4, "itself"),
        covered=("skewed money",),
        kinds=("skewed money", "likert 1..5", "whole times", "half times"),
    ),
    _ask(
        "posterior",
        oracles.normal,
        {"estimate": 0.03},
        _X,
        why="the prior counts for a tenth of a row, far from the data",
        covers=_estimate(0.2, rows=FIRST),
        slow=True,
    ),
    _ask(
        "posterior",
        oracles.normal,
        {},
        _X,
        name="posterior of normal values",
        covers=_estimate(0.2),
        kinds=("smooth",),
        slow=True,
    ),
    _ask(
        "mle",
        oracles.normal,
        {"estimate": GRID},
        {"column": "x", "family": "normal"},
        why="an average over blocks of people; deviations are those of normal values",
        covers=_estimate(0.5),
        covered=("smooth",),
        kinds=NOT_HEAVY,
        compared_rows=20_000,
    ),
    _ask(
        "lm",
        oracles.lm,
        dict.fromkeys(("estimate", "standard_error"), 0.02),
        _MODEL,
        covers=_estimate(1, "itself", rows=(1, 2)),
        covered=FEW_ZEROS,  # counts: 2,000 people at epsilon 1 have no number
    ),
    _ask(
        "ridge",
        oracles.lm,
        {"estimate": 0.02},
        {**_MODEL, "penalty": Fraction(0)},
        why="a penalty of 0 is none",
        covers=_estimate(1, "itself", rows=(1, 2)),
        covered=FEW_ZEROS,
        about="data",
    ),
    _ask(
        "logit",
        oracles.logit,
        {"estimate": 0.02},
        {"formula": "s ~ x + C(g)"},
        why="Newton's steps end where they no longer matter",
        covers=_estimate(2, "itself", rows=(2, 3)),
        slow=True,
    ),
    _ask(
        "poisson",
        oracles.poisson,
        {"estimate": 0.02},
        {"formula": "y ~ C(g)"},
        why="as of logit",
        covers=_estimate(1, "itself"),
        slow=True,
    ),
    _ask(
        "huber_regression",
        oracles.huber_regression,
        {"estimate": 0.02},
        _MODEL,
        why="as of logit",
        covers=_estimate(1, "itself", rows=(1, 2)),
        covered=NOT_HEAVY,  # money: 2,000 people at epsilon 1 have no number or too short an interval
        released=True,
        slow=True,
    ),
    _ask(
        "kernel_regression",
        oracles.kernel_regression,
        {"mean": FINE},
        {"x": "x", "y": "y"},
        covers={"mean": Bar(2, rows=(1, 4))},
        released=True,
        kinds=tuple(name for name in ALL if name != "heaped ages"),
    ),
    _ask(
        "kernel_regression",
        oracles.kernel_regression,
        {"mean": FINE},
        {"x": "x", "y": "y"},
        covers={"mean": Bar(2, rows=(4, 12))},
        released=True,
        name="kernel_regression on ages",
        kinds=("heaped ages",),  # of whom nobody is below 18
    ),
    _ask(
        "knn_regression",
        oracles.knn_regression,
        {"mean": GRID},
        {"x": "x", "y": "y"},
        covers={"mean": Bar(1.5)},
        released=True,
    ),
    _ask("anova", oracles.anova, {"sum_of_squares": FINE, "f": 0.02, "p_value": FINE}, _MODEL),
    _ask(
        "t_test",
        oracles.t_test,
        {"estimate": FINE, "p_value": FINE},
        {"column": "x", "group": "g"},
        why=_DRAWS,
        covers=_estimate(0.4),
    ),
    _ask(
        "t_test",
        oracles.t_test_of_one,
        {"estimate": FINE, "p_value": FINE},
        {"column": "x", "mu": Fraction(1)},
        name="t_test of a column",
        why=_DRAWS,
        covers=_estimate(0.2),
    ),
    _ask(
        "t_test",
        oracles.t_test_of_pairs,
        {"estimate": FINE, "p_value": FINE},
        {"column": "x", "other": "y"},
        name="t_test of pairs",
        why=_DRAWS,
        covers=_estimate(0.2),
    ),
    _ask(
        "proportion_test",
        oracles.proportion_test,
        {"estimate": EXACT},
        {"column": "s", "group": "g"},
        covers=_estimate(0.1, "itself"),
        kinds=ALL[:1],
    ),
    _ask(
        "chi_square_test",
        oracles.chi_square_test,
        {"statistic": GRID, "p_value": FINE},
        {"column": "s", "other": "g"},
        why=_DRAWS,
        kinds=ALL[:1],
    ),
    _ask(
        "goodness_of_fit",
        oracles.goodness_of_fit,
        {"statistic": GRID, "p_value": FINE},
        {"column": "h"},
        why=_DRAWS,
        kinds=ALL[:1],
    ),
    _ask(
        "chi_square_test",
        oracles.cramers_v,
        {},
        {"column": "s", "other": "g"},
        name="chi_square_test, Cramer's V",
        covers=_estimate(0.11, "itself"),
        kinds=ALL[:1],
    ),
    _ask(
        "goodness_of_fit",
        oracles.cohens_w,
        {},
        {"column": "h"},
        name="goodness_of_fit, Cohen's w",
        covers=_estimate(0.12, "itself"),
        kinds=ALL[:1],
    ),
    _ask(
        "ks_test",
        oracles.ks_test,
        {"estimate": 0.15, "p_value": 0.04},
        {"column": "x", "group": "g"},
        why="compared at 31 cuts: between two of them the difference may be larger",
        covers=_estimate(0.2, "itself"),
        slow=True,
    ),
    _ask(
        "mann_whitney",
        oracles.mann_whitney,
        {"estimate": GRID, "p_value": FINE},
        {"column": "x", "group": "g"},
        why=_BINNED,
        covers=_estimate(0.1, "itself"),
        slow=True,
    ),
    _ask(
        "kruskal_wallis",
        oracles.kruskal_wallis,
        {"estimate": GRID, "p_value": 0.02},
        {"column": "x", "group": "h"},
        why=_BINNED,
        covers=_estimate(0.1, "itself"),
        slow=True,
    ),
    _ask(
        "signed_rank",
        oracles.signed_rank,
        {"estimate": GRID, "p_value": 0.02},
        {"column": "x", "other": "y"},
        why=_BINNED,
        covers=_estimate(0.15, "itself"),
        slow=True,
    ),
    _ask(
        "spearman",
        oracles.spearman,
        {"estimate": 0.02, "p_value": FINE},
        {"column": "x", "other": "y"},
        why=_BINNED,
        covers=_estimate(0.3, "itself"),
        slow=True,
    ),
    _ask(
        "kendall",
        oracles.kendall,
        {"estimate": 0.05, "p_value": FINE},
        {"column": "x", "other": "y"},
        why=_BINNED,
        covers=_estimate(0.3, "itself"),
        slow=True,
    ),
    _ask(
        "mcnemar",
        oracles.mcnemar,
        {"estimate": GRID, "p_value": FINE},
        {"column": "s", "other": "t"},
        why=_DRAWS,
        covers=_estimate(0.8, "itself"),
        kinds=ALL[:1],
    ),
    _ask(
        "correlation_test",
        oracles.correlation_test,
        {"estimate": FINE, "p_value": FINE},
        {"column": "x", "other": "y"},
        why=_DRAWS,
        covers=_estimate(0.5, "itself"),
        covered=FEW_ZEROS,
        slow=True,
    ),
    _ask(
        "oneway_anova",
        oracles.oneway_anova,
        {"estimate": FINE, "p_value": FINE},
        {"column": "x", "group": "h"},
        why=_DRAWS,
        covers=_estimate(0.5),
    ),
    _ask(
        "kaplan_meier",
        oracles.kaplan_meier,
        {"survival": GRID, "median": EXACT},
        {"time": "x", "event": "e"},
        why="where one person is left, their event does not end the curve",
        covers={"survival": Bar(0.15, "itself"), "median": Bar(1)},
        kinds=APART,
    ),
    _ask(
        "kaplan_meier",
        oracles.kaplan_meier,
        {"survival": 0.02},
        {"time": "x", "event": "e"},
        name="kaplan_meier of grouped times",
        why="who is censored within an interval counts as at risk for half of it",
        covers={"survival": Bar(0.15, "itself"), "median": Bar(1.5)},  # two groups of money are 1.2 wide
        kinds=GROUPED,
    ),
    _ask(
        "log_rank",
        oracles.log_rank,
        {"statistic": 0.02, "p_value": FINE},
        {"time": "x", "event": "e", "group": "g"},
        kinds=APART,
    ),
    _ask(
        "log_rank",
        oracles.log_rank,
        {"statistic": 0.1},
        {"time": "x", "event": "e", "group": "g"},
        name="log_rank of grouped times",
        why="as of kaplan_meier",
        kinds=GROUPED,
    ),
    _ask("location", oracles.quantiles, {"estimate": FINE}, _X, why=_RANKS, covers=_estimate(0.3)),
    _ask("smooth_quantile", oracles.smooth_quantile, {"value": FINE}, _X, why=_RANKS),
    _ask(
        "range_counts", oracles.range_counts, {"count": EXACT}, _X, covers={"count": Bar(100, "itself")}, about="data"
    ),
)


def _aggregate(
    name: str,
    make: Callable[[Query, Total, Any], Statistic],
    oracle: Callable[[Data], float] | None = None,
    **more: Any,
) -> Case:
    def build(rows: Frame) -> Statistic:
        x, y = rows.numbers["x"], rows.numbers["y"]
        total = Query(rows.relation, (), Total(x.value, x.domain))

        def ranked(*shares: Fraction) -> Query:
            return Query(rows.relation, (), Histogram(x.value, x.domain, shares, Fraction(19, 20)))

        return make(total, Total(y.value, y.domain), ranked)

    method, about = more.pop("method", name), more.pop("about", "data")
    read = more.pop("read", lambda data, _: {"estimate": np.array([oracle(data)])})
    return Case(name, method, build, read, {"estimate": more.pop("near", FINE)}, about=about, **more)


def _ddof(name: str) -> int:
    return 0 if name.endswith("_POP") else 1


def _spread(name: str) -> Callable[[Data], float]:
    measure = np.std if name.startswith("STD") else np.var
    return lambda data: float(measure(data["x"], ddof=_ddof(name)))


def _covariance(name: str) -> Callable[[Data], float]:
    return lambda data: float(np.cov(data["x"], data["y"], ddof=_ddof(name))[0, 1])


def _spread_bar(name: str) -> dict[str, Bar]:
    return _estimate(1.2) if name.startswith("STD") else _estimate(2, "variance")


HALF, NINTH = Fraction(1, 2), Fraction(9, 10)
AGGREGATE_CASES = (
    _aggregate(
        "COUNT",
        lambda x, _, __: Count(replace(x, aggregate=NonNull(x.aggregate.value))),
        lambda data: len(data["x"]),
        covers=_estimate(40, "itself"),
    ),  # type: ignore[union-attr]  # it is a Total
    _aggregate("SUM", lambda x, _, __: Sum(x), lambda data: float(data["x"].sum()), covers=_estimate(200)),
    _aggregate("AVG", lambda x, _, __: Mean(x), lambda data: float(data["x"].mean()), covers=_estimate(0.2)),
    *(
        _aggregate(name, lambda x, _, __, name=name: Variance(x, name), _spread(name), covers=_spread_bar(name))
        for name in VARIANCES
    ),
    *(
        _aggregate(
            name,
            lambda x, y, __, name=name: Covariance(x, y, name),
            _covariance(name),
            near=GRID,
            covers=_estimate(2, "variance"),
        )
        for name in COVARIANCES
    ),
    _aggregate(
        "CORR",
        lambda x, y, __: Correlation(x, y),
        lambda data: float(np.corrcoef(data["x"], data["y"])[0, 1]),
        near=GRID,
        covers=_estimate(1.2, "itself"),
        covered=FEW_ZEROS,
    ),
    _aggregate(
        "QUANTILE",
        lambda _, __, ranked: Quantile(ranked(HALF), HALF),
        read=oracles.one_quantile(0.5),
        why=_RANKS,
        covers=_estimate(0.25),
    ),
    _aggregate(
        "QUANTILE of nine tenths",
        lambda _, __, ranked: Quantile(ranked(NINTH), NINTH),
        read=oracles.one_quantile(0.9),
        method="QUANTILE",
        why=_RANKS,
        covers=_estimate(0.5),
    ),
    _aggregate(
        "MIN",
        lambda _, __, ranked: Extreme(ranked(Fraction(0)), greatest=False),
        read=oracles.one_quantile(0.0),
        why=_RANKS,
        covers=_estimate(0.8, "range"),
    ),
    _aggregate(
        "MAX",
        lambda _, __, ranked: Extreme(ranked(Fraction(1)), greatest=True),
        read=oracles.one_quantile(1.0),
        why=_RANKS,
        covers=_estimate(0.8, "range"),
    ),
    _aggregate(
        "AVG of the population",
        lambda x, _, __: PopulationMean(x),
        lambda data: float(data["x"].mean()),
        method="AVG",
        about="population",
        covers=_estimate(0.2),
    ),
    *(
        _aggregate(
            f"{name} of the population",
            lambda x, _, __, name=name: PopulationVariance(x, name),
            _spread(name),
            method=name,
            about="population",
            covers=_spread_bar(name),
        )
        for name in ("VAR_SAMP", "STDDEV_SAMP")
    ),
    *(
        _aggregate(
            f"QUANTILE {float(share)} of the population",
            lambda _, __, ranked, share=share: PopulationQuantile(with_ladder(ranked(share), share), share),
            read=oracles.one_quantile(float(share)),
            method="QUANTILE",
            about="population",
            why=_RANKS,
            covers=_estimate(0.6),
        )
        for share in (HALF, NINTH)
    ),
)
ABOUT_DATA = tuple(
    _about_data(case)
    for case in METHOD_CASES
    if case.covers and METHODS[case.method].parameter("inference") and case.about == "population"
)
CASES = {case.name: case for case in (*METHOD_CASES, *ABOUT_DATA, *AGGREGATE_CASES)}

# Why a method has no oracle here. Whoever adds a method writes a case above, or a line here.
_PUBLISHES = "publishes tables that agree with each other: tests/methods/releases has their exact counts"
_SYNTHETIC = "publishes synthetic rows, of which no single number is promised"
_BLOCKS = "is about numbers that blocks of people have, which another query chooses"
_DELTA = "needs a delta, may not reply, and tells no interval of the data's quantile: tests/methods/robust"
WITHOUT_ORACLE = {
    "sample_and_aggregate": _BLOCKS,
    "center_of_attention": _BLOCKS,
    "robust_lm": _BLOCKS,
    "ptr_iqr": _DELTA,
    "ptr_median": _DELTA,
    "marginals": _PUBLISHES,
    "top_down": _PUBLISHES,
    "mwem": _SYNTHETIC,
    "small_database": _SYNTHETIC,
    "boosting": _SYNTHETIC,
    "aim": _SYNTHETIC,
    "mst": _SYNTHETIC,
}
