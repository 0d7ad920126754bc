"""Histograms: counts and densities of bins."""

from fractions import Fraction

import numpy as np
import pytest

from adomnia.errors import Refusal
from adomnia.methods.densities.histogram import METHOD
from adomnia.privacy.events import Concentrated, Pure
from kit.analyses import analyse, frame
from kit.bits import SeededBits

FRAME = frame({"x": (0, 10)}, {"city": ("A", "B", "C")})
DEFAULTS = {"column": FRAME.numbers["x"], "bins": 5, "breaks": (), "inference": "population", "by": ()}
PRICES = [Pure(Fraction(1)), Concentrated(Fraction(1, 40))]
EXACT = Pure(Fraction(100))

UGLY = {
    "nobody": [],
    "one": [3.0],
    "two": [0.0, 10.0],
    "one bin": [3.3] * 500,
    "at the bounds": [0.0, 10.0] * 100,
    "beyond the bounds": [-1e9, 1e300] * 50,
    "missing": [np.nan] * 30,
    "rounded": [float(k % 11) for k in range(400)],
}


def ask(data, price=EXACT, seed="histogram", frame=FRAME, **arguments):
    return analyse(METHOD.build(frame, {**DEFAULTS, **arguments}), price, data, SeededBits(seed))


def test_counts_and_densities_are_those_of_numpy_without_noise():
    x = np.random.default_rng(1).beta(2, 5, 1_000) * 10
    table = ask({"x": x})
    counts, edges = np.histogram(x, bins=5, range=(0, 10))
    assert table.labels == {"x_from": tuple(edges[:-1]), "x_to": tuple(edges[1:])}
    assert table.estimates["count"].values.tolist() == counts.tolist()
    density = np.histogram(x, bins=5, range=(0, 10), density=True)[0]
    assert table.estimates["density"].values == pytest.approx(density)


def test_breaks_and_groups():
    x, city = np.array([0.5, 1.5, 9.0, 2.0]), np.array(["A", "A", "B", None], dtype=object)
    breaks = tuple(map(Fraction, (1, 2, 4)))
    table = ask({"x": x, "city": city}, breaks=breaks, by=(FRAME.factors["city"],))
    assert table.labels["city"] == ("A", "A", "B", "B", "C", "C")
    assert table.labels["x_from"] == (1, 2) * 3
    assert table.estimates["count"].values.tolist() == [2, 0, 0, 1, 0, 0]
    assert any("outer" in note for note in table.notes)


@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("name", UGLY)
def test_ugly_data_has_finite_densities_that_integrate_to_one(name, price):
    for inference in ("population", "data"):
        table = ask({"x": np.array(UGLY[name], dtype=float)}, price, inference=inference)
        density = table.estimates["density"]
        assert (density.values >= 0).all()
        assert (density.values * 2).sum() == pytest.approx(1)
        for confidence, cells in ((0.5, 1), (0.95, 1), (0.95, 5), (0.9999, 5_000)):
            lower, upper = density.interval(confidence, cells)
            assert (lower <= density.values).all()
            assert (density.values <= upper).all()
            assert np.isfinite(upper).all()


def test_the_population_is_less_certain_than_the_data():
    data = {"x": np.random.default_rng(1).uniform(0, 10, 500)}
    width = {
        about: float(
            np.diff(ask(data, PRICES[0], inference=about).estimates["density"].interval(0.95, 1), axis=0).sum()
        )
        for about in ("population", "data")
    }
    assert width["population"] > 2 * width["data"]


def test_rows_of_one_person_are_no_sample_but_can_be_counted():
    several = frame({"x": (0, 10)}, rows_per_person=3)
    with pytest.raises(Refusal) as refused:
        METHOD.build(several, {**DEFAULTS, "column": several.numbers["x"]})
    assert refused.value.code == "rows_per_person"
    assert "inference => 'data'" in refused.value.fix
    built = METHOD.build(several, {**DEFAULTS, "column": several.numbers["x"], "inference": "data"})
    assert built.query.sensitivity().l1 == 3


def test_its_picture_names_the_column():
    assert ask({"x": np.arange(10.0)}, PRICES[0]).figure["x_title"] == "x"
