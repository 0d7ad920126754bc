"""One analyst's questions: what they cost, what is free, and what nobody may learn from a failure."""

from __future__ import annotations

import logging
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import fields, replace
from fractions import Fraction
from threading import Thread
from time import monotonic

import numpy as np
import pytest

from adomnia import Question
from adomnia.curator import executor
from adomnia.curator.measurements import Record
from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.privacy.amounts import EPSILON_UNIT
from adomnia.privacy.events import Composed, Concentrated, Pure
from adomnia.privacy.losses import loss
from kit.altering import alter
from kit.waiting import HANG_SECONDS

COUNT = "SELECT COUNT(*) FROM people"
GROUPED = "SELECT sex, COUNT(*) AS n, AVG(salary) AS pay FROM people GROUP BY sex"
JOINED = "SELECT sex, AVG(cost) AS cost FROM people p JOIN visits v ON p.person_id = v.person_id GROUP BY sex"
CANARY = "canary 4242424242"


def spent(session, analyst="alice"):
    """Dataset's and analyst's own, in epsilon."""
    ledger = session._curator.ledger
    return tuple(ledger.spent(who).epsilon_units * EPSILON_UNIT for who in (None, analyst))


def shown(answer):
    return [(name, answer[name]) for name in answer.columns]


# ------------------------------------------------------------------------------------------------ replay


def test_the_same_question_is_answered_again_free_and_with_the_same_values(alice):
    first = alice.sql(GROUPED, epsilon=0.5)
    again = alice.sql(GROUPED, epsilon=0.5)
    assert (first.replayed, again.replayed) == (False, True)
    assert shown(first) == shown(again)
    assert first.interval("pay") == again.interval("pay")
    assert first.receipt == again.receipt
    assert spent(alice) == (Fraction(1, 2), Fraction(1, 2))
    assert len(alice._curator.engine.ran) == 1


def test_an_answer_about_the_population_is_another_one_and_says_so(alice):
    text = "SELECT sex, AVG(salary) AS pay, AVG(member) AS share FROM people GROUP BY sex"
    data = alice.sql(text, epsilon=0.1, allow_uninformative=True)
    population = alice.sql(text, epsilon=0.1, allow_uninformative=True, inference="population")
    again = alice.sql(text, epsilon=0.1, allow_uninformative=True, inference="population")
    assert (population.replayed, again.replayed) == (False, True)
    assert again.interval("pay") == population.interval("pay")
    assert [
        note for note in population.notes if note.startswith("Intervals are about the population that these people")
    ]
    assert not [note for note in data.notes if "population" in note]
    assert all(0 <= low <= high <= 1 for low, high in population.interval("share"))


def test_every_way_to_ask_takes_the_inference(alice):
    text, said = "SELECT AVG(age) AS mean FROM people", {"epsilon": Fraction(1, 10), "inference": "population"}
    first = alice.sql(text, allow_uninformative=True, **said)
    assert alice.table("people").mean("age", allow_uninformative=True, **said).interval("mean") == first.interval(
        "mean"
    )
    assert alice.batch([Question(text, **said)], allow_uninformative=True)[0].replayed
    quoted, explained = alice.price(text, **said), alice.explain(text, **said)
    assert [note for note in quoted.notes if note.startswith("Errors to expect are those of values that lie evenly")]
    assert "population AVG(age" in str(explained)
    assert "Intervals are about the population" in str(alice.explain(text, inference="population"))
    assert alice.answer(first.receipt.request_id).notes == first.notes


def test_a_question_is_the_same_however_it_is_spelled_and_sorted(alice):
    first = alice.sql(GROUPED, epsilon=0.5)
    again = alice.sql(
        "select Avg( SALARY ) as x, count(*) as y, sex from people p group by 3 order by y desc limit 2", epsilon=0.5
    )
    assert again.replayed
    assert sorted(first["n"], reverse=True)[:2] == again["y"]
    assert set(again["x"]) <= set(first["pay"])


@pytest.mark.parametrize(
    "again",
    [
        "SELECT AVG(v.cost), p.sex FROM people AS p, visits AS v WHERE v.person_id = p.person_id GROUP BY p.sex",
        "SELECT sex, AVG(cost) FROM people JOIN visits USING (person_id) GROUP BY 1 ORDER BY 2 LIMIT 1",
        "WITH v AS (SELECT * FROM visits) SELECT AVG(cost) FROM people JOIN v USING (person_id) GROUP BY sex",
        "SELECT s, AVG(c) FROM (SELECT sex AS s, cost AS c FROM people JOIN visits USING (person_id)) GROUP BY s",
    ],
)
def test_a_join_is_the_same_however_it_is_spelled(alice, again):
    alice.sql(JOINED, epsilon=0.5)
    assert alice.sql(again, epsilon=0.5).replayed
    assert spent(alice)[0] == Fraction(1, 2)


