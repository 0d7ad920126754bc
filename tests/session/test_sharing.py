"""Answers of others: the very same numbers at the expense of the personal budget alone, or a refusal."""

from __future__ import annotations

import gc
import json
from contextlib import nullcontext, suppress
from dataclasses import replace
from decimal import Decimal
from functools import partial
from unittest.mock import patch
from uuid import uuid4

import pytest

from adomnia.asking import replaying
from adomnia.asking.batch import Batch
from adomnia.curator.measurements import Record
from adomnia.errors import Failure, Refusal
from adomnia.ledger import Ledger
from adomnia.ledger.postgres_place import PostgresPlace
from adomnia.ledger.requests import UnpaidAnswer
from adomnia.methods.models import kernel_regression
from adomnia.pricing.questions import Question
from adomnia.privacy.events import Pure
from adomnia.privacy.losses import loss
from adomnia.session.sharing import find_offer
from adomnia.work import Work, limit
from kit import hospital
from kit.altering import alter, altered
from kit.newer_code import newer_version, other_intervals
from kit.postgres import durable_server

PEOPLE = [hospital.person(k, age=20 + k % 60, sex="FM"[k % 2], city="Oslo", salary=1000.0 * k) for k in range(60)]
BY_SEX = "SELECT sex, AVG(age) AS n, AVG(salary) AS pay FROM people GROUP BY sex"
MORE = """
[analysts.dave]
epsilon = 100_000
delta = 1e-7

[analysts.pia]
epsilon = 10
policy = "equal_split"
questions = 10

[analysts.paul]
epsilon = 20
policy = "equal_split"
questions = 10

[analysts.rich]
epsilon = 30
policy = "equal_split"
questions = 10

[analysts.poor]
epsilon = 1
policy = "equal_split"
questions = 10

[analysts.mid]
epsilon = 15
policy = "equal_split"
questions = 10

[analysts.gus]
epsilon = 11
policy = "geometric"
spend = 0.1

[analysts.low]
epsilon = 10
policy = "on_demand"
ceiling = 0.1

[tables.people]"""


@pytest.fixture
def curator(tmp_path):
    catalog = hospital.declare(tmp_path, hospital.CATALOG.replace("\n[tables.people]", MORE, 1))
    with hospital.curated(catalog, PEOPLE, []) as opened:
        yield opened


def shown(answer):
    """Values and intervals of an answer."""
    return str([[list(answer[name]), answer.interval(name)] for name in ("n", "pay")])


def take(curator, receipt, name):
    """The answer that somebody takes over; whatever it is, the offer was right and nobody else paid."""
    offer, own, dataset = find_offer(curator, name, receipt), curator.ledger.account(name), curator.ledger.spent()
    read = len(curator.engine.ran)
    answer, *others = curator.session(name).take(receipt, "taken")
    assert len(others) == len(Batch.from_text(receipt.asked).questions) - 1
    assert offer.cost == receipt.event
    assert curator.ledger.account(name) == offer.after == own.after_loss(loss(receipt.event))
    assert curator.ledger.spent() == dataset
    assert len(curator.engine.ran) == read
    return answer


def refused(curator, receipt, name):
    """Why somebody cannot have an answer; nothing is spent to find out."""
    before = curator.ledger.account(name)
    with pytest.raises(Refusal) as refusal:
        find_offer(curator, name, receipt)
    assert curator.ledger.account(name) == before
    return refusal.value


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "payment",
    [
        {"epsilon": 0.5},
        {"epsilon": Decimal("0.1")},
        {"rho": 0.01},
        {"error": 30_000, "rows": 100},
        {"epsilon": 0.5, "weights": {"n": 1, "pay": 3}},
        {"rho": 0.01, "effort": "high"},
        {"epsilon": 0.5, "inference": "population"},
        {"epsilon": 0.5, "confidence": 0.9},
    ],
)
def test_another_analyst_gets_the_very_same_numbers_and_the_dataset_does_not_pay_again(curator, payment):
    first = curator.session("bob").sql(BY_SEX, **payment)
    answer = take(curator, curator.ledger.answers("bob")[0], "dave")
    assert shown(answer) == shown(first)
    assert answer.confidence == first.confidence


def test_keys_that_were_found_are_shared_with_their_delta(curator):
    first = curator.session("bob").sql(
        "SELECT eye_color, COUNT(*) AS n FROM people GROUP BY eye_color", epsilon=5, delta=1e-9
    )
    answer = take(curator, curator.ledger.answers("bob")[0], "dave")
    assert list(answer["n"]) == list(first["n"])


