"""Every option of a question on every surface: it is offered, described and read as its row says."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, fields

import pytest

from adomnia.client.session import RemoteSession
from adomnia.messages.references import Option
from adomnia.messages.surfaces import Surface, write_reference
from adomnia.options import OPTIONS, list_options, list_question_options
from adomnia.pricing.questions import Payment, Question
from adomnia.session.aggregates import SqlOptions
from adomnia.session.contract import Session
from adomnia.session.session import LocalSession

every_option = pytest.mark.parametrize("row", OPTIONS.values(), ids=OPTIONS)
ASKED_AFTERWARDS = {"together"}  # in Python an answer has intervals of both kinds: answer.interval(name, together=True)


def test_a_question_has_exactly_the_options_of_one():
    rows = {row.name: row.default for row in list_question_options()}
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
