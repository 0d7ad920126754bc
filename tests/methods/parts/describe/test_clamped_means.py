from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.stats import trim_mean
from scipy.stats.mstats import winsorize

from adomnia.methods.contract import NumberColumn
from adomnia.methods.parts.describe.clamped_means import has_few_steps
from adomnia.privacy.domains import Numbers
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from kit.analyses import frame
from kit.describing import EPSILON, EXACT, build, covers_as_often, table_of

FRAME = frame({"x": (0, 100)})


@dataclass(frozen=True)
class Whole:
    """Whole numbers with these probabilities, from the first on, in a column with these bounds."""

    first: int
    shares: tuple[float, ...]
    bounds: tuple[int, int]

    def draw(self, seed, rows):
        places = np.random.default_rng(seed).choice(len(self.shares), rows, p=self.shares)
        return (self.first + places).astype(float)

    @property
    def population(self):
        """A column of 100,000 rows that has exactly these shares."""
        return np.repeat(self.first + np.arange(len(self.shares)), np.rint(np.array(self.shares) * 10**5).astype(int))


WHOLE = {
    "0 to 4": Whole(0, (0.3, 0.36, 0.22, 0.08, 0.04), (0, 4)),
    "Likert": Whole(1, (0.15, 0.15, 0.25, 0.25, 0.2), (1, 5)),
    "a quantile between two answers": Whole(1, (0.1, 0.2, 0.3, 0.3, 0.1), (1, 5)),
    "counts with many zeros": Whole(0, (0.8, 0.02, 0.04, 0.05, 0.04, 0.03, 0.02), (0, 20)),
    "nearly all zero": Whole(0, (0.94, 0.02, 0.02, 0.01, 0.01), (0, 20)),
}
EXACTLY = {
    "trimmed_mean": lambda values: float(trim_mean(values, 0.1)),
    "winsorized_mean": lambda values: float(np.mean(winsorize(values, (0.1, 0.1)))),
}
every_mean = pytest.mark.parametrize("name", EXACTLY)


def ask_whole(name, distribution):
    people = frame({"x": distribution.bounds}, whole=("x",))
    return build(name, people, column=people.numbers["x"])


def intervals_of(asked, distribution, samples=20, rows=3000):
    for seed in range(samples):
        found = table_of(asked, EPSILON, {"x": distribution.draw(seed, rows)}, seed).estimates["estimate"]
        yield np.ravel(found.interval(0.95, 1))


@every_mean
@pytest.mark.parametrize("distribution", WHOLE)
def test_whole_numbers_have_the_mean_of_scipy_without_noise(name, distribution):
    values = WHOLE[distribution].draw(1, 20_000)
    if distribution == "a quantile between two answers":  # where a sample has another one, and so has SciPy
        values = WHOLE[distribution].population
    estimate = table_of(ask_whole(name, WHOLE[distribution]), EXACT, {"x": values}).estimates["estimate"]
    (low,), (high,) = estimate.interval(0.95, 1)
    truth = EXACTLY[name](values)
    assert low - 1e-3 <= truth <= high + 1e-3
    if (
        distribution != "a quantile between two answers" or name == "trimmed_mean"
    ):  # which no quantile moves at such places
        assert estimate.values[0] == pytest.approx(truth, abs=1e-3)


@every_mean
@pytest.mark.parametrize("distribution", WHOLE)
def test_intervals_of_whole_numbers_hold_for_the_population_and_are_narrow(name, distribution):
    """Of 20 samples; too few hits are seen at a false-alarm rate of 1e-6."""
    asked, truth = ask_whole(name, WHOLE[distribution]), EXACTLY[name](WHOLE[distribution].population)
    ends = list(intervals_of(asked, WHOLE[distribution]))
    assert covers_as_often(sum(low - 1e-9 <= truth <= high + 1e-9 for low, high in ends), len(ends), 0.94)
    # A normal interval of the mean without noise is 0.08 to 0.13 wide.
    assert np.median([high - low for low, high in ends]) < (
        0.2 if distribution != "a quantile between two answers" else 0.4
    )


@every_mean
@pytest.mark.parametrize("distribution", ["Likert", "counts with many zeros"])
def test_bounds_a_step_inside_of_the_quantiles_are_found_out(name, distribution):
    """As bounds of fine grids are: there a step does not matter."""
    asked, truth = (
        replace(ask_whole(name, WHOLE[distribution]), by_steps=False),
        EXACTLY[name](WHOLE[distribution].population),
    )
    hits = sum(low <= truth <= high for low, high in intervals_of(asked, WHOLE[distribution]))
    assert not covers_as_often(hits, 20, 0.94)


@every_mean
def test_declared_steps_are_as_whole_numbers_are(name):
    """Half points from 0 to 5."""
    column = NumberColumn("x", Column("x", Quantity(0, 5), halves := Numbers(0, 5, 0.5)), halves)
    values = np.random.default_rng(2).choice(11, 20_000, p=[0.15, *[0.07] * 9, 0.22]) / 2
    asked = build(name, replace(FRAME, numbers={"x": column}), column=column)
    estimate = table_of(asked, EXACT, {"x": values}).estimates["estimate"]
    assert asked.by_steps
    assert estimate.values[0] == pytest.approx(EXACTLY[name](values), abs=1e-3)


def test_a_step_of_a_fine_grid_does_not_matter():
    huge = Numbers(2**77, 2**77 + 2**14, 1)
    assert not has_few_steps(FRAME.numbers["x"])
    assert not has_few_steps(NumberColumn("x", Column("x", Quantity(huge.lower, huge.upper), huge), huge))
    assert has_few_steps(frame({"x": (0, 10**9)}, whole=("x",)).numbers["x"])


@every_mean
def test_the_note_names_the_bounds_that_were_used(name):
    table = table_of(ask_whole(name, WHOLE["Likert"]), EXACT, {"x": WHOLE["Likert"].population.astype(float)})
    assert "The released bounds are 1 and 5." in table.notes


@pytest.mark.parametrize("name", ["trimmed_mean", "winsorized_mean"])
@pytest.mark.parametrize("price", [Pure(300), Concentrated(15_000)], ids=str)
def test_sums_between_bounds_that_were_found_equal_can_be_measured_if_all_before_could(name, price):
    asked = build(name, FRAME, column=FRAME.numbers["x"])
    assert asked.planned_measures(price)
    estimate = table_of(asked, price, {"x": np.full(1000, 37.3)}).estimates["estimate"]
    assert estimate.values[0] == pytest.approx(37.3, abs=1e-3)


@pytest.mark.parametrize("upper", [1, 2, 3, 4, 5])
def test_ranges_of_few_whole_numbers_have_a_mean(upper):
    people = frame({"x": (0, upper)}, whole=("x",))
    asked = build("winsorized_mean", people, column=people.numbers["x"])
    values = np.arange(3000) % (upper + 1)
    estimate = table_of(asked, Pure(30), {"x": values.astype(float)}).estimates["estimate"]
    (low,), (high,) = estimate.interval(0.95, 1)
    assert 0 <= low <= estimate.values[0] <= high <= upper
    assert estimate.values[0] == pytest.approx(upper / 2, abs=0.5)
