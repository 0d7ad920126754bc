from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from adomnia.asking.batch import MOST_QUESTIONS
from adomnia.errors import Refusal
from adomnia.json_text import read_json
from adomnia.pricing.questions import Question
from adomnia.privacy.losses import loss
from adomnia.wire.amounts import parse_float_exactly
from adomnia.wire.asking import (
    Ask,
    AskBatch,
    AskBatchPrice,
    AskExplanation,
    AskPrice,
    payment_body,
    question_body,
)

SQL = "SELECT sex, COUNT(*) AS n, AVG(salary) AS pay FROM people GROUP BY sex"
COUNT = "SELECT COUNT(*) AS n FROM people"


def received(model, body):
    """What a server makes of what a client sends."""
    return TypeAdapter(model).validate_python(read_json(json.dumps(body).encode(), parse_float_exactly))


@pytest.mark.parametrize(
    "question",
    [
        Question(SQL),
        Question(SQL, epsilon=0.1),
        Question(SQL, rho=Fraction(1, 3), delta=Decimal("1e-9"), effort="high"),
        Question(SQL, error=20, rows=1000),
        Question(SQL, epsilon=1, inference="population"),
        Question(SQL, epsilon=1, weights={"n": 1, "pay": Fraction(2, 3)}),
        Question(f"{SQL} LIMIT ?", parameters=[3]),
        Question(f"{COUNT} WHERE a = :a OR b = :b", parameters={"a": date(2024, 1, 31), "b": None}),
        Question(f"{COUNT} WHERE a = :a", parameters={"a": datetime.fromisoformat("2024-01-31T12:30:00")}),
    ],
)
def test_a_question_arrives_as_it_was_asked(question):
    assert received(AskBatch, {"questions": [question_body(question)]}).questions[0].question() == question


def test_numbers_of_parameters_are_sent_as_doubles():
    given = [Decimal("0.10"), np.int64(3), np.datetime64("2024-01-31"), np.float64(0.5), True]
    body = question_body(Question("? ? ? ? ?", parameters=given))
    assert body["parameters"] == [0.1, 3, {"date": "2024-01-31"}, 0.5, True]


def test_what_was_not_named_is_not_sent():
    assert "inference" not in question_body(Question(SQL, epsilon=1))
    assert payment_body({"epsilon": 1, "rho": None, "weights": None}) == {"epsilon": 1}
    assert received(Ask, {"sql": SQL}).payment() == {}


def test_a_question_is_put_to_a_session(bob):
    ask = received(Ask, {"sql": SQL, "epsilon": "1/2", "confidence": 0.9, "request_id": "mine", "replay": False})
    answer = ask.put_to(bob)
    assert (answer.confidence, answer.receipt.request_id) == (0.9, "mine")
    assert loss(answer.cost).epsilon == Fraction(1, 2)
    assert bob.sql(SQL, epsilon=0.5, request_id="mine", replay=False).receipt == answer.receipt


def test_a_batch_is_put_to_a_session(bob):
    ask = received(AskBatch, {"questions": [COUNT, {"sql": SQL}], "rho": 0.125, "request_id": "all"})
    assert [len(answer) for answer in ask.put_to(bob)] == [1, 3]
    ask = received(AskBatch, {"questions": [{"sql": SQL, "error": 900, "rows": 1000}], "confidence": 0.8})
    assert ask.put_to(bob)[0].confidence == 0.8


