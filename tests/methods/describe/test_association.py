import numpy as np
import pytest
from scipy.stats.contingency import association, crosstab, odds_ratio

from adomnia.methods.contract import BadArgument
from adomnia.privacy.events import Pure
from kit.analyses import frame
from kit.describing import EPSILON, EXACT, RHO, build, covers_as_often, table_of

FRAME = frame(levels={"a": ("x", "y"), "b": ("p", "q"), "c": ("1", "2", "3"), "one": ("z",)})
ASKED = {other: build("association", FRAME, row=FRAME.factors["a"], column=FRAME.factors[other]) for other in "bc"}


def pairs(random, size, strength, levels):
    first = random.random(size) < 0.4
    second = np.where(random.random(size) < strength, first, random.random(size) < 0.3).astype(int)
    second = np.where((second == 0) & (random.random(size) < 0.3) & (len(levels) > 2), 2, second)
    return {
        "a": np.where(first, "x", "y").astype(object),
        ("b" if len(levels) == 2 else "c"): np.array(levels, dtype=object)[second],
    }


@pytest.mark.parametrize("other", ["b", "c"])
def test_with_little_noise_measures_are_scipys(other):
    data = pairs(np.random.default_rng(1), 20_000, 0.5, FRAME.factors[other].levels)
    table = table_of(ASKED[other], EXACT, data)
    counts = crosstab(data["a"], data[other]).count
    found = dict(zip(table.labels["measure"], table.estimates["estimate"].values, strict=True))
    assert found["cramers_v"] == pytest.approx(association(counts, method="cramer"), abs=0.01)
    assert found["contingency"] == pytest.approx(association(counts, method="pearson"), abs=0.01)
    if other == "b":
        assert found["odds_ratio"] == pytest.approx(odds_ratio(counts, kind="sample").statistic, rel=0.01)
        risk = counts[:, 0] / counts.sum(axis=1)
        assert found["risk_ratio"] == pytest.approx(risk[0] / risk[1], rel=0.01)


LARGE = frame(levels={"d": tuple("12345"), "e": tuple("123456")})


def draw_large(strength, size):
    """Few rows in many cells, or nearly all on the diagonal: there V is far above that of the population, or near 1."""
    random = np.random.default_rng(size)
    first = random.integers(0, 5, size)
    second = np.where(random.random(size) < strength, first, random.integers(0, 6, size))
    return {"d": np.array(list("12345"), dtype=object)[first], "e": np.array(list("123456"), dtype=object)[second]}


@pytest.mark.parametrize("inference", ["population", "data"])
@pytest.mark.parametrize(("strength", "size"), [(0.0, 150), (0.05, 50_000), (0.9, 300)])
def test_v_is_that_of_the_rows_as_scipy_has_it(strength, size, inference):
    data = draw_large(strength, size)
    counts = crosstab(data["d"], data["e"]).count
    asked = build("association", LARGE, row=LARGE.factors["d"], column=LARGE.factors["e"], inference=inference)
    found = table_of(asked, Pure(100), data).estimates["estimate"].values
    known = [association(counts, method=method) for method in ("cramer", "pearson")]
    assert found == pytest.approx(known, abs=5e-4)


@pytest.mark.parametrize(("strength", "size", "epsilon"), [(0.0, 150, 100), (0.05, 50_000, 1), (0.9, 3000, 1)])
def test_intervals_about_the_data_hold_the_v_of_the_rows(strength, size, epsilon):
    data = draw_large(strength, size)
    known = association(crosstab(data["d"], data["e"]).count, method="cramer")
    asked = build("association", LARGE, row=LARGE.factors["d"], column=LARGE.factors["e"], inference="data")
    hits, widths = 0, []
    for seed in range(7):
        lower, upper = table_of(asked, Pure(epsilon), data, seed).estimates["estimate"].interval(0.95, 1)
        hits += lower[0] <= known <= upper[0]
        widths.append(upper[0] - lower[0])
    assert covers_as_often(hits, 7, 0.94)
    assert np.median(widths) < 0.012


@pytest.mark.parametrize("price", [EPSILON, RHO], ids=str)
@pytest.mark.parametrize("strength", [0.0, 0.3])
def test_intervals_hold_for_the_population_with_and_without_association(strength, price):
    random, draws, size = np.random.default_rng(2), 40, 600
    rest = (1 - strength) * np.array([0.7, 0.3])
    shares = np.array([0.4 * (rest + np.array([0, strength])), 0.6 * (rest + np.array([strength, 0]))])
    margins = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0)
    odds = shares[0, 0] * shares[1, 1] / (shares[0, 1] * shares[1, 0])
    truth = [np.sqrt(((shares - margins) ** 2 / margins).sum()), odds]
    hits, widths = np.zeros(2), []
    for seed in range(draws):
        estimate = table_of(ASKED["b"], price, pairs(random, size, strength, ("p", "q")), seed).estimates["estimate"]
        lower, upper = estimate.interval(0.95, 1)
        hits += (lower[[0, 2]] <= truth) & (truth <= upper[[0, 2]])
        widths.append(upper[0] - lower[0])
    assert all(covers_as_often(each, draws, 0.94) for each in hits)
    assert np.median(widths) < (0.25 if price == EPSILON else 0.45)


def test_a_table_lost_in_noise_has_finite_values_in_wide_intervals():
    for seed in range(5):
        estimate = table_of(ASKED["b"], EPSILON, pairs(np.random.default_rng(0), 3, 0.5, ("p", "q")), seed).estimates[
            "estimate"
        ]
        lower, upper = estimate.interval(0.95, 1)
        assert np.isfinite(estimate.values).all()
        assert (lower <= estimate.values).all()
        assert (estimate.values <= upper).all()
        assert upper[0] - lower[0] > 0.5


def test_one_value_is_associated_with_nothing():
    with pytest.raises(BadArgument, match="2 by 1"):
        build("association", FRAME, row=FRAME.factors["a"], column=FRAME.factors["one"])
