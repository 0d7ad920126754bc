from __future__ import annotations

import json

import pytest

from adomnia.messages.surfaces import Surface
from adomnia.wire.explanations import ExplanationReply, explanation_of, explanation_record

TEXT = "SELECT city, AVG(salary) AS pay FROM people GROUP BY city"


@pytest.mark.parametrize("payment", [{}, {"epsilon": 0.5}])
def test_an_explanation_arrives_as_it_left(bob, payment):
    told = bob.explain(TEXT, confidence=0.9, **payment)
    record = json.loads(json.dumps(explanation_record(told)))
    found = explanation_of(ExplanationReply.model_validate(record, strict=True))
    assert (found.tree, found.confidence, found.left) == (told.tree, told.confidence, told.left)
    assert (str(found), found["explanation"]) == (str(told), told["explanation"])
    assert record["lines"] == told.tree.in_words(Surface.JSON).lines()