@pytest.mark.parametrize(
    "other",
    [
        "SELECT sex, AVG(cost) FROM people p LEFT JOIN visits v ON p.person_id = v.person_id GROUP BY sex",
        "SELECT sex, AVG(cost) FROM people p JOIN visits v ON p.person_id = v.person_id AND cost > 1 GROUP BY sex",
        (
            "SELECT sex, AVG(c) FROM people JOIN (SELECT person_id, AVG(cost) AS c FROM visits GROUP BY person_id)"
            " USING (person_id) GROUP BY sex"
        ),
    ],
)
def test_another_join_is_another_question(alice, other):
    alice.sql(JOINED, epsilon=0.5)
    assert not alice.sql(other, epsilon=0.5).replayed


def test_another_price_is_another_measurement(alice):
    alice.sql(COUNT, epsilon=0.5)
    assert not alice.sql(COUNT, epsilon=0.25).replayed
    assert spent(alice)[0] == Fraction(3, 4)


def test_without_replay_it_is_measured_and_paid_afresh(alice):
    one, other = (alice.sql(GROUPED, epsilon=0.5, replay=False) for _ in range(2))
    assert not other.replayed
    assert shown(one) != shown(other)
    assert spent(alice) == (1, 1)


def test_somebody_else_pays_for_the_same_answer_from_their_own_budget_alone(alice, bob):
    first = alice.sql(GROUPED, epsilon=0.5)
    shared = bob.sql(GROUPED, epsilon=0.5)
    assert shown(first) == shown(shared)
    assert spent(bob, "bob") == (Fraction(1, 2), Fraction(1, 2))
    assert len(alice._curator.engine.ran) == 1
    assert bob.sql(GROUPED, epsilon=0.5).replayed
    assert spent(bob, "bob")[1] == Fraction(1, 2)


def test_threads_that_ask_the_same_at_once_pay_once(alice):
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: alice.sql(GROUPED, epsilon=0.5), range(16)))
    assert len({str(shown(answer)) for answer in answers}) == 1
    assert spent(alice) == (Fraction(1, 2), Fraction(1, 2))


# ------------------------------------------------------------------------------------------------ request ids


def test_a_request_id_gives_its_answer_again(alice):
    first = alice.sql(COUNT, epsilon=0.5, request_id="mine", replay=False)
    again = alice.sql(COUNT, epsilon=0.5, request_id="mine", replay=False)
    assert again.replayed
    assert first["count"] == again["count"]
    assert again.receipt.request_id == "mine"
    assert spent(alice)[0] == Fraction(1, 2)


@pytest.mark.parametrize("other", ["another question", "another price"])
def test_a_request_id_belongs_to_the_question_it_was_first_used_with(alice, other):
    alice.sql(COUNT, epsilon=0.5, request_id="mine")
    text = "SELECT COUNT(age) FROM people" if other == "another question" else COUNT
    price = 0.25 if other == "another price" else 0.5
    with pytest.raises(Refusal, match="was used for another question"):
        alice.sql(text, epsilon=price, request_id="mine")
    assert spent(alice)[0] == Fraction(1, 2)


def test_everybody_has_request_ids_of_their_own(alice, bob):
    alice.sql(COUNT, epsilon=0.5, request_id="mine")
    refusal = None
    try:
        bob.sql(GROUPED, epsilon=0.5, request_id="mine")
    except (Refusal, Unavailable) as caught:
        refusal = caught
    assert refusal is None
    assert (len(alice.answer("mine")), len(bob.answer("mine"))) == (1, 3)
    assert spent(alice) == (1, Fraction(1, 2))


@pytest.mark.parametrize("request_id", ["\n", "x" * 201, "a\x00b"])
def test_a_request_id_that_cannot_be_kept_is_refused(alice, request_id):
    with pytest.raises(Refusal, match="printable"):
        alice.sql(COUNT, epsilon=0.5, request_id=request_id)
    assert spent(alice) == (0, 0)


# ------------------------------------------------------------------------------------------------ batches


