"""Fits from noisy sums: known answers, coverage in every family, and finite figures on any data."""

from fractions import Fraction

import numpy as np
import pytest

from adomnia.errors import Refusal
from adomnia.methods.contract import BadArgument
from adomnia.methods.likelihood.fit_family import METHOD
from adomnia.methods.parts.likelihood.families import FAMILIES
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.losses import rho_of
from kit.analyses import analyse, frame
from kit.bits import SeededBits
from kit.fitting import observe

FRAME = frame(
    {"x": (0, 100), "z": (-50, 150), "k": (0, 20), "b": (0, 1), "debt": (-9, 0), "one": (3, 3)},
    {"city": ("A", "B")},
    whole=("k", "b", "one"),
)
PRICES = {"epsilon": Pure(Fraction(1)), "rho": Concentrated(rho_of(1, 1e-6))}
# The column, the true parameters, and how values are drawn.
CASES = {
    "normal": ("z", (50.0, 15.0), lambda g, n: g.normal(50, 15, n)),
    "lognormal": ("x", (2.5, 0.5), lambda g, n: g.lognormal(2.5, 0.5, n)),
    "gamma": ("x", (2.0, 7.0), lambda g, n: g.gamma(2.0, 7.0, n)),
    "exponential": ("x", (0.1,), lambda g, n: g.exponential(10, n)),
    "poisson": ("k", (4.0,), lambda g, n: g.poisson(4, n).astype(float)),
    "geometric": ("k", (0.4,), lambda g, n: g.geometric(0.4, n) - 1.0),
    "bernoulli": ("b", (0.1,), lambda g, n: (g.random(n) < 0.1) * 1.0),
}

every_family = pytest.mark.parametrize("family", FAMILIES)
every_price = pytest.mark.parametrize("price", PRICES.values(), ids=PRICES)


def ask(family, data, price=PRICES["epsilon"], seed="fit", **arguments):
    column = arguments.pop("column", CASES[family][0])
    build = {"column": FRAME.numbers[column], "family": family, "by": (), **arguments}
    return analyse(METHOD.build(FRAME, build), price, data, SeededBits(seed))


def draw(family, n, seed):
    column, _, drawn = CASES[family]
    return {column: drawn(np.random.default_rng(seed), n)}


def covering(family, price, n, times):
    truth, covered = np.array(CASES[family][1]), []
    for place in range(times):
        table = ask(family, draw(family, n, (n, place)), price, f"{family} {n} {place}")
        lower, upper = table.estimates["estimate"].interval(0.95, 1)
        covered.append((lower <= truth) & (truth <= upper))
    return np.mean(covered, axis=0)


@every_family
@every_price
def test_intervals_cover_the_parameters(family, price):
    """Of 14 intervals that cover in 95% of cases, 8 miss in one of 8 * 10**6 runs."""
    assert (covering(family, price, 400, 14) > 0.43).all()


@pytest.mark.soak
@every_family
@pytest.mark.parametrize("epsilon", ["0.2", "2"])
@pytest.mark.parametrize("n", [200, 2_000, 20_000])
def test_intervals_cover_in_many_tables(family, epsilon, n):
    found = covering(family, Pure(Fraction(epsilon)), n, 1_000)
    assert (found >= 0.92).all()
    # The shape of a gamma distribution that nearly all noise hides: its interval is half of all numbers.
    assert (found <= (0.999 if (family, epsilon, n) == ("gamma", "0.2", 200) else 0.985)).all()


@every_family
def test_next_to_exact_sums_give_the_estimate_of_most_likelihood(family):
    data = draw(family, 500, 3)
    exact = 100 if FAMILIES[family].whole else 10**6  # there is no less noise than of scale 1 / 100
    table = ask(family, data, Pure(Fraction(exact)))
    values = next(iter(data.values()))
    known = FAMILIES[family].estimate(observe(FAMILIES[family], values).mean(axis=0))
    assert table.labels["term"] == FAMILIES[family].terms
    assert table.estimates["estimate"].values == pytest.approx(known, rel=2e-3)
    assert table.facts["efficiency"]() == pytest.approx([1.0] * len(known), abs=1e-3)


