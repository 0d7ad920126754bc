"""What SciPy, statsmodels or a plain formula say of the same rows, for every method that has a number to compare.

An oracle reads rows and the table of an answer, for its labels and for released bounds, and returns numbers by the
names of the table's columns, in the order of its rows. NaN: there is nothing to compare.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import statsmodels.api as sm
from scipy import optimize, stats

if TYPE_CHECKING:
    from collections.abc import Callable

    from adomnia.statistics.contract import ResultTable
    from kit.trials import Data

    Numbers = dict[str, np.ndarray]
    Oracle = Callable[[Data, ResultTable], Numbers]


FROM, TO = " from", " to"  # after the name of a column: between which numbers an answer may be, where that is known
_RANK = 0.01
_PERMUTATIONS = 2000
_SWAPPED = ("estimate", "estimate" + TO, "estimate" + FROM)


def quantile(values: np.ndarray, share: float) -> float:
    """The least value that such a share of all is at or below."""
    return float(np.quantile(values, share, method="inverted_cdf"))


def _released(table: ResultTable, pattern: str) -> tuple[float, ...]:
    """Numbers of a note: what was released on the way, and what the interval is about."""
    found = re.search(pattern, " ".join(table.notes))
    assert found, pattern
    return tuple(float(each) for each in found.groups())


def _one(value: float) -> Numbers:
    return {"estimate": np.array([value])}


def summary(data: Data, table: ResultTable) -> Numbers:
    x = data["x"]
    found = {
        "mean": x.mean(),
        "sd": x.std(),
        "q1": quantile(x, 0.25),
        "median": quantile(x, 0.5),
        "q3": quantile(x, 0.75),
    }
    return {name: np.array([value]) for name, value in found.items()}


def _ranked(name: str, values: np.ndarray, *shares: float, times: float = 1) -> Numbers:
    """Quantiles, and those of ranks a hundredth lower and higher, between which an answer may be."""
    near = {"": 0.0, FROM: -_RANK, TO: _RANK}
    return {
        name + end: times * np.array([quantile(values, min(max(share + by, 0.0), 1.0)) for share in shares])
        for end, by in near.items()
    }


def quantiles(data: Data, table: ResultTable) -> Numbers:
    return _ranked("estimate", data["x"], *map(float, table.labels["prob"]))


def iqr(data: Data, table: ResultTable) -> Numbers:
    low, high = (_ranked("estimate", data["x"], share) for share in (0.25, 0.75))
    return {end: high[end] - low[other] for end, other in zip(high, _SWAPPED, strict=True)}


def mad(data: Data, table: ResultTable) -> Numbers:
    return _ranked("estimate", np.abs(data["x"] - quantile(data["x"], 0.5)), 0.5, times=1.4826)


def one_quantile(share: float) -> Oracle:
    """That of an aggregate."""
    return lambda data, table: _ranked("estimate", data["x"], share)


def trimmed_mean(data: Data, table: ResultTable) -> Numbers:
    return _one(float(stats.trim_mean(data["x"], 0.1)))


def winsorized_mean(data: Data, table: ResultTable) -> Numbers:
    x = data["x"]
    return _one(float(np.clip(x, quantile(x, 0.1), quantile(x, 0.9)).mean()))


def _huber(x: np.ndarray, reach: float) -> float:
    return float(optimize.brentq(lambda at: np.clip(x - at, -reach, reach).mean(), x.min(), x.max()))


def huber_location(data: Data, table: ResultTable) -> Numbers:
    (reach,) = _released(table, r"farther than ([-+.\de]+) from")
    return _one(_huber(data["x"], reach))


def covariances(data: Data, table: ResultTable) -> Numbers:
    return {"estimate": np.cov(data["x"], data["y"]).ravel()}


def correlations(data: Data, table: ResultTable) -> Numbers:
    return {"estimate": np.corrcoef(data["x"], data["y"]).ravel()}


def frequencies(data: Data, table: ResultTable) -> Numbers:
    return {"share": np.array([np.mean(data["h"] == each) for each in table.labels["value"]])}


def modes(data: Data, table: ResultTable) -> Numbers:
    lower, upper = (np.array(table.facts[name](), dtype=float) for name in ("value", "upper"))
    x = data["x"]
    closed = (x == np.round(x)).all() | (lower == x.min())
    ends = zip(lower, upper, np.broadcast_to(closed, lower.shape), strict=True)
    return {"share": np.array([np.mean((x > a) & (x <= b) | (x == a) & both) for a, b, both in ends])}


def crosstab(data: Data, table: ResultTable) -> Numbers:
    rows, columns = table.labels["row"], table.labels["column"]
    every = np.ones(len(data["g"]), dtype=bool)
    of_row = [every if each == "(all)" else data["g"] == each for each in rows]
    of_column = [every if each == "(all)" else data["h"] == each for each in columns]
    both = [np.mean(a & b) for a, b in zip(of_row, of_column, strict=True)]
    return {
        "share": np.array(both),
        "row_share": np.array([each / np.mean(a) for each, a in zip(both, of_row, strict=True)]),
        "column_share": np.array([each / np.mean(b) for each, b in zip(both, of_column, strict=True)]),
    }


def ecdf(data: Data, table: ResultTable) -> Numbers:
    return {"estimate": np.array([np.mean(data["x"] <= each) for each in table.labels["x"]])}


def histogram(data: Data, table: ResultTable) -> Numbers:
    edges = np.array([*table.labels["x_from"], table.labels["x_to"][-1]], dtype=float)
    counts = np.histogram(data["x"], edges)[0]
    return {"density": counts / len(data["x"]) / np.diff(edges), "count": counts.astype(float)}


def density(data: Data, table: ResultTable) -> Numbers:
    """The share of rows of each bin: neighbouring cells of one estimate."""
    edges = np.array([*table.labels["x_from"], table.labels["x_to"][-1]], dtype=float)
    bins = np.cumsum(np.concatenate([[0], np.diff(table.estimates["density"].values) != 0]))
    counts = np.bincount(bins, np.histogram(data["x"], edges)[0]) / len(data["x"])
    return {"density": (counts / np.bincount(bins, np.diff(edges)))[bins]}


def _log(x: np.ndarray) -> np.ndarray:
    return np.log(x[x > 0])


def normal(data: Data, table: ResultTable) -> Numbers:
    return {"estimate": np.array([data["x"].mean(), data["x"].std()])}


def lognormal(data: Data, table: ResultTable) -> Numbers:
    return {"estimate": np.array([_log(data["x"]).mean(), _log(data["x"]).std()])}


def poisson_mean(data: Data, table: ResultTable) -> Numbers:
    return _one(float(data["x"].mean()))


def exponential_rate(data: Data, table: ResultTable) -> Numbers:
    return _one(1 / float(data["x"].mean()))


def _design(data: Data) -> np.ndarray:
    """Columns of 1, of x and of group B."""
    return np.column_stack([np.ones(len(data["x"])), data["x"], data["g"] == "B"]).astype(float)


def _fitted(fit: Any) -> Numbers:
    return {"estimate": fit.params, "standard_error": fit.bse}


def lm(data: Data, table: ResultTable) -> Numbers:
    """With the larger of the standard errors for residuals of one spread and White's, HC1."""
    fit = sm.OLS(data["y"], _design(data)).fit()
    return {**_fitted(fit), "standard_error": np.maximum(fit.bse, fit.HC1_se)}


