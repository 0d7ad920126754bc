"""One contract, two sessions: over a dataset on this machine, and over HTTP with a server of the same dataset."""

from __future__ import annotations

import inspect
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

import adomnia
from adomnia import Failure, Question, Refusal, Unavailable
from adomnia.asking.batch import MOST_QUESTIONS
from adomnia.client.session import RemoteSession
from adomnia.pricing.bills import Quote
from adomnia.privacy.amounts import EPSILON_UNIT
from adomnia.session.accounts import Budgets, Past
from adomnia.session.answer import Answer
from adomnia.session.contract import Session
from adomnia.session.explanation import Explanation
from adomnia.session.session import LocalSession
from adomnia.session.table import PrivateTable
from kit.hospital import person, visit, write
from kit.released import PUBLISHING, QUESTION, is_same
from kit.serving import HOST, free_port, served, tokens

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = (
    PUBLISHING.replace("rows_per_person = 3", "rows_per_person = { max = 3, epsilon = 5 }").replace(
        '"warn"', '"refuse"'
    )
    + """
[analysts.dave]
epsilon = 1
policy = "equal_split"
questions = 20

[analysts.erin]
epsilon = 1_000
ceiling = 0.5

[views.adults]
sql = "SELECT * FROM people WHERE age >= 18"
"""
)
PEOPLE = [
    person(k, name=f"n{k}", age=10.0 + k % 80, sex="FM"[k % 2], city="Oslo", salary=1000.0 * k, member=k % 3 == 0)
    for k in range(300)
]
VISITS = [
    visit(k % 300, hospital=f"H{k % 4 + 1}", cost=10.0 * k, day=date(2020, 1, 1 + k % 3), diagnosis=f"d{k % 2}")
    for k in range(500)
]
ANALYSTS = ("alice", "bob", "carol", "dave", "erin")

