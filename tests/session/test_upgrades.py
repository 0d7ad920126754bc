"""A ledger that an earlier version of this program wrote: its answers come back as they were given, at no price.

Words may get better from one version to the next. Numbers stay, bit for bit. The first version kept measurements alone,
of which some processors compute other last digits of a double.
"""

from __future__ import annotations

import pytest

from adomnia.curator.measurements import Record
from kit.old_ledgers import FOLDER, answer_again, describe, open_old, open_session, read_answers

NAMES = sorted(place.name for place in FOLDER.iterdir())
_WORDS = {"notes", "says", "title", "method", "floor"}  # below which a p-value is shown as a bound
_WORDS |= {"about", "shortened", "texts"}  # what the first version did not tell of an answer
_ANEW = ("logit(", "poisson(", " lm(", "huber_regression(")  # measured in other rounds by now, if they are asked again
_ANEW_WITH_INTERVAL = ("MEDIAN(", "PERCENTILE_CONT(")
KEPT = [(name, place) for name in NAMES for place in range(len(read_answers(name)))]


@pytest.fixture(scope="module")
def curators(tmp_path_factory):
    opened = {name: open_old(name, tmp_path_factory.mktemp(name)) for name in NAMES}
    yield {name: each.__enter__() for name, each in opened.items()}
    for each in opened.values():
        each.__exit__(None, None, None)


def numbers(part, exact):
    """An answer without its words."""
    if isinstance(part, dict):
        return {name: numbers(each, exact) for name, each in part.items() if name not in _WORDS}
    if isinstance(part, list):
        return [numbers(each, exact) for each in part]
    return part if exact or not isinstance(part, float) else pytest.approx(part, rel=1e-9, abs=0)


def same(given, expected, exact):
    shown = [numbers(describe(each), exact=True) for each in given]
    for now, then in zip(shown, expected, strict=True):
        if "model" in then:  # a model may tell more than it did, of the same measurements, and nothing otherwise
            now["model"] = {name: each for name, each in now["model"].items() if name in then["model"]}
    return shown == [numbers(each, exact) for each in expected]


@pytest.mark.parametrize(("name", "place"), KEPT)
def test_a_question_of_then_gets_its_answer_of_then_for_free(curators, name, place):
    curator, asked = curators[name], read_answers(name)[place]
    session, expected = open_session(curator, asked), asked["answers"]
    before = curator.ledger.spent(None)
    exact = Record.from_bytes(curator.ledger.answer(session.analyst, asked["request_id"]).payload).results is not None
    assert same([session.answer(asked["request_id"], at) for at in range(len(expected))], expected, exact)
    changed = (*_ANEW, *(_ANEW_WITH_INTERVAL if asked.get("interval", True) else ()))
    if asked.get("replay", True) and not any(word in text for text in asked["questions"] for word in changed):
        given = answer_again(curator, asked)
        assert all(each.replayed for each in given)
        assert same(given, expected, exact)
    assert curator.ledger.spent(None) == before


@pytest.mark.parametrize("name", NAMES)
def test_a_ledger_of_then_verifies(curators, name):
    curators[name].ledger.verify()
