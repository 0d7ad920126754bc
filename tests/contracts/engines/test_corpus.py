"""The adversarial corpus on every engine but the embedded one, which has its own: the same reply on every database."""

from __future__ import annotations

import pytest

from adomnia.engines.registry import EMBEDDED, ENGINES
from adomnia.errors import Refusal
from curator import test_corpus as corpus
from kit.engines import using
from kit.hospital import curated, declare

pytestmark = pytest.mark.no_cover  # the engines' own tests have one example of each branch

OTHERS = [name for name in ENGINES if name != EMBEDDED]
# What is answered elsewhere and refused on an engine, by name: LN, and a pattern that Java would try for hours.
REFUSED_ON = {"postgres": [], "spark": ["E10", "S05"]}
ANSWERED_ON = {name: [each for each in corpus.ANSWERED if each not in REFUSED_ON[name]] for name in OTHERS}
SHORT = {"postgres": 1, "spark": 6}  # one entry of so many is asked in the short form: each takes some statements


@pytest.fixture(scope="module", params=OTHERS)
def engine(request):
    return request.param


@pytest.fixture(scope="module")
def curators(engine, tmp_path_factory):
    """Everybody, everybody but Ann, and nobody."""
    catalog = declare(tmp_path_factory.mktemp("corpus") / "hospital")
    with (
        using(engine),
        curated(catalog, *corpus.DATABASES["all"]) as one,
        curated(catalog, *corpus.DATABASES["without Ann"]) as other,
        curated(catalog, *corpus.DATABASES["empty"]) as empty,
    ):
        yield [one, other, empty]


def test_what_is_refused_is_refused_alike_on_every_database_and_as_elsewhere(engine, curators, tmp_path):
    with using(EMBEDDED), curated(declare(tmp_path / "hospital"), *corpus.DATABASES["all"]) as embedded:
        assert {each.engine.dialect.called for each in curators} == {engine}
        assert embedded.engine.dialect.called == EMBEDDED
        for name in corpus.REFUSED:
            corpus.test_what_is_refused_is_refused_alike_on_every_database(curators, name)
            for text in corpus.texts(name):
                assert reply(curators[0], text) == reply(embedded, text)
    assert len(corpus.REFUSED) > 50


def reply(curator, text):
    with pytest.raises(Refusal) as refused:
        curator.session("alice").sql(text, epsilon=1, request_id="r")
    return str(refused.value), refused.value.code


def test_what_one_engine_refuses_it_refuses_alike_on_every_database(engine, curators):
    for name in REFUSED_ON[engine]:
        before = [corpus.state(curator) for curator in curators]
        replies = {reply(curator, text) for text in corpus.texts(name) for curator in curators}
        assert len(replies) == 1
        assert {code for _, code in replies} == {"engine"}
        assert [corpus.state(curator) for curator in curators] == before


def test_what_is_answered_is_paid_first_and_looks_the_same_on_every_database(engine, curators):
    for name in ANSWERED_ON[engine][:: SHORT[engine]]:
        corpus.test_what_is_answered_is_paid_first_and_looks_the_same_on_every_database(curators, name)


def test_what_is_public_is_exact_and_the_same_on_every_database(curators):
    for name in corpus.PUBLIC:
        corpus.test_what_is_public_is_exact_costs_nothing_and_is_the_same_on_every_database(curators, name)


def test_one_person_moves_an_answer_by_at_most_its_sensitivity(engine, curators):
    for name in ANSWERED_ON[engine][:: SHORT[engine]]:
        corpus.test_one_person_moves_an_answer_by_at_most_its_sensitivity(curators, name)


@pytest.mark.soak
@pytest.mark.parametrize("name", corpus.ANSWERED)
def test_all_that_is_answered_looks_the_same_on_every_database_and_no_person_moves_it_further(engine, curators, name):
    if name in ANSWERED_ON[engine]:
        corpus.test_what_is_answered_is_paid_first_and_looks_the_same_on_every_database(curators, name)
        corpus.test_one_person_moves_an_answer_by_at_most_its_sensitivity(curators, name)
