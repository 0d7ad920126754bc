from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import pytest

from adomnia.asking.asker import Asker
from adomnia.errors import Refusal
from adomnia.pricing.questions import Question
from kit.hospital import CATALOG, curated, declare, person

COUNT, MEAN = "SELECT COUNT(*) AS n FROM people", "SELECT AVG(age) AS a FROM people"


@pytest.fixture(scope="module")
def curator(tmp_path_factory):
    catalog = declare(tmp_path_factory.mktemp("recalled") / "hospital", CATALOG)
    with curated(catalog, [person(k, age=20 + k) for k in range(40)], []) as found:
        yield found


def test_what_was_asked_and_paid_is_recalled_with_the_answer(curator):
    session = curator.session("alice")
    paid = session.sql(COUNT, epsilon=0.25, confidence=0.9)
    recalled = session.recall(paid.receipt.request_id)
    assert recalled.question.text == COUNT
    assert recalled.question.epsilon == Fraction(1, 4)
    assert recalled.answer["n"] == paid["n"]
    assert recalled.answer.confidence == 0.9
    tree, quote = recalled.explain()
    assert quote.event == paid.receipt.event
    assert "epsilon 0.25" in str(tree)


def test_an_answer_is_explained_as_it_was_paid_for(curator):
    session = curator.session("alice")
    answers = session.batch([Question(COUNT, epsilon=0.5), Question(MEAN, epsilon=0.0625)])
    told = session.explain_answer(answers[0].receipt.request_id, 1)
    assert told.tree == session.recall(answers[0].receipt.request_id, 1).explain()[0]
    assert "epsilon 0.0625" in str(told.tree)
    assert (told.cost, told.receipt) == (None, None)


def test_an_answer_to_what_the_catalog_no_longer_means_is_not_explained(curator):
    session = curator.session("alice")
    paid = session.sql(COUNT, epsilon=0.25)
    # The tables as other versions of the catalog declare them: the answer stays, and nobody prices its question.
    with patch.object(Asker, "price_as_before", side_effect=Refusal("The question", "is another", "ask again")):
        assert session.answer(paid.receipt.request_id)["n"] == paid["n"]
        with pytest.raises(Refusal, match="is not explained any more") as refused:
            session.explain_answer(paid.receipt.request_id)
    assert refused.value.code == "catalog_changed"


def test_each_question_of_a_batch_has_its_own_part_of_the_bill(curator):
    session = curator.session("alice")
    answers = session.batch([Question(COUNT, epsilon=0.5), Question(MEAN, epsilon=0.125)])
    recalled = session.recall(answers[0].receipt.request_id, 1)
    assert (recalled.place, recalled.question.text) == (1, MEAN)
    assert recalled.explain()[1].price.epsilon == recalled.question.epsilon


def test_nobody_recalls_the_answers_of_others(curator):
    paid = curator.session("alice").sql(COUNT, epsilon=0.25)
    with pytest.raises(Refusal) as refused:
        curator.session("bob").recall(paid.receipt.request_id)
    assert refused.value.code == "unknown_answer"
