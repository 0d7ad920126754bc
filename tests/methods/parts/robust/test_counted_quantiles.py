from fractions import Fraction

import numpy as np
import pytest

from adomnia.methods.parts.robust.counted_quantiles import Tree, weigh
from adomnia.privacy.events import Pure
from kit.analyses import frame
from kit.describing import LAWS, build, table_of

FRAME = frame({"x": (0, 100), "age": (0, 99)}, whole=("age",))
COLUMN = FRAME.numbers["x"]
PROBS = (Fraction(1, 4), Fraction(1, 2))


def test_a_tree_halves_its_bins_and_ends_at_the_bounds():
    tree = Tree(COLUMN, 8, 3)
    assert [len(each) for each in tree.bins] == [2, 4, 8]
    assert tree.edges.tolist() == [12.5 * place for place in range(9)]


def test_bins_of_whole_numbers_are_of_whole_numbers():
    tree = Tree(FRAME.numbers["age"], 16, 4)
    assert [len(each) for each in tree.bins] == [2, 4, 8, 15]
    assert np.diff(tree.edges)[:-1].tolist() == [7.0] * 14


def test_counts_without_noise_are_given_back_by_least_squares():
    rows = np.array([5.0, 0.0, 2.0, 7.0, 1.0])
    nodes = np.concatenate([[rows[:4].sum(), rows[4]], [5, 9, 1], rows])
    assert weigh(5, 3) @ nodes == pytest.approx(rows)


def test_a_rank_of_a_tree_has_less_noise_than_one_of_a_histogram_of_as_many_bins():
    """At the same noise of each count."""
    prefix = np.tri(63, 64)
    tree, histogram = (np.square(prefix @ weigh(64, levels)).sum(axis=1).mean() for levels in (6, 1))
    assert tree < histogram / 6


@pytest.mark.parametrize("law", sorted(LAWS))
@pytest.mark.parametrize("way", ["tree", "histogram"])
def test_intervals_hold_on_data_as_people_have_it_and_say_something(law, way):
    """Of 40 data sets two intervals each; 95% and more is expected: 17 misses of 80 have a chance below 1e-6."""
    missed, widths = 0, []
    asked = build("location", FRAME, column=COLUMN, method=way, probs=PROBS, sample_size=2000, inference="data")
    asked = asked.specialize_for(Pure(1))
    for seed in range(40):
        values = LAWS[law](np.random.default_rng(seed), 2000)
        lower, upper = table_of(asked, Pure(1), {"x": values}, seed).estimates["estimate"].interval(0.95, 1)
        truth = np.quantile(values, [float(each) for each in PROBS], method="inverted_cdf")
        missed += int(((truth < lower) | (truth > upper)).sum())
        widths.append(upper - lower)
    assert missed < 17
    assert np.median(widths) < 10


def test_intervals_of_a_population_hold_it_and_those_of_the_data_do_not():
    """Of 80 data sets: 95% and more is expected, so that 18 misses have a chance below 1e-6."""
    missed = {"population": 0, "data": 0}
    for inference in missed:
        asked = build("location", FRAME, column=COLUMN, method="histogram", sample_size=400, inference=inference)
        asked = asked.specialize_for(Pure(4))
        for seed in range(80):
            values = np.random.default_rng(seed).normal(50, 20, 400)
            table = table_of(asked, Pure(20), {"x": values}, seed)
            lower, upper = table.estimates["estimate"].interval(0.95, 1)
            missed[inference] += not lower[0] <= 50 <= upper[0]
    assert missed["population"] < 18
    assert missed["data"] >= 18


def test_no_rows_give_numbers_within_the_bounds_and_an_interval_of_all_of_them():
    asked = build("location", FRAME, column=COLUMN, method="tree", sample_size=1000)
    table = table_of(asked, Pure(1), {"x": np.zeros(0)}, 1)
    assert 0 <= table.estimates["estimate"].values[0] <= 100
    lower, upper = table.estimates["estimate"].interval(0.95, 1)
    assert upper[0] - lower[0] > 50