def test_a_batch_is_one_debit_of_exactly_the_sum_of_its_costs(alice):
    ledger = alice._curator.ledger
    before = ledger.verify()
    questions = [Question(COUNT, epsilon=0.1), Question(GROUPED, epsilon=0.3), Question(COUNT, epsilon=Fraction(1, 7))]
    answers = alice.batch(questions)
    assert ledger.verify().sequence - before.sequence == 2  # one reserve, one commit
    assert spent(alice)[0] == -(-(Fraction(4, 10) + Fraction(1, 7)) // EPSILON_UNIT) * EPSILON_UNIT
    assert [answer.receipt for answer in answers] == [answers[0].receipt] * 3
    assert loss(answers[0].cost).epsilon == Fraction(4, 10) + Fraction(1, 7)
    assert [len(answer) for answer in answers] == [1, 3, 1]


def test_a_batch_of_one_is_the_question_itself(alice):
    answer = alice.sql(COUNT, epsilon=0.1)
    (again,) = alice.batch([Question(COUNT, epsilon=0.1)])
    assert again.replayed
    assert shown(again) == shown(answer)


def test_a_batch_is_answered_again_as_a_whole(alice):
    questions = [Question(COUNT, epsilon=0.1), Question(GROUPED, epsilon=0.1)]
    first, again = alice.batch(questions), alice.batch(questions)
    assert [shown(answer) for answer in first] == [shown(answer) for answer in again]
    assert all(answer.replayed for answer in again)


def test_one_refusal_refuses_the_whole_batch(alice):
    with pytest.raises(Refusal, match="nonsense"):
        alice.batch([Question(COUNT, epsilon=0.1), Question("SELECT COUNT(nonsense) FROM people", epsilon=0.1)])
    assert spent(alice) == (0, 0)
    assert alice._curator.engine.ran == []


def test_what_two_questions_of_a_batch_share_is_measured_and_paid_once(alice):
    one, other = alice.batch([Question(COUNT, epsilon=0.1), Question(COUNT, epsilon=0.1)])
    assert shown(one) == shown(other)
    assert spent(alice)[0] == Fraction(1, 10)
    alice.batch([Question(COUNT, epsilon=0.1), Question(COUNT, epsilon=0.2)])
    assert spent(alice)[0] == Fraction(4, 10)


def test_a_batch_may_have_one_price_for_all_it_measures(alice):
    texts = [COUNT, "SELECT COUNT(*) AS n, SUM(age) AS total FROM people", Question("SELECT AVG(age) FROM people")]
    quoted = alice.price(texts, epsilon=0.3)
    answers = alice.batch(texts, epsilon=0.3)
    assert spent(alice)[0] == Fraction(3, 10)
    assert answers[0]["count"] == answers[1]["n"]
    assert answers[0].cost == quoted.event
    assert len(quoted.measurements) == 1  # rows, the sum and the mean follow from distances that are measured as one
    assert sum(line.price.epsilon for line in quoted.measurements) == Fraction(3, 10)
    assert all(answer.replayed for answer in alice.batch(texts, epsilon=0.3))


def test_a_sum_beside_the_mean_is_their_product(alice):
    answer = alice.sql("SELECT SUM(age) AS total, AVG(age) AS mean, COUNT(age) AS n FROM people", epsilon=20)
    assert len(answer.cost.events) == 1
    assert answer["total"][0] == pytest.approx(answer["mean"][0] * answer["n"][0], rel=0.15)  # the count is rounded


def test_weights_split_the_price_and_are_another_question(alice):
    text = "SELECT COUNT(*) AS n, SUM(age) AS total FROM people"
    heavy = alice.sql(text, epsilon=0.4, weights={"total": 3})
    assert {each.epsilon for each in heavy.cost.events} == {Fraction(1, 10), Fraction(3, 10)}
    assert not alice.sql(text, epsilon=0.4).replayed
    assert alice.sql(text, epsilon=0.4, weights={"n": 1, "total": 3}).replayed
    assert alice.sql(text, epsilon=0.4, weights={"n": 2, "total": 2}).interval("n") == alice.sql(
        text, epsilon=0.4, weights={"n": 2, "total": 2}
    ).interval("n")


def test_uneven_parts_are_measured_replayed_and_reported_alike(alice):
    text = "SELECT COUNT(*) AS n, AVG(age) AS mean FROM people"
    first, again = (alice.sql(text, epsilon=2, weights={"n": 9}) for _ in range(2))
    assert again.replayed
    assert shown(first) == shown(again)
    assert first.interval("mean") == again.interval("mean")
    assert {each.epsilon for each in first.cost.events} == {Fraction(9, 5), Fraction(1, 5)}


def test_errors_of_all_groups_at_once_are_what_intervals_together_have(alice):
    quoted = alice.price(GROUPED, epsilon=0.5, simultaneous=True)
    answer = alice.sql(GROUPED, epsilon=0.5)
    low, high = answer.interval("n", simultaneous=True)[0]
    assert quoted.outputs[0].error == (high - low) / 2 > alice.price(GROUPED, epsilon=0.5).outputs[0].error


def test_an_empty_batch_is_refused(alice):
    with pytest.raises(Refusal, match="empty"):
        alice.batch([])


# ------------------------------------------------------------------------------------------------ prices


def test_a_price_is_what_is_charged(alice):
    quote = alice.price(GROUPED, epsilon=0.5)
    assert spent(alice) == (0, 0)
    assert alice._curator.engine.ran == []
    answer = alice.sql(GROUPED, epsilon=0.5)
    assert loss(quote.event) == loss(answer.cost)
    assert answer.cost == quote.event


def test_an_answer_paid_in_rho_has_gaussian_noise_and_costs_that_rho(bob):
    answer = bob.sql(COUNT, rho=0.05)
    assert answer.cost == Composed([Concentrated(0.05)])
    assert bob._curator.ledger.spent("bob").rho_units == 5 * 10**10


def test_rho_is_refused_where_the_budget_is_pure(carol):
    with pytest.raises(Refusal, match=r"rho 0\.05 from the budget of carol is more than is left .epsilon 1 or rho 0,"):
        carol.sql(COUNT, rho=0.05)


def test_an_error_buys_the_cheapest_epsilon_that_keeps_within_it(alice):
    quote = alice.price(COUNT, error=10)
    assert quote.outputs[0].error <= 10
    cheaper = quote.price.epsilon - EPSILON_UNIT
    assert alice.price(COUNT, epsilon=cheaper).outputs[0].error > 10
    answer = alice.sql(COUNT, error=10)
    ((low, high),) = answer.interval("count")
    assert high - low <= 20


@pytest.mark.parametrize(
    ("price", "said"),
    [
        ({}, "needs exactly one price"),
        ({"epsilon": 1, "rho": 1}, "needs exactly one price"),
        ({"epsilon": 1, "error": 1}, "needs exactly one price"),
        ({"epsilon": 0}, "must be > 0"),
        ({"epsilon": -1}, "must be > 0"),
        ({"epsilon": float("nan")}, "must be a finite number"),
        ({"epsilon": float("inf")}, "must be a finite number"),
        ({"epsilon": "1"}, "must be a"),
        ({"rho": 0}, "must be > 0"),
        ({"error": 0}, "is not a positive number"),
        ({"error": float("nan")}, "is not a positive number"),
        ({"epsilon": 1e-40}, "too small or too large"),
        ({"epsilon": 1e9}, "too small or too large"),
    ],
)
def test_a_price_that_is_none_is_refused(alice, price, said):
    with pytest.raises(Refusal, match=said):
        alice.sql(COUNT, **price)
    assert spent(alice) == (0, 0)


@pytest.mark.parametrize("confidence", [0, 1, -1, 2, float("nan")])
def test_a_confidence_that_is_none_is_refused(alice, confidence):
    with pytest.raises(Refusal, match="is not between 0 and 1"):
        alice.sql(COUNT, epsilon=1, confidence=confidence)
    assert spent(alice) == (0, 0)


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"error": 10}])
@pytest.mark.parametrize("confidence", [0, 1, 2, float("nan")])
def test_a_price_at_a_confidence_that_is_none_is_refused_too(alice, price, confidence):
    with pytest.raises(Refusal, match="is not between 0 and 1"):
        alice.price(COUNT, **price, confidence=confidence)


