"""A ledger that an earlier version of this program wrote: its answers come back as they were given, at no price.

Words may get better from one version to the next. Numbers stay, bit for bit.
"""

from __future__ import annotations

import json

import pytest

from kit.old_ledgers import FOLDER, answer_again, describe, open_old, open_session, read_answers

NAMES = sorted(place.name for place in FOLDER.iterdir())
_WORDS = {"notes", "says", "title"}
KEPT = [(name, place) for name in NAMES for place in range(len(read_answers(name)))]


@pytest.fixture(scope="module")
def curators(tmp_path_factory):
    opened = {name: open_old(name, tmp_path_factory.mktemp(name)) for name in NAMES}
    yield {name: each.__enter__() for name, each in opened.items()}
    for each in opened.values():
        each.__exit__(None, None, None)


def numbers(record):
    """An answer without its words, as bytes."""

    def plain(part):
        if isinstance(part, dict):
            return {name: plain(value) for name, value in part.items() if name not in _WORDS}
        return [plain(each) for each in part] if isinstance(part, list) else part

    return json.dumps(plain(record), sort_keys=True).encode()


@pytest.mark.parametrize(("name", "place"), KEPT)
def test_a_question_of_then_gets_its_answer_of_then_for_free(curators, name, place):
    curator, asked = curators[name], read_answers(name)[place]
    before, expected = curator.ledger.spent(None), [numbers(each) for each in asked["answers"]]
    session = open_session(curator, asked)
    recalled = [session.answer(asked["request_id"], at) for at in range(len(expected))]
    assert [numbers(describe(each)) for each in recalled] == expected
    if asked.get("replay", True):
        given = answer_again(curator, asked)
        assert all(each.replayed for each in given)
        assert [numbers(describe(each)) for each in given] == expected
    assert curator.ledger.spent(None) == before


@pytest.mark.parametrize("name", NAMES)
def test_a_ledger_of_then_verifies(curators, name):
    curators[name].ledger.verify()
