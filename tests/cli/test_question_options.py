"""Commands that ask have the options of the table, around which they have their own."""

from __future__ import annotations

import inspect
from decimal import Decimal

import pytest

from adomnia.cli import questions, releases
from adomnia.cli.question_options import QuestionOptions, with_question_options
from adomnia.errors import Refusal
from adomnia.options import ASK, EXPLAIN, PRICE, RELEASE
from adomnia.typed_options import list_typed

COMMANDS = {ASK: questions.sql, PRICE: questions.price, EXPLAIN: questions.explain, RELEASE: releases.release}


@pytest.mark.parametrize("request_", COMMANDS)
def test_a_command_has_the_options_of_its_request(request_):
    taken = set(inspect.signature(COMMANDS[request_]).parameters)
    assert {row.typed.flag.replace("-", "_") for row in list_typed(request_)} <= taken


def make(seen):
    @with_question_options(ASK)
    def command(asked: QuestionOptions, form: str = "table") -> None:
        """Say it."""
        seen.append((asked.text, asked.read(ASK), form))

    return command


def test_a_command_is_called_with_what_was_typed():
    seen = []
    command = make(seen)
    given = {name: each.default for name, each in inspect.signature(command).parameters.items()}
    command(**given | {"place": "x", "text": "SELECT", "epsilon": "0.1", "no_interval": True, "form": "json"})
    read = {"epsilon": Decimal("0.1"), "interval": False, "effort": "normal", "confidence": 0.95}
    ((text, options, form),) = seen
    assert (text, form, options | read) == ("SELECT", "json", options)
    assert "rho" not in options
    assert command.__doc__ == "Say it."


def test_a_flag_by_its_former_name_is_refused():
    command = make([])
    given = {name: each.default for name, each in inspect.signature(command).parameters.items()}
    with pytest.raises(Refusal, match="--anyway has another name"):
        command(**given | {"place": "x", "text": "SELECT", "anyway": True})


def test_arguments_of_a_command_stand_between_the_place_and_the_text():
    taken = list(inspect.signature(releases.release).parameters)
    assert taken[:3] == ["place", "name", "text"]
    assert taken[-4:] == ["analyst", "token_file", "out", "form"]