def test_a_batch_is_shared_as_a_whole(curator):
    questions = [Question(BY_SEX), Question("SELECT COUNT(*) AS n FROM people WHERE age > 40")]
    first = curator.session("bob").batch(questions, epsilon=0.5)
    receipt = curator.ledger.answers("bob")[0]
    answer = take(curator, receipt, "dave")
    assert list(answer["pay"]) == list(first[0]["pay"])
    assert [list(each["n"]) for each in curator.session("dave").take(receipt)] == [list(each["n"]) for each in first]


def test_a_policy_shares_with_one_that_pays_as_much_or_more(curator):
    first = curator.session("pia").sql(BY_SEX)
    answer = take(curator, curator.ledger.answers("pia")[0], "paul")
    assert list(answer["pay"]) == list(first["pay"])


@pytest.mark.parametrize("name", ["mid", "gus"])
def test_of_several_answers_to_one_question_the_very_one_is_shared(curator, name):
    curator.session("paul").sql(BY_SEX)  # dearer than pia, mid and gus may pay
    first = curator.session("pia").sql(BY_SEX)
    answer = take(curator, curator.ledger.answers("pia")[0], name)
    assert shown(answer) == shown(first)


def test_who_can_pay_for_the_dearer_answer_still_gets_the_one_that_is_shared(curator):
    curator.session("pia").sql("SELECT COUNT(*) AS n FROM people")
    curator.session("paul").sql(BY_SEX)
    first = curator.session("pia").sql(BY_SEX)
    answer = take(curator, curator.ledger.answers("pia")[1], "rich")
    assert shown(answer) == shown(first)


def test_a_price_that_fell_since_the_offer_is_refused_and_nothing_is_measured(curator):
    curator.session("pia").sql(BY_SEX)
    receipt, session = curator.ledger.answers("pia")[0], curator.session("gus")
    find_offer(curator, "gus", receipt)
    session.sql("SELECT COUNT(*) AS n FROM people")  # in another tab: the next price is a part of what is left
    accounts, read = [curator.ledger.account(each) for each in ("gus", None)], len(curator.engine.ran)
    with pytest.raises(Refusal) as refusal:
        session.take(receipt, "taken")
    assert refusal.value.code == "not_shared"
    assert [curator.ledger.account(each) for each in ("gus", None)] == accounts
    assert len(curator.engine.ran) == read


def test_an_answer_that_is_not_there_is_not_measured_in_its_place(curator):
    curator.session("bob").sql(BY_SEX, epsilon=0.5)
    receipt = replace(curator.ledger.answers("bob")[0], key="bob\nnone")
    before = curator.ledger.spent()
    with pytest.raises(Refusal, match="no answer yet that could be shared"):
        curator.session("dave").take(receipt)
    assert curator.ledger.spent() == before


@pytest.mark.parametrize(
    ("payer", "name", "why"),
    [
        ("pia", "bob", "of another kind"),
        ("bob", "pia", "of another kind"),
        ("pia", "poor", "more than your policy pays"),
    ],
)
def test_prices_that_do_not_suit_are_refused(curator, payer, name, why):
    curator.session(payer).sql(BY_SEX, **({"epsilon": 0.5} if payer == "bob" else {}))
    assert why in refused(curator, curator.ledger.answers(payer)[0], name).why


def test_what_is_above_the_ceiling_or_the_budget_is_refused(curator):
    curator.session("bob").sql(BY_SEX, epsilon=5)
    receipt = curator.ledger.answers("bob")[0]
    assert refused(curator, receipt, "low").code == "ceiling"
    assert refused(curator, receipt, "carol").code == "budget"


def test_rho_is_refused_to_who_has_no_delta(curator):
    curator.session("bob").sql(BY_SEX, rho=0.01)
    assert "rho 0, and delta 0" in refused(curator, curator.ledger.answers("bob")[0], "alice").why


def test_what_was_measured_afresh_is_nobody_elses(curator):
    curator.session("bob").sql(BY_SEX, epsilon=0.5, replay=False)
    assert "afresh" in refused(curator, curator.ledger.answers("bob")[0], "dave").why


def test_another_version_of_the_data_is_another_answer(curator):
    curator.session("bob").sql(BY_SEX, epsilon=0.5)
    alter(curator, catalog=replace(curator.catalog, version=2))
    assert "version 1" in refused(curator, curator.ledger.answers("bob")[0], "dave").why


