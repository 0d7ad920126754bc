from __future__ import annotations

from fractions import Fraction

import pytest

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