def logit(data: Data, table: ResultTable) -> Numbers:
    """The slope of x in its own units, fitted in those of its standard deviation."""
    scale = np.array([1, data["x"].std(), 1])
    fit = sm.Logit((data["s"] == "yes").astype(float), _design(data) / scale).fit(disp=0)
    return {"estimate": fit.params / scale}


def poisson(data: Data, table: ResultTable) -> Numbers:
    """Of groups alone: logarithms of their means."""
    a, b = (np.log(data["y"][data["g"] == each].mean()) for each in "AB")
    return {"estimate": np.array([a, b - a])}


def anova(data: Data, table: ResultTable) -> Numbers:
    """What each term adds to those before it, in the order of the formula."""
    design = _design(data)
    squares = [sm.OLS(data["y"], design[:, :columns]).fit().ssr for columns in (1, 2, 3)]
    freedom = len(data["y"]) - 3
    terms, residual = -np.diff(squares), squares[-1] / freedom
    return {
        "sum_of_squares": np.array([*terms, squares[-1]]),
        "f": np.array([*(terms / residual), np.nan]),
        "p_value": np.array([*stats.f(1, freedom).sf(terms / residual), np.nan]),
    }


def huber_regression(data: Data, table: ResultTable) -> Numbers:
    """At the released size of residuals."""
    (size,) = _released(table, r"residuals beyond ([-+.\de]+) count")
    design = _design(data)
    beta = np.linalg.lstsq(design, data["y"], rcond=None)[0]
    for _ in range(200):
        residual = np.abs(data["y"] - design @ beta)
        weights = np.minimum(1, size / np.maximum(residual, 1e-300))
        step = np.linalg.lstsq(design * np.sqrt(weights)[:, None], data["y"] * np.sqrt(weights), rcond=None)[0]
        done, beta = np.abs(step - beta).max() < 1e-9 * (1 + np.abs(beta).max()), step
        if done:
            break
    return {"estimate": beta}