def test_a_catalog_that_means_something_else_is_found_out(curator):
    curator.session("bob").sql(BY_SEX, epsilon=0.5)
    receipt = curator.ledger.answers("bob")[0]
    other = replace(Batch.from_text(receipt.asked), questions=(Question(BY_SEX.replace("salary", "age"), epsilon=0.5),))
    assert "catalog" in refused(curator, replace(receipt, asked=other.to_text()), "dave").why


def spent(curator, name):
    """All accounts that an answer could be paid from, and how many statements have read data."""
    return curator.ledger.account(name), curator.ledger.account(), len(curator.engine.ran)


def is_refused_free(curator, name, ask):
    """Whether an answer of another version is refused, and nobody has paid for that, however often it is asked for."""
    before, listed = spent(curator, name), curator.ledger.count_answers(name)
    for _ in range(2):
        with pytest.raises(Refusal, match=r"for another analyst by version 0\.1\.0.*nothing was paid") as refusal:
            ask(curator.session(name))
        assert refusal.value.code == "other_version"
        assert refusal.value.__context__ is None
    return spent(curator, name) == before and curator.ledger.count_answers(name) == listed


NAMED, SET = ("bob", "dave", {"epsilon": 0.5}), ("pia", "paul", {})  # by the analysts, and by their policies
PAYERS = pytest.mark.parametrize(("payer", "name", "price"), [NAMED, SET])
LIMITED = f"{BY_SEX} ORDER BY sex DESC LIMIT 1"
OTHER_FORMS = [
    (*NAMED, f"{BY_SEX} HAVING AVG(age) > -1000"),
    (*NAMED, f"{BY_SEX} ORDER BY n DESC"),
    (*NAMED, "SELECT sex, AVG(salary) - AVG(age) AS d FROM people GROUP BY sex"),
    ("bob", "dave", {"rho": 0.01}, LIMITED),
    (*NAMED, LIMITED),
    (*SET, LIMITED),  # there ORDER BY and HAVING of numbers are other questions
]
FORMS = pytest.mark.parametrize(("payer", "name", "price", "text"), OTHER_FORMS)


@FORMS
def test_what_newer_code_may_be_unable_to_show_is_refused_before_it_is_paid_for(curator, payer, name, price, text):
    first = curator.session(payer).sql(BY_SEX, **price)
    receipt, taker = curator.ledger.answers(payer)[0], curator.session(name)
    with newer_version():
        assert is_refused_free(curator, name, lambda session: session.sql(text, **price, request_id="mine"))
        own, dataset, read = spent(curator, name)
        shared = taker.sql(BY_SEX, **price)
        assert shown(shared) == shown(first)
        assert spent(curator, name) == (own.after_loss(loss(receipt.event)), dataset, read)
        assert taker.sql(BY_SEX, **price).replayed
        assert curator.ledger.account(name) == own.after_loss(loss(receipt.event))


def test_the_fix_of_that_refusal_pays_for_a_new_answer_in_ones_own_form(curator):
    curator.session("bob").sql(BY_SEX, epsilon=0.5)
    with newer_version():
        own, dataset, _ = spent(curator, "dave")
        fresh = curator.session("dave").sql(LIMITED, epsilon=0.5, replay=False)
        assert not fresh.replayed
        assert spent(curator, "dave")[:2] == (own.after(fresh.receipt.event), dataset.after(fresh.receipt.event))


@PAYERS
def test_a_batch_of_another_version_is_refused_or_paid_for_as_a_whole(curator, payer, name, price):
    texts = [BY_SEX, "SELECT COUNT(*) AS n FROM people WHERE age > 40"]
    curator.session(payer).batch(texts, **price)
    receipt = curator.ledger.answers(payer)[0]
    with newer_version():
        assert is_refused_free(curator, name, lambda session: session.batch([LIMITED, texts[1]], **price))
        own, dataset, read = spent(curator, name)
        assert all(answer.replayed for answer in curator.session(name).batch(texts, **price))
        assert spent(curator, name) == (own.after_loss(loss(receipt.event)), dataset, read)


@PAYERS
def test_what_is_taken_over_from_another_version_is_shown_as_it_was_given(curator, payer, name, price):
    first = curator.session(payer).sql(LIMITED, **price)
    with newer_version():
        assert shown(take(curator, curator.ledger.answers(payer)[0], name)) == shown(first)


