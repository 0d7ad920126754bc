"""A budget of (1, 1e-6) from the first question to the last: what it admits, and what it says before and after."""

from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.errors import Refusal
from kit.hospital import CATALOG, curated, declare, person

SMALL = (
    CATALOG.replace("epsilon = 1_000_000\n", "epsilon = 1\n")
    .replace("[analysts.alice]\nepsilon = 100_000\n", "[analysts.alice]\nepsilon = 1\ndelta = 1e-6\n")
    .replace("[analysts.bob]\nepsilon = 100_000\n", "[analysts.bob]\nepsilon = 1\n")
)
PEOPLE = [person(number, eye_color="brown", age=30.0) for number in range(300)]
EYES = "SELECT eye_color, COUNT(*) AS n FROM people GROUP BY eye_color"
SEARCH = {"epsilon": 0.1, "delta": 1e-7}
AGED = "SELECT COUNT(*) AS n FROM people WHERE age > {}"


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return declare(tmp_path_factory.mktemp("accounts") / "hospital", SMALL)


@pytest.fixture
def alice(catalog):
    with curated(catalog, PEOPLE, []) as curator:
        yield curator.session("alice")


def test_after_one_search_for_keys_the_rest_of_epsilon_pays_for_counts(alice):
    assert alice.price(EYES, **SEARCH).warnings == ()
    assert alice.sql(EYES, **SEARCH)["eye_color"] in ([], ["brown"])
    for least in (20, 40, 60):
        alice.sql(AGED.format(least), epsilon=0.3)
    assert alice.budget().personal.spent_epsilon() == 1
    assert alice.budget().dataset.left()[:2] == (0, 0)
    with pytest.raises(Refusal, match="is more than is left") as refused:
        alice.sql(AGED.format(80), epsilon=1e-12)
    assert refused.value.code == "budget"
    alice._curator.ledger.verify()


def test_a_budget_prints_what_was_spent_and_what_is_left(alice):
    alice.sql(EYES, **SEARCH)
    lines = str(alice.budget()).splitlines()
    said = "Spent: epsilon 0.1 of 1 and delta 1e-7 of 5e-7. Left: epsilon 0.9 or rho 0.0204374, and delta 4e-7."
    assert lines == [f"You. {said}", f"All together. {said}", "The analyst names the price of each question."]


def test_a_price_says_when_paying_it_ends_the_sum_of_epsilons(alice):
    alice.sql(AGED.format(20), epsilon=0.1)
    mine, ours = alice.price(AGED.format(40), rho=0.01).warnings
    assert mine == (
        "After this question your budget adds up rho and no longer epsilon: a question at epsilon e then costs rho "
        "e^2 / 2. Left: rho 0.00793744, and delta 5e-7: one question at epsilon 0.125995, or several smaller ones."
    )
    assert ours == mine.replace("your budget", "the dataset's budget")
    assert mine in [node.text for node in alice.explain(AGED.format(40), rho=0.01).tree.parts]
    alice.sql(AGED.format(40), rho=0.01)
    most = alice.budget().personal.left().largest_question
    assert Fraction("0.125995") <= most < Fraction("0.125996")
    alice.sql(AGED.format(60), epsilon=most)


def test_a_batch_says_when_paying_it_ends_the_sum_of_rhos(alice):
    warnings = alice.price([AGED.format(20), AGED.format(40)], epsilon=0.8).warnings
    assert [warning.split(":")[0] for warning in warnings] == [
        "After this question your budget adds up epsilon alone",
        "After this question the dataset's budget adds up epsilon alone",
    ]


def test_a_price_says_that_it_would_be_refused(alice):
    alice.sql(AGED.format(20), epsilon=0.9)
    warnings = alice.price(AGED.format(40), epsilon=0.2).warnings
    assert [warning.split(":")[0] for warning in warnings] == ["A new answer would be refused"] * 2
    with pytest.raises(Refusal, match="is more than is left"):
        alice.sql(AGED.format(40), epsilon=0.2)


def test_many_small_questions_are_told_in_rho_and_never_as_more_than_the_budget(alice):
    for number in range(110):
        alice.sql(AGED.format(number / 2), epsilon=0.01)
    said = str(alice.budget()).splitlines()[0]
    assert said.startswith("You. Spent: rho 0.0055 of 0.0229374. Left: rho 0.0174374, and delta 5e-7: one question at")
    assert "Left: rho 0.0173874, or one question at epsilon 0.186" in repr(alice.sql(AGED.format(70), epsilon=0.01))