def knn_regression(data: Data, table: ResultTable) -> Numbers:
    lower, upper = (np.array(table.facts[name](), dtype=float) for name in ("x_from", "x_to"))
    x = data["x"]
    inside = [(x >= a) & ((x < b) | (b == upper.max()) & (x <= b)) for a, b in zip(lower, upper, strict=True)]
    return {"mean": np.array([data["y"][each].mean() if each.any() else np.nan for each in inside])}


def kernel_regression(data: Data, table: ResultTable) -> Numbers:
    """Of the middles of 128 cells, or of whole numbers as they are."""
    (width,) = _released(table, r"The kernel reaches ([-+.\de]+) to")
    at, x = np.array(table.labels["x"], dtype=float), data["x"]
    if (x != np.round(x)).any():
        cell = (at[-1] - at[0]) / 128
        x = at[0] + (np.minimum(np.floor((x - at[0]) / cell), 127) + 0.5) * cell
    values, where, counts = np.unique(x, return_inverse=True, return_counts=True)
    sums = np.bincount(where, data["y"])
    weights = np.maximum(0, 1 - ((at[:, None] - values) / width) ** 2)
    with np.errstate(invalid="ignore"):
        return {"mean": weights @ sums / (weights @ counts)}


def t_test(data: Data, table: ResultTable) -> Numbers:
    a, b = (data["x"][data["g"] == each] for each in "AB")
    tested = stats.ttest_ind(a, b, equal_var=False)
    return {
        "estimate": np.array([a.mean() - b.mean(), a.mean(), b.mean()]),
        "p_value": np.array([tested.pvalue, np.nan, np.nan]),
    }


def t_test_of_one(data: Data, table: ResultTable) -> Numbers:
    return {"estimate": np.array([data["x"].mean()]), "p_value": np.array([stats.ttest_1samp(data["x"], 1).pvalue])}


def t_test_of_pairs(data: Data, table: ResultTable) -> Numbers:
    return {
        "estimate": np.array([(data["x"] - data["y"]).mean()]),
        "p_value": np.array([stats.ttest_rel(data["x"], data["y"]).pvalue]),
    }


def proportion_test(data: Data, table: ResultTable) -> Numbers:
    a, b = ((data["s"] == "yes")[data["g"] == each].mean() for each in "AB")
    return {"estimate": np.array([a - b, a, b])}


def _counts(data: Data) -> np.ndarray:
    return np.array([[np.sum((data["s"] == s) & (data["g"] == g)) for g in "AB"] for s in ("no", "yes")])


def chi_square_test(data: Data, table: ResultTable) -> Numbers:
    counted = stats.chi2_contingency(_counts(data), correction=False)
    return {"statistic": np.array([counted.statistic]), "p_value": np.array([counted.pvalue])}


def cramers_v(data: Data, table: ResultTable) -> Numbers:
    return _one(float(stats.contingency.association(_counts(data), method="cramer", correction=False)))


def goodness_of_fit(data: Data, table: ResultTable) -> Numbers:
    counted = stats.chisquare([np.sum(data["h"] == each) for each in "abc"])
    return {"statistic": np.array([counted.statistic]), "p_value": np.array([counted.pvalue])}


def cohens_w(data: Data, table: ResultTable) -> Numbers:
    shares = np.array([np.mean(data["h"] == each) for each in "abc"])
    return _one(float(np.sqrt((3 * (shares - 1 / 3) ** 2).sum())))


def ks_test(data: Data, table: ResultTable) -> Numbers:
    """The p-value is that of permutations: SciPy's is of values without ties."""
    _, place = np.unique(data["x"], return_inverse=True)
    in_b, random = data["g"] == "B", np.random.default_rng(1)
    permutations = _PERMUTATIONS if len(in_b) < 1000 else 0  # of a population only the difference is asked
    labels = np.array([in_b, *(random.permutation(in_b) for _ in range(permutations))])[:, np.argsort(place)]
    last = np.flatnonzero(np.diff(np.sort(place), append=place.max() + 1))
    shares = [np.cumsum(each, axis=1)[:, last] / each.sum(axis=1, keepdims=True) for each in (labels, ~labels)]
    found = np.abs(shares[0] - shares[1]).max(axis=1)
    return {"estimate": found[:1], "p_value": np.array([np.mean(found >= found[0] - 1e-12)])}


def mann_whitney(data: Data, table: ResultTable) -> Numbers:
    a, b = (data["x"][data["g"] == each] for each in "AB")
    tested = stats.mannwhitneyu(a, b, method="asymptotic", use_continuity=False)
    return {"estimate": np.array([tested.statistic / len(a) / len(b)]), "p_value": np.array([tested.pvalue])}