def test_over_budget_is_refused_with_what_is_left_and_what_it_would_take(carol):
    carol.sql(COUNT, epsilon=0.75)
    before = carol._curator.ledger.verify()
    with pytest.raises(Refusal) as refused:
        carol.sql(GROUPED, epsilon=0.5)
    assert "epsilon 0.5" in str(refused.value)
    assert "epsilon 0.25" in str(refused.value)
    assert "the budget of carol" in str(refused.value)
    assert carol._curator.ledger.verify() == before
    assert len(carol._curator.engine.ran) == 1
    assert carol.sql(GROUPED, epsilon=0.25).left.epsilon == 0


def test_ten_tenths_make_one(carol):
    for age in range(10):
        carol.sql(f"SELECT COUNT(*) FROM people WHERE age > {age}", epsilon=0.1)
    with pytest.raises(Refusal, match="is more than is left"):
        carol.sql("SELECT COUNT(*) FROM people WHERE age > 10", epsilon=1e-12 * 1000)


# ------------------------------------------------------------------------------------------------ failures


class Leaky(Exception):
    """An engine's error that quotes a row."""

    def __repr__(self):
        return f"Leaky({CANARY})"


def leaking(*_, **__):
    row = {"name": CANARY}
    raise Leaky(f"{CANARY} in {row}")


