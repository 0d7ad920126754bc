"""Prices that a policy sets: who has one names none, pays what is due, and replays at any price."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import pytest

from adomnia import Question, Refusal
from adomnia.catalog.model import Analyst, Policy, Profile
from adomnia.privacy.amounts import EPSILON_UNIT
from adomnia.privacy.filters import Budget
from adomnia.privacy.losses import loss
from adomnia.work import Work, limit
from kit.altering import alter
from kit.hospital import curated, person

COUNT = "SELECT COUNT(*) AS n FROM people"
AGES = "SELECT COUNT(*) AS n FROM people WHERE age > {}"
GROUPED = "SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY sex"
HALVING = Policy("geometric", spend=Fraction(1, 2))
THIRDS = Policy("equal_split", questions=3)


def under(catalog, people, visits, policies):
    """The same hospital, where every analyst has a budget of 1 and a policy of their own."""
    budget = Budget(1, Fraction(1, 100), approximate=True)
    analysts = tuple(Analyst(name, budget, policy) for name, policy in policies.items())
    declared = replace(catalog, budget=Budget(10, Fraction(1, 10), approximate=True), analysts=analysts)
    return curated(declared, people, visits, seed="policies")


@pytest.fixture
def curator(catalog):
    policies = {"alice": HALVING, "bob": THIRDS, "carol": replace(HALVING, spend=Fraction(1, 4))}
    policies["dave"] = Policy(ceiling=Fraction(1, 5))
    people = [person(k, age=20.0 + k, sex="FM"[k % 2], city="Oslo", name="n") for k in range(40)]
    with under(catalog, people, [], policies) as fresh:
        yield fresh


def paid(session):
    return session.budget().personal.spent.epsilon_units * EPSILON_UNIT


def units(amount):
    return Fraction(int(Fraction(amount) / EPSILON_UNIT)) * EPSILON_UNIT


def test_the_kth_question_costs_what_a_geometric_policy_says(curator):
    alice = curator.session("alice")
    for k in range(1, 8):
        assert alice.budget().terms.price.epsilon == Fraction(1, 2**k)
        alice.sql(AGES.format(k))
        assert paid(alice) == 1 - Fraction(1, 2**k)
    assert alice.budget().dataset.spent.epsilon_units * EPSILON_UNIT == paid(alice)


def test_an_equal_split_pays_for_every_one_of_its_questions_and_for_no_more(curator):
    bob = curator.session("bob")
    for k in range(3):
        bob.sql(AGES.format(k))
        assert paid(bob) == (k + 1) * units(Fraction(1, 3))
    assert (bob.budget().terms.price, bob.budget().terms.questions) == (None, 0)
    with pytest.raises(Refusal, match="is used up") as refused:
        bob.sql(AGES.format(4))
    assert refused.value.code == "budget"
    assert bob.sql(AGES.format(1)).replayed  # what was paid for stays free


@pytest.mark.parametrize("name", ["alice", "bob"])
@pytest.mark.parametrize("text", [COUNT, GROUPED])
def test_what_was_asked_before_is_replayed_at_whatever_price_it_had(curator, name, text):
    session = curator.session(name)
    first = session.sql(text, request_id="first")
    spent = paid(session)
    session.sql(AGES.format(30))
    again = session.sql(text, request_id="second")
    assert again.replayed
    assert (again.records(), again.notes) == (first.records(), first.notes)
    assert again.receipt == first.receipt
    assert session.answer("first").records() == first.records()
    assert paid(session) == spent + (Fraction(1, 4) if name == "alice" else units(Fraction(1, 3)))


def test_a_fresh_measurement_is_paid_for_again(curator):
    alice = curator.session("alice")
    alice.sql(COUNT)
    second = alice.sql(COUNT, replay=False, request_id="afresh")
    assert not second.replayed
    assert paid(alice) == Fraction(3, 4)
    assert alice.answer("afresh").records() == second.records()


def test_a_dearer_answer_of_somebody_else_is_not_shared_and_a_cheaper_one_is(curator):
    alice, carol = curator.session("alice"), curator.session("carol")
    dear = alice.sql(COUNT)
    own = carol.sql(COUNT)  # she may pay a quarter, and it cost a half
    assert not own.replayed
    assert (paid(carol), paid(alice)) == (Fraction(1, 4), Fraction(1, 2))
    assert carol.budget().dataset.spent.epsilon_units * EPSILON_UNIT == Fraction(3, 4)
    cheap = carol.sql(GROUPED)
    shared = alice.sql(GROUPED)
    assert shared.replayed
    assert shared.records() == cheap.records()  # with the intervals of the noise that it has
    assert shared.cost == cheap.cost
    assert paid(alice) == Fraction(1, 2) + Fraction(3, 16)
    assert dear.records() == alice.sql(COUNT).records()


@pytest.mark.parametrize("payment", [{"epsilon": 0.1}, {"rho": 0.1}, {"error": 5}])
def test_a_price_that_is_named_is_refused_before_anything_is_spent(curator, payment):
    alice = curator.session("alice")
    for ask in (alice.sql, alice.price, alice.explain):
        with pytest.raises(Refusal, match="is set by the policy geometric") as refused:
            ask(COUNT, **payment)
        assert refused.value.code == "policy_price"
    with pytest.raises(Refusal, match="is set by the policy geometric"):
        alice.batch([Question(COUNT, **payment), Question(GROUPED, **payment)])
    with pytest.raises(Refusal, match="is set by the policy geometric"):
        alice.batch([COUNT, GROUPED], **payment)
    assert paid(alice) == 0


def test_a_batch_is_one_question(curator):
    alice = curator.session("alice")
    answers = alice.batch([COUNT, GROUPED], request_id="both")
    assert paid(alice) == Fraction(1, 2)
    again = alice.batch([COUNT, GROUPED])
    assert [each.records() for each in again] == [each.records() for each in answers]
    assert [alice.answer("both", place).records() for place in (0, 1)] == [each.records() for each in answers]
    assert paid(alice) == Fraction(1, 2)
    assert not alice.sql(COUNT).replayed


def test_price_and_explain_say_what_the_next_question_costs_and_spend_nothing(curator):
    alice = curator.session("alice")
    assert alice.price(COUNT).price.epsilon == Fraction(1, 2)
    assert "epsilon 0.5" in str(alice.explain(COUNT))
    assert paid(alice) == 0


def test_values_of_open_keys_are_found_within_the_price(curator):
    text = "SELECT name, COUNT(*) AS n FROM people GROUP BY name"
    alice = curator.session("alice")
    first = alice.sql(text, delta=1e-3)
    assert curator.ledger.answers("alice")[0].event.events[0].epsilon == Fraction(1, 4)
    assert alice.sql(text, delta=1e-3).records() == first.records()
    assert not alice.sql(text, delta=1e-4).replayed


def test_many_threads_at_once_pay_the_prices_of_the_policy(curator):
    alice = curator.session("alice")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda k: alice.sql(AGES.format(k % 8)), range(24)))
    costs = sorted(loss(receipt.event).epsilon for receipt in curator.ledger.answers("alice"))
    assert costs == [Fraction(1, 2**k) for k in range(8, 0, -1)]


def test_a_ceiling_limits_one_question(curator):
    dave = curator.session("dave")
    for payment in ({"epsilon": 0.21}, {"rho": 0.021}):
        with pytest.raises(Refusal, match="the ceiling for one question") as refused:
            dave.sql(COUNT, **payment)
        assert refused.value.code == "ceiling"
        with pytest.raises(Refusal, match="the ceiling for one question"):
            dave.price(COUNT, **payment)
    assert paid(dave) == 0
    dave.sql(COUNT, epsilon=0.2)
    dave.sql(COUNT, rho=0.02)


def test_a_question_that_is_asked_again_under_the_id_of_another_is_refused(curator):
    alice = curator.session("alice")
    alice.sql(COUNT, request_id="mine")
    alice.sql(GROUPED)
    for text in (GROUPED, AGES.format(3)):
        with pytest.raises(Refusal, match="was used for another question"):
            alice.sql(text, request_id="mine")


def test_an_answer_is_not_taken_for_that_of_other_caps(curator):
    """Caps follow from the price by a profile, so what is stored without a price is stored with the profile."""
    alice = curator.session("alice")
    alice.sql(COUNT)
    profile = Profile((0, 1, 2), (30, 10), Fraction(1))
    tables = (replace(curator.catalog.tables[0], profile=profile), *curator.catalog.tables[1:])
    alter(curator, catalog=replace(curator.catalog, tables=tables))
    assert not alice.sql(COUNT).replayed


def test_an_answer_that_is_shared_is_not_refused_for_its_work_once_it_is_paid_for(curator):
    """Carol's answer is cheaper than what the others would pay; whoever shares it prices the question once more."""
    text = f"SELECT {', '.join(f'AVG(age + {k})' for k in range(5))} FROM people"
    curator.session("carol").sql(text)
    alice, bob, work = curator.session("alice"), curator.session("bob"), Work(None)
    with limit(work):
        shared = bob.sql(text)
    assert (shared.replayed, paid(bob)) == (True, Fraction(1, 4))
    for most in range(0, 2 * work.steps, work.steps // 40):
        with suppress(Refusal), limit(Work(most)):
            alice.sql(text)
            break
        assert paid(alice) == 0
    assert paid(alice) == Fraction(1, 4)