# Of every kind of answer, one; bob may also pay with rho and delta.
QUESTIONS = {
    "a count": ("SELECT COUNT(*) AS n FROM people", {"epsilon": 1}),
    "groups": ("SELECT sex, city, COUNT(*), AVG(salary) AS pay FROM people GROUP BY sex, city", {"epsilon": 0.5}),
    "chosen and sorted": (
        "SELECT city, COUNT(*) AS n FROM people GROUP BY city HAVING COUNT(*) > 100 ORDER BY n DESC LIMIT 1",
        {"epsilon": 20},
    ),
    "no rows": ("SELECT city, member, AVG(age) FROM people GROUP BY 1, 2 HAVING COUNT(*) > 1000000", {"epsilon": 1}),
    # Surely without limits: an interval leaves out a divisor of zero once in 10^9 times.
    "no limits": (
        "SELECT sex, SUM(salary) / SUM(age) AS q FROM people GROUP BY sex",
        {"epsilon": 1e-6, "confidence": 1 - 1e-9},
    ),
    "gaussian": ("SELECT hospital, SUM(cost), COUNT(*) FROM visits GROUP BY hospital", {"rho": Fraction(1, 3)}),
    "quantiles": ("SELECT sex, MEDIAN(salary) AS m, MAX(age) FROM people GROUP BY sex", {"epsilon": Decimal("7.5")}),
    "moments": ("SELECT VAR_SAMP(age), CORR(age, salary) AS c FROM people", {"epsilon": 5}),
    "people": ("SELECT COUNT(DISTINCT person_id) AS n FROM visits WHERE cost > 100", {"epsilon": 1}),
    "days that are found": (
        "SELECT day, COUNT(*) AS n FROM visits GROUP BY day ORDER BY day",
        {"epsilon": 200, "delta": 1e-9},
    ),
    "texts that are found": (
        "SELECT diagnosis, sex, AVG(cost) FROM visits JOIN people USING (person_id) GROUP BY 1, 2",
        {"rho": 500, "delta": Decimal("1e-10")},
    ),
    "nothing is found": ("SELECT name, COUNT(*) AS n FROM people GROUP BY name", {"epsilon": 1, "delta": 1e-9}),
    "ages": ("SELECT FLOOR(age / 20) AS decade, COUNT(*) AS n FROM people GROUP BY 1", {"epsilon": 1}),
    "truths": ("SELECT member, COUNT(*) AS n FROM people GROUP BY member", {"epsilon": 1, "confidence": 0.5}),
    "an error": ("SELECT COUNT(*) AS n FROM people", {"error": 20, "confidence": 0.9}),
    "weights": ("SELECT COUNT(*) AS n, SUM(age) AS s FROM people", {"epsilon": 1, "weights": {"n": 3}}),
    "effort": ("SELECT hospital, SUM(cost) AS s FROM visits GROUP BY hospital", {"rho": 1, "effort": "high"}),
    "parameters": (
        "SELECT sex, COUNT(*) AS n FROM people WHERE age >= :least AND city = :city GROUP BY sex",
        {"epsilon": 1, "parameters": {"least": Decimal("17.5"), "city": "Oslo"}},
    ),
    "a day as a parameter": (
        "SELECT COUNT(*) AS n FROM visits WHERE day > ? AND cost > ? AND hospital <> ? AND urgent IS NOT ?",
        {"epsilon": 1, "parameters": [date(2020, 1, 1), -1, "O'Hara", True]},
    ),
    "a model": ("SELECT * FROM lm(people, formula => 'salary ~ age + sex')", {"epsilon": 50}),
    "a model of several rounds": (
        "SELECT term, estimate AS e, p_value FROM logit(people, formula => 'member ~ age') ORDER BY e",
        {"rho": 2},
    ),
    "a test in groups": (
        "SELECT * FROM t_test(adults, column => salary, mu => 1000, by => sex) WHERE p_value IS NOT NULL",
        {"epsilon": 5},
    ),
    "a curve": ("SELECT * FROM ecdf(people, column => age, bins => 5)", {"epsilon": 1}),
    "public rows": ("SELECT city, population FROM cities ORDER BY city", {}),
    "no public rows": ("SELECT city, population FROM cities WHERE population > 1000000", {}),
}
REFUSED = {
    "syntax": ("SELECT COUNT(* FROM people", {"epsilon": 1}),
    "unknown column": ("SELECT city,\n  AVG(salery) FROM people GROUP BY city", {"epsilon": 1}),
    "rows": ("SELECT name FROM people", {"epsilon": 1}),
    "a formula": ("SELECT * FROM lm(people,\n  formula => 'salary ~ agee')", {"epsilon": 1}),
    "a method": ("SELECT * FROM lmm(people)", {"epsilon": 1}),
    "no text": ("", {"epsilon": 1}),
    "no price": ("SELECT COUNT(*) FROM people", {}),
    "two prices": ("SELECT COUNT(*) FROM people", {"epsilon": 1, "rho": 1}),
    "negative": ("SELECT COUNT(*) FROM people", {"epsilon": -1}),
    "no number": ("SELECT COUNT(*) FROM people", {"epsilon": float("nan")}),
    "endless": ("SELECT COUNT(*) FROM people", {"rho": float("inf")}),
    "true": ("SELECT COUNT(*) FROM people", {"epsilon": True}),
    "huge": ("SELECT COUNT(*) FROM people", {"epsilon": 10**200}),
    "tiny": ("SELECT COUNT(*) FROM people", {"epsilon": Decimal("1e-200")}),
    "confidence": ("SELECT COUNT(*) FROM people", {"epsilon": 1, "confidence": 1.5}),
    "no confidence": ("SELECT COUNT(*) FROM people", {"epsilon": 1, "confidence": float("nan")}),
    "group size": ("SELECT AVG(age) FROM people", {"error": 5, "rows": 0}),
    "part of a row": ("SELECT AVG(age) FROM people", {"error": 5, "rows": 1.5}),
    "effort": ("SELECT COUNT(*) FROM people", {"rho": 1, "effort": "huge"}),
    "weights": ("SELECT COUNT(*) AS n FROM people", {"epsilon": 1, "weights": {"m": 1}}),
    "delta": ("SELECT sex, COUNT(*) FROM people GROUP BY sex", {"epsilon": 1, "delta": 1e-9}),
    "odd delta": ("SELECT name, COUNT(*) FROM people GROUP BY name", {"epsilon": 1, "delta": 2}),
    "error": ("SELECT COUNT(*) FROM people", {"error": -5}),
    "budget": ("SELECT COUNT(*) FROM people", {"epsilon": 10**7}),
    "few parameters": ("SELECT COUNT(*) FROM people WHERE age > ?", {"epsilon": 1, "parameters": []}),
    "unknown parameter": ("SELECT COUNT(*) FROM people", {"epsilon": 1, "parameters": {"x": 1}}),
    "odd parameter": ("SELECT COUNT(*) FROM people WHERE age > ?", {"epsilon": 1, "parameters": [object()]}),
    "after a parameter": (
        "SELECT COUNT(*) FROM people\nWHERE city = ? AND\nage > ? AND nothing = 1",
        {"epsilon": 1, "parameters": ["a\nb", 17]},
    ),
    "no parameters": ("SELECT COUNT(*) FROM people WHERE age > ?", {"epsilon": 1}),
    "request id": ("SELECT COUNT(*) AS fresh FROM people", {"epsilon": 1, "request_id": ""}),
    "control sign": ("SELECT COUNT(*) AS fresh FROM people", {"epsilon": 1, "request_id": "a\nb"}),
    "long request id": ("SELECT COUNT(*) AS fresh FROM people", {"epsilon": 1, "request_id": "x" * 201}),
}
PRICES = ("epsilon", "rho", "error", "weights", "rows", "delta", "effort", "parameters")


