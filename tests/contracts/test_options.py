"""Every option of a question on every surface: it is offered, described and read as its row says."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, fields

import pytest

from adomnia.cli import questions, releases
from adomnia.cli.shell import settings as shell_settings
from adomnia.client.session import RemoteSession
from adomnia.errors import Refusal
from adomnia.messages.references import Option
from adomnia.messages.surfaces import Surface, write_reference
from adomnia.messages.texts import show
from adomnia.options import OPTIONS, list_options
from adomnia.pricing.questions import Payment, Question
from adomnia.session import notebook
from adomnia.session.aggregates import SqlOptions
from adomnia.session.contract import Session
from adomnia.session.session import LocalSession
from adomnia.typed_options import list_typed
from adomnia.wire.asking import Ask, AskBatch, AskBatchPrice, AskExplanation, AskPrice
from adomnia.wire.releases import AskRelease

every_option = pytest.mark.parametrize("row", OPTIONS.values(), ids=OPTIONS)
ASKED_AFTERWARDS = {row.name for row in OPTIONS.values() if row.asked_afterwards}  # of an answer that is there


def test_a_question_has_exactly_the_options_of_one():
    rows = {row.name: row.default for row in OPTIONS.values() if row.is_of_question}
    assert {each.name: each.default for each in fields(Question) if each.default is not MISSING} == rows
    assert Payment.__annotations__.keys() == rows.keys()


@pytest.mark.parametrize("session", [Session, LocalSession, RemoteSession], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("request_", ["ask", "batch", "price", "explain", "release"])
def test_a_session_takes_what_its_rows_say(session, request_):
    method = {"ask": "sql"}.get(request_, request_)
    if not hasattr(session, method):
        return
    taken = inspect.signature(getattr(session, method)).parameters
    own = {name: each.default for name, each in taken.items() if each.kind is each.KEYWORD_ONLY}
    own.pop("progress", None)
    left_out = ASKED_AFTERWARDS if request_ == "ask" else set()
    rows = {row.name: row.default for row in list_options(request_) if not row.is_of_question}
    assert own == {name: default for name, default in rows.items() if name not in left_out}
    assert any(each.kind is each.VAR_KEYWORD for each in taken.values())


def test_rows_in_python_take_what_sql_takes():
    assert SqlOptions.__annotations__.keys() == {row.name for row in list_options("ask")} - ASKED_AFTERWARDS


@every_option
def test_messages_name_it_as_it_is_typed(row):
    value = row.typed.stands_for
    said = Option(row.name, value if isinstance(value, bool | str) else None)
    assert write_reference(said, Surface.COMMAND_LINE) == f"--{row.typed.flag}"


MODELS = {
    "ask": Ask,
    "explain": AskExplanation,
    "price": AskPrice,
    "batch": AskBatch,
    "batch price": AskBatchPrice,
    "release": AskRelease,
}
COMMANDS = {"ask": questions.sql, "explain": questions.explain, "price": questions.price, "release": releases.release}


@pytest.mark.parametrize("request_", MODELS)
def test_a_body_has_the_fields_that_its_rows_say(request_):
    fields_ = {name: each for name, each in MODELS[request_].model_fields.items() if name in OPTIONS}
    assert fields_.keys() == {row.name for row in list_options(request_)}
    for name, each in fields_.items():
        row = OPTIONS[name]
        assert (each.description, each.default) == (row.meaning, None if row.is_of_question else row.default)


@pytest.mark.parametrize("request_", COMMANDS)
def test_a_command_takes_what_its_rows_say(request_):
    taken = {name.replace("_", "-") for name in inspect.signature(COMMANDS[request_]).parameters}
    rows = {row.typed.flag: row for row in list_typed(request_)}
    assert taken >= rows.keys() | {row.formerly for row in rows.values() if row.formerly}


@every_option
def test_the_shell_remembers_it_where_it_chooses_no_id(row):
    told = row.typed.flag in shell_settings.NAMES
    assert told == ("ask" in row.applies and not row.asked_afterwards and row.name != "request_id")


@every_option
def test_a_cell_of_a_notebook_has_it_where_it_is_no_variable(row):
    known = {flag for action in notebook.build_parser()._actions for flag in action.option_strings}
    asked = bool({"ask", "price"} & row.applies)
    assert (f"--{row.typed.flag}" in known) == (asked and row.name != "parameters")


@pytest.mark.parametrize("row", [row for row in OPTIONS.values() if row.formerly], ids=lambda row: row.name)
def test_what_it_was_called_before_is_refused_everywhere(row):
    for method in (LocalSession.sql, LocalSession.price, RemoteSession.sql, RemoteSession.batch):
        with pytest.raises(Refusal, match=f"{row.formerly}= has another name. Fix: write {row.name}=True"):
            method(None, "SELECT", **{row.formerly: True})
    with pytest.raises(Refusal) as refused:
        Ask.model_validate({"sql": "SELECT", row.formerly: True})
    assert show(refused.value.fix, Surface.JSON) == f'write `"{row.name}": true`'
