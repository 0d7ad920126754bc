"""The same questions of every engine, over the same rows: the exact integers before the noise are equal, all of them.

A question is asked of the embedded engine, with its price, its rounds and its noise. Whatever was read for it is then
read from another engine: its statement must be proved to the same sensitivity, and give the same integers.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from adomnia.engines.registry import EMBEDDED, ENGINES, load_engine
from adomnia.engines.render import render, render_rows
from adomnia.errors import Failure, Refusal
from adomnia.privacy.queries import Query
from kit import corpus
from kit.engines import loaded
from kit.recording import Recorder, choose_one_of_each, list_parts, prove, read_exact

pytestmark = pytest.mark.no_cover  # the engines' own tests have one example of each branch

QUESTIONS = corpus.questions()
TOPICS = sorted({asked.topic for asked in QUESTIONS})
OTHERS = [name for name in ENGINES if name != EMBEDDED]
# What an engine refuses by name, because it would give other values; nothing else may differ.
NOT_OFFERED = {"postgres": {"log2"}, "spark": {"exp", "ln", "log10", "log2", "power"}}
# Regular expressions that a text may fit in very many ways, which Java tries one after the other.
SLOW_PATTERNS = {"postgres": set(), "spark": {"(?:a+)+"}}
# An engine that takes a second for a statement is asked all of them in the long form.
SLOW = {"spark"}
THREADS = 4  # that ask at once

PLAIN = {"epsilon": 1}
WITH_DELTA = {"epsilon": 1, "delta": 1e-6}  # for keys that nobody declared
WITH_EFFORT = {"rho": 0.1, "effort": "high"}  # more rounds, which depend on the noise of the first


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    return corpus.declare(tmp_path_factory.mktemp("questions"))


class Comparing:
    """The embedded engine, and others that must give what it gives."""

    def __init__(self, catalog, session, recorder):
        self.catalog, self.session, self.recorder = catalog, session, recorder
        self.engines = {}
        self._asked, self._given, self._proved = {}, {}, {}

    def readings(self, question, payment):
        """All that is read for a question, in its order, each once."""
        known = (question, tuple(payment))
        if known not in self._asked:
            self.recorder.forget()
            self.session.sql(question.text, **payment, replay=False)
            asked, given = self.recorder.asked, self.recorder.given
            self._given.update(zip(asked, given, strict=True))
            self._asked[known] = dict.fromkeys(asked)
        return self._asked[known]

    def engine(self, name):
        if name not in self.engines:
            self.engines[name] = loaded(name, self.catalog, corpus.frames(self.catalog))
        return self.engines[name]

    def unlike(self, engine, questions, payments=(PLAIN,)):
        """The questions of which a statement is refused, not proved, or proved to something else: it should be none."""
        listed = self._list(questions, payments)
        return [f"{question}: {fault}" for asked, question in listed.items() if (fault := self._look(engine, asked)[1])]

    def differences(self, name, questions, payments=(PLAIN,)):
        """The questions of which another engine says something else, and what: it should be none."""
        return self._differences(name, self._list(questions, payments))

    def differences_of_each_sort(self, name):
        """The same of few questions that are answered: all parts of statements are in them."""
        engine = self.engine(name)
        listed = {
            asked: question
            for asked, question in self._list(QUESTIONS, [PLAIN]).items()
            if self._look(engine, asked)[0] is not None
        }
        chosen = choose_one_of_each({asked: [asked] for asked in listed})
        assert len(chosen) >= 40
        return self._differences(name, {asked: listed[asked] for asked in chosen})

    def _differences(self, name, listed):
        engine = self.engine(name)
        with ThreadPoolExecutor(THREADS) as threads:
            said = threads.map(lambda asked: self._compare(engine, asked), listed)
            return [f"{question}: {fault}" for question, fault in zip(listed.values(), said, strict=True) if fault]

    def _list(self, questions, payments):
        return {
            asked: question
            for question in questions
            for payment in payments
            for asked in self.readings(question, payment)
        }

    def _look(self, engine, asked):
        """The statement for one reading, if it is offered, and what is wrong with it."""
        lacking = NOT_OFFERED[engine.dialect.called]
        lacking = {called for called in lacking if (f"{called}()",) in set(list_parts(asked))}
        try:
            statement, derived = self._prove(engine, asked)
        except Refusal as refusal:
            named = any(f"{called.upper()} is not offered on the engine" in str(refusal) for called in lacking)
            slow = any(pattern in repr(asked) for pattern in SLOW_PATTERNS[engine.dialect.called])
            slow &= refusal.what == "The regular expression"
            return None, None if (named or slow) and refusal.code == "engine" else f"it is refused: {refusal}"
        except Failure:
            return None, "the second look proves nothing of it"
        if lacking:
            return None, "it is answered, by a function that gives other values"
        same = derived == self._prove(self.recorder.inner, asked)[1]
        return statement, None if same else f"the second look says something else of it: {statement.text}"

    def _prove(self, engine, asked):
        """What a dialect writes, and the second look at it: the same whoever runs it."""
        known = engine.dialect.called, tuple(sorted(engine.dialect.refused)), asked
        if known not in self._proved:
            self._proved[known] = prove(asked, engine, self.catalog)
        return self._proved[known]

    def _compare(self, engine, asked):
        """What differs in one reading: nothing, or words for it."""
        statement, fault = self._look(engine, asked)
        if statement is None or fault is not None:
            return fault
        try:
            found = read_exact(asked, statement, engine)
        except Failure:
            return f"it fails: {statement.text}"
        return None if found == self._given[asked] else f"{found} is not {self._given[asked]}: {statement.text}"


@pytest.fixture(scope="module")
def comparing(catalog):
    engine = Recorder(loaded(EMBEDDED, catalog, corpus.frames(catalog)))
    with closing(engine.inner), corpus.curated(catalog, engine) as curator:
        made = Comparing(catalog, curator.session("bob"), engine)
        yield made
        for other in made.engines.values():
            other.close()


def test_there_are_hundreds_of_questions_of_every_sort():
    assert len({" ".join(each.text.split()) for each in QUESTIONS}) >= 500
    assert len(TOPICS) >= 25


class Unconnected:
    """An engine without its server: it writes statements, and runs none."""

    def __init__(self, name):
        self.dialect = load_engine(name).dialect

    def render(self, queries):
        return render(queries, self.dialect)

    def render_rows(self, rows):
        return render_rows(rows, self.dialect)


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("name", OTHERS)
def test_every_question_is_proved_alike_in_every_dialect(comparing, name, topic):
    asked = [each for each in QUESTIONS if each.topic == topic]
    faults = comparing.unlike(Unconnected(name), asked)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("name", [name for name in OTHERS if name not in SLOW])
def test_every_question_gives_the_same_integers(comparing, name, topic):
    faults = comparing.differences(name, [each for each in QUESTIONS if each.topic == topic])
    assert not faults, "\n".join(faults)


@pytest.mark.soak
@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("name", sorted(SLOW))
def test_every_question_gives_the_same_integers_where_that_takes_minutes(comparing, name, topic):
    faults = comparing.differences(name, [each for each in QUESTIONS if each.topic == topic])
    assert not faults, "\n".join(faults)


@pytest.mark.soak
@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("name", OTHERS)
def test_every_question_gives_the_same_integers_with_high_effort(comparing, name, topic):
    asked = [each for each in QUESTIONS if each.topic == topic and can_be_asked(comparing, each, WITH_EFFORT)]
    faults = comparing.differences(name, asked, [WITH_EFFORT])
    assert not faults, "\n".join(faults)


def can_be_asked(comparing, question, payment):
    """Whether there is anything that such a payment could buy."""
    try:
        comparing.readings(question, payment)
    except Refusal:
        return False
    return True


@pytest.mark.parametrize("name", sorted(SLOW))
def test_one_question_of_each_sort_gives_the_same_integers(comparing, name):
    faults = comparing.differences_of_each_sort(name)
    assert not faults, "\n".join(faults)


EFFORTFUL = [
    "SELECT COUNT(*), SUM(cost) FROM visits",
    "SELECT hospital, COUNT(*), AVG(cost) FROM visits GROUP BY hospital",
    "SELECT SUM(i.price) FROM visits AS v JOIN items AS i ON v.visit_id = i.visit_id",
]


@pytest.mark.parametrize("name", OTHERS)
def test_high_effort_gives_the_same_integers_in_every_round(comparing, name):
    asked = [corpus.Asked(text, "effort") for text in EFFORTFUL]
    assert any(query.clip for each in asked for read in comparing.readings(each, WITH_EFFORT) for query in read)
    faults = comparing.differences(name, asked, [WITH_EFFORT])
    assert not faults, "\n".join(faults)


UNDECLARED = [
    "SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis",
    "SELECT eye_color, name, COUNT(*), AVG(age) FROM people GROUP BY eye_color, name",
    "SELECT bought, kind, SUM(price) FROM items GROUP BY bought, kind",
]


@pytest.mark.parametrize("name", OTHERS)
def test_values_that_nobody_declared_are_found_with_the_same_people(comparing, name):
    asked = [corpus.Asked(text, "undeclared") for text in UNDECLARED]
    assert all(any(isinstance(read, Query) for read in comparing.readings(each, WITH_DELTA)) for each in asked)
    faults = comparing.differences(name, asked, [WITH_DELTA])
    assert not faults, "\n".join(faults)
