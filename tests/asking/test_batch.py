"""What was asked, as it is kept: it reads back as what was said, and equal questions have equal identities."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.asking.batch import Batch, choose_request_id, price_of
from adomnia.errors import Refusal
from adomnia.pricing.questions import Payment, Question
from adomnia.privacy.events import Approximate, Composed, Pure
from sql.hospital import HOSPITAL

COUNT = "SELECT COUNT(*) FROM people"
MEAN = "SELECT AVG(age) FROM people"
AMOUNTS = st.none() | st.fractions(Fraction(1, 1000), 100) | st.floats(1e-9, 1e9) | st.decimals(1, 9, places=3)
QUESTIONS = st.builds(
    Question,
    st.text(max_size=30),
    epsilon=AMOUNTS,
    rho=AMOUNTS,
    error=st.none() | st.floats(0.1, 100),
    weights=st.none() | st.dictionaries(st.text(min_size=1, max_size=5), st.integers(1, 9), min_size=1),
    rows=st.none() | st.integers(1, 10**9),
    delta=AMOUNTS,
    effort=st.sampled_from(["normal", "high"]),
)
HIGH = st.builds(lambda epsilon: Payment(epsilon=epsilon, effort="high", weights=None), AMOUNTS)
PAYMENTS = st.none() | st.just(Payment()) | HIGH


def exactly(question):
    """The same with every amount as the number that it is read as."""
    named = {name: getattr(question, name) for name in ("epsilon", "rho", "delta")}
    amounts = {name: None if value is None else Fraction(str(value)) for name, value in named.items()}
    weights = (
        None if question.weights is None else {name: Fraction(weight) for name, weight in question.weights.items()}
    )
    return Question(
        question.text, **amounts, weights=weights, error=question.error, rows=question.rows, effort=question.effort
    )


@given(st.lists(QUESTIONS, min_size=1, max_size=3), PAYMENTS, st.booleans())
def test_what_is_kept_reads_back_as_what_was_said(questions, payment, replay):
    asked = Batch(tuple(questions), 0.95, 3, payment, replay)
    text = asked.to_text()
    again = Batch.from_text(text)
    assert text.isascii()
    assert again.questions == tuple(map(exactly, questions))
    assert (again.confidence, again.version, again.replay) == (0.95, 3, replay)
    assert (again.payment is None) == (payment is None)
    assert again.to_text() == text
    assert again.names_a_price == asked.names_a_price


@pytest.mark.parametrize("said", [{"epsilon": 1}, {"rho": Decimal("0.1")}, {"error": 3.0}])
def test_a_price_is_named_for_a_question_or_for_all(said):
    assert Batch((Question(COUNT, **said),), 0.95, 1).names_a_price
    assert Batch((Question(COUNT),), 0.95, 1, Payment(**said)).names_a_price
    assert not Batch((Question(COUNT, delta=1e-9, weights={"count": 2}),), 0.95, 1).names_a_price
    assert not Batch((Question(COUNT),), 0.95, 1, Payment(effort="high")).names_a_price


def test_an_inference_is_kept_only_where_it_is_about_the_population():
    asked = Batch((Question(MEAN, epsilon=1), Question(MEAN, epsilon=1, inference="population")), 0.95, 1)
    first, second = json.loads(asked.to_text())["questions"]
    assert ("inference" in first, second["inference"]) == (False, "population")
    assert Batch.from_text(asked.to_text()) == asked


def test_a_batch_may_be_about_the_population_as_a_whole():
    common = Batch((Question(MEAN), Question(MEAN, inference="population")), 0.95, 1, Payment(inference="population"))
    one, two = common.plans(HOSPITAL)
    assert one == two
    data, population = Batch(common.questions, 0.95, 1).plans(HOSPITAL)
    assert data != population == one
    with pytest.raises(Refusal, match="is not known"):
        Batch((Question(MEAN),), 0.95, 1, Payment(inference="sample")).plans(HOSPITAL)


def test_the_price_of_parts_is_their_sum():
    parts = Composed(
        [Approximate(Fraction(1, 7), Fraction(1, 9)), Composed([Pure(Fraction(2, 7)), Pure(Fraction(1, 3))])]
    )
    assert price_of(parts) == Pure(Fraction(3, 7) + Fraction(1, 3))


def test_an_error_that_needs_a_count_says_what_to_ask_first():
    text = "SELECT sex AS s, AVG(age) AS mean FROM people WHERE active GROUP BY 1 ORDER BY 2"
    said = Batch((Question(COUNT, error=5), Question(text, error=2)), 0.95, 1)
    with pytest.raises(Refusal) as refusal:
        said.price(said.plans(HOSPITAL), HOSPITAL)
    first = "SELECT sex AS s, COUNT(*) FROM people WHERE active GROUP BY sex"
    assert refusal.value.fix == f"ask {first} first, and give the least of its counts as rows="
    assert refusal.value.code == "error_not_known"


def test_a_request_id_that_was_named_is_kept():
    assert choose_request_id("monday") == "monday"
    assert choose_request_id("") == ""  # the ledger refuses it, in its own words


def test_fresh_request_ids_are_128_bits_that_differ():
    fresh = {choose_request_id(None) for _ in range(100)}
    assert len(fresh) == 100
    assert all(len(bytes.fromhex(each)) == 16 for each in fresh)


def test_what_was_asked_with_names_of_before_means_what_it_meant_and_is_found_again():
    called = "ks_test(people, column => age, {0} => 'uniform', {0}_Parameters  => (0, 120))"
    asked = f"SELECT * FROM {called} WHERE term <> 'law'"
    before = Batch((Question(asked.format("law"), epsilon=1),), 0.95, 1)
    with pytest.raises(Refusal) as refused:
        before.plans(HOSPITAL)
    assert refused.value.code == "renamed_option"
    kept, now = Batch.from_text(before.to_text()), Batch((Question(asked.format("distribution"), epsilon=1),), 0.95, 1)
    assert kept.questions[0].text.lower() == now.questions[0].text.lower()
    keys = [each.identity(each.price(each.plans(HOSPITAL), HOSPITAL), "any") for each in (kept, now)]
    assert keys[0] == keys[1]


def test_what_was_named_of_all_is_named_of_a_question_that_is_alone():
    alone = Batch((Question(COUNT, weights={"count": 2}),), 0.95, 1, Payment(rho=0.5, effort="high"))
    assert alone.list_named(0) == {"rho": 0.5, "effort": "high", "weights": {"count": 2}}
    both = Batch((Question(COUNT), Question(MEAN, rows=9)), 0.9, 1, Payment(rho=0.5))
    assert both.list_named(1) == {"rows": 9, "confidence": 0.9}
    assert Batch((Question(COUNT, inference="population"),), 0.95, 1, Payment(rho=1)).list_named(0) == {
        "rho": 1,
        "inference": "population",
    }
