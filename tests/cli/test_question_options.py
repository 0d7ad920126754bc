"""The options of a question are declared once, and read as they were typed or refused in one sentence."""

from __future__ import annotations

import inspect
from datetime import date
from decimal import Decimal

import pytest

from adomnia.cli import questions
from adomnia.cli.question_options import (
    QuestionOptions,
    parse_parameters,
    parse_rows,
    parse_weights,
    with_question_options,
)
from adomnia.errors import Refusal


def test_a_command_has_the_options_of_a_question_before_its_own():
    shared = list(inspect.signature(QuestionOptions).parameters)
    for command in (questions.sql, questions.price, questions.explain):
        assert list(inspect.signature(command).parameters)[: len(shared)] == shared
    assert list(inspect.signature(questions.price).parameters)[len(shared) :] == ["together", "form"]


def test_a_command_is_called_with_its_options():
    seen = []

    @with_question_options
    def command(asked: QuestionOptions, form: str = "table") -> None:
        """Say it."""
        seen.append((asked.text, asked.payment()["epsilon"], form))

    given = dict.fromkeys(inspect.signature(QuestionOptions).parameters)
    command(**given | {"place": "x", "text": "SELECT", "epsilon": "0.1", "confidence": "0.9", "form": "json"})
    assert seen == [("SELECT", Decimal("0.1"), "json")]
    assert command.__doc__ == "Say it."


def test_what_is_not_named_is_not_paid():
    payment = QuestionOptions("x", "SELECT").payment()
    assert {name for name, value in payment.items() if value is not None} == {"effort", "interval", "confidence"}
    assert payment["confidence"] == 0.95


def test_weights_are_written_by_the_names_of_outputs():
    assert parse_weights(["pay=3", "a=b=0.5"]) == {"pay": Decimal(3), "a=b": Decimal("0.5")}
    assert parse_weights(None) == {}


def test_a_weight_is_given_once():
    with pytest.raises(Refusal, match="is given twice"):
        parse_weights(["pay=3", "pay=5"])


@pytest.mark.parametrize("written", ["pay", "=3", "pay="])
def test_a_weight_without_a_name_or_a_number_is_refused(written):
    with pytest.raises(Refusal, match="--weight"):
        parse_weights([written])


def test_rows_are_a_whole_number():
    assert parse_rows("1e3") == 1000
    assert parse_rows(None) is None


@pytest.mark.parametrize("written", ["0", "-3", "2.5", "nan", "inf", "1e999999999", "1e16"])
def test_other_rows_are_refused(written):
    with pytest.raises(Refusal, match="is not a whole number of at least 1"):
        parse_rows(written)


def test_parameters_are_read_as_what_they_look_like():
    written = ["a=-1.5", "b=TRUE", "c=null", "d=2024-01-31", "e=x=y", "f='7'", "g=", "h=2024-13-01", "i=١"]  # noqa: RUF001
    values = [Decimal("-1.5"), True, None, date(2024, 1, 31), "x=y", "7", "", "2024-13-01", "١"]  # noqa: RUF001
    assert parse_parameters(written) == dict(zip("abcdefghi", values, strict=True))
    assert QuestionOptions("x", "SELECT", parameter=["a=1"]).payment()["parameters"] == {"a": 1}


@pytest.mark.parametrize("written", [["city"], ["=Oslo"], ["a b=1"], ["a=1", "a=2"]])
def test_a_parameter_without_a_name_of_its_own_is_refused(written):
    with pytest.raises(Refusal, match="--parameter"):
        parse_parameters(written)