def test_a_source_of_another_version_that_is_asked_for_in_other_words_is_refused_before_it_is_paid_for(curator):
    curator.session("bob").sql(BY_SEX, epsilon=0.5)
    receipt = curator.ledger.answers("bob")[0]
    asked = replace(Batch.from_text(receipt.asked), questions=(Question(LIMITED, epsilon=0.5),))
    with newer_version():
        assert is_refused_free(curator, "dave", lambda dave: dave.take(replace(receipt, asked=asked.to_text())))


@FORMS
def test_the_same_version_shares_an_answer_in_every_form_and_is_paid_once(curator, payer, name, price, text):
    curator.session(payer).sql(BY_SEX, **price)
    own, dataset, read = spent(curator, name)
    for _ in range(2):
        assert curator.session(name).sql(text, **price).replayed
    assert spent(curator, name) == (own.after_loss(loss(curator.ledger.answers(payer)[0].event)), dataset, read)


def write_measurements(record):
    """A record as the first ledgers have them: nothing tells which version made it, nor what was answered."""
    arrays = [{"shape": list(array.shape), "values": array.ravel().tolist()} for array in record.values]
    return json.dumps(arrays).encode()


@FORMS
def test_the_first_records_are_shared_in_every_form(curator, payer, name, price, text):
    with patch.object(Record, "to_bytes", write_measurements):
        curator.session(payer).sql(BY_SEX, **price)
    own, dataset, read = spent(curator, name)
    with newer_version():
        assert curator.session(name).sql(text, **price).replayed
    assert spent(curator, name) == (own.after_loss(loss(curator.ledger.answers(payer)[0].event)), dataset, read)


def test_the_form_of_keys_that_were_found_is_known_without_them(curator):
    text, price = "SELECT eye_color, COUNT(*) AS n FROM people GROUP BY eye_color", {"epsilon": 5, "delta": 1e-9}
    curator.session("bob").sql(text, **price)
    with newer_version():
        assert is_refused_free(curator, "dave", lambda session: session.sql(f"{text} LIMIT 1", **price))
        assert curator.session("dave").sql(text, **price).replayed


@PAYERS
def test_what_is_paid_for_is_shown_whatever_work_that_takes(curator, payer, name, price):
    text = "SELECT * FROM kernel_regression(people, y => salary, x => age)"
    curator.session(payer).sql(text, **price)
    answer = None
    with patch.object(kernel_regression, "_PRODUCTS_OF_A_STEP", 1e-6), suppress(Refusal):  # more than is free
        answer = curator.session(name).sql(f"{text} LIMIT 1", **price)
    assert answer is not None
    assert "version" not in str(answer.notes)


@PAYERS
@pytest.mark.parametrize("version", [nullcontext, newer_version])
def test_a_question_that_somebody_else_has_asked_takes_no_more_free_work(curator, payer, name, price, version):
    work = Work()
    with limit(work):
        curator.session(payer).sql(BY_SEX, **price)
    with version(), limit(Work(work.steps)):
        assert curator.session(name).sql(BY_SEX, **price).replayed


def test_answers_that_are_not_paid_for_are_not_held_in_memory(curator):
    """As the tracebacks of exceptions would hold them: as much as anybody likes to ask for."""
    curator.session("bob").sql(BY_SEX, epsilon=0.5)
    with newer_version():
        gc.collect()
        gc.disable()
        try:
            for text in (LIMITED, BY_SEX):
                with suppress(Refusal):
                    curator.session("dave").sql(text, epsilon=0.5)
            held = sum(isinstance(each, UnpaidAnswer) for each in gc.get_objects())
        finally:
            gc.enable()
    assert held == 0


def interrupt(curator, action):
    """Do something after another analyst's answer was found, and before it is paid for."""
    reserve, actions = curator.ledger.reserve, [action]

    def pay(*args, **named):
        found = reserve(*args, **named)
        if isinstance(found, UnpaidAnswer) and actions:
            actions.pop()()
        return found

    return patch.object(curator.ledger, "reserve", pay)


def pay_elsewhere(curator, name, price, text):
    """As another process of the same analyst does, which has found the answer as well, and does not wait."""

    def act():
        with patch.object(curator.ledger, "lock", lambda *_: nullcontext()):
            curator.session(name).sql(text, **price)

    return act