def test_a_failure_after_the_debit_keeps_it_and_says_nothing(alice, monkeypatch, caplog):
    monkeypatch.setattr(alice._curator.engine, "run", leaking)
    with caplog.at_level(logging.DEBUG), pytest.raises(Failure) as failed:
        alice.sql(COUNT, epsilon=0.5, request_id="mine")
    assert str(failed.value) == "The request failed. Request id: mine."
    report = "".join(traceback.format_exception(failed.value))
    assert CANARY not in report + repr(failed.value) + str(failed.value.args) + caplog.text
    assert all(CANARY not in str(vars(record)) for record in caplog.records)
    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None
    assert spent(alice) == (Fraction(1, 2), Fraction(1, 2))


def test_a_failure_carries_nothing_with_it(alice, monkeypatch):
    monkeypatch.setattr(alice._curator.engine, "run", leaking)
    with pytest.raises(Failure) as failed:
        alice.sql(COUNT, epsilon=0.5)
    assert failed.value.__context__ is None


def test_a_failed_request_fails_for_ever_and_its_question_can_be_paid_for_again(alice, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(alice._curator.engine, "run", leaking)
        with pytest.raises(Failure):
            alice.sql(COUNT, epsilon=0.5, request_id="mine")
    with pytest.raises(Failure, match="mine"):
        alice.sql(COUNT, epsilon=0.5, request_id="mine")
    assert spent(alice)[0] == Fraction(1, 2)
    assert not alice.sql(COUNT, epsilon=0.5).replayed
    assert spent(alice)[0] == 1
    assert [receipt.request_id != "mine" for receipt in alice.answers()] == [True]


@pytest.mark.parametrize("part", ["bits", "commit"])
def test_every_part_that_fails_fails_alike(alice, monkeypatch, part):
    curator = alice._curator
    where = {
        "bits": (curator.dataset.kernel.bits, "words"),
        "commit": (curator.ledger, "_commit"),
    }
    monkeypatch.setattr(*where[part], leaking)
    with pytest.raises(Failure) as failed:
        alice.sql(COUNT, epsilon=0.5, request_id="mine")
    assert failed.value.args == ("mine",)
    assert spent(alice)[0] == Fraction(1, 2)


def test_what_the_second_look_cannot_prove_is_refused_and_not_charged(alice, monkeypatch):
    def unproved(*_):
        raise Failure

    monkeypatch.setattr(executor, "check_statement", unproved)
    with pytest.raises(Refusal, match="cannot be proved private") as refused:
        alice.sql(COUNT, epsilon=0.5)
    assert refused.value.code == "not_proved"
    with pytest.raises(Refusal, match="cannot be proved private"):
        alice.price(COUNT, epsilon=0.5)
    assert spent(alice) == (0, 0)
    assert alice._curator.engine.ran == []


@pytest.mark.parametrize("question", [None, b"SELECT", 5])
def test_a_question_is_text(alice, question):
    with pytest.raises(TypeError, match="takes questions as text"):
        alice.sql(question, epsilon=1)


def test_nothing_is_read_before_it_is_paid(alice, monkeypatch):
    events = []
    curator = alice._curator
    reserve, run = curator.ledger.reserve, curator.engine.run
    monkeypatch.setattr(curator.ledger, "reserve", lambda *a, **k: events.append("reserve") or reserve(*a, **k))
    monkeypatch.setattr(curator.engine, "run", lambda *a: events.append("run") or run(*a))
    commit = curator.ledger._commit
    monkeypatch.setattr(curator.ledger, "_commit", lambda *a: events.append("commit") or commit(*a))
    alice.sql(GROUPED, epsilon=0.5)
    assert events == ["reserve", "run", "commit"]


@pytest.mark.parametrize("fails", [False, True])
def test_nobody_sees_that_a_question_ended_before_it_has_waited(alice, bob, monkeypatch, fails):
    """What waits is told when data began to be read; meanwhile the answer is not kept and equal questions wait."""
    curator, seen, asked = alice._curator, [], monotonic()
    equal = Thread(target=lambda: seen.append(bob.sql(COUNT, epsilon=0.5, request_id="equal").replayed))
    if fails:
        monkeypatch.setattr(curator.engine, "run", leaking)

    def wait(started):
        alter(curator, wait=lambda _: None)
        with pytest.raises(Failure):
            alice.answer("mine")
        assert alice.answers() == []
        monkeypatch.undo()
        equal.start()
        equal.join(0.2)
        assert seen == []
        seen.append(asked <= started <= monotonic())

    alter(curator, wait=wait)
    with pytest.raises(Failure) if fails else nullcontext():
        alice.sql(COUNT, epsilon=0.5, request_id="mine")
    assert equal.ident is not None
    equal.join(HANG_SECONDS)
    told, replayed = seen
    assert told
    assert replayed is not fails


# ------------------------------------------------------------------------------------------------ the rest


def test_a_budget_says_what_is_left_to_the_analyst_and_to_everybody(alice, bob):
    alice.sql(COUNT, epsilon=0.5)
    assert alice.budget().personal.left().epsilon == Fraction("99999.5")
    assert bob.budget().personal.left().epsilon == 100_000
    assert bob.budget().dataset.spent.epsilon_units == 5 * 10**11


def test_answers_lists_what_was_paid_for_and_got(alice, bob):
    alice.sql(COUNT, epsilon=0.5, request_id="a")
    alice.sql(GROUPED, epsilon=0.5, request_id="b")
    past = alice.answers()
    assert [(each.request_id, each.questions, each.version) for each in past] == [
        ("a", (COUNT,), 1),
        ("b", (GROUPED,), 1),
    ]
    assert past[0].receipt.event == Composed([Pure(0.5)])
    assert bob.answers() == []


ANSWERED = {
    "a count": (COUNT, {"epsilon": 0.5}),
    "groups": (GROUPED, {"epsilon": Fraction(1, 3)}),
    "weights": ("SELECT COUNT(*) AS n, AVG(age) AS a FROM people", {"epsilon": 0.5, "weights": {"a": 3}}),
    "rho": (COUNT, {"rho": 0.01}),
    "an error": (COUNT, {"error": 5.5, "confidence": 0.9}),
    "afresh": (COUNT, {"epsilon": 0.5, "replay": False}),
    "rows": ("SELECT AVG(age) AS a FROM people", {"error": 2, "rows": 1000}),
    "open keys": ("SELECT name, COUNT(*) AS n FROM people GROUP BY name", {"epsilon": 9, "delta": 1e-9}),
    "a quantile": ("SELECT MEDIAN(age) AS m FROM people", {"epsilon": 5, "confidence": 0.8}),
    "not ASCII": ("SELECT COUNT(*) FROM people WHERE name = 'Zoë'", {"epsilon": 0.5}),
}


@pytest.mark.parametrize("kind", ANSWERED)
@pytest.mark.no_cover
def test_an_answer_can_be_had_again_by_its_request_id(bob, kind):
    text, payment = ANSWERED[kind]
    first = bob.sql(text, request_id="mine", **payment)
    ran = len(bob._curator.engine.ran)
    again = bob.answer("mine")
    assert again.replayed
    assert again.records() == first.records()
    assert (again.confidence, again.receipt, again.caps) == (first.confidence, first.receipt, first.caps)
    assert len(bob._curator.engine.ran) == ran
    assert bob.answer("mine", confidence=0.5).interval(first.columns[-1]) == first.interval(first.columns[-1], 0.5)


def test_the_answers_of_a_batch_have_places(bob):
    common = bob.batch([COUNT, GROUPED], epsilon=1, request_id="common")
    own = bob.batch([Question(COUNT, epsilon=0.5), Question(GROUPED, rho=0.1)], request_id="own")
    for name, answers in (("common", common), ("own", own)):
        assert [shown(bob.answer(name, place)) for place in (0, 1)] == list(map(shown, answers))
        for place in (-1, 2):
            with pytest.raises(Refusal, match="has no answer of yours there"):
                bob.answer(name, place)


@pytest.mark.parametrize("record", [Record(), Record([np.array([1, 2])])])
def test_what_is_stored_and_does_not_fit_is_a_failure(alice, monkeypatch, record):
    alice.sql(COUNT, epsilon=0.5, request_id="mine")
    ledger = alice._curator.ledger
    kept = replace(ledger.answer("alice", "mine"), payload=record.to_bytes())
    monkeypatch.setattr(ledger, "answer", lambda *_: kept)
    with pytest.raises(Failure, match="Request id: mine") as failed:
        alice.answer("mine")
    assert failed.value.__cause__ is None


def test_a_batch_has_a_hundred_questions_at_most(alice):
    with pytest.raises(Refusal, match="has 101 questions, more than 100") as refused:
        alice.price([COUNT] * 101, epsilon=1)
    assert refused.value.code == "too_complex"
    assert alice.price([COUNT] * 100, epsilon=1).event == Composed([Pure(1)])


def test_a_batch_is_no_larger_than_a_question_may_be(alice):
    large = "SELECT FLOOR(salary), COUNT(*), SUM(age) FROM people GROUP BY 1"
    assert len(alice.price(large, epsilon=1).outputs) == 2
    with pytest.raises(Refusal, match="asks for more than 4,000,000 numbers") as refused:
        alice.price([large] * 5, epsilon=1)
    assert refused.value.code == "too_many_cells"


def test_nobody_gets_an_answer_that_is_not_theirs(alice, bob):
    alice.sql(COUNT, epsilon=0.5, request_id="mine")
    for request_id in ("mine", "alice\nmine", "", "nothing", "\ud800", "dataset:mine"):
        with pytest.raises(Refusal, match="has no answer of yours there") as refused:
            bob.answer(request_id)
        assert refused.value.code == "unknown_answer"
    with pytest.raises(Refusal, match="not between 0 and 1"):
        alice.answer("mine", confidence=2)


def test_an_answer_survives_a_new_version_and_the_catalog_that_it_meant(alice):
    first = alice.sql(GROUPED, epsilon=0.5, request_id="mine")
    curator = alice._curator
    alter(curator, catalog=replace(curator.catalog, version=2))
    assert shown(alice.answer("mine")) == shown(first)
    fewer = [replace(table, columns=table.columns[:2]) for table in curator.catalog.tables]
    wider = [replace(table, rows_per_person=table.rows_per_person + 1) for table in curator.catalog.tables]
    for tables in (fewer, wider):
        alter(curator, catalog=replace(curator.catalog, tables=tuple(tables)))
        again = alice.answer("mine")
        assert shown(again) == shown(first)
        assert again.notes[0].startswith("This answer is shown as version 0.1.0 of Ad Omnia gave it: the catalog means")
        assert alice.recall("mine").explain() is None


def test_a_table_belongs_to_the_session_that_gave_it(alice, bob):
    bob.table("people").where("age > 1").count(epsilon=0.5)
    assert spent(bob, "bob") == (Fraction(1, 2), Fraction(1, 2))
    assert spent(alice)[1] == 0


def test_the_catalog_is_there_to_look_at(alice, catalog):
    shown = alice.catalog()
    assert {each.name: getattr(shown, each.name) for each in fields(catalog)} == {
        each.name: getattr(catalog, each.name) for each in fields(catalog)
    }
    assert shown.releases == ()


def test_a_refusal_of_a_missing_bound_says_which_line_to_add(alice):
    with pytest.raises(Refusal) as refused:
        alice.sql("SELECT SUM(weight) FROM people", epsilon=1)
    assert "CLAMP(weight, lower, upper)" in str(refused.value)
    assert 'weight = { type = "number", lower = ..., upper = ... }' in str(refused.value)


def test_an_unknown_column_is_told_with_its_place_and_the_nearest_name(alice):
    with pytest.raises(Refusal) as refused:
        alice.sql("SELECT COUNT(*)\nFROM people WHERE salray > 1", epsilon=1)
    assert "salary" in str(refused.value)
    assert refused.value.position == (2, 19)


def test_debits_that_do_not_say_what_was_asked_are_left_out_of_every_page(alice):
    ledger = alice._curator.ledger
    alice.sql(COUNT, epsilon=0.5, request_id="first")
    for number in range(3):
        ledger.reserve("alice", f"old {number}", b"%d" % number, Pure(1)).commit(b"noisy")
    alice.sql(GROUPED, epsilon=0.5, request_id="last")
    assert [each.request_id for each in alice.answers(limit=1, after="first")] == ["last"]
    assert alice.answers(after="last") == []


SEEN = "EXISTS (SELECT 1 FROM visits v WHERE v.person_id = p.person_id AND v.cost > 1500)"
DEAREST = "(SELECT MAX(cost) FROM visits v WHERE v.person_id = p.person_id) > 1650"


@pytest.mark.parametrize(
    ("key", "group", "expected"),
    [
        (SEEN, "k", {False: 1, True: 4}),
        (SEEN, SEEN, {False: 1, True: 4}),
        ("person_id IN (SELECT person_id FROM visits WHERE cost > 1800)", "1", {False: 4, True: 1}),
        (DEAREST, "k", {False: 2, True: 3}),
    ],
)
def test_people_are_grouped_by_what_is_looked_up_about_them(bob, key, group, expected):
    answer = bob.sql(f"SELECT {key} AS k, COUNT(*) AS n FROM people p GROUP BY {group}", epsilon=100)
    assert {row["k"]: row["n"] for row in answer.to_arrow().to_pylist()} == expected


def test_combinations_of_categories_are_counted(bob):
    answer = bob.sql("SELECT COUNT(DISTINCT sex, city) AS n, COUNT(DISTINCT city, sex) AS m FROM people", epsilon=100)
    (row,) = answer.to_arrow().to_pylist()
    assert (row["n"], row["m"]) == (2, 2)


def test_a_person_whom_a_left_join_leaves_out_is_counted_beside_all_rows(bob):
    text = "SELECT COUNT(*) AS n, COUNT(v.person_id) AS m FROM people p LEFT JOIN visits v ON p.person_id = v.person_id"
    (row,) = bob.sql(text, epsilon=100).to_arrow().to_pylist()
    assert (row["n"], row["m"]) == (15, 15)


def test_a_median_of_one_value_that_is_no_double_exactly_is_that_value(bob):
    (row,) = bob.sql("SELECT MEDIAN(EXP(CLAMP(age, 1, 1))) AS m FROM people", epsilon=100).to_arrow().to_pylist()
    assert row["m"] == pytest.approx(2.718281828459045)


@pytest.mark.parametrize("factor", ["1e148", "1e200", "1e-160", "1e-250"])
def test_ranges_whose_squares_are_no_numbers_are_measured_without_shortening(bob, factor):
    for aggregate in ("SUM", "AVG"):
        text = f"SELECT {aggregate}(score * {factor}) FROM people"
        assert bob.price(text, rho=1, effort="high").event == bob.price(text, rho=1).event


@pytest.mark.parametrize("text", ["SELECT COUNT(*) FROM people", "SELECT city FROM cities"])
def test_an_effort_that_nobody_knows_is_refused_with_a_price_and_without(bob, text):
    for ask in (bob.explain, bob.sql):
        with pytest.raises(Refusal, match='effort="AAA" is not known'):
            ask(text, effort="AAA")


@pytest.mark.parametrize("payment", [{"epsilon": 1e-12}, {"rho": 1e-24}])
def test_noise_that_would_be_no_number_is_refused_before_it_is_paid(bob, payment):
    """It was infinite, and the answer NULL."""
    with pytest.raises(Refusal, match="larger than any double") as refusal:
        bob.price("SELECT SUM(score * 1e298) FROM people", **payment)
    assert refusal.value.code == "bad_price"
    assert bob.price("SELECT SUM(score * 1e280) FROM people", **payment).outputs[0].error > 1e280


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SELECT COUNT(*) > 3 FROM people", "is a condition, and answers are numbers. Fix: make a number of it: CASE"),
        ("SELECT UPPER(COUNT(*)) FROM people", "is not computed with answers"),
        ("SELECT CASE WHEN age > 3 THEN 1 ELSE 0 END FROM people", "age would show values of single rows"),
        ("SELECT COUNT(*) OVER () FROM people", "looks at other rows than its own. Fix: use it over an answer"),
        ("SELECT city, MEDIAN(age) FROM people GROUP BY ROLLUP (city)", "does not add up. Fix: ask for each grouping"),
        ("SELECT COUNT(DISTINCT name, city) FROM people", "several categories with declared values"),
        ("SELECT AVG(salary * 1e-300) FROM people", "too small to add up exactly. Fix: multiply by larger constants"),
        ("SELECT AVG(age * 1e300) FROM people", "too large to add up exactly. Fix: multiply by smaller constants"),
    ],
)
def test_refusals_say_what_is_so(bob, text, why):
    with pytest.raises(Refusal) as refusal:
        bob.price(text, epsilon=1)
    assert why in str(refusal.value)


def test_a_confidence_next_to_zero_is_one_for_formulas_too(bob):
    assert bob.price("SELECT ROUND(SUM(age), 2) FROM people", epsilon=1, confidence=1e-300).outputs[0].error >= 0


@pytest.mark.parametrize("text", ["SUM(CLAMP(salary * 1e290, -1e299, 1e299)) / COUNT(*)", "COVAR_POP(salary, -1e300)"])
def test_an_error_beyond_doubles_is_not_known_and_warns_nobody(bob, text):
    """Warnings are errors here."""
    with pytest.raises(Refusal) as refusal:
        bob.price(f"SELECT {text} FROM people", error=1e-9, rows=10**15)
    assert refusal.value.code in {"error_too_small", "bad_price"}
