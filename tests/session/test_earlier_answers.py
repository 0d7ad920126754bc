"""Answers that the first version measured apart: given again as they were stored, or not found, and never misread."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adomnia.asking.batch import Batch
from adomnia.catalog.model import Analyst, Policy
from adomnia.curator.paying import PaymentRequest, measure, pay
from adomnia.pricing.questions import Question
from adomnia.pricing.rules import FIRST
from adomnia.privacy.events import Pure
from adomnia.privacy.filters import Budget
from kit.hospital import curated, person

GROUPED = "SELECT sex, COUNT(*) AS n, AVG(salary) AS pay, SUM(salary) AS total FROM people GROUP BY sex"
PEOPLE = [person(k, age=20.0 + k, salary=1000.0 * k, sex="FM"[k % 2], city="Oslo", name="n") for k in range(40)]
TEXTS = [
    GROUPED,
    "SELECT AVG(age) AS pay FROM people",
    "SELECT STDDEV(salary) AS pay, AVG(salary) AS mean FROM people",
    "SELECT CORR(age, salary) AS pay FROM people",
]


def stored_by_the_first_version(session, text, price):
    """Pays and measures as that version did; the values of every statistic as they were told then."""
    curator, request = session._curator, "earlier"
    named = Question(text) if price is None else Question(text, epsilon=price)
    batch, who = Batch((named,), 0.95, curator.catalog.version), f"{session.analyst}\n{request}"
    plans = batch.plans(curator.catalog)
    set_by_policy = Pure(1) if price is None else None
    priced = batch.price(plans, curator.catalog, set_by_policy, FIRST)
    if price is None:
        identity = batch.unpriced_identity(plans, curator.catalog, who, FIRST)
    else:
        identity = batch.identity(priced, who)
    paid = pay(curator.dataset.kernel, PaymentRequest(session.analyst, request, identity, batch.to_text()), priced)
    ((evaluated,), _) = measure(curator.dataset.kernel, paid, lambda evaluated: (evaluated, None))
    return request, [result.values for result in evaluated.results.values()]


def read_released(answer, name):
    """The numbers that were released of a column, those that are uninformative too."""
    (column,) = (column for column in answer.typed_columns if column.name == name)
    return tuple(column.estimate.values.ravel().tolist())


@pytest.mark.parametrize("text", TEXTS)
def test_an_earlier_answer_is_given_again_as_it_was_and_not_found_under_the_question(curator, text):
    alice = curator.session("alice")
    request, told = stored_by_the_first_version(alice, text, 1)
    again = alice.answer(request)
    names = [name for name in again.columns if name != "sex"]
    assert {read_released(again, name) for name in names} == {tuple(np.ravel(values).tolist()) for values in told}
    fresh = alice.sql(text, epsilon=1)
    assert not fresh.replayed
    assert alice.sql(text, epsilon=1).replayed
    assert alice.answer(fresh.receipt.request_id)["pay"] == fresh["pay"]


@pytest.mark.parametrize("text", TEXTS)
def test_the_same_holds_where_a_policy_sets_the_price(catalog, text):
    policy = Policy("equal_split", questions=3)
    analysts = tuple(Analyst(each.name, Budget(3), policy) for each in catalog.analysts)
    with curated(replace(catalog, analysts=analysts), PEOPLE, [], seed="policy") as curator:
        alice = curator.session("alice")
        request, told = stored_by_the_first_version(alice, text, None)
        again = alice.answer(request)
        assert read_released(again, "pay") in {tuple(np.ravel(values).tolist()) for values in told}
        fresh = alice.sql(text)
        assert not fresh.replayed
        assert alice.answer(fresh.receipt.request_id)["pay"] == fresh["pay"]


@pytest.mark.parametrize("text", TEXTS)
def test_both_versions_have_keys_of_their_own_where_a_policy_sets_the_price(catalog, text):
    batch = Batch((Question(text),), 0.95, 1)
    plans = batch.plans(catalog)
    assert batch.unpriced_identity(plans, catalog, "any") != batch.unpriced_identity(plans, catalog, "any", FIRST)


def test_what_is_measured_as_before_is_found_as_before(curator):
    alice = curator.session("alice")
    stored_by_the_first_version(alice, "SELECT sex, COUNT(*) AS pay, SUM(age) AS total FROM people GROUP BY sex", 1)
    assert alice.sql("SELECT sex, COUNT(*) AS pay, SUM(age) AS total FROM people GROUP BY sex", epsilon=1).replayed