@PAYERS
def test_two_processes_of_one_analyst_pay_once_for_the_answer_that_both_found(curator, payer, name, price):
    curator.session(payer).sql(BY_SEX, **price)
    own, dataset, read = spent(curator, name)
    with interrupt(curator, pay_elsewhere(curator, name, price, BY_SEX)):
        answer = curator.session(name).sql(BY_SEX, **price)
    assert spent(curator, name) == (own.after_loss(loss(curator.ledger.answers(payer)[0].event)), dataset, read)
    assert curator.ledger.count_answers(name) == 1
    assert answer.left == curator.ledger.left(name)


def test_another_answer_that_comes_before_the_payment_is_judged_by_and_nothing_is_paid_twice(curator):
    curator.session("bob").sql(BY_SEX, epsilon=0.5)
    before = curator.ledger.account("dave")
    with interrupt(curator, pay_elsewhere(curator, "dave", {"epsilon": 1}, "SELECT COUNT(*) AS n FROM people")):
        answer = curator.session("dave").sql(BY_SEX, epsilon=0.5)
    other, shared = curator.ledger.answers("dave")
    assert (answer.replayed, answer.receipt) == (True, shared)
    assert curator.ledger.account("dave") == before.after(other.event).after_loss(loss(shared.event))
    assert answer.left == curator.ledger.left("dave")


def test_an_account_that_is_emptied_before_the_payment_is_refused_and_gets_nothing(curator):
    curator.session("pia").sql(BY_SEX)
    before = curator.ledger.account("gus")

    def spend_all():
        curator.ledger.reserve("gus", "all", b"another plan", Pure(before.left().epsilon))

    with interrupt(curator, spend_all), pytest.raises(Refusal, match="budget of gus"):
        curator.session("gus").sql(BY_SEX)
    assert curator.ledger.count_answers("gus") == 0


class DebitError(Exception):
    """A debit was asked for."""


def fail_debits(reserve):
    """A ledger that fails instead of debiting a shared answer: what is known by then, is known without paying."""

    def pay(*args, source, check_first=False, **named):
        if not check_first:
            raise DebitError(source)
        return reserve(*args, source=source, check_first=True, **named)

    return pay


@pytest.mark.parametrize("text", [BY_SEX, LIMITED])
def test_what_happens_before_the_debit_does_not_depend_on_the_numbers_of_the_answer(curator, text):
    curator.session("bob").sql(BY_SEX, epsilon=0.5)
    failing = partial(patch.object, replaying, "draft_answer", None)
    seen = set()
    for change in (nullcontext, other_intervals, failing):  # newer code computes the same, or something else, or fails
        with newer_version(change), patch.object(curator.ledger, "reserve", fail_debits(curator.ledger.reserve)):
            with pytest.raises((Refusal, DebitError)) as stopped:
                curator.session("dave").sql(text, epsilon=0.5)
            seen.add((stopped.type, str(stopped.value)))
    assert len(seen) == 1
    assert (stopped.type is DebitError) == (text == BY_SEX)


@pytest.mark.parametrize("damage", [{"results": [{}]}, {"results": 3}, None])
def test_an_unreadable_answer_of_somebody_else_is_a_failure_of_ones_own_request_and_costs_nothing(curator, damage):
    curator.session("bob").sql(BY_SEX, epsilon=0.5, request_id="of bob")
    before, found = spent(curator, "dave"), Record(**damage) if damage else ValueError
    with (
        patch.object(Record, "from_bytes", side_effect=[found]),
        pytest.raises(Failure, match=r"Request id: mine\."),
    ):
        curator.session("dave").sql(BY_SEX, epsilon=0.5, request_id="mine")
    assert spent(curator, "dave") == before


@pytest.fixture(params=["file", "postgres"])
def place(request, tmp_path):
    if request.param == "file":
        return tmp_path / "ledger.sqlite"
    return PostgresPlace(durable_server().url(), f"test_{uuid4().hex}", "test", tmp_path)


@PAYERS
def test_every_store_lets_an_answer_be_checked_before_it_debits(curator, place, payer, name, price):
    budgets = {analyst.name: analyst.budget for analyst in curator.catalog.analysts}
    with (
        Ledger.open(place, curator.catalog.budget, budgets) as ledger,
        altered(curator, ledger=ledger),
        newer_version(nullcontext),
    ):
        curator.session(payer).sql(BY_SEX, **price)
        assert is_refused_free(curator, name, lambda session: session.sql(LIMITED, **price))
        own = ledger.account(name)
        assert curator.session(name).sql(BY_SEX, **price).replayed
        assert ledger.account(name) == own.after_loss(loss(ledger.answers(payer)[0].event))
        ledger.verify()
