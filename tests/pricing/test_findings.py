"""Methods that are private but for a delta: the question names it, on every surface, and it is paid."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import adomnia
from adomnia import Question, Refusal
from adomnia.catalog.model import Analyst, Policy
from adomnia.privacy.amounts import DELTA_UNIT
from adomnia.privacy.events import Approximate, Concentrated
from adomnia.privacy.filters import Budget
from adomnia.privacy.losses import loss
from adomnia.wire.quotes import QuoteReply, quote_of, quote_record
from cli.conftest import hospital, typed
from console.ask.visiting import read_text, sign_in
from kit import house
from kit.altering import alter
from kit.bits import SeededBits
from kit.curated import alice, bob, catalog, curator
from kit.hospital import curated, person

__all__ = ["alice", "bob", "catalog", "curator", "hospital", "typed"]

TEXT = "SELECT * FROM ptr_iqr(people, column => age)"
MEDIAN = "SELECT * FROM ptr_median(people, column => age, scale => 8, attempts => 2)"
PLAIN = "SELECT * FROM iqr(people, column => age)"
NONE = "is private but for a delta, and none was named"


def test_without_a_delta_it_is_refused_before_anything_is_paid(bob):
    before = bob.budget()
    for ask in (bob.sql, bob.price, bob.explain):
        with pytest.raises(Refusal, match=NONE) as refused:
            ask(TEXT, epsilon=0.5)
        assert refused.value.code == "bad_price"
        assert "add delta=1e-9" in str(refused.value)
    assert bob.budget() == before


@pytest.mark.parametrize("delta", [0, -1e-9, 0.5, 1e-40, "much", float("nan")])
def test_a_delta_that_is_none_is_refused(bob, delta):
    with pytest.raises(Refusal, match=r"is not between 1e-30 and 0\.01"):
        bob.price(TEXT, epsilon=0.5, delta=delta)


def test_without_a_price_it_is_explained_all_the_same(bob):
    assert "2 measurements, 1 output" in str(bob.explain(TEXT))


def test_its_price_and_explanation_name_the_delta(bob):
    quote = bob.price(MEDIAN, epsilon=0.5, delta=1e-6)
    assert loss(quote.event).delta == Fraction(1, 10**6)
    assert loss(quote.event).epsilon == Fraction(1, 2)
    assert "In all: epsilon 0.5 and delta 0.000001." in str(quote)
    assert [line.price for line in quote.measurements[1:]] == [Approximate(Fraction(9, 40), Fraction(1, 2 * 10**6))] * 2
    assert "price: epsilon 0.5 and delta 0.000001 in all" in str(bob.explain(MEDIAN, epsilon=0.5, delta=1e-6))
    by_rho = bob.price(TEXT, rho=0.01, delta=1e-6)
    assert by_rho.measurements[1].price == Concentrated(Fraction(9, 1000), Fraction(1, 10**6))


def test_a_quote_travels_both_ways(bob):
    for text in (TEXT, MEDIAN):
        quote = bob.price(text, epsilon=0.5, delta=1e-6)
        record = json.loads(json.dumps(quote_record(quote), default=str))
        assert quote_of(QuoteReply.model_validate(record)).measurements == quote.measurements


def test_it_is_paid_with_its_delta_and_replayed_free(bob, curator):
    first = bob.sql(TEXT, epsilon=0.5, delta=1e-8)
    assert not first.replayed
    spent = curator.ledger.account("bob").spent.delta_units * DELTA_UNIT
    assert 0 <= spent - Fraction(1, 10**8) < DELTA_UNIT
    after = bob.budget()
    again = bob.sql(TEXT, epsilon=0.5, delta=1e-8)
    assert again.replayed
    assert str(again).splitlines()[:3] == str(first).splitlines()[:3]
    assert bob.budget() == after


def test_another_delta_is_another_question(bob):
    bob.sql(TEXT, epsilon=0.2, delta=1e-8)
    assert not bob.sql(TEXT, epsilon=0.2, delta=2e-8).replayed


def test_a_delta_is_no_part_of_a_method_that_needs_none(bob):
    with pytest.raises(Refusal, match="delta="):
        bob.price(PLAIN, epsilon=0.5, delta=1e-6)


def test_a_batch_with_one_price_for_all_is_refused_and_one_with_a_price_for_each_is_not(bob):
    with pytest.raises(Refusal, match="has a question that needs a delta"):
        bob.batch([TEXT, PLAIN], epsilon=1)
    asked = [Question(TEXT, epsilon=0.2, delta=1e-8), Question(PLAIN, epsilon=0.2)]
    assert len(bob.batch(asked)) == 2


def test_a_budget_without_delta_refuses_it_and_says_what_the_owner_could_do(catalog):
    pure = replace(
        catalog,
        budget=Budget(10),
        analysts=tuple(replace(each, budget=Budget(2)) for each in catalog.analysts),
    )
    with curated(pure, [person(k) for k in range(5)], [], seed="pure") as opened:
        session = opened.session("bob")
        with pytest.raises(Refusal, match="choose another method, or have the owner allow delta"):
            session.price(TEXT, epsilon=1)
        with pytest.raises(Refusal) as refused:
            session.sql(TEXT, epsilon=1, delta=1e-6)
        assert "is not pure" in str(refused.value)
        assert "have the owner set approximate = true" in str(refused.value)
        assert opened.ledger.account("bob").spent.delta_units == 0


def test_where_a_policy_sets_the_price_the_question_still_names_its_delta(catalog):
    thirds = Analyst("bob", Budget(3, Fraction(1, 100), approximate=True), Policy("equal_split", questions=3))
    ruled = replace(catalog, budget=Budget(10, Fraction(1, 10), approximate=True), analysts=(thirds,))
    with curated(ruled, [person(k, age=20.0 + k) for k in range(30)], [], seed="ruled") as opened:
        session = opened.session("bob")
        with pytest.raises(Refusal, match=NONE):
            session.sql(TEXT)
        answer = session.sql(TEXT, delta=1e-6)
        assert not answer.replayed
        assert loss(session.price(TEXT, delta=1e-6).event).delta == Fraction(1, 10**6)


def test_python_asks_it_as_sql_does():
    values = np.random.default_rng(1).normal(50, 6, 3000)
    rows = pd.DataFrame({"id": np.arange(3000), "x": values})
    with adomnia.protect(rows, unit="id", bounds={"x": (0, 100)}, epsilon=10, delta=1e-4, rows_per_person=1) as session:
        alter(session._curator, bits=SeededBits("median"))  # the test of ptr_median fails by noise alone now and then
        table = session.table("data")
        answer = table.ptr_median(column="x", scale=8, epsilon=2, delta=1e-6)
        assert 40 < answer.to_pandas()["estimate"][0] < 60
        assert session.sql("SELECT * FROM ptr_median(data, column => x, scale => 8)", epsilon=2, delta=1e-6).replayed
        with pytest.raises(Refusal, match=NONE):
            table.ptr_iqr(column="x", epsilon=1)


def test_the_command_line_names_it(hospital, typed):
    code, _, complained = typed("sql", hospital, TEXT, "--epsilon", "0.5", "--analyst", "bob")
    assert (code != 0, "add --delta 1e-9" in complained) == (True, True)
    named = ("--epsilon", "0.5", "--delta", "1e-7", "--analyst", "bob")
    code, printed, complained = typed("price", hospital, TEXT, *named)
    assert (code, complained) == (0, "")
    assert "epsilon 0.5 and delta 1e-7" in printed
    code, printed, complained = typed("sql", hospital, TEXT, *named)
    assert (code, complained) == (0, "")
    assert "Paid: epsilon 0.5 and delta 1e-7" in printed


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    with house.opened(tmp_path_factory.mktemp("house")) as found:
        yield found


def test_http_names_it(opened):
    path = house.DATASET
    refused = opened.ask("bob", "POST", f"{path}/price", json={"sql": TEXT, "epsilon": "0.1"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "bad_price")
    named = {"sql": TEXT, "epsilon": "0.1", "delta": "1e-8"}
    priced = opened.ask("bob", "POST", f"{path}/price", json=named)
    assert priced.status_code == 200
    mechanisms = [line["noise"]["mechanism"] for line in priced.json()["measurements"]]
    assert mechanisms == ["laplace", "propose_test_release"]
    answered = opened.ask("bob", "POST", f"{path}/query", json=named)
    assert answered.status_code == 200


def test_the_console_offers_a_delta_and_shows_what_it_costs(opened):
    asker = sign_in(opened, "bob")
    page = asker.post("/ask/price", sql=TEXT, pay="epsilon", amount="0.1")
    assert "Pay a delta beside it" in read_text(page)
    priced = asker.post("/ask/price", sql=TEXT, pay="epsilon", amount="0.1", delta="1e-9")
    assert re.search(r"beside it ?1e-9", read_text(priced))
