"""Groups by keys that nobody declared, from question to answer: only values that enough people have ever come out."""

from __future__ import annotations

from collections import Counter
from datetime import date
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adomnia import Question
from adomnia.curator.executor import discover_keys
from adomnia.curator.measurements import ChangedRoundError, Record, Replayer
from adomnia.errors import Failure, Refusal
from adomnia.pricing.parts import bill
from adomnia.pricing.payment import price_question
from adomnia.privacy.amounts import DELTA_UNIT, EPSILON_UNIT
from adomnia.sql.lower import plan_question
from adomnia.sql.reading.parse import parse
from kit.bits import SeededBits
from kit.hospital import CATALOG, curated, declare, load, person, visit
from kit.rows import databases
from kit.searches import examples
from kit.tables import Database

GIVEN = CATALOG.replace("[analysts.alice]\nepsilon = 100_000", "[analysts.alice]\nepsilon = 100_000\ndelta = 1e-6")
EYES = "SELECT eye_color, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY eye_color"
BY_DIAGNOSIS = "SELECT diagnosis, COUNT(*) AS n, COUNT(DISTINCT person_id) AS people FROM visits GROUP BY diagnosis"


def eyes(number):
    """Two frequent colours, one that eight people have, and many that one has."""
    if number < 100:
        return "blue" if number % 2 else "brown"
    return "green" if number < 108 else f"rare {number}"


PEOPLE = [
    person(k, name=f"n{k % 3}" if k % 3 else None, eye_color=eyes(k), sex="FM"[k % 2], age=20.0 + k % 50, weight=k % 4)
    for k in range(130)
]
VISITS = [
    visit(k, diagnosis=f"d{place}", day=date(2020, 1, 1 + place), hospital="H1", cost=10.0)
    for k in range(120)
    for place in range(k % 4)
]


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return declare(tmp_path_factory.mktemp("discovery") / "hospital", GIVEN)


@pytest.fixture(scope="module")
def careful(tmp_path_factory):
    """The same hospital, whose owner wants at least nine people behind every value that is named."""
    text = GIVEN.replace("version = 1\n", "version = 1\nminimum_frequency = 9\n")
    return declare(tmp_path_factory.mktemp("careful") / "hospital", text)


@pytest.fixture
def alice(catalog, request):
    with curated(catalog, PEOPLE, VISITS, seed=request.node.name) as curator:
        yield curator.session("alice")


def spent(session):
    return session._curator.ledger.spent("alice")


# ------------------------------------------------------------------------------------------------ answers


@pytest.mark.parametrize("price", [{"epsilon": 20}, {"rho": 20}], ids=str)
def test_values_that_many_people_have_come_back_with_numbers_of_all_their_rows(alice, price):
    """At this price a value needs five people, and noise of more than three is rarer than once in a million."""
    answer = alice.sql(EYES, delta=1e-7, **price)
    assert answer["eye_color"] == ["blue", "brown", "green"]
    assert answer["n"] == pytest.approx([50, 50, 8], abs=3)
    assert answer["age"][0] == pytest.approx(45, abs=3)


def test_a_value_that_one_person_has_does_not_come_back(alice):
    """Each of 22 has its chance of 1e-7 each time: 1e-5 over all of them, and the seed is fixed."""
    for price in ({"epsilon": 0.1}, {"epsilon": 20}, {"rho": 0.001}, {"rho": 20}):
        assert not [name for name in alice.sql(EYES, delta=1e-7, **price)["eye_color"] if name.startswith("rare")]


def test_where_nobody_has_enough_the_answer_is_empty_and_paid(alice):
    answer = alice.sql(EYES, epsilon=0.01, delta=1e-9)
    assert len(answer) == 0
    assert answer.to_arrow().num_rows == 0
    assert answer.to_arrow().column_names[:2] == ["eye_color", "n"]
    assert spent(alice).delta_units * DELTA_UNIT == Fraction(1, 10**9)
    assert "No rows" in repr(answer)


