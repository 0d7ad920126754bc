import numpy as np
import pytest

from kit.analyses import frame
from kit.describing import EPSILON, EXACT, LAWS, RHO, build, covers_as_often, table_of

FRAME = frame({"x": (0, 100)})
COLUMN = FRAME.numbers["x"]


def plain(values):
    low, high = np.quantile(values, [0.1, 0.9])
    return float(np.clip(values, low, high).mean())


@pytest.mark.parametrize("law", ["normal", "lognormal", "constant"])
def test_with_little_noise_it_is_that_of_the_data(law):
    values = LAWS[law](np.random.default_rng(3), 20_000)
    estimate = table_of(build("winsorized_mean", FRAME, column=COLUMN), EXACT, {"x": values}).estimates["estimate"]
    (low,), (high,) = estimate.interval(0.95, 1)
    assert estimate.values[0] == pytest.approx(plain(values), abs=0.2)
    assert low - 1e-3 <= plain(values) <= high + 1e-3


@pytest.mark.parametrize("price", [EPSILON, RHO], ids=str)
@pytest.mark.parametrize("law", ["lognormal", "rounded"])
def test_its_interval_holds_for_the_population_and_says_something(law, price):
    draws, size, random = 15, 5000, np.random.default_rng(4)
    truth = plain(LAWS[law](np.random.default_rng(0), 10**6))
    asked = build("winsorized_mean", FRAME, column=COLUMN)
    samples = ({"x": LAWS[law](random, size)} for _ in range(draws))
    found = [table_of(asked, price, data, seed).estimates["estimate"] for seed, data in enumerate(samples)]
    ends = [np.ravel(each.interval(0.95, 1)) for each in found]
    assert covers_as_often(sum(low - 1e-3 <= truth <= high + 1e-3 for low, high in ends), draws, 0.94)
    if law == "lognormal":
        assert np.median([high - low for low, high in ends]) < 1.0


@pytest.mark.soak
@pytest.mark.parametrize("price", [EPSILON, RHO], ids=str)
@pytest.mark.parametrize("size", [1000, 10_000, 100_000])
@pytest.mark.parametrize("law", LAWS)
def test_coverage_is_near_what_is_promised(law, size, price):
    draws, random = 200 if size < 100_000 else 60, np.random.default_rng(size)
    truth = plain(LAWS[law](np.random.default_rng(0), 4 * 10**6))
    asked, hits = build("winsorized_mean", FRAME, column=COLUMN), 0
    for seed in range(draws):
        estimate = table_of(asked, price, {"x": LAWS[law](random, size)}, seed).estimates["estimate"]
        (low,), (high,) = estimate.interval(0.95, 1)
        hits += low - 1e-3 <= truth <= high + 1e-3
    assert covers_as_often(hits, draws, 0.93)
