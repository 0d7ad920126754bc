"""Analysis of variance: statsmodels' table without noise, and tests that keep their level with it."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from adomnia.errors import Refusal
from adomnia.methods.models.anova import METHOD
from adomnia.methods.parts.models.regression import VarianceTable
from adomnia.privacy.events import Concentrated, Pure
from adomnia.privacy.losses import rho_of
from kit.analyses import analyse, frame
from kit.bits import SeededBits
from kit.products import Simulation

FRAME = frame({"y": (0, 1), "x": (0, 1)}, {"g": tuple("abc"), "h": tuple("uvwxy")})
PRICES = [Pure(1), Concentrated(rho_of(1, Fraction(1, 10**6)))]
VECTORS = json.loads((Path(__file__).parents[2] / "fixtures" / "vectors2.json").read_text())


def sample(n, shift, rng):
    g, h = rng.integers(0, 3, n), rng.choice(5, n, p=[0.5, 0.3, 0.1, 0.07, 0.03])
    y = np.clip(0.5 + shift * (g - 1) + rng.normal(0, 0.15, n), 0, 1)
    return {"g": g, "h": h, "x": rng.uniform(0, 1, n), "y": y}


def p_values(formula, n, price, shift, repetitions):
    """Of each term, of many data sets."""
    simulation, rng = Simulation.of(formula, FRAME, price), np.random.default_rng(n)
    terms = [column.term for column in simulation.plan.design.columns]
    ends = tuple((terms.index(k), terms.index(k) + terms.count(k)) for k in sorted(set(terms)) if k)
    tables = (VarianceTable(simulation.fit(sample(n, shift, rng), rng), ends) for _ in range(repetitions))
    return np.array([[test.p_value for test in table.tests] for table in tables], dtype=float)


@pytest.mark.parametrize("price", PRICES, ids=["epsilon", "rho"])
@pytest.mark.parametrize(("formula", "n"), [("y ~ g", 250), ("y ~ g", 1000), ("y ~ g + h + x", 10_000)])
def test_tests_keep_their_level(formula, n, price):
    """Of 200 at a level of 0.05, fewer than 24 are rejected but for 5e-5 of seeds; this one is fixed."""
    found = p_values(formula, n, price, 0.0, 600 if n < 5000 else 200)
    rejected = np.mean(found < 0.05, axis=0)
    assert np.all(rejected < (0.10 if n < 5000 else 0.12))
    assert np.all(rejected > 0.005)


@pytest.mark.soak
@pytest.mark.parametrize("price", PRICES, ids=["epsilon", "rho"])
@pytest.mark.parametrize(("formula", "n"), [("y ~ g", 250), ("y ~ g", 1000), ("y ~ g + h + x", 10_000)])
def test_tests_keep_their_level_closely(formula, n, price):
    rejected = np.mean(p_values(formula, n, price, 0.0, 4000) < 0.05, axis=0)
    assert np.all(rejected <= 0.06 + 0.005)
    assert np.all(rejected >= 0.02)


def test_a_test_that_is_blind_to_the_noise_would_not():
    simulation, rng = Simulation.of("y ~ g", FRAME, PRICES[1]), np.random.default_rng(7)
    rejected = 0
    for _ in range(300):
        fit = simulation.fit(sample(250, 0.0, rng), rng)
        values, inverse = fit.fitted[1:], fit.inverse[1:, 1:]
        rejected += chi2.sf(values @ np.linalg.solve(fit.variance * inverse, values), 2) < 0.05
    assert rejected > 60  # a fifth


def test_it_is_more_powerful_than_the_tests_of_the_specification():
    figures = VECTORS["anova_power_eps1_3groups_sd.15"]["shift=0.15,n=250"]
    found = [np.mean(p_values("y ~ g", 250, price, 0.15, 200) < 0.05) for price in PRICES]
    assert found[0] >= figures["noisy_sums_laplace_pure"]
    assert found[1] >= figures["noisy_sums_gauss_1e-6"]


@pytest.mark.parametrize("price", [Pure(300), Concentrated(3000)], ids=["epsilon", "rho"])
def test_with_next_to_no_noise_it_is_the_table_of_statsmodels(price):
    import statsmodels.formula.api as smf
    from statsmodels.stats.anova import anova_lm

    data = sample(2000, 0.03, np.random.default_rng(9))
    data = {
        **data,
        "g": np.array(list("abc"), dtype=object)[data["g"]],
        "h": np.array(list("uvwxy"), object)[data["h"]],
    }
    expected = anova_lm(smf.ols("y ~ g + x + h", pd.DataFrame(data)).fit())
    analysis = METHOD.build(FRAME, {"formula": "y ~ g + x + h", "by": ()})
    table = analyse(analysis.specialize_for(price), price, data, SeededBits("exact"))
    assert table.labels["term"] == ("g", "x", "h", "Residuals")
    order = ["g", "x", "h", "Residual"]
    assert table.facts["df"]() == pytest.approx(expected["df"][order].to_list(), abs=3)
    assert table.facts["sum_of_squares"]() == pytest.approx(expected["sum_sq"][order].to_list(), rel=0.1, abs=0.05)
    assert table.facts["f"]()[:3] == pytest.approx(expected["F"][order[:3]].to_list(), rel=0.1, abs=0.3)
    assert table.facts["f"]()[3] is None


@pytest.mark.parametrize("n", [0, 1, 2, 50])
def test_it_says_finite_things_of_few_rows(n):
    rng = np.random.default_rng(n)
    data = {"y": rng.uniform(0, 1, n), "g": rng.choice(list("abc"), n).astype(object)}
    analysis = METHOD.build(FRAME, {"formula": "y ~ g", "by": ()})
    for price in PRICES:
        table = analyse(analysis.specialize_for(price), price, data, SeededBits(f"few {n}"))
        assert all(fact is None or np.isfinite(fact) for column in table.facts.values() for fact in column())


def test_several_rows_of_a_person_are_refused():
    several = frame({"y": (0, 1)}, {"g": ("a", "b")}, rows_per_person=2)
    with pytest.raises(Refusal, match="one row a person"):
        METHOD.build(several, {"formula": "y ~ g", "by": ()})