def test_several_keys_are_found_together_and_declared_ones_come_back_whole(alice):
    text = "SELECT eye_color, sex, name, COUNT(*) AS n FROM people GROUP BY eye_color, sex, name"
    answer = alice.sql(text, epsilon=10, delta=1e-7)
    rows = list(zip(answer["eye_color"], answer["sex"], answer["name"], answer["n"], strict=True))
    assert [row[:3] for row in rows] == [
        (eye, sex, name) for eye in ("blue", "brown") for sex in "FMX" for name in ("n1", "n2")
    ]
    truth = Counter((each["eye_color"], each["sex"], each["name"]) for each in PEOPLE)
    assert [row[3] for row in rows] == pytest.approx([truth[row[:3]] for row in rows], abs=3)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("SELECT day AS k, SUM(cost) AS x FROM visits GROUP BY day", [date(2020, 1, 1 + place) for place in range(3)]),
        ("SELECT FLOOR(weight) AS k, COUNT(*) FROM people GROUP BY 1", [0, 1, 2, 3]),
        ("SELECT UPPER(diagnosis) AS k, COUNT(*) AS n FROM visits GROUP BY k", ["D0", "D1", "D2"]),
        (
            "SELECT UPPER(diagnosis) AS k, COUNT(*) FROM visits GROUP BY k HAVING k <> 'D1' ORDER BY k DESC",
            ["D2", "D0"],
        ),
        ("SELECT diagnosis AS k, COUNT(*) AS n FROM visits GROUP BY k ORDER BY n DESC LIMIT 1", ["d0"]),
        ("SELECT name AS k, COUNT(*) FROM people WHERE age < 0 GROUP BY name", []),
    ],
)
def test_texts_days_and_whole_numbers_are_found_then_chosen_sorted_and_cut(alice, text, keys):
    answer = alice.sql(text, epsilon=30, delta=1e-7)
    assert answer["k"] == keys
    assert all(type(found) is type(key) for found, key in zip(answer["k"], keys, strict=True))


def test_a_value_that_is_missing_is_no_group(alice):
    assert alice.sql("SELECT name, COUNT(*) FROM people GROUP BY name", epsilon=30, delta=1e-7)["name"] == ["n1", "n2"]


def test_what_was_not_named_is_in_no_column_of_the_answer(alice):
    """Of green eyes and of n1 there are enough, of both together there are not: the pair is measured, and cut off."""
    text = "SELECT eye_color, name, COUNT(*) AS n FROM people GROUP BY eye_color, name ORDER BY n DESC, 1, 2"
    answer = alice.sql(text, epsilon=10, delta=1e-7)
    assert (
        {len(column.values) for column in answer.typed_columns[:2]}
        == {answer.typed_columns[2].estimate.values.size}
        == {4}
    )
    assert sorted(zip(answer["eye_color"], answer["name"], strict=True)) == [
        (eye, name) for eye in ("blue", "brown") for name in ("n1", "n2")
    ]
    assert [lower <= n <= upper for n, (lower, upper) in zip(answer["n"], answer.interval("n"), strict=True)] == [
        True
    ] * 4
    assert answer["n"] == sorted(answer["n"], reverse=True)


def test_a_found_text_that_would_command_a_terminal_is_shown_as_what_it_is(catalog):
    people = [person(k, eye_color="\x1b[2J\nred") for k in range(200)]
    with curated(catalog, people, []) as curator:
        answer = curator.session("alice").sql(EYES, epsilon=10, delta=1e-7)
    assert answer["eye_color"] == ["\x1b[2J\nred"]
    assert "\\x1b[2J\\nred" in repr(answer)
    assert "\x1b" not in repr(answer)


def test_numbers_of_people_and_joins_have_their_groups_too(alice):
    counts = alice.sql(BY_DIAGNOSIS, epsilon=60, delta=1e-7)
    assert counts["people"] == pytest.approx([90, 60, 30], abs=3)
    text = "SELECT diagnosis, sex, COUNT(*) AS n FROM people JOIN visits USING (person_id) GROUP BY diagnosis, sex"
    assert len(alice.sql(text, epsilon=60, delta=1e-7)) == 9


# ------------------------------------------------------------------------------------------------ paying


