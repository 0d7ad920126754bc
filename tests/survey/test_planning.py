"""Plans: the least epsilon for an error, the least error for an epsilon, and the price of trusting nobody."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import pytest

from adomnia.errors import Refusal
from adomnia.survey import HadamardResponse, KaryResponse, SubsetSelection, Warner, expect_error, plan, simulate
from adomnia.survey.planning import worst_variance
from adomnia.survey.simulation import central_error


@pytest.mark.parametrize("inference", ["data", "population"])
@pytest.mark.parametrize(("categories", "people", "error"), [(2, 10_000, 0.02), (5, 50_000, 0.02), (50, 10**6, 0.01)])
def test_the_planned_epsilon_reaches_the_error_and_a_smaller_one_does_not(categories, people, error, inference):
    found = plan(categories, people, error=error, inference=inference)
    assert found.error <= error
    cheaper = plan(categories, people, epsilon=found.epsilon - Fraction(2, 1000), inference=inference)
    assert cheaper.error > error


def test_an_epsilon_and_its_error_are_each_other_s_reverse():
    found = plan(3, 5000, epsilon=1)
    again = plan(3, 5000, error=found.error * 1.0001)
    assert float(again.epsilon) == pytest.approx(1, abs=0.002)


def test_the_best_design_has_the_least_worst_variance_also_where_nothing_can_be_learned():
    for people in (1, 10_000):
        found = plan(20, people, epsilon=1)
        variances = [worst_variance(design, "data") for design, _ in found.others]
        assert variances == sorted(variances)
        assert found.design == found.others[0][0]
    assert plan(20, 100, epsilon=1).design.name == "subset"
    assert plan(2, 100, epsilon=1).design.name == "warner"


def test_what_no_epsilon_can_reach_is_refused():
    with pytest.raises(Refusal, match="ask more people"):
        plan(2, 100, error=0.001, inference="population")


@pytest.mark.parametrize(
    "wrong",
    [
        {"people": 0, "error": 0.1},
        {"people": 10},
        {"people": 10, "error": 0.1, "epsilon": 1},
        {"people": 10, "error": 2.0},
        {"people": 10, "epsilon": 1, "confidence": 1.0},
        {"people": 10, "epsilon": 1, "inference": "all"},
        {"people": 10, "epsilon": 0},
    ],
)
def test_wrong_plans_are_refused(wrong):
    with pytest.raises(ValueError, match=r"must be|needs either"):
        plan(2, **wrong)


def test_the_expected_error_is_that_of_the_variance():
    design = Warner(Fraction(2, 3))
    assert expect_error(design, 1000) == pytest.approx(1.96 * sqrt(2000) / 1000, rel=1e-3)
    assert expect_error(design, 1) == 1.0


def test_a_simulation_is_as_far_off_as_the_formula_says_and_comes_out_the_same_again():
    design = KaryResponse.for_epsilon(4, 1)
    found = simulate(design, [0.7, 0.2, 0.1, 0], 3001)
    assert sum(found.counts) == 3001
    assert found == simulate(design, [0.7, 0.2, 0.1, 0], 3001)
    for error, expected in zip(found.errors, found.expected, strict=True):
        assert error == pytest.approx(expected, rel=0.12)  # 1000 repeats: five deviations of their root mean square
    assert min(found.covered) > 0.8


def test_the_error_grows_like_the_root_of_the_people_and_the_database_s_does_not():
    design = Warner.for_epsilon(2, 1)
    small, large = (simulate(design, [0.3, 0.7], people, repeats=10) for people in (1000, 100_000))
    assert large.expected[0] / small.expected[0] == pytest.approx(10)
    assert large.central == small.central
    assert large.price / small.price == pytest.approx(10)


def test_the_database_s_error_allows_for_replacing_an_answer():
    assert central_error(Warner(Fraction(2, 3))) == pytest.approx(2)
    assert central_error(HadamardResponse(3, Fraction(2))) == pytest.approx(sqrt(2 * sqrt(0.5)) / (1 - sqrt(0.5)))


@pytest.mark.parametrize(
    ("shares", "people", "repeats"),
    [([1.0], 10, 1), ([0.5, -0.1], 10, 1), ([0, 0], 10, 1), ([1, 1], 0, 1), ([1, 1], 10, 0), ([1, float("nan")], 1, 1)],
)
def test_wrong_simulations_are_refused(shares, people, repeats):
    with pytest.raises(ValueError, match="simulate"):
        simulate(Warner(Fraction(2, 3)), shares, people, repeats)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2, 3, 4, 6])
@pytest.mark.parametrize("categories", [2, 3, 5, 10, 20, 50])
def test_subsets_have_the_size_that_scatters_least_over_all_answers(categories, epsilon):
    chosen = SubsetSelection.for_epsilon(categories, epsilon)

    def total(size: int) -> Fraction:
        support = SubsetSelection(categories, chosen.odds, size).support_of(0)
        return support.variance_in_data(1, 1) + (categories - 1) * support.variance_in_data(0, 1)

    assert total(chosen.size) == min(map(total, range(1, categories)))
    assert abs(chosen.size - categories / (float(chosen.odds) + 1)) <= 1


@pytest.mark.parametrize(("categories", "epsilon"), [(5, 1), (10, 2), (20, 3), (50, 4)])
def test_no_size_of_subsets_is_better_at_the_worst_than_the_planned_one(categories, epsilon):
    found = {design.name: design for design, _ in plan(categories, 1000, epsilon=epsilon).others}["subset"]
    every = [SubsetSelection(categories, found.odds, size) for size in range(1, categories)]
    assert worst_variance(found, "data") == min(worst_variance(each, "data") for each in every)