def kruskal_wallis(data: Data, table: ResultTable) -> Numbers:
    """Epsilon squared, and how probable it is that somebody of each group has a larger value than anybody."""
    groups, ranks = [data["h"] == each for each in "abc"], stats.rankdata(data["x"]) / len(data["x"])
    tested = stats.kruskal(*(data["x"][each] for each in groups))
    explained = (tested.statistic - 2) / (len(ranks) - 3)
    above = [ranks[each].mean() - 0.5 / len(ranks) for each in groups]
    return {"estimate": np.array([max(explained, 0.0), *above]), "p_value": np.array([tested.pvalue, *[np.nan] * 3])}


def signed_rank(data: Data, table: ResultTable) -> Numbers:
    """Without pairs that do not differ, as Wilcoxon did."""
    differences = data["x"] - data["y"]
    differences = differences[differences != 0]
    ranks = stats.rankdata(np.abs(differences))
    tested = stats.wilcoxon(differences, method="asymptotic")
    return {
        "estimate": np.array([(ranks * np.sign(differences)).sum() / ranks.sum()]),
        "p_value": np.array([tested.pvalue]),
    }


def spearman(data: Data, table: ResultTable) -> Numbers:
    tested = stats.spearmanr(data["x"], data["y"])
    return {"estimate": np.array([tested.statistic]), "p_value": np.array([tested.pvalue])}


def kendall(data: Data, table: ResultTable) -> Numbers:
    tested = stats.kendalltau(data["x"], data["y"])
    return {"estimate": np.array([tested.statistic]), "p_value": np.array([tested.pvalue])}


def mcnemar(data: Data, table: ResultTable) -> Numbers:
    there, back = (int(np.sum((data["s"] == a) & (data["t"] == b))) for a, b in (("yes", "no"), ("no", "yes")))
    tested = stats.binomtest(there, there + back).pvalue
    return {"estimate": np.array([there / back, there / (there + back)]), "p_value": np.array([tested, np.nan])}


def correlation_test(data: Data, table: ResultTable) -> Numbers:
    tested = stats.pearsonr(data["x"], data["y"])
    return {"estimate": np.array([tested.statistic]), "p_value": np.array([tested.pvalue])}


def oneway_anova(data: Data, table: ResultTable) -> Numbers:
    groups = [data["x"][data["h"] == each] for each in "abc"]
    tested = sm.stats.anova_oneway(groups, use_var="unequal")
    return {
        "estimate": np.array([data["x"].mean(), *(each.mean() for each in groups)]),
        "p_value": np.array([tested.pvalue, np.nan, np.nan, np.nan]),
    }


def _survival(time: np.ndarray, event: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times, and the product-limit curve after each."""
    times, where, counts = np.unique(time, return_inverse=True, return_counts=True)
    died = np.bincount(where, event)
    at_risk = counts[::-1].cumsum()[::-1]
    return times, np.cumprod(1 - died / at_risk)


def kaplan_meier(data: Data, table: ResultTable) -> Numbers:
    times, curve = _survival(data["x"], data["e"])
    at = np.searchsorted(times, np.array(table.labels["time"], dtype=float) + 1e-9, side="right")
    half = np.flatnonzero(curve <= 0.5)
    median = times[half[0]] if len(half) else np.nan
    return {"survival": np.concatenate([[1.0], curve])[at], "median": np.full(len(at), median)}


def log_rank(data: Data, table: ResultTable) -> Numbers:
    statistic, p_value = sm.duration.survdiff(data["x"], data["e"], data["g"])
    return {"statistic": np.full(2, statistic), "p_value": np.full(2, p_value)}


def range_counts(data: Data, table: ResultTable) -> Numbers:
    lower, upper = table.facts["x_from"](), table.facts["x_to"]()
    x = data["x"]
    last = max(each for each in upper if each is not None)
    ends = zip(lower, upper, strict=True)
    inside = [0 if a is None else np.sum((x >= a) & ((x < b) | (b == last) & (x == b))) for a, b in ends]
    return {"count": np.array(inside, dtype=float)}


def association(data: Data, table: ResultTable) -> Numbers:
    counted = _counts(data).T
    (in_a, in_b), shares = counted, counted / counted.sum(axis=1, keepdims=True)
    named = {
        "cramers_v": stats.contingency.association(counted, method="cramer"),
        "contingency": stats.contingency.association(counted, method="pearson"),
        "odds_ratio": in_a[0] * in_b[1] / (in_a[1] * in_b[0]),
        "risk_ratio": shares[0, 0] / shares[1, 0],
    }
    return {"estimate": np.array([float(named[str(each)]) for each in table.labels["measure"]])}


def smooth_quantile(data: Data, table: ResultTable) -> Numbers:
    return _ranked("value", data["x"], 0.5)
