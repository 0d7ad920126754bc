"""Tables of coefficients: tests and intervals agree, and silence is explained."""

import numpy as np
import pytest

from adomnia.methods.parts.models.coefficients import RETURNS, Coefficients, exponentiate_table
from adomnia.methods.parts.models.design import build_design
from kit.analyses import frame

DESIGN = build_design("y ~ a + b", frame({"y": (0, 1), "a": (0, 1), "b": (0, 1)}))


def tabulate(values=(1.0, 1.96, -3.0), identified=(True, True, True), inference="population"):
    found = Coefficients(DESIGN, np.array(values), np.eye(3), np.array(identified))
    return found.tabulate("logit", inference, ("first",))


def test_a_p_value_of_five_percent_is_an_interval_that_ends_at_zero():
    table = tabulate()
    lower, _ = table.estimates["estimate"].interval(0.95, 1)
    assert table.facts["p_value"]()[1] == pytest.approx(0.05, abs=1e-4)
    assert lower[1] == pytest.approx(0, abs=1e-3)
    assert (*table.labels, *table.estimates, *table.facts) == tuple(RETURNS)


def test_intervals_that_hold_at_once_are_wider():
    one, many = (tabulate().estimates["estimate"].interval(0.95, cells)[1][0] for cells in (1, 10))
    assert many == pytest.approx(1 + 2.807, abs=1e-3)
    assert one < many


def test_a_coefficient_that_is_not_estimable_is_told_and_the_others_stand():
    table = tabulate(identified=(True, False, True))
    assert np.isnan(table.estimates["estimate"].values).tolist() == [False, True, False]
    assert table.estimates["estimate"].interval(0.95, 1)[0][1] == -np.inf
    assert all(table.facts[name]()[1] is None for name in ("standard_error", "statistic", "p_value"))
    assert any("Not estimable: a." in note for note in table.notes)
    assert table.model["coefficients"] == [1.0, None, -3.0]
    assert table.model["covariance"][1][1] == 0


def test_it_says_what_intervals_are_about():
    assert any("population" in note for note in tabulate().notes)
    assert any("data itself" in note for note in tabulate(inference="data").notes)


def test_a_ratio_is_exp_of_the_estimate_and_of_the_ends_of_its_interval():
    found = Coefficients(DESIGN, np.array([1.0, -800.0, 900.0]), np.diag([1.0, 1.0, 1e6]), np.array([True, True, True]))
    plain = found.tabulate("logit", "population", ())
    table = exponentiate_table(plain)
    assert (*table.labels, *table.estimates, *table.facts) == tuple(RETURNS)
    assert table.notes[-1].startswith("Estimates are odds ratios")
    assert table.facts["standard_error"]() == plain.facts["standard_error"]()
    ratio, estimate = table.estimates["estimate"], plain.estimates["estimate"]
    assert ratio.values[0] == pytest.approx(np.e)
    assert np.all(np.isfinite(ratio.values))  # those of 900 are beyond doubles
    for cells in (1, 3):
        (lower, upper), (low, high) = ratio.interval(0.9, cells), estimate.interval(0.9, cells)
        assert (lower[0], upper[0]) == pytest.approx((np.exp(low[0]), np.exp(high[0])))
        assert upper[2] == np.inf
        assert np.all(lower <= ratio.values)
        assert np.all(ratio.values <= upper)


def test_a_ratio_that_is_not_estimable_can_be_anything():
    found = Coefficients(DESIGN, np.array([1.0, 2.0, 3.0]), np.eye(3), np.array([True, False, True]))
    ratio = exponentiate_table(found.tabulate("poisson", "population", ())).estimates["estimate"]
    assert np.isnan(ratio.values).tolist() == [False, True, False]
    assert [end[1] for end in ratio.interval(0.95, 1)] == [0.0, np.inf]


def test_the_wald_test_of_all_terms_leaves_the_intercept_out_and_knows_how_errors_go_together():
    together = np.array([[1.0, 0.9, 0.9], [0.9, 1.0, 0.5], [0.9, 0.5, 1.0]])
    found = Coefficients(DESIGN, np.array([50.0, 1.0, -2.0]), together, np.array([True] * 3))
    square, freedom, p_value = found.wald
    assert square == pytest.approx(np.array([1, -2]) @ np.linalg.solve(together[1:, 1:], [1, -2]))
    assert (freedom, p_value) == (2, pytest.approx(np.exp(-square / 2)))
    notes = found.tabulate("logit", "population", ()).notes
    assert any("chi-square 9.333 on 2 degrees of freedom" in note for note in notes)
    assert found.tabulate("logit", "population", ()).model["wald"]["df"] == 2
    assert "wald" not in found.tabulate("logit", "data", ()).model
    assert not any("Wald" in note for note in found.tabulate("logit", "data", ()).notes)


@pytest.mark.parametrize("covariance", [np.ones((3, 3)), np.eye(3)], ids=["errors not told apart", "one not carried"])
def test_there_is_no_test_of_all_terms_where_one_is_not_told(covariance):
    assert Coefficients(DESIGN, np.ones(3), covariance, np.array([True, True, covariance[0, 1] == 1])).wald is None


def test_of_an_intercept_alone_there_is_no_test_of_all_terms():
    alone = build_design("y ~ 1", frame({"y": (0, 1)}))
    assert Coefficients(alone, np.ones(1), np.eye(1), np.array([True])).wald is None