@every_family
def test_standard_errors_are_the_spread_of_many_estimates(family):
    """The spread of 100 estimates is known to 7%; two thirds or one and a half of it is never seen by chance."""
    tables = [ask(family, draw(family, 3_000, (9, place)), seed=f"{family} {place}") for place in range(100)]
    spread = np.std([table.estimates["estimate"].values for table in tables], axis=0)
    stated = np.median([table.facts["standard_error"]() for table in tables], axis=0)
    assert (np.abs(np.log(stated / spread)) < 0.4).all()


def test_noise_makes_an_estimate_less_efficient():
    data = draw("exponential", 2_000, 5)
    dear, cheap = (ask("exponential", data, Pure(Fraction(each))).facts["efficiency"]()[0] for each in ("2", "0.1"))
    assert 0 < cheap < 0.5 < dear < 1


@pytest.mark.parametrize("family", ["lognormal", "gamma"])
def test_zeros_are_left_out_and_counted(family):
    values = draw(family, 20_000, 1)["x"]
    with_zeros = ask(family, {"x": np.concatenate([values, np.zeros(5_000)])})
    without = ask(family, {"x": values})
    assert with_zeros.estimates["estimate"].values == pytest.approx(without.estimates["estimate"].values, rel=0.05)
    (note,) = [each for each in with_zeros.notes if "left out" in each]
    assert abs(int(note.split()[1].replace(",", "")) - 5_000) < 100


def test_values_beyond_the_bounds_are_told():
    inside = ask("normal", {"z": np.random.default_rng(1).normal(50, 10, 5_000)})
    beyond = ask("normal", {"z": np.random.default_rng(1).normal(50, 80, 5_000)})
    assert any("next to none" in note for note in inside.notes)
    assert any("biased" in note for note in beyond.notes)


@every_family
@every_price
@pytest.mark.parametrize(
    "x",
    [[], [1.0], [0.0] * 500, [1.0] * 500, [1e300, -1e300] * 99, [np.nan] * 20, [-50.0, 150.0] * 300],
    ids=["nobody", "one", "zeros", "constant", "far", "missing", "at the bounds"],
)
def test_ugly_data_has_no_reply_or_finite_figures(x, price, family):
    table = ask(family, {CASES[family][0]: np.array(x, dtype=float)}, price)
    values = table.estimates["estimate"].values
    silent = bool(np.isnan(values).all())
    assert silent or np.isfinite(values).all()
    lower, upper = table.estimates["estimate"].interval(0.95, 1)
    assert not np.isnan([lower, upper]).any()
    assert silent or ((lower <= values) & (values <= upper)).all()
    assert silent == any(note.startswith("Not estimable") for note in table.notes)
    assert all((None in fact()) == silent for fact in table.facts.values())


def test_a_spread_that_noise_hides_is_told():
    table = ask("normal", {"z": np.full(400, 50.0)}, Pure(Fraction(1, 5)))
    assert any("hides" in note for note in table.notes)
    assert 0 < table.estimates["estimate"].values[1] < 100


def test_it_is_repeated_for_groups():
    data = {**draw("poisson", 4_000, 2), "city": np.array(["A", "B"] * 2_000, dtype=object)}
    table = ask("poisson", data, by=(FRAME.factors["city"],))
    assert table.labels["city"] == ("A", "B")


@pytest.mark.parametrize(
    ("family", "column"),
    [
        ("bernoulli", "k"),
        ("poisson", "x"),
        ("geometric", "z"),
        ("exponential", "z"),
        ("gamma", "debt"),
        ("normal", "one"),
    ],
)
def test_columns_that_the_family_has_no_values_in_are_refused(family, column):
    with pytest.raises(BadArgument):
        METHOD.build(FRAME, {"column": FRAME.numbers[column], "family": family, "by": ()})


def test_several_rows_of_a_person_are_refused():
    rows = frame({"x": (0, 1)}, rows_per_person=2)
    with pytest.raises(Refusal) as refused:
        METHOD.build(rows, {"column": rows.numbers["x"], "family": "normal", "by": ()})
    assert refused.value.code == "rows_per_person"