def test_the_answer_is_given_again_free_with_the_same_values(alice):
    first = alice.sql(EYES, epsilon=5, delta=1e-7)
    ran = len(alice._curator.engine.ran)
    again = alice.sql(EYES.replace("AS n", "AS number") + " ORDER BY number DESC", epsilon=5, delta=1e-7)
    assert again.replayed
    assert sorted(again["eye_color"]) == first["eye_color"]
    assert sorted(again["number"]) == sorted(first["n"])
    assert len(alice._curator.engine.ran) == ran == 2
    other = alice.sql(EYES, epsilon=5, delta=1e-8)
    assert not other.replayed


def test_what_is_charged_is_the_price_and_delta(alice):
    alice.sql(EYES, rho=0.5, delta=1e-7)
    assert spent(alice).rho_units * EPSILON_UNIT == Fraction(1, 2)
    assert spent(alice).delta_units * DELTA_UNIT == Fraction(1, 10**7)
    assert not spent(alice).pure


def test_the_quote_is_what_will_be_charged_and_reads_nothing(alice):
    quote = alice.price(EYES, epsilon=1, delta=1e-7)
    assert alice._curator.engine.ran == []
    assert alice.sql(EYES, epsilon=1, delta=1e-7).cost == quote.event
    assert "delta 1e-7" in str(alice.explain(EYES, epsilon=1, delta=1e-7))


def test_whoever_has_no_delta_is_refused_before_anything_is_read(catalog):
    with curated(catalog, PEOPLE, VISITS) as curator, pytest.raises(Refusal, match="delta"):
        curator.session("carol").sql(EYES, epsilon=0.5, delta=1e-9)
    assert curator.engine.ran == []


def test_questions_of_a_batch_that_find_the_same_find_it_once(alice):
    outputs = ["COUNT(*) AS n, SUM(age) AS age", "COUNT(*) AS n"]
    texts = [f"SELECT eye_color, {each} FROM people GROUP BY eye_color" for each in outputs]
    prices = [{"epsilon": 15}, {"epsilon": 10}]  # so that each measurement costs the same
    first, second = alice.batch(
        [Question(text, **price, delta=1e-7) for text, price in zip(texts, prices, strict=True)]
    )
    assert first["eye_color"] == second["eye_color"]
    assert first["n"] == second["n"]
    assert spent(alice).delta_units * DELTA_UNIT == Fraction(1, 10**7)
    assert [text.count("DISTINCT") for text in (each.text for each in alice._curator.engine.ran)] == [1, 0]


def test_questions_of_a_batch_that_pay_differently_find_for_themselves(alice):
    names = "SELECT eye_color, COUNT(*) AS n FROM people GROUP BY eye_color"
    answers = alice.batch([Question(names, epsilon=20, delta=1e-7), Question(names, epsilon=0.02, delta=1e-7)])
    assert [len(answer) for answer in answers] == [3, 0]


def test_a_failure_while_finding_keeps_the_debit_and_says_nothing(alice, monkeypatch):
    def broken(*_):
        raise ValueError("rare 117")

    monkeypatch.setattr("adomnia.curator.executor.discover_keys", broken)
    with pytest.raises(Failure) as caught:
        alice.sql(EYES, epsilon=1, delta=1e-7)
    assert "rare" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert spent(alice).delta_units * DELTA_UNIT == Fraction(1, 10**7)


def test_more_than_was_reserved_is_not_spent_on_finding(alice, monkeypatch):
    measured = lambda asked: bill((asked[0].plan, asked[0].price))  # noqa: E731 - what follows, and not the finding
    monkeypatch.setattr("adomnia.curator.paying.cost", measured)
    with pytest.raises(Failure):
        alice.sql(EYES, epsilon=1, delta=1e-7)


# ------------------------------------------------------------------------------------------------ the owner's minimum


def test_a_value_of_fewer_people_than_the_minimum_never_comes_back(careful):
    """Eight people have green eyes: at this price they would be named every time."""
    for seed in range(6):
        with curated(careful, PEOPLE, VISITS, seed=seed) as curator:
            answer = curator.session("alice").sql(EYES, epsilon=40, delta=1e-7)
            assert answer["eye_color"] == ["blue", "brown"]