def test_a_price_and_an_explanation_are_put_to_a_session(bob):
    one = received(AskPrice | AskBatchPrice, {"sql": SQL, "epsilon": 1, "simultaneous": True, "confidence": 0.9})
    assert one.put_to(bob) == bob.price(SQL, epsilon=1, simultaneous=True, confidence=0.9)
    several = received(AskPrice | AskBatchPrice, {"questions": [COUNT, SQL], "epsilon": 1})
    assert several.put_to(bob) == bob.price([COUNT, SQL], epsilon=1)
    told = received(AskExplanation, {"sql": SQL, "epsilon": 1})
    assert told.put_to(bob).tree == bob.explain(SQL, epsilon=1).tree


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"sql": 5},
        {"sql": None},
        {"sql": "x" * (2**20 + 1)},
        {"sql": SQL, "epsilom": 1},
        {"sql": SQL, "epsilon": True},
        {"sql": SQL, "epsilon": "much"},
        {"sql": SQL, "epsilon": [1]},
        {"sql": SQL, "weights": {"n": "heavy"}},
        {"sql": SQL, "weights": {str(k): 1 for k in range(1001)}},
        {"sql": SQL, "weights": {"n" * 201: 1}},
        {"sql": SQL, "weights": [1]},
        {"sql": SQL, "parameters": 1},
        {"sql": SQL, "parameters": [[1]]},
        {"sql": SQL, "parameters": [{"date": "soon"}]},
        {"sql": SQL, "parameters": [{"timestamp": "noon"}]},
        {"sql": SQL, "parameters": [{"date": "2024-01-31", "x": 1}]},
        {"sql": SQL, "parameters": [1] * 1001},
        {"sql": SQL, "parameters": {str(k): 1 for k in range(1001)}},
        {"sql": SQL, "confidence": "0.5"},
        {"sql": SQL, "confidence": None},
        {"sql": SQL, "rows": "10"},
        {"sql": SQL, "replay": "yes"},
        {"sql": SQL, "replay": 1},
        {"sql": SQL, "request_id": 5},
        {"sql": SQL, "effort": "x" * 201},
        {"sql": "\ud800"},
        [],
        "text",
        None,
    ],
    ids=lambda body: str(body)[:40],
)
def test_what_is_malformed_is_refused_by_the_model(body):
    with pytest.raises(ValidationError):
        received(Ask, body)


@pytest.mark.parametrize("body", [{"questions": [COUNT] * 1001}, {"questions": [5]}, {"questions": COUNT}, {}])
def test_a_malformed_batch_is_refused_by_the_model(body):
    with pytest.raises(ValidationError):
        received(AskBatch, body)


def test_how_many_questions_a_batch_may_have_is_described_by_the_model_and_refused_by_the_session():
    questions = AskBatch.model_json_schema()["properties"]["questions"]
    assert questions["maxItems"] == MOST_QUESTIONS
    assert len(received(AskBatch, {"questions": [COUNT] * (MOST_QUESTIONS + 1)}).questions) == MOST_QUESTIONS + 1


@pytest.mark.parametrize("body", [{}, {"sql": SQL, "questions": [SQL]}, {"simultaneous": True}])
def test_a_price_is_of_one_question_or_of_several(body):
    with pytest.raises(ValidationError):
        received(AskPrice | AskBatchPrice, body)


@pytest.mark.parametrize(
    "body",
    [
        {"sql": "", "epsilon": 1},
        {"sql": COUNT, "epsilon": 0},
        {"sql": COUNT, "epsilon": 1, "confidence": 10**400},
        {"sql": COUNT, "error": 10**400},
        {"sql": COUNT, "error": 5, "rows": 0.5},
        {"sql": COUNT, "epsilon": 1, "request_id": ""},
        {"sql": COUNT, "rho": 1, "effort": "huge"},
    ],
    ids=lambda body: str(body)[:40],
)
def test_what_is_well_formed_and_wrong_is_refused_by_the_session(bob, body):
    with pytest.raises(Refusal):
        received(Ask, body).put_to(bob)


def test_the_schema_says_what_the_session_will_take():
    fields = Ask.model_json_schema()["properties"]
    assert fields["confidence"]["exclusiveMaximum"] == 1
    assert fields["sql"]["maxLength"] == 65536
    assert fields["rows"]["anyOf"][0] == {"type": "integer", "minimum": 1, "maximum": 10**15}
    assert fields["effort"]["anyOf"][0]["enum"] == ["normal", "high"]
    assert Ask.model_json_schema()["additionalProperties"] is False


def test_whole_numbers_that_were_typed_stay_whole():
    given = [Decimal(3), Decimal("1e3"), Decimal("2.5"), Decimal("1e300")]
    assert repr(question_body(Question("? ? ? ?", parameters=given))["parameters"]) == "[3, 1000, 2.5, 1e+300]"


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"a": [1]}, "must be a number, a text, true, false, null, "),
        ([{"day": "2024-01-31"}], "must be a number, a text, true, false, null, "),
        ("x", "must be a list of values, or an object of values by their names"),
    ],
)
def test_what_is_wrong_with_a_parameter_is_said_once(parameters, says):
    with pytest.raises(ValidationError) as wrong:
        Ask.model_validate({"sql": SQL, "epsilon": 1, "parameters": parameters})
    (error,) = wrong.value.errors()
    assert error["loc"] == ("parameters",)
    assert says in error["msg"]
