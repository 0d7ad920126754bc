import numpy as np
import pytest
from scipy.stats import lognorm

import adomnia
from adomnia.privacy.events import Pure
from kit.analyses import frame
from kit.describing import EPSILON, LAWS, build, covers_as_often, table_of
from kit.robust import RobustNumber, every_price

FRAME = frame({"x": (0, 100)})


def iqr(values):
    return float(np.subtract(*np.quantile(values, [0.75, 0.25], method="inverted_cdf")))


def mad(values):
    return float(1.4826 * np.median(np.abs(values - np.median(values))))


def trimmed_mean(values):
    low, high = np.quantile(values, [0.1, 0.9])
    return float((np.clip(values, low, high).mean() - 0.1 * (low + high)) / 0.8)


def winsorized_mean(values):
    return float(np.clip(values, *np.quantile(values, [0.1, 0.9])).mean())


NAMES = ("iqr", "mad", "trimmed_mean", "winsorized_mean")
TRIMMED = RobustNumber("trimmed_mean", trimmed_mean, widest=0.8)
NUMBERS = [
    RobustNumber("iqr", iqr, widest=1.6),
    RobustNumber("mad", mad, widest=1.6),
    TRIMMED,
    RobustNumber("winsorized_mean", winsorized_mean, widest=1.0),
]
every_number = pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number.method)


@every_number
@pytest.mark.parametrize("law", ["normal", "lognormal", "constant"])
def test_with_little_noise_it_is_that_of_the_data(number, law):
    number.check_without_noise(law)


@every_number
@every_price
@pytest.mark.parametrize("law", ["lognormal", "rounded"])
def test_its_interval_holds_for_the_population_and_says_something(number, law, price):
    number.check_interval(law, price)


@pytest.mark.soak
@every_number
@every_price
@pytest.mark.parametrize("size", [1000, 10_000, 100_000])
@pytest.mark.parametrize("law", LAWS)
def test_coverage_is_near_what_is_promised(number, law, size, price):
    number.check_coverage(law, size, price)


def test_the_interval_of_a_mad_allows_for_the_median_where_all_cuts_are_near_the_answer():
    """As wide as sampling alone makes it, at least (Falk 1997): without the median's part it is 0.7 of that."""
    random, law, size = np.random.default_rng(7), lognorm(0.6, scale=np.exp(2.5)), 100_000
    values = LAWS["lognormal"](random, size)
    median, density = np.median(values), law.pdf(np.median(values))
    far = np.median(np.abs(values - median))
    left, right = law.pdf([median - far, median + far])
    moved = (0.5 - (values < median)) / density
    parts = (0.5 - (np.abs(values - median) < far) + (left - right) * moved) / (left + right)
    least = 2 * 1.96 * 1.4826 * parts.std() / np.sqrt(size)
    low, high = RobustNumber("mad", mad).ends(Pure(3), values, 0)
    assert 0.95 * least < high - low < 1.5 * least


def test_values_that_are_all_equal_are_not_taken_for_spread_ones():
    """All rows lie between two cuts: nothing tells that they do not lie at one place, as they do."""
    values = LAWS["constant"](np.random.default_rng(6), 1000)
    ends = [TRIMMED.ends(EPSILON, values, seed) for seed in range(15)]
    assert covers_as_often(sum(low - 1e-3 <= 37.3 <= high + 1e-3 for low, high in ends), 15, 0.94)


def test_a_trimmed_mean_is_that_of_the_rows_in_the_middle_as_scipy_has_it():
    from scipy.stats import trim_mean

    values = LAWS["lognormal"](np.random.default_rng(5), 20_000)
    assert trimmed_mean(values) == pytest.approx(trim_mean(values, 0.1), abs=0.01)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("values", [np.zeros(0), np.full(1, 100.0), np.full(50, np.nan)], ids=["none", "one", "null"])
def test_nearly_no_rows_leave_a_finite_number_and_a_wide_interval(name, values):
    for seed in range(3):
        table = table_of(build(name, FRAME, column=FRAME.numbers["x"]), EPSILON, {"x": values}, seed)
        estimate = table.estimates["estimate"]
        (low,), (high,) = estimate.interval(0.95, 1)
        assert np.isfinite([low, high]).all()
        assert low <= estimate.values[0] <= high
        assert high - low > 20


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_one_person_are_no_sample(name):
    with pytest.raises(adomnia.Refusal, match="one person"):
        build(name, frame({"x": (0, 100)}, rows_per_person=2), column=FRAME.numbers["x"])


@pytest.mark.parametrize("name", NAMES)
def test_all_rounds_together_cost_the_price(name):
    asked = build(name, FRAME, column=FRAME.numbers["x"])
    assert sum(each.price.epsilon for each in asked.rehearse(EPSILON)) == 1