def test_declared_keys_come_back_whatever_the_minimum(careful):
    with curated(careful, PEOPLE[:1], VISITS) as curator:
        assert len(curator.session("alice").sql("SELECT sex, COUNT(*) FROM people GROUP BY sex", epsilon=1)) == 3


# ------------------------------------------------------------------------------------------------ neighbours

KEYED = [
    "SELECT COUNT(*) FROM people GROUP BY name",
    "SELECT COUNT(*) FROM visits GROUP BY diagnosis, day",
    "SELECT COUNT(*) FROM visits WHERE cost > 1 GROUP BY LOWER(diagnosis)",
    "SELECT COUNT(*) FROM people p JOIN visits v ON p.person_id = v.person_id GROUP BY p.name, v.diagnosis",
    "SELECT COUNT(*) FROM people p LEFT JOIN visits v ON p.person_id = v.person_id GROUP BY v.diagnosis",
    "SELECT COUNT(*) FROM (SELECT diagnosis AS t FROM visits UNION ALL SELECT name AS t FROM people) GROUP BY t",
]


@settings(max_examples=examples(6), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=databases, who=st.sampled_from([1, 2, 3, 99]))
def test_one_person_moves_each_number_of_people_by_one_and_no_more_of_them_than_promised(catalog, files, who):
    database = Database(catalog, dict(zip(("people", "visits"), files, strict=True)))
    engines = [load(catalog, **each.files) for each in (database, database.without((0, who)))]
    for text, price in product(KEYED, ("epsilon", "rho")):
        finding = finding_of(text, catalog, **{price: 1})
        larger, smaller = (people_by_value(engine, finding) for engine in engines)
        moved = [larger[value] - smaller[value] for value in larger | smaller]
        assert set(moved) <= {0, 1}
        assert sum(moved) <= finding.query.sensitivity().l1 <= (2 if price == "epsilon" else 4)
    for engine in engines:
        engine.close()


def finding_of(text, catalog, **price):
    plan = plan_question(parse(text), catalog, finds=True)
    return price_question(Question(text, delta=1e-7, **price), plan, catalog, 0.95).finding


def people_by_value(engine, finding):
    counts, at = engine.keys(engine.render((finding.query,)), finding.query)
    return Counter(dict(zip(at(np.arange(len(counts))), counts.tolist(), strict=True)))


def test_what_is_named_does_not_depend_on_the_order_of_the_engine(catalog):
    finding = finding_of(EYES, catalog, epsilon=1)
    counts, names = np.array([5000, 3, 7000, 1]), [("b",), ("x",), ("a",), ("y",)]

    class Turned:
        def __init__(self, order):
            self.order = order

        def keys(self, *_):
            return counts[self.order], lambda places: [names[self.order[place]] for place in places]

    orders = ([0, 1, 2, 3], [3, 2, 1, 0])
    found = [discover_keys(Turned(np.array(order)), None, finding, SeededBits(0)) for order in orders]
    assert found == [(("a",), ("b",))] * 2


# ------------------------------------------------------------------------------------------------ the record


def test_a_record_keeps_what_was_found_as_it_was():
    names = [(("ann", 7, date(2020, 2, 29)), ("bo", -(2**53), date(1, 1, 1))), ()]
    record = Record([np.array([[1, 2]])], names)
    again = Record.from_bytes(record.to_bytes())
    assert again.names == names
    assert [array.tolist() for array in again.values] == [[[1, 2]]]
    replay = Replayer(again)
    assert [replay.find(None), replay.find(None)] == names


def test_a_record_of_before_there_were_names_is_still_read():
    assert Record.from_bytes(b'[{"shape":[2],"values":[3,4]}]').names == []


def test_values_that_would_be_found_otherwise_now_are_not_given_again(catalog):
    plan = plan_question(parse(EYES), catalog, finds=True)
    asked = (Question(EYES, epsilon=epsilon, delta=1e-9) for epsilon in (1, 2))
    one, other = (price_question(each, plan, catalog, 0.95).finding for each in asked)
    record = Record()
    record.add_names(one, (("ann",),))
    again = Record.from_bytes(record.to_bytes())
    assert Replayer(again).find(one) == (("ann",),)
    with pytest.raises(ChangedRoundError):
        Replayer(again).find(other)
