"""Every method and the private cap on every engine, from the text to the answer: what is read for it is equal.

The noise is drawn from the same bits, so that every later round and the answer itself are equal too.
"""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress

import pytest

from adomnia.engines.registry import EMBEDDED, ENGINES, load_engine
from adomnia.engines.render import render
from adomnia.errors import Refusal
from adomnia.methods.registry import METHODS
from adomnia.pricing.payment import needs_delta
from adomnia.pricing.quotes import list_measures
from adomnia.privacy.events import Pure
from adomnia.sql.lower import lower
from kit import corpus
from kit.altering import alter
from kit.bits import SeededBits
from kit.engines import loaded
from kit.hospital import CATALOG, declare, frame
from kit.methods import PEOPLE, VISITS
from kit.recording import Recorder, choose_one_of_each

pytestmark = pytest.mark.no_cover  # the engines' own tests have one example of each branch

OTHERS = [name for name in ENGINES if name != EMBEDDED]
# Of which only some methods are asked in the short form: one of each sort of statement that no question is made of.
SLOW = {"spark"}
# What an engine refuses, because of a function that it does not offer: their likelihood is an exponential, or the
# example of theirs is a distribution of logarithms.
NOT_OFFERED = {"postgres": {}, "spark": {"logit": "EXP", "poisson": "EXP", "fit_family": "LN"}}
PROFILED = CATALOG.replace("rows_per_person = 3", "rows_per_person = { max = 8, epsilon = 0.05 }")
CAPPED = "SELECT hospital, COUNT(*), SUM(cost) FROM visits GROUP BY hospital"
MORE_VISITS = [each | {"person_id": each["person_id"] % 7} for each in VISITS[:60]]  # some people have many


class Analysing:
    """One engine, asked by one who draws the same noise for the same question."""

    def __init__(self, name, catalog, opened):
        rows = {"people": PEOPLE, "visits": [*VISITS, *MORE_VISITS]}
        frames = {table.name: frame(rows[table.name], table) for table in catalog.tables if not table.public}
        engine = opened.enter_context(closing(loaded(name, catalog, frames)))
        self.recorder = Recorder(engine)
        self._curator = opened.enter_context(corpus.curated(catalog, self.recorder))
        self.at_opening = self.recorder.asked, self.recorder.given
        self.profile = self._curator.catalog.table("visits").profile
        self._known = {}

    def ask(self, text):
        """What is asked of the engine, what it gives, and the answer."""
        if text not in self._known:
            self.recorder.forget()
            alter(self._curator, bits=SeededBits(text))
            delta = 1e-9 if needs_delta(lower(text, self._curator.catalog)) else None
            answer = self._curator.session("bob").sql(text, epsilon=1, delta=delta)
            self._known[text] = self.recorder.asked, self.recorder.given, answer.records()
        return self._known[text]


@pytest.fixture(scope="module")
def analysing(tmp_path_factory):
    """Engines by name, each opened when it is first asked for."""
    catalog = declare(tmp_path_factory.mktemp("analyses") / "hospital", PROFILED)
    known = {}
    with ExitStack() as opened:
        yield lambda name: known.get(name) or known.setdefault(name, Analysing(name, catalog, opened))


def assert_same_method(analysing, name, method):
    text, lacking = METHODS[method].example, NOT_OFFERED[name].get(method)
    if lacking is None:
        assert_same(analysing, name, text)
        return
    with pytest.raises(Refusal, match=f"{lacking} is not offered on the engine {name}") as refused:
        analysing(name).ask(text)
    assert refused.value.code == "engine"


def assert_same(analysing, name, text):
    asked, given, answer = analysing(name).ask(text)
    wanted_asked, wanted, wanted_answer = analysing(EMBEDDED).ask(text)
    assert given == wanted
    assert asked == wanted_asked
    assert answer == wanted_answer
    assert given


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", [name for name in OTHERS if name not in SLOW])
def test_a_method_reads_and_answers_the_same(analysing, name, method):
    assert_same_method(analysing, name, method)


@pytest.mark.soak
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", sorted(SLOW))
def test_a_method_reads_and_answers_the_same_where_that_takes_minutes(analysing, name, method):
    assert_same_method(analysing, name, method)


@pytest.mark.parametrize("name", sorted(SLOW))
def test_methods_of_each_sort_read_and_answer_the_same(analysing, name, tmp_path):
    offered = {called: method for called, method in METHODS.items() if called not in NOT_OFFERED[name]}
    asked = {called: analysing(EMBEDDED).ask(method.example)[0] for called, method in offered.items()}
    chosen = choose_one_of_each(asked, known=list_queries_of_questions(name, tmp_path))
    assert chosen
    for method in {*chosen, *NOT_OFFERED[name]}:
        assert_same_method(analysing, name, method)


def list_queries_of_questions(name, folder):
    """What questions are made of, of which there are tests of their own: those that are offered on the engine."""
    catalog, dialect = corpus.declare(folder), load_engine(name).dialect
    for question in corpus.questions():
        with suppress(Refusal):  # by the engine, or of what costs nothing
            for measure in list_measures(lower(question.text, catalog), Pure(1)):
                render((measure.query,), dialect)
                yield measure.query


@pytest.mark.parametrize("name", OTHERS)
def test_a_private_cap_is_found_from_the_same_people_and_then_heeded(analysing, name):
    assert analysing(name).at_opening == analysing(EMBEDDED).at_opening
    assert analysing(name).profile == analysing(EMBEDDED).profile
    (((_, _, exact),),) = analysing(name).at_opening[1]
    assert sum(exact) == len(PEOPLE)  # everybody once, by how many rows they have
    assert len([people for people in exact if people]) > 2
    assert_same(analysing, name, CAPPED)
