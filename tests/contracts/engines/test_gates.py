"""The gates that hold every question to its sensitivity, on every engine but the embedded one, which has its own."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from adomnia.engines.registry import EMBEDDED, ENGINES
from contracts.test_engines import edge_files
from curator import test_grammar as grammar
from curator import test_neighbours as neighbours
from kit.engines import load_keyed, using
from kit.hospital import LINKED, declare, item, person, visit

pytestmark = pytest.mark.no_cover  # the engines' own tests have one example of each branch

OTHERS = [name for name in ENGINES if name != EMBEDDED]
SLOW = {"spark"}  # seconds for an index: in the short form there is one database for all gates, and the same less one
EXAMPLES = 8
AT_ONCE = 2, 40  # databases, and questions to each
LEAST_ACCEPTED = {"postgres": 0.8, "spark": 0.5}  # of them; the grammar writes functions that Spark does not offer
EVERY_OTHER_ENGINE = pytest.mark.parametrize("name", OTHERS)
QUICK_ENGINES = pytest.mark.parametrize("name", [name for name in OTHERS if name not in SLOW])
SLOW_ENGINES = pytest.mark.parametrize("name", sorted(SLOW))


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return declare(tmp_path_factory.mktemp("gates") / "hospital")


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    return declare(tmp_path_factory.mktemp("gates") / "linked", LINKED)


def ask_neighbours(catalog, name, examples):
    @settings(max_examples=examples, suppress_health_check=neighbours._calm, phases=[Phase.generate])
    @given(
        database=neighbours.databases,
        who=st.sampled_from([*neighbours.PEOPLE, neighbours.ORPHAN, None]),
        asked=st.lists(st.tuples(neighbours.questions(), neighbours.prices), min_size=2, max_size=4),
    )
    def ask(database, who, asked):
        neighbours.gate(catalog, database, who, asked)

    with using(name):
        ask()


@QUICK_ENGINES
def test_one_person_moves_a_question_by_at_most_its_sensitivity(plain, name):
    ask_neighbours(plain, name, EXAMPLES)


@EVERY_OTHER_ENGINE
@pytest.mark.soak
def test_one_person_moves_no_question_further_over_many_more_databases(plain, name):
    ask_neighbours(plain, name, 1000)


def breaking_cases():
    for name in OTHERS:
        for place, (called, *_) in enumerate(neighbours.ONE_OF_EACH):
            marks = [pytest.mark.soak] if name in SLOW else []
            yield pytest.param(name, place, id=f"{name}-{called}", marks=marks)


@pytest.mark.parametrize(("name", "place"), list(breaking_cases()))
def test_every_aggregate_holds_its_sensitivity_on_the_databases_that_break_things(plain, name, place):
    _, people, visits = neighbours.ONE_OF_EACH[place]
    with using(name):
        neighbours.gate(plain, (people, visits), 1, [(text, {"epsilon": 1}) for text in neighbours.EVERYTHING])


@QUICK_ENGINES
def test_questions_of_the_whole_language_mean_what_they_say(linked, name):
    with using(name):
        grammar.asked_often(linked, *AT_ONCE, LEAST_ACCEPTED[name])


@EVERY_OTHER_ENGINE
@pytest.mark.soak
def test_thousands_of_questions_mean_what_they_say(linked, name):
    with using(name):
        grammar.asked_often(linked, 150, least_accepted=LEAST_ACCEPTED[name])


def all_that_breaks_things():
    """The databases that break things, in one: every edge of a value, rows above all caps, and those of nobody.

    What is beyond all bounds, and in many groups, is the first person's, without whom it is asked too.
    """
    files = edge_files()
    files["people"] = [row for row in files["people"] if row["person_id"] != 1]  # of whom one row counts
    for place, (called, people, visits) in enumerate(neighbours.ONE_OF_EACH):
        first = 1 if called in ("beyond all bounds", "many rows in many groups") else 20 + place
        files["people"] += [{**row, "person_id": row["person_id"] and first} for row in people]
        files["visits"] += [{**row, "person_id": row["person_id"] and first} for row in visits[:40]]  # above all caps
    return files


@SLOW_ENGINES
def test_questions_of_each_sort_are_held_to_their_meaning_and_sensitivity_on_all_that_breaks_things(linked, name):
    outcomes = []

    @settings(max_examples=1, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(
        random=st.lists(neighbours.questions(), min_size=3, max_size=3, unique=True),
        whole=st.lists(grammar.questions(), min_size=12, max_size=12, unique=True),
    )
    def ask(random, whole):
        asked = [*neighbours.EVERYTHING, *random, *whole]
        outcomes.extend(grammar.gate(linked, all_that_breaks_things(), (0, 1), asked))

    with using(name):
        ask()
    assert all(outcomes[:8])
    assert sum(outcomes[8:]) >= 12 * LEAST_ACCEPTED[name]


# Words of an engine that mean something else: each must be noticed by whoever asks.
PLANTED = {
    "what is equal is less": ("<", "({0} <= {1})", "SELECT COUNT(*) FROM people WHERE age < 30"),
    "letters stay small": ("upper", "{0}", "SELECT COUNT(*) FROM people WHERE UPPER(name) = ' A'"),
    "a missing number is zero": ("abs", "COALESCE(ABS({0}), 0e0)", "SELECT SUM(ABS(salary + 1)), COUNT(*) FROM people"),
}
SOMEBODY = [person(1, age=30.0, sex=None), person(2, age=18.0, name=" a", sex="F"), person(3, age=40.0, salary=1.0)]


def spoil(function, wrong):
    """Every engine that is made from here on spells a function wrongly."""

    def load_wrong(*arguments):
        engine = load_keyed(*arguments)
        engine.dialect = replace(engine.dialect, functions={**engine.dialect.functions, function: wrong.format})
        return engine

    return patch("kit.hospital.load_keyed", load_wrong)


@pytest.mark.parametrize("plant", PLANTED)
@QUICK_ENGINES
def test_a_wrong_word_of_an_engine_is_noticed(plain, linked, name, plant):
    function, wrong, text = PLANTED[plant]
    files = {"people": SOMEBODY, "visits": [visit(1, visit_id=1, cost=2.0)], "items": [item(1, price=3.0)]}
    asked = (files["people"], files["visits"])
    with using(name):
        neighbours.gate(plain, asked, 1, [(text, {"epsilon": 1})])
        assert grammar.gate(linked, files, (0, 1), [text]) == [True]
        with spoil(function, wrong):
            with pytest.raises(AssertionError):
                neighbours.gate(plain, asked, 1, [(text, {"epsilon": 1})])
            with pytest.raises(AssertionError):
                grammar.gate(linked, files, (0, 1), [text])
