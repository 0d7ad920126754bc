"""What a catalog promises is said in sentences whose numbers are derived."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import pytest

from adomnia.explaining.promises import (
    Coalition,
    coalitions,
    describe_coalition,
    format_factor,
    format_probability,
    promises,
)
from adomnia.privacy.events import Approximate, Concentrated, Pure
from adomnia.privacy.filters import Filter
from adomnia.privacy.losses import epsilon_of
from catalog.catalogs import CLINIC, changed, reading


def says(tmp_path, text=CLINIC):
    return {promise.about: promise for promise in promises(reading(tmp_path, text))}


def test_the_unit_comes_first_and_the_coalitions_last(tmp_path):
    said = list(says(tmp_path))
    assert said[0] == "unit"
    assert said[-1] == "coalitions"


@pytest.mark.parametrize(
    ("about", "sentence"),
    [
        ("people", "A person counts with at most 1 row, and moves COUNT(*) by at most 1."),
        ("people.age", "Clamped to 0 to 120, steps of 1: one person moves SUM by at most 120."),
        ("people.salary", "Clamped to 0 to 500,000, steps of 0.25: one person moves SUM by at most 500,000."),
        ("people.city", "May group: all 2 declared values come back."),
        ("people.smoker", "May group: all 2 declared values come back."),
        ("visits", "A person counts with at most 10 rows, and moves COUNT(*) by at most 10."),
        ("visits.cost", "Has no bounds, so it cannot be summed; add them."),
        ("cities", "Public: about nobody, read exactly, at no price."),
        ("alice", "May spend at most epsilon 2 and delta 0: in pure epsilon (Laplace noise)."),
    ],
)
def test_every_table_column_and_analyst_has_its_sentence(tmp_path, about, sentence):
    assert says(tmp_path)[about].says == sentence


def test_what_is_read_as_another_value_is_told_to_the_owner(tmp_path):
    text = changed('values = ["B", "A"]', 'values = ["B", "A"], others = "Else"')
    said = "May group: all 3 declared values come back. Values that are not listed are read as Else."
    assert says(tmp_path, text)["items.ward"].says == said


def test_columns_that_promise_nothing_are_not_mentioned(tmp_path):
    assert {"people.person_id", "people.name", "people.born", "cities.city"}.isdisjoint(says(tmp_path))


def test_a_sum_moves_by_the_larger_bound_times_the_rows(tmp_path):
    text = changed("cost = { type", "cost = { lower = -300, upper = 100, step = 0.5, type")
    assert says(tmp_path, text)["visits.cost"].says.endswith("steps of 0.5: one person moves SUM by at most 3,000.")


def test_a_budget_that_takes_gaussian_noise_says_how_much(tmp_path):
    assert says(tmp_path)["budget"].says == (
        "All answers together cost at most epsilon 10 and delta 0.000001: in epsilon (Laplace noise), "
        "or in rho up to 1.47844 in all (Gaussian noise)."
    )
    pure = changed("delta = 1e-6\napproximate = true\n", "")
    assert says(tmp_path, pure)["budget"].says == (
        "All answers together cost at most epsilon 10 and delta 0: in pure epsilon (Laplace noise)."
    )
    searches = changed("delta = 1e-6\napproximate = true\n", "delta = 1e-6\napproximate = true\nevent_delta = 1e-6\n")
    assert says(tmp_path, searches)["budget"].says == (
        "All answers together cost at most epsilon 10 and delta 0.000001: in epsilon (Laplace noise)."
    )


@pytest.mark.parametrize("epsilon", [1, 3, 3.5, 10])
def test_a_large_budget_is_warned_about_with_what_it_means_to_a_person(tmp_path, epsilon):
    promise = says(tmp_path, CLINIC.replace("epsilon = 10.0", f"epsilon = {epsilon}")).get("large budget")
    if epsilon <= 3:
        assert promise is None
    else:
        after = {3.5: "25.1 in 100", 10: "99.55 in 100"}[epsilon]
        assert promise.warning
        assert promise.says == (
            f"Epsilon {epsilon} is large: someone who gives 1 in 100 that you are in the data can give {after} after "
            "all answers; with epsilon 1 it were 2.67 in 100."
        )


def analysts(*budgets):
    sections = [
        f"[analysts.a{n}]\nepsilon = {epsilon}\ndelta = {delta}\n" for n, (epsilon, delta) in enumerate(budgets)
    ]
    return changed("[analysts.alice]\nepsilon = 2.0\n", "".join(sections))


@pytest.mark.parametrize("budgets", [[(10, 0)], [(5, 0), (5, 0)], [(1, 5e-7), (0.5, 5e-7)]])
def test_budgets_that_fit_together_are_said_to_be_safe(tmp_path, budgets):
    promise = says(tmp_path, analysts(*budgets))["coalitions"]
    assert promise.says.endswith("within the dataset's: nobody can use up what another was given.")
    assert not promise.warning


@pytest.mark.parametrize("budgets", [[(5, 0), (5.000001, 0)], [(1, 6e-7), (1, 6e-7)], [(11, 0)]])
def test_budgets_that_add_up_to_more_than_the_dataset_has_are_warned_of(tmp_path, budgets):
    promise = says(tmp_path, analysts(*budgets))["coalitions"]
    assert promise.says.endswith("more than the dataset has: some analysts can use up what others were given.")
    assert promise.warning


@pytest.mark.parametrize("budgets", [[(2, 0), (2, 5e-7)], [(4, 5e-7), (4, 5e-7)]])
def test_budgets_that_fit_only_while_all_pay_alike_are_said_to(tmp_path, budgets):
    promise = says(tmp_path, analysts(*budgets))["coalitions"]
    assert "But once anybody has spent rho" in promise.says
    assert not promise.warning


PROFILED = ("rows_per_person = 10", "rows_per_person = { max = 200, epsilon = 0.05 }")


def test_a_profile_says_what_it_costs_and_from_whose_budget(tmp_path):
    found = [promise.says for promise in promises(reading(tmp_path, changed(*PROFILED))) if promise.about == "visits"]
    assert found == [
        "A person counts with at most 200 rows, and moves COUNT(*) by at most 200.",
        (
            "Each question takes the cap that suits its price, by a profile of how many rows people have: "
            "for epsilon 0.05 of the dataset's budget, once for each version."
        ),
    ]


@pytest.mark.parametrize(("epsilon", "warning"), [(9.95, False), (9.96, True)])
def test_profiles_count_in_what_analysts_may_use_up(tmp_path, epsilon, warning):
    promise = says(tmp_path, analysts((epsilon, 0)).replace(*PROFILED))["coalitions"]
    assert promise.says.startswith("Personal budgets and profiles add up to epsilon 10")
    assert promise.warning is warning


def test_profiles_count_in_the_rho_that_analysts_may_use_up(tmp_path):
    # 1.3 is 1.612**2 / 2 and the dataset has 1.478 of rho: a profile of 0.5 still fits with its 0.125, one of 0.6 not.
    budgets = analysts((1.612, 5e-7))
    for epsilon, fits in [(0.5, True), (0.6, False)]:
        text = budgets.replace("rows_per_person = 10", f"rows_per_person = {{ max = 200, epsilon = {epsilon} }}")
        assert ("But once anybody" not in says(tmp_path, text)["coalitions"].says) is fits


def test_an_event_delta_that_is_too_small_for_the_analysts_is_noticed(tmp_path):
    text = analysts((1, 5e-7), (0.5, 5e-7)).replace("approximate = true", "approximate = true\nevent_delta = 1e-7")
    assert "But once anybody has spent rho" in says(tmp_path, text)["coalitions"].says


def spent_in_full(budget):
    """The dearest ways to use up a personal budget: one pure spend, or all its rho and delta."""
    yield [Pure(budget.epsilon)]
    if budget.rho:
        yield [Concentrated(budget.rho, budget.event_delta)]


def test_safe_budgets_can_all_be_spent_in_full_and_the_others_cannot(tmp_path):
    for budgets, safe in [([(5, 0), (5, 0)], True), ([(1, 5e-7), (0.5, 5e-7)], True), ([(2, 0), (2, 5e-7)], False)]:
        catalog = reading(tmp_path, analysts(*budgets))
        first, last = (analyst.budget for analyst in (catalog.analysts[0], catalog.analysts[-1]))
        outcomes = set()
        for early in spent_in_full(last):
            for late in spent_in_full(first):
                spending = Filter(catalog.budget)
                admitted = [
                    spending.admits(event) and bool(spending := spending.after(event)) for event in [*early, *late]
                ]
                outcomes.add(all(admitted))
        assert outcomes == ({True} if safe else {True, False})
    assert not Filter(catalog.budget).admits(Approximate(11, 1e-9))


def told(tmp_path, about, text=CLINIC):
    return [promise.says for promise in promises(reading(tmp_path, text)) if promise.about == about]


@pytest.mark.parametrize(
    ("lines", "sentences"),
    [
        ("", []),
        ("ceiling = 0.5", ["No question costs more than epsilon 0.5."]),
        (
            'policy = "equal_split"\nquestions = 3000',
            ["The policy equal_split sets the price: epsilon 0.000666666 for each of 3,000 questions."],
        ),
        (
            'policy = "equal_split"\nquestions = 2\nceiling = 0.25',
            [
                "The policy equal_split sets the price: epsilon 0.25 for each of 2 questions.",
                "No question costs more than epsilon 0.25.",
            ],
        ),
        (
            'policy = "geometric"\nkeep = 0.9',
            [
                (
                    "The policy geometric sets the price: epsilon 0.2 for the first question, "
                    "and 10% of what is left for each further one."
                )
            ],
        ),
    ],
)
def test_a_policy_is_told_below_the_budget_it_is_about(tmp_path, lines, sentences):
    text = changed("epsilon = 2.0\n", f"epsilon = 2.0\n{lines}\n")
    assert told(tmp_path, "alice", text)[1:] == sentences
    assert not says(tmp_path, text)["alice"].warning


@pytest.mark.parametrize("lines", ["ceiling = 1e-13", 'policy = "geometric"\nspend = 1e-13'])
def test_a_policy_under_which_nothing_can_be_asked_is_warned_of(tmp_path, lines):
    promise = says(tmp_path, changed("epsilon = 2.0\n", f"epsilon = 2.0\n{lines}\n"))["alice"]
    assert promise.says == "No question can be asked: prices below 1e-12 are none."
    assert promise.warning


def test_a_coalition_may_spend_the_largest_budgets_of_its_size_and_never_more_than_the_dataset_has(tmp_path):
    catalog = reading(tmp_path, analysts((1, 6e-7), (4, 0), (3, 5e-7), (5, 0)))
    assert coalitions(catalog) == [
        Coalition(1, Fraction(5), Fraction(6, 10**7)),
        Coalition(2, Fraction(9), Fraction(1, 10**6)),
        Coalition(3, Fraction(10), Fraction(1, 10**6)),
        Coalition(4, Fraction(10), Fraction(1, 10**6)),
    ]


def test_what_was_published_counts_for_every_coalition(tmp_path):
    catalog = reading(tmp_path, analysts((1, 0), (4, 0)))
    assert coalitions(catalog, [Pure(2), Pure(1)]) == [
        Coalition(1, Fraction(7), Fraction(0)),
        Coalition(2, Fraction(8), Fraction(0)),
    ]
    in_rho = coalitions(catalog, [Concentrated(0.01)])[0]
    assert in_rho.epsilon == 4 + epsilon_of(0.01, catalog.budget.delta)
    assert in_rho.delta == catalog.budget.delta


@pytest.mark.parametrize(
    ("releases", "warns", "told"),
    [
        ([], False, "Personal budgets add up to epsilon 5 and delta 0, within"),
        ([Pure(2), Pure(3)], False, "Personal budgets and releases so far add up to epsilon 10 and delta 0, within"),
        ([Pure(2), Pure(3.01)], True, "add up to epsilon 10.01 and delta 0, more than the dataset has"),
        ([Concentrated(0.01)], True, "more than the dataset has"),  # of rho, two pure epsilons of 1 and 4 are 8.5
    ],
)
def test_releases_so_far_are_in_the_sum_of_what_analysts_were_given(tmp_path, releases, warns, told):
    promise = describe_coalition(reading(tmp_path, analysts((1, 0), (4, 0))), releases)
    assert promise.warning is warns
    assert told in promise.says


def test_the_sum_in_rho_is_the_one_that_the_dataset_is_held_to(tmp_path):
    catalog = reading(tmp_path, analysts((0.5, 0), (0.5, 0)))
    rest = catalog.budget.rho - Fraction(1, 4)
    assert not describe_coalition(catalog, [Concentrated(rest)]).warning
    assert describe_coalition(catalog, [Concentrated(rest + Fraction(1, 10**6))]).warning


def test_who_may_publish_can_spend_all_that_the_dataset_has(tmp_path):
    text = analysts((1, 0), (4, 0)).replace("epsilon = 4", "epsilon = 4\npublish = true", 1)
    catalog = reading(tmp_path, text)
    publisher = next(each.name for each in catalog.analysts if each.publish)
    assert {one.epsilon for one in coalitions(catalog)} == {catalog.budget.epsilon}
    said = says(tmp_path, text)
    assert f"But {publisher} may publish releases" in said["coalitions"].says
    own = [promise.says for promise in promises(catalog) if promise.about == publisher]
    assert "May publish releases, which the dataset's budget alone pays for: up to all of it." in own


def test_coalitions_are_told_for_some_sizes_and_for_all(tmp_path):
    said = says(tmp_path, analysts(*[(0.5, 0)] * 23))
    told = [about for about in said if about.startswith("any ")]
    assert told == ["any analyst", *(f"any {size} analysts" for size in (2, 5, 10, 20, 23))]
    assert said["any analyst"].says == "May spend at most epsilon 0.5 and delta 0: 5% of the dataset's epsilon."
    assert said["any 5 analysts"].says == (
        "Together may spend at most epsilon 2.5 and delta 0: 25% of the dataset's epsilon."
    )
    assert said["any 23 analysts"].says == (
        "Together may spend at most epsilon 10 and delta 0: 100% of the dataset's epsilon."
    )


def test_budgets_are_told_as_what_somebody_may_come_to_believe(tmp_path):
    pure = changed("delta = 1e-6\napproximate = true\n", "").replace("epsilon = 10.0", "epsilon = 3.0")
    all_answers, one_analyst = told(tmp_path, "meaning", pure)
    assert all_answers == (
        "After all answers in pure epsilon, a guess of 1 in 100 that you are in the data can become at most "
        "16.9 in 100, and one of 50 in 100 at most 95.3 in 100: odds grow at most 20.1 times."
    )
    assert one_analyst == (
        "After all that any one analyst gets in pure epsilon, a guess of 1 in 100 that you are in the data can "
        "become at most 6.95 in 100, and one of 50 in 100 at most 88.1 in 100: odds grow at most 7.39 times."
    )
    assert told(tmp_path, "meaning", pure.replace("epsilon = 2.0", "epsilon = 3.0"))[1:] == []
    assert told(tmp_path, "meaning")[2:] == [
        (
            "After all answers in rho, a test that names 1 in 100 of the people who are not in the data "
            "names at most 42.1 in 100 of those who are."
        )
    ]


def test_budgets_are_told_for_a_household(tmp_path):
    in_epsilon = (
        "All answers in pure epsilon are epsilon 40 for the household as a whole, "
        "those of any one analyst at most epsilon 8."
    )
    pure = changed("delta = 1e-6\napproximate = true\n", "")
    assert told(tmp_path, "household of 4", pure) == [in_epsilon]
    assert told(tmp_path, "household of 4") == [
        in_epsilon,
        "All answers with Gaussian noise alone are epsilon 59.1379 and delta 5e-7 for the household as a whole.",
    ]


@pytest.mark.parametrize(
    ("probability", "shown"),
    [
        (0, "0"),
        (0.01, "1"),
        (0.07, "7"),
        (0.026731, "2.67"),
        (0.99, "99"),
        (0.9955, "99.55"),
        (0.9999546, "99.9955"),
        (1 - 1.2e-9, "99.99999988"),
        (1, "100"),
    ],
)
def test_a_probability_that_is_nearly_certain_is_not_shown_as_certain(probability, shown):
    assert format_probability(probability) == f"{shown} in 100"


@pytest.mark.parametrize(
    ("factor", "shown"), [(1.105, "1.1"), (999.4, "999"), (22026.5, "22,026"), (1e12, "1e+12"), (inf, "any number of")]
)
def test_a_factor_is_shown_short(factor, shown):
    assert format_factor(factor) == f"{shown} times"


SHARED = """
[ledger]
url = "postgresql://adomnia@db.example.org/ledgers"
lifetime = "people of the town"
[lifetime]
epsilon = {}
"""


@pytest.mark.parametrize(("epsilon", "less"), [("1.5", True), ("40", False)])
def test_a_shared_account_is_promised_with_what_it_means(tmp_path, epsilon, less):
    said = [promise.says for promise in promises(reading(tmp_path, CLINIC + SHARED.format(epsilon)))]
    assert any(f'names "people of the town", together cost at most epsilon {epsilon} and' in each for each in said)
    assert any(each.startswith("After all answers of all of them in pure epsilon") for each in said)
    assert any("which so is never all spent" in each for each in said) is less
