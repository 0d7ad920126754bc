"""Attacks on who pays for what: answers read as something else, shared where they may not be, or had for nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from threading import Event
from unittest.mock import patch

import pytest

from adomnia import Question, Refusal
from adomnia.catalog.model import Analyst, Policy, Profile
from adomnia.ledger import Ledger, history
from adomnia.privacy.amounts import EPSILON_UNIT
from adomnia.privacy.events import Pure
from adomnia.privacy.filters import Budget
from adomnia.session.curator import Curator
from adomnia.statistics.profile import profile_edges
from kit.bits import SeededBits
from kit.effort import count_calls
from kit.hospital import load, person
from kit.waiting import HANG_SECONDS

pytestmark = pytest.mark.no_cover  # tests of the modules have one example of each branch

TENTHS = Policy("geometric", spend=Fraction(1, 10))
POLICIES = {"alice": TENTHS, "bob": TENTHS, "dave": Policy(), "erin": Policy()}
PEOPLE = [
    person(k, age=20.0 + k % 50, sex="FM"[k % 2], city="Oslo", name="few" if k < 30 else "many") for k in range(2000)
]
COUNT = "SELECT COUNT(*) AS n FROM people"


@pytest.fixture
def declared(catalog):
    """Two analysts whose prices a policy sets, and two who name them."""
    budget = Budget(20, Fraction(1, 100), approximate=True)
    analysts = tuple(Analyst(name, budget, policy) for name, policy in POLICIES.items())
    return replace(catalog, budget=Budget(1000, Fraction(1, 10), approximate=True), analysts=analysts)


@pytest.fixture
def opened(tmp_path):
    """Opens catalogs over the same people and the same ledger."""
    curators = []

    def curated(catalog):
        ledger = Ledger.open(
            tmp_path / "ledger.sqlite", catalog.budget, {each.name: each.budget for each in catalog.analysts}
        )
        curators.append(Curator.open(catalog, load(catalog, PEOPLE, []), ledger, SeededBits(len(curators))))
        return curators[-1]

    yield curated
    for curator in curators:
        curator.close()


def width(record, name):
    return record[f"{name}_upper"] - record[f"{name}_lower"]


@pytest.mark.parametrize("second", ["alice", "bob"])
def test_weights_go_to_what_a_name_means_and_not_to_the_name(declared, opened, second):
    """The same measurements, the heavy weight on the other one: what was measured with little is read as little."""
    curator = opened(declared)
    first = curator.session("alice").sql("SELECT COUNT(*) AS n, SUM(age) AS s FROM people", weights={"n": 1000})
    other = curator.session(second).sql("SELECT COUNT(*) AS s, SUM(age) AS n FROM people", weights={"n": 1000})
    (told,), (again,) = first.records(), other.records()
    if again["s"] == told["n"]:  # given once more, it must be as wide as it was
        assert (width(again, "s"), width(again, "n")) == (width(told, "n"), width(told, "s"))
    truth = sum(each["age"] for each in PEOPLE)
    far = width(again, "n")  # twice what 19 of 20 are within
    assert abs(again["n"] - truth) < 5 * far


@pytest.mark.parametrize(
    ("plain", "formula"),
    [
        ("SELECT COUNT(*) AS n, AVG(age) AS a FROM people", "SELECT COUNT(*) + 0 AS n, AVG(age) AS a FROM people"),
        (
            "SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY sex",
            "SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY sex ORDER BY COUNT(*) + 1",
        ),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_what_is_measured_another_way_is_another_question(declared, opened, plain, formula, turned):
    """A formula keeps counts from being measured as one: records of the two do not fit each other."""
    alice = opened(declared).session("alice")
    for text in (formula, plain) if turned else (plain, formula):
        for record in alice.sql(text).records():
            assert abs(record["n"] - len(PEOPLE) / (2 if "sex" in record else 1)) < 100 or record.get("sex") == "X"


@pytest.mark.parametrize("second", ["alice", "bob"])
def test_a_raised_minimum_frequency_holds_for_answers_of_before(declared, opened, second):
    text = "SELECT name, COUNT(*) AS n FROM people GROUP BY name"
    first = opened(declared).session("alice").sql(text, delta=1e-3, request_id="before")
    assert {record["name"] for record in first.records()} == {"few", "many"}
    raised = opened(replace(declared, minimum_frequency=1000))
    now = raised.session(second).sql(text, delta=1e-3)
    assert {record["name"] for record in now.records()} == {"many"}
    with pytest.raises(Refusal) as refused:
        raised.session("alice").answer("before")
    assert refused.value.code == "catalog_changed"


@pytest.mark.parametrize(("first", "second", "price"), [("dave", "erin", {"epsilon": 0.01}), ("alice", "bob", {})])
def test_a_fresh_measurement_is_nobody_elses(declared, opened, first, second, price):
    curator = opened(declared)
    before = curator.session(first).sql(COUNT, replay=False, request_id="1", **price)
    after = curator.session(second).sql(COUNT, replay=False, request_id="1", **price)
    assert not after.replayed
    assert after.receipt.hash != before.receipt.hash
    assert curator.ledger.spent().epsilon_units == sum(
        curator.ledger.spent(name).epsilon_units for name in (first, second)
    )


@pytest.mark.parametrize("strange", ["\ud800", "a\nb", "", "x" * 201, "\0"])
def test_asking_for_a_strange_request_id_harms_nobody(declared, opened, strange):
    curator = opened(declared)
    with pytest.raises(Refusal) as refused:
        curator.session("alice").answer(strange)
    assert refused.value.code == "unknown_answer"
    assert curator.session("bob").sql(COUNT).records()


def test_answers_under_plain_request_ids_stay_answers(tmp_path):
    """As ledgers were written before request ids belonged to analysts."""
    place, budgets = tmp_path / "ledger.sqlite", {"alice": Budget(5), "bob": Budget(5)}
    plain = patch("adomnia.ledger.requests._key", lambda paid: paid.request_id)
    with plain, Ledger.open(place, Budget(10), budgets) as ledger:
        ledger.reserve("alice", "old", b"plan", Pure(1)).commit(b"answer")
    try:
        ledger = Ledger.open(place, Budget(10), budgets)
    except Refusal:
        return  # that it is of another format is an answer too
    with ledger:
        assert ledger.reserve("alice", "new", b"plan", Pure(1)).payload == b"answer"
        assert ledger.reserve("alice", "old", b"plan", Pure(1)).payload == b"answer"
        assert ledger.reserve("bob", "old", b"plan", Pure(1)).payload == b"answer"
        assert ledger.spent().epsilon_units * EPSILON_UNIT == 1


def test_a_long_list_of_answers_keeps_nobody_waiting(tmp_path, monkeypatch):
    """Alice asks for all that she has paid for; before she has it, Bob pays and looks at his budget."""
    begun, may_end, list_answers = Event(), Event(), history.list_answers

    def list_slowly(*given, **named):
        begun.set()
        assert may_end.wait(HANG_SECONDS)
        return list_answers(*given, **named)

    monkeypatch.setattr(history, "list_answers", list_slowly)
    budgets = {"alice": Budget(5), "bob": Budget(5)}
    with Ledger.open(tmp_path / "ledger.sqlite", Budget(10), budgets) as ledger, ThreadPoolExecutor(2) as threads:
        ledger.reserve("alice", "hers", b"plan", Pure(1)).commit(b"answer")
        listing = threads.submit(ledger.answers, "alice")
        assert begun.wait(HANG_SECONDS)
        threads.submit(lambda: ledger.reserve("bob", "his", b"other", Pure(1)).commit(b"answer")).result(HANG_SECONDS)
        assert threads.submit(ledger.left, "bob").result(HANG_SECONDS).epsilon == 4
        assert not listing.done()
        may_end.set()
        assert len(listing.result(HANG_SECONDS)) == 1


def test_an_answer_of_an_old_version_tells_nothing_of_the_new_data(catalog, tmp_path):
    """How many rows a cap leaves out is read from a profile, and each version has its own."""
    edges = profile_edges(8)

    def version(number, people):
        profile = Profile(edges, (people, *[0] * (len(edges) - 3), 5000), Fraction(1))
        profiled = {"rows_per_person": 8, "profile_epsilon": Fraction(1), "profile": profile}
        tables = (replace(each, **profiled) if each.name == "visits" else each for each in catalog.tables)
        declared = replace(catalog, version=number, tables=tuple(tables))
        budgets = {each.name: each.budget for each in declared.analysts}
        ledger = Ledger.open(tmp_path / "ledger.sqlite", declared.budget, budgets)
        return Curator.open(declared, load(declared, PEOPLE, []), ledger, SeededBits(number))

    with version(1, 0) as old:
        before = old.session("alice").sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.01, request_id="old")
    with version(2, 3000) as new:
        try:
            again = new.session("alice").answer("old")
        except Refusal:
            return  # that the catalog changed is an answer too
    assert again.records() == before.records()
    assert all(cap.leaves_out is None or cap in before.caps for cap in again.caps)


def test_a_debit_of_one_analyst_under_the_id_of_another_does_not_verify(tmp_path):
    """Somebody who can write entries, and links them well, gives Bob what Alice has paid for."""
    budgets = {"alice": Budget(5), "bob": Budget(5)}
    with Ledger.open(tmp_path / "ledger.sqlite", Budget(10), budgets) as ledger:
        with patch("adomnia.ledger.requests._key", lambda paid: f"bob\n{paid.request_id}"):
            ledger.reserve("alice", "hers", b"plan", Pure(1)).commit(b"answer")
        assert ledger.answer("bob", "hers") is None
        with pytest.raises(Refusal):
            ledger.verify()


def test_the_time_to_price_a_question_grows_no_faster_than_the_question(alice):
    """Prices are free: what takes a server minutes to think about must not be one of them."""

    def work(number):
        columns = (f"SUM(age + {k}) / COUNT(age + {k}) AS r{k}, SUM(age + {k}) AS s{k}" for k in range(number))
        text = f"SELECT {', '.join(columns)} FROM people"
        return count_calls(lambda: alice.price(text, epsilon=1.0))

    work(2)  # what is computed once
    assert work(16) < 6 * work(4)


def test_a_batch_is_priced_in_a_time_that_its_length_explains(alice):
    def work(number):
        columns = "SUM(age + {0}) / COUNT(age + {0}) AS r, SUM(age + {0}) AS s"
        texts = [f"SELECT {columns.format(k)} FROM people" for k in range(number)]
        return count_calls(lambda: alice.price(texts, epsilon=1.0))

    work(2)
    assert work(32) < 6 * work(8)


def test_a_ceiling_holds_whatever_is_found_beside(declared, opened):
    """One part with a delta, and the question has no epsilon any more that could be above the ceiling."""
    limited = replace(declared.analysts[2], policy=Policy(ceiling=Fraction(1, 5)))
    dave = opened(replace(declared, analysts=(*declared.analysts[:2], limited, declared.analysts[3]))).session("dave")
    counts = ", ".join(f"COUNT(CASE WHEN age > {k} THEN 1 END) AS c{k}" for k in range(60))
    for text, price in (
        (f"SELECT {counts} FROM people", {}),
        (f"SELECT name, {counts} FROM people GROUP BY name", {"delta": 1e-6}),
    ):
        with pytest.raises(Refusal) as refused:
            dave.sql(text, epsilon=1.4, **price)
        assert refused.value.code == "ceiling"


@pytest.mark.parametrize("beside", [{"rho": 1e-9}, {"rho": 1e-4, "delta": 1e-9}])
def test_a_ceiling_holds_for_what_is_paid_beside_a_little_rho(declared, opened, beside):
    """One question of the batch is paid in rho, and the others hide behind it."""
    limited = replace(declared.analysts[2], policy=Policy(ceiling=Fraction(1, 5)))
    dave = opened(replace(declared, analysts=(*declared.analysts[:2], limited, declared.analysts[3]))).session("dave")
    counts = ", ".join(f"COUNT(CASE WHEN age > {k} THEN 1 END) AS c{k}" for k in range(60))
    small = "SELECT name, COUNT(*) AS n FROM people GROUP BY name" if "delta" in beside else COUNT
    with pytest.raises(Refusal) as refused:
        dave.batch([Question(small, **beside), Question(f"SELECT {counts} FROM people", epsilon=1.4)])
    assert refused.value.code == "ceiling"