@dataclass(frozen=True)
class Pair:
    """Sessions of one analyst: on this machine, and with the server."""

    here: Any
    there: Any


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Of all analysts; both kinds have the same data and the same ledger."""
    folder = write(tmp_path_factory.mktemp("sessions") / "hospital", PEOPLE, VISITS, TEXT)
    keys = tokens(folder, ANALYSTS)
    with ExitStack() as stack:
        curator = stack.enter_context(adomnia.open(folder))
        server = stack.enter_context(served(folder, "--workers", 1, "--bucket", 0, "--rate", 10_000))
        url = f"http://{HOST}:{server.port}"
        there = {name: stack.enter_context(adomnia.connect(url, key)) for name, key in keys.items()}
        yield {name: Pair(curator.session(name), there[name]) for name in ANALYSTS}


@pytest.fixture(params=["here", "there"])
def of(request, pairs) -> Callable[[str], Any]:
    """One kind of session for an analyst."""
    return lambda name: getattr(pairs[name], request.param)


@pytest.fixture
def alice(of):
    return of("alice")


def price_of(payment):
    return {name: value for name, value in payment.items() if name in {*PRICES, "confidence"}}


def facts(answer: Answer) -> dict[str, Any]:
    """Everything that a user can see of an answer, but not of which kind the session was."""
    measured = [column.name for column in answer.typed_columns if hasattr(column, "estimate")]
    return {
        "columns": answer.columns,
        "values": {name: repr(answer[name]) for name in answer.columns},
        "records": repr(answer.records()),
        "intervals": {name: answer.interval(name) for name in measured},
        "surer": {name: answer.interval(name, 0.99) for name in measured},
        "simultaneous": {name: answer.interval(name, 0.9, simultaneous=True) for name in measured},
        "as sure": {name: answer.interval(name, simultaneous=True) for name in measured},
        "arrow": answer.to_arrow(),
        "pandas": answer.to_pandas().dtypes.to_dict(),
        "polars": answer.to_polars().schema,
        "text": repr(answer),
        "page": answer._repr_html_(),
        "rest": (len(answer), answer.confidence, answer.cost, answer.left, answer.caps, answer.replayed),
        "receipt": answer.receipt and replace(answer.receipt, asked=""),
    }


def refusal(ask) -> tuple[Any, ...]:
    with pytest.raises(Refusal) as raised:
        ask()
    told = raised.value
    return (told.code, told.what, told.why, told.fix, told.position, str(told))


@pytest.mark.parametrize("kind", [LocalSession, RemoteSession])
@pytest.mark.parametrize("method", [name for name in vars(Session) if not name.startswith("_")])
def test_both_take_what_the_contract_says_and_explain_it(kind, method):
    contract, own = (inspect.signature(getattr(each, method)).parameters for each in (Session, kind))
    assert list(own.values()) == list(contract.values())
    assert getattr(kind, method) is not getattr(Session, method)
    assert inspect.getdoc(getattr(kind, method))


@pytest.mark.parametrize("name", QUESTIONS)
def test_both_give_one_answer(pairs, name):
    bob, (text, payment) = pairs["bob"], QUESTIONS[name]
    fresh = bob.there.sql(text, **payment)
    assert not fresh.replayed
    ours, theirs = bob.here.sql(text, **payment), bob.there.sql(text, **payment)
    assert facts(ours) == facts(theirs)
    assert fresh.records() == ours.records()
    assert isinstance(theirs, Answer)
    if fresh.receipt is not None:
        assert facts(bob.here.answer(fresh.receipt.request_id)) == facts(bob.there.answer(fresh.receipt.request_id))


@pytest.mark.parametrize("name", ["groups", "gaussian", "a model"])
def test_both_explain_alike_what_was_paid_for(pairs, name):
    bob, (text, payment) = pairs["bob"], QUESTIONS[name]
    paid = bob.there.sql(text, **payment).receipt.request_id
    ours, theirs = (each.explain_answer(paid) for each in pair_of(bob))
    assert facts(ours) == facts(theirs)
    assert ours.tree == theirs.tree
    assert refusal(partial(bob.here.explain_answer, paid, 1)) == refusal(partial(bob.there.explain_answer, paid, 1))


def test_a_batch_is_shared_and_bought_whole(pairs):
    alice, erin = pairs["alice"], pairs["erin"]
    texts = ["SELECT COUNT(*) AS shared FROM people", "SELECT AVG(age) AS shared FROM people"]
    paid = alice.there.batch(texts, epsilon=0.25)
    link = alice.there.share(paid[0].receipt.request_id)
    assert [each.id for each in alice.there.shares()] == [link.id]
    told, before = erin.there.open_shared(link.code), erin.here.budget()
    assert (told.by, told.questions, told.request_id, told.problem) == ("alice", texts, None, None)
    bought = erin.there.buy_shared(link.code)
    assert [each.records() for each in bought] == [each.records() for each in paid]
    assert [each.interval("shared", 0.99) for each in bought] == [each.interval("shared", 0.99) for each in paid]
    after = erin.here.budget()
    assert after.personal.spent_epsilon() == before.personal.spent_epsilon() + Fraction(1, 4)
    assert after.dataset == before.dataset
    for again in (erin.there.buy_shared(link.code), alice.there.buy_shared(link.code)):
        assert [each.records() for each in again] == [each.records() for each in paid]
    assert erin.there.open_shared(link.code).request_id == bought[0].receipt.request_id
    assert erin.here.budget() == after
    alice.there.end_share(link.id)
    assert alice.there.shares() == []
    assert refusal(partial(erin.there.open_shared, link.code))[0] == "unknown_link"
    assert refusal(partial(erin.there.end_share, link.id))[0] == "unknown_link"


def test_the_questions_are_of_all_kinds(pairs):
    found = {name: pairs["bob"].here.sql(text, **payment) for name, (text, payment) in QUESTIONS.items()}
    assert [len(found[name]) for name in ("no rows", "nothing is found", "no public rows")] == [0, 0, 0]
    assert found["no limits"].interval("q")[0] == (float("-inf"), float("inf"))
    assert found["days that are found"]["day"] == [date(2020, 1, day) for day in (1, 2, 3)]
    assert set(found["texts that are found"]["diagnosis"]) == {"d0", "d1"}
    assert any(cap.leaves_out for cap in found["people"].caps + found["gaussian"].caps)
    assert len(found["chosen and sorted"]) == 1


@pytest.mark.parametrize("name", REFUSED)
def test_both_refuse_in_the_same_words(pairs, name):
    carol, (text, payment) = pairs["carol"], REFUSED[name]
    ours = refusal(partial(carol.here.sql, text, **payment))
    assert ours == refusal(partial(carol.there.sql, text, **payment))


@pytest.mark.parametrize("name", REFUSED)
def test_both_refuse_prices_and_explanations_in_the_same_words(pairs, name):
    carol, (text, payment) = pairs["carol"], REFUSED[name]
    for method in ("price", "explain"):
        here, there = (outcome(partial(getattr(each, method), text, **price_of(payment))) for each in pair_of(carol))
        assert here == there


def pair_of(pair: Pair) -> tuple[Any, Any]:
    return pair.here, pair.there


def outcome(ask) -> Any:
    """What is told, or given."""
    try:
        given = ask()
    except Refusal as told:
        return (told.code, str(told))
    return given if isinstance(given, Quote) else repr(given)


@pytest.mark.parametrize("name", [name for name in QUESTIONS if "public" not in name])
@pytest.mark.parametrize("simultaneous", [False, True])
def test_both_give_one_price(pairs, name, simultaneous):
    bob, (text, payment) = pairs["bob"], QUESTIONS[name]
    ours, theirs = (each.price(text, simultaneous=simultaneous, **payment) for each in pair_of(bob))
    assert ours == theirs
    assert isinstance(theirs, Quote)


@pytest.mark.parametrize("name", QUESTIONS)
def test_both_explain_alike_with_a_price_and_without(pairs, name):
    bob, (text, payment) = pairs["bob"], QUESTIONS[name]
    unpriced = {name: value for name, value in payment.items() if name == "parameters"}
    for named in (payment, unpriced if "delta" not in payment else payment):
        ours, theirs = (each.explain(text, **named) for each in pair_of(bob))
        assert ours.tree == theirs.tree
        assert facts(ours) == facts(theirs)
        assert isinstance(theirs, Explanation)
    ours, theirs = (each.sql(f"EXPLAIN {text}", **payment) for each in pair_of(bob))
    assert (ours.tree, ours.receipt) == (theirs.tree, None)


def test_both_make_one_release_and_read_it(pairs):
    alice, bob = pairs["alice"], pairs["bob"]
    made = alice.there.release("ages", QUESTION, epsilon=1)
    assert is_same(made, alice.here.release("ages", QUESTION, epsilon=1))
    own = bob.there.release("mine", QUESTION, rho=Fraction(1, 7), private=True)
    for session in pair_of(bob):
        assert [each.name for each in session.releases()] == ["ages", "mine"]
        assert is_same(session.open_release("ages"), made)
        assert is_same(session.open_release("mine"), own)
        assert "releases.mine" in repr(session.catalog())
        assert "releases.ages" in session.sql("SHOW TABLES")["table"]
    assert bob.here.releases() == bob.there.releases()
    assert [each.name for each in alice.there.releases()] == ["ages"]


def test_both_give_one_answer_from_a_release(pairs):
    alice = pairs["alice"]
    alice.here.release("ages", QUESTION, epsilon=1)
    for text, options in (
        ("SELECT sex, COUNT(*) AS n, COUNTIF(member) / COUNT(*) AS share FROM releases.ages GROUP BY sex", {}),
        ("SELECT sex, COUNT(*) AS n FROM people WHERE member GROUP BY sex", {"from_release": True}),
    ):
        ours, theirs = alice.here.sql(text, **options), alice.there.sql(text, **options)
        assert facts(ours) == facts(theirs)
        assert ours.receipt is None
        assert ours.notes == theirs.notes
    assert alice.there.open_release("ages").sql("SELECT COUNT(*) AS n FROM releases.ages")["n"] == [
        pytest.approx(alice.here.sql("SELECT COUNT(*) AS n FROM releases.ages")["n"][0])
    ]
    for session in pair_of(alice):
        session.from_release = True
        assert refusal(partial(session.sql, "SELECT AVG(salary) FROM people"))[0] == "not_covered"
        session.from_release = False


def test_both_assess_compare_and_preview_alike(pairs):
    alice = pairs["alice"]
    text = "SELECT * FROM mwem((SELECT sex, member FROM people), rounds => 1, ways => 1)"
    alice.here.release("drawn", text, epsilon=1)
    here, there = (each.quality("drawn", columns=[("sex", "member")], epsilon=1) for each in pair_of(alice))
    assert repr(here) == repr(there)
    asked = partial(alice.here.compare, "SELECT COUNT(*) AS n FROM people", release="drawn", epsilon=1)
    there = alice.there.compare("SELECT COUNT(*) AS n FROM people", release="drawn", epsilon=1)
    assert asked().values[0].private == there.values[0].private
    here, there = (each.preview("people", 4) for each in pair_of(alice))
    assert here.records() == there.records()
    assert here.notes == there.notes


def test_both_refuse_releases_in_the_same_words(pairs):
    for name, wanted in {
        "bob": ("more", QUESTION, {"epsilon": 1}),
        "alice": ("a b", QUESTION, {"epsilon": 1}),
        "carol": ("dear", QUESTION, {"epsilon": 5, "private": True}),
        "dave": ("more", QUESTION, {}),
        "erin": ("more", "SELECT COUNT(*) FROM people", {"epsilon": 0.1, "private": True}),
    }.items():
        release, text, named = wanted
        here, there = (refusal(partial(each.release, release, text, **named)) for each in pair_of(pairs[name]))
        assert here == there
    here, there = (refusal(partial(each.open_release, "nothing")) for each in pair_of(pairs["carol"]))
    assert here == there


def test_what_says_almost_nothing_is_sold_only_to_whoever_wants_it_anyway(alice):
    text = f"SELECT COUNT(*) AS n FROM visits WHERE cost > {len(type(alice).__name__)}"  # both have one ledger
    two = [text, "SELECT COUNT(*) AS n FROM visits"]
    with pytest.raises(Refusal, match=r"^n would say almost nothing") as refused:
        alice.sql(text, epsilon=0.001)
    assert refused.value.code == "vacuous"
    assert len(alice.price(text, epsilon=0.001).vacuous) == 1
    answer = alice.sql(text, epsilon=0.001, allow_uninformative=True)
    assert answer.notes[0].startswith("n says almost nothing")
    assert alice.sql(text, epsilon=0.001).replayed
    with pytest.raises(Refusal, match=r"^n would say almost nothing"):
        alice.batch(two, epsilon=0.001, request_id=f"new {id(alice)}")
    assert all(each.notes for each in alice.batch(two, epsilon=0.001, allow_uninformative=True))


def test_a_question_is_paid_once_and_replayed_unless_told_otherwise(alice):
    text = "SELECT COUNT(*) AS once FROM people"
    before = alice.budget().personal.left().epsilon
    first, again = (alice.sql(text, epsilon=Fraction(1, 7), request_id=None) for _ in range(2))
    fresh = alice.sql(text, epsilon=Fraction(1, 7), replay=False)
    assert again.replayed
    assert again.receipt == first.receipt
    assert not fresh.replayed
    assert fresh.receipt.request_id != first.receipt.request_id
    spent = before - alice.budget().personal.left().epsilon
    assert 0 < spent - (1 + (not first.replayed)) * Fraction(1, 7) < Fraction(1, 10**11)
    assert alice.budget().personal.left().epsilon == fresh.left.epsilon


def test_a_request_id_belongs_to_one_question(of):
    bob = of("bob")
    name = f"mine/{id(of)} ?&%2F#.."
    one = bob.sql("SELECT COUNT(*) FROM people", epsilon=1.25, request_id=name, replay=False)
    again = bob.sql("SELECT COUNT(*) FROM people", epsilon=1.25, request_id=name, replay=False)
    assert (one.receipt.request_id, again.receipt, again.replayed) == (name, one.receipt, True)
    told = refusal(lambda: bob.sql("SELECT COUNT(*) FROM visits", epsilon=1.25, request_id=name))
    assert told[0] == "request_id_used"
    assert bob.answer(name).records() == one.records()
    assert of("alice").sql("SELECT COUNT(*) FROM visits", epsilon=1, request_id=name).receipt.analyst == "alice"


def test_many_at_once_ask_in_one_session_and_pay_once(of):
    bob = of("bob")
    text = (
        f"SELECT sex, COUNT(*) AS n FROM people WHERE age > {21 if isinstance(bob, LocalSession) else 22} GROUP BY sex"
    )
    before = bob.budget().personal.spent.rho_units
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: bob.sql(text, rho=0.001953125), range(12)))
    assert len({tuple(answer["n"]) for answer in answers}) == 1
    assert [answer.replayed for answer in answers].count(False) == 1
    assert (bob.budget().personal.spent.rho_units - before) * EPSILON_UNIT == Fraction(1, 512)


def test_what_failed_fails_for_ever(pairs, of):
    text, name = "SELECT SUM(age) AS lost FROM people", f"lost-{id(of)}"
    engine = pairs["alice"].here._curator.engine
    with patch.object(engine, "run", side_effect=RuntimeError("a row: 4711")), pytest.raises(Failure):
        pairs["alice"].here.sql(text, epsilon=1.5, request_id=name)
    for ask in (lambda: of("alice").sql(text, epsilon=1.5, request_id=name), lambda: of("alice").answer(name)):
        with pytest.raises(Failure) as raised:
            ask()
        assert str(raised.value) == f"The request failed. Request id: {name}."
        assert raised.value.__cause__ is None


def test_both_give_one_batch(pairs):
    bob = pairs["bob"]
    questions = ["SELECT COUNT(*) AS n FROM people", Question("SELECT sex, AVG(age) AS a FROM people GROUP BY sex")]
    for asked, payment in (
        (questions, {"epsilon": 0.3}),
        ([Question("SELECT COUNT(*) FROM people", epsilon=0.3), Question("SELECT AVG(age) FROM people", rho=0.1)], {}),
        (questions[:1], {"rho": 0.25}),
        ([Question("SELECT COUNT(*) AS n FROM people WHERE age > ?", parameters=[20])], {"epsilon": 0.3}),
    ):
        there = bob.there.batch(asked, confidence=0.9, **payment)
        here = bob.here.batch(iter(asked), confidence=0.9, **payment)
        again = bob.there.batch(asked, confidence=0.9, **payment)
        assert list(map(facts, here)) == list(map(facts, again))
        assert [one.records() for one in there] == [one.records() for one in here]
        assert bob.here.price(asked, **payment) == bob.there.price(iter(asked), **payment)
        name = there[0].receipt.request_id
        for place, one in enumerate(here):
            assert facts(bob.there.answer(name, place)) == facts(replace(one, left=bob.here.answer(name, place).left))


@pytest.mark.parametrize(
    ("questions", "payment"),
    [
        ([], {"epsilon": 1}),
        (["SELECT COUNT(*) FROM people"], {}),
        (["SELECT COUNT(*) FROM people", "SELECT name FROM people"], {"epsilon": 1}),
        ([Question("SELECT COUNT(*) FROM people", epsilon=1)], {"epsilon": 1}),
        (["SELECT COUNT(*) FROM people"], {"error": 5}),
        (["SELECT city FROM cities"], {"epsilon": 1}),
        (["SELECT COUNT(*) FROM people"], {"epsilon": 10**6}),
        (["SELECT COUNT(*) FROM people"] * (MOST_QUESTIONS + 1), {"epsilon": 1}),
    ],
)
def test_both_refuse_a_batch_in_the_same_words(pairs, questions, payment):
    carol = pairs["carol"]
    asked = [partial(each.batch, questions, **payment) for each in pair_of(carol)]
    assert refusal(asked[0]) == refusal(asked[1])


def test_what_is_no_text_is_a_mistake_of_the_program(alice):
    with pytest.raises(TypeError, match="Session takes questions as text, got int"):
        alice.sql(5, epsilon=1)
    with pytest.raises(TypeError, match="Session takes questions as text, got int"):
        alice.batch([5], epsilon=1)
    with pytest.raises(TypeError, match="Session takes questions as text, got NoneType"):
        alice.price([Question(None)], epsilon=1)


def test_rows_are_composed_alike(pairs):
    bob = pairs["bob"]

    def asked(session):
        adults = session.table("Adults").where("salary > 10").select("person_id", "sex", pay="salary / 12")
        stays = session.table("visits").per_person(n="COUNT(*)").named("stays")
        joined = adults.join(stays, on="person_id")
        return adults, joined, joined.mean("pay", by="sex", epsilon=3), adults.union(adults).count(epsilon=3)

    theirs, ours = asked(bob.there), asked(bob.here)
    again = asked(bob.there)
    assert isinstance(theirs[0], PrivateTable)
    assert [each.sql for each in ours[:2]] == [each.sql for each in theirs[:2]]
    assert [each.explain() for each in ours[:2]] == [each.explain() for each in theirs[:2]]
    assert list(map(facts, ours[2:])) == list(map(facts, again[2:]))
    assert refusal(lambda: bob.here.table("nobody")) == refusal(lambda: bob.there.table("nobody"))


@pytest.mark.parametrize("analyst", ANALYSTS)
def test_both_know_one_budget(pairs, analyst):
    ours, theirs = (each.budget() for each in pair_of(pairs[analyst]))
    assert isinstance(theirs, Budgets)
    assert (str(ours), ours.terms) == (str(theirs), theirs.terms)
    for mine, told in ((ours.personal, theirs.personal), (ours.dataset, theirs.dataset)):
        # A sum of epsilons that is not held to the budget any more is not told.
        kept = mine.spent if mine.branches().epsilon else replace(mine.spent, epsilon_units=0, in_epsilon=False)
        assert told == replace(mine, spent=kept)
        assert (told.left(), told.branches()) == (mine.left(), mine.branches())


def test_a_policy_sets_the_price_of_both(pairs):
    dave, text = pairs["dave"], "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    assert dave.there.budget().terms.price.epsilon == Fraction(1, 20)
    there = dave.there.sql(text)
    here = dave.here.sql(text)
    assert facts(here) == facts(dave.there.sql(text))
    assert there["n"] == here["n"]
    asked = [partial(each.sql, text, epsilon=1) for each in pair_of(dave)]
    assert refusal(asked[0]) == refusal(asked[1])
    assert refusal(asked[0])[0] == "policy_price"
    dear = [partial(each.sql, text, epsilon=1) for each in pair_of(pairs["erin"])]
    assert refusal(dear[0]) == refusal(dear[1])
    assert refusal(dear[0])[0] == "ceiling"


def test_both_know_one_catalog_but_for_where_its_files_are(pairs):
    ours, theirs = (each.catalog() for each in pair_of(pairs["alice"]))
    assert any(table.profile for table in ours.tables)
    tables = tuple(replace(table, source="") for table in ours.tables)
    assert theirs == replace(ours, folder=Path(), tables=tables)


def test_both_remember_what_was_paid_for(pairs):
    bob = pairs["bob"]
    bob.there.batch(["SELECT COUNT(*) FROM people", "SELECT COUNT(*) FROM people WHERE name = 'ä'"], rho=0.001)
    ours, theirs = (each.answers() for each in pair_of(bob))
    assert [replace(each, receipt=replace(each.receipt, asked="")) for each in ours] == theirs
    assert isinstance(theirs[-1], Past)
    assert theirs[-1].questions == ("SELECT COUNT(*) FROM people", "SELECT COUNT(*) FROM people WHERE name = 'ä'")


def test_both_remember_page_by_page(pairs):
    bob = pairs["bob"]
    for each in pair_of(bob):
        each.sql("SELECT COUNT(*) FROM people", epsilon=0.001, replay=False, allow_uninformative=True)
    every = [past.request_id for past in bob.here.answers()]
    for each in pair_of(bob):
        found: list[str] = []
        while page := each.answers(after=found[-1] if found else None, limit=1):
            found += [past.request_id for past in page]
        assert found == every
    unknown = [refusal(partial(each.answers, after="nothing")) for each in pair_of(bob)]
    assert unknown[0] == unknown[1]
    assert unknown[0][0] == "unknown_answer"
    for each in pair_of(bob):
        for limit in (0, 1001, 1.5, True):
            with pytest.raises(ValueError, match="must be a whole number from 1 to 1000"):
                each.answers(limit=limit)
        with pytest.raises(TypeError, match="after must be a request id"):
            each.answers(after=3)


@pytest.mark.parametrize(("name", "place"), [("nothing", 0), ("known", 1), ("known", 10**6)])
def test_both_refuse_answers_that_are_not_there(pairs, name, place):
    alice = pairs["alice"]
    alice.here.sql("SELECT COUNT(*) FROM people", epsilon=2, request_id="known")
    told = [outcome(partial(each.answer, name, place)) for each in pair_of(alice)]
    assert told[0] == told[1]
    assert told[0][0] == "unknown_answer"
    assert refusal(partial(pairs["bob"].there.answer, "known"))[0] == "unknown_answer"
    assert refusal(partial(alice.there.answer, "known", -1))[0] == "malformed"


def test_an_answer_is_given_again_with_any_confidence(pairs):
    alice = pairs["alice"]
    alice.there.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", epsilon=0.7, request_id="again")
    ours, theirs = (each.answer("again", confidence=0.8) for each in pair_of(alice))
    assert facts(ours) == facts(theirs)
    assert theirs.confidence == 0.8
    wrong = [partial(each.answer, "again", confidence=2) for each in pair_of(alice)]
    assert refusal(wrong[0]) == refusal(wrong[1])


def test_intervals_are_refused_alike_without_a_confidence(pairs):
    alice = pairs["alice"]
    answer = alice.there.sql("SELECT COUNT(*) AS n FROM people", epsilon=0.7)
    assert refusal(lambda: answer.interval("n", 1.5))[0] == "confidence"
    with pytest.raises(TypeError, match="needs a measured column"):
        alice.there.sql("SELECT city FROM cities").interval("city")


def test_a_rehearsal_spends_nothing_and_knows_public_tables(of, pairs):
    bob = of("bob")
    before = bob.budget()
    mock = bob.mock()
    assert len(mock.sql("SELECT sex, AVG(salary) AS pay FROM people GROUP BY sex", epsilon=1)) == 3
    public = "SELECT city, region, population FROM cities ORDER BY city"
    assert mock.sql(public).records() == bob.sql(public).records()
    joined = "SELECT region, COUNT(*) AS n FROM people JOIN cities USING (city) GROUP BY region"
    assert mock.price(joined, epsilon=1) == pairs["bob"].here.price(joined, epsilon=1)
    assert mock.sql(joined, epsilon=1)["region"] == ["North"]
    assert bob.budget() == before
    mock._curator.close()


def test_a_token_that_opens_nothing_is_refused_and_not_shown(pairs):
    url = pairs["alice"].there._connection.address.url
    with pytest.raises(Refusal) as raised:
        adomnia.connect(url, "ao_0123456789abcdef_" + "5" * 64)
    assert raised.value.code == "signed_out"
    assert "5" * 64 not in str(raised.value)


def test_a_dataset_of_another_name_is_not_there(pairs):
    there = pairs["alice"].there
    told = refusal(RemoteSession(there._connection, "elsewhere", "alice").budget)
    assert told[0] == "unknown_dataset"


def test_nothing_is_reached_where_nobody_listens(monkeypatch):
    monkeypatch.setattr("adomnia.client.connection.sleep", lambda _: None)
    with pytest.raises(Unavailable) as raised:
        adomnia.connect(f"http://{HOST}:{free_port()}", "ao_token")
    assert raised.value.code == "unreachable"


def test_both_list_the_same_methods(pairs):
    local, remote = pairs["alice"].here, pairs["alice"].there
    assert [page.record for page in local.methods()] == [page.record for page in remote.methods()]
    assert repr(local.methods().page("lm")) == repr(remote.methods().page("LM"))
    with pytest.raises(Refusal, match="did you mean lm"):
        remote.methods().page("lmm")


def test_models_predict_the_same_on_both_sides(pairs):
    local, remote = pairs["alice"].here, pairs["alice"].there
    text, rows = "SELECT * FROM lm(people, formula => 'salary ~ age')", [{"age": 30}]
    assert local.sql(text, epsilon=20).predict(rows) == remote.sql(text, epsilon=20).predict(rows)
    with pytest.raises(Refusal, match="needs the answer of a model"):
        remote.sql("SELECT COUNT(*) FROM people", epsilon=1).predict(rows)
