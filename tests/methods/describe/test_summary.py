import numpy as np
import pytest

import adomnia
from adomnia.methods.contract import BadArgument
from kit.analyses import frame
from kit.describing import DISTRIBUTIONS, EPSILON, EXACT, build, covers_as_often, table_of

FRAME = frame({"x": (0, 100), "y": (0, 120)}, {"city": ("A", "B")}, whole=("y",))
RANDOM = np.random.default_rng(1)
DATA = {
    "x": np.append(DISTRIBUTIONS["normal"](RANDOM, 5900), [np.nan] * 100),
    "y": np.round(RANDOM.uniform(0, 120, 6000)),
    "city": np.array(["A", "B"] * 3000, dtype=object),
}


def test_with_little_noise_it_says_what_numpy_says_of_every_column():
    table = table_of(build("summary", FRAME), EXACT, DATA)
    assert table.labels == {"column": ("x", "y")}
    found = {name: estimate.values for name, estimate in table.estimates.items()}
    assert found["n"] == pytest.approx([5900, 6000], abs=2)
    assert found["missing"] == pytest.approx([100, 0], abs=2)
    for place, name in enumerate("xy"):
        values = DATA[name][~np.isnan(DATA[name])]
        exact = [values.mean(), values.std(), *np.quantile(values, [0.25, 0.5, 0.75])]
        said = [found[column][place] for column in ("mean", "sd", "q1", "median", "q3")]
        assert said == pytest.approx(exact, abs=1.0)
        assert values.min() <= found["min"][place] <= np.quantile(values, 0.01)
        assert np.quantile(values, 0.99) <= found["max"][place] <= values.max()


def test_groups_are_described_apart():
    data = DATA | {"x": np.where(DATA["city"] == "A", 20.0, 70.0) + RANDOM.normal(0, 3, 6000)}
    table = table_of(build("summary", FRAME, columns=(FRAME.numbers["x"],), by=(FRAME.factors["city"],)), EXACT, data)
    assert table.labels == {"city": ("A", "B"), "column": ("x", "x")}
    for column in ("mean", "median"):
        assert table.estimates[column].values == pytest.approx([20, 70], abs=1)


def test_its_intervals_hold_for_the_population_in_one_price():
    random, hits, draws = np.random.default_rng(2), np.zeros(3), 25
    statistic = build("summary", FRAME, columns=(FRAME.numbers["x"],))
    for seed in range(draws):
        table = table_of(statistic, EPSILON, {"x": DISTRIBUTIONS["normal"](random, 4000)}, seed)
        for place, (column, exact) in enumerate((("mean", 40.0), ("sd", 12.0), ("median", 40.0))):
            (low,), (high,) = table.estimates[column].interval(0.95, 1)
            hits[place] += low <= exact <= high
            assert high - low < 6
    assert all(covers_as_often(each, draws, 0.94) for each in hits)


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_nearly_no_rows_make_a_table_of_finite_numbers_in_order(rows):
    for seed in range(3):
        table = table_of(build("summary", FRAME), EPSILON, {name: held[:rows] for name, held in DATA.items()}, seed)
        found = {name: estimate.values for name, estimate in table.estimates.items()}
        assert all(np.isfinite(values).all() for values in found.values())
        order = [found[name] for name in ("min", "q1", "median", "q3", "max")]
        assert (np.diff(order, axis=0) >= 0).all()


def test_rows_of_one_person_are_no_sample_but_can_be_described():
    several = frame({"x": (0, 100)}, rows_per_person=5)
    with pytest.raises(adomnia.Refusal) as refused:
        build("summary", several)
    assert refused.value.code == "rows_per_person"
    table = table_of(build("summary", several, inference="data"), EPSILON, {"x": DATA["x"]})
    assert table.notes[0].startswith("Intervals are about the data")


def test_it_needs_a_number_to_describe():
    with pytest.raises(BadArgument, match="columns"):
        build("summary", frame(levels={"city": ("A", "B")}))
