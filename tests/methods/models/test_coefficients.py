"""Tables of coefficients: tests and intervals agree, and silence is explained."""

import numpy as np
import pytest

from adomnia.methods.models.coefficients import RETURNS, Coefficients
from adomnia.methods.models.design import build_design
from kit.analyses import frame

DESIGN = build_design("y ~ a + b", frame({"y": (0, 1), "a": (0, 1), "b": (0, 1)}))


def tabulate(values=(1.0, 1.96, -3.0), carried=(True, True, True), inference="population"):
    found = Coefficients(DESIGN, np.array(values), np.eye(3), np.array(carried))
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


def test_a_coefficient_without_reply_is_told_and_the_others_stand():
    table = tabulate(carried=(True, False, True))
    assert np.isnan(table.estimates["estimate"].values).tolist() == [False, True, False]
    assert table.estimates["estimate"].interval(0.95, 1)[0][1] == -np.inf
    assert all(table.facts[name]()[1] is None for name in ("standard_error", "statistic", "p_value"))
    assert any("No reply for a:" in note for note in table.notes)
    assert table.model["coefficients"] == [1.0, None, -3.0]
    assert table.model["covariance"][1][1] == 0


def test_it_says_what_intervals_are_about():
    assert any("population" in note for note in tabulate().notes)
    assert any("data itself" in note for note in tabulate(inference="data").notes)
