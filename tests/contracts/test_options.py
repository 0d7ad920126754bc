"""Every option of a question on every surface: it is offered, described and read as its row says."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import get_type_hints

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

from adomnia.cli import questions, releases
from adomnia.cli.shell import settings as shell_settings
from adomnia.client.session import RemoteSession
from adomnia.errors import Refusal
from adomnia.messages.references import Option
from adomnia.messages.surfaces import Surface, write_reference
from adomnia.messages.texts import show
from adomnia.methods.registry import METHODS
from adomnia.options import OPTIONS, list_options
from adomnia.pricing.questions import Payment, Question
from adomnia.privacy.amounts import Number
from adomnia.session import notebook
from adomnia.session.aggregates import Aggregates, SqlOptions
from adomnia.session.contract import Session
from adomnia.session.own_session import OwnSession
from adomnia.session.session import LocalSession
from adomnia.session.signatures import list_parameters
from adomnia.session.table import GroupedTable, PrivateTable
from adomnia.sql.reading.select_builder import SelectBuilder
from adomnia.typed_options import list_typed
from adomnia.wire.asking import Ask, AskBatch, AskBatchPrice, AskExplanation, AskPrice
from adomnia.wire.releases import AskRelease

every_option = pytest.mark.parametrize("row", OPTIONS.values(), ids=OPTIONS)
ASKED_AFTERWARDS = {row.name for row in OPTIONS.values() if row.asked_afterwards}  # of an answer that is there


def test_a_question_has_exactly_the_options_of_one():
    rows = {row.name: row.default for row in OPTIONS.values() if row.is_of_question}
    assert {each.name: each.default for each in fields(Question) if each.default is not MISSING} == rows
    assert Payment.__annotations__.keys() == rows.keys()


KINDS = [Session, LocalSession, RemoteSession, OwnSession]
METHODS_OF_REQUESTS = {
    "sql": "ask",
    "batch": "batch",
    "price": "price",
    "explain": "explain",
    "release": "release",
    "quality": "explain",
    "compare": "explain",
}


def rows_of(request_):
    """The options that are named with a question, by their names."""
    left_out = ASKED_AFTERWARDS if request_ == "ask" else set()
    return {row.name: row for row in list_options(request_) if row.name not in left_out}


def check_signature(method, rows):
    taken = inspect.signature(method).parameters
    assert [name for name in taken if name in rows] == list(rows)
    for name, row in rows.items():
        assert (taken[name].kind, taken[name].default) == (inspect.Parameter.KEYWORD_ONLY, row.default)
    assert not [each for each in taken.values() if str(each.annotation).startswith("Unpack")]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("method", METHODS_OF_REQUESTS)
def test_a_session_lists_what_its_rows_say(kind, method):
    check_signature(getattr(kind, method), rows_of(METHODS_OF_REQUESTS[method]))


AGGREGATES = [name for name, each in vars(Aggregates).items() if callable(each) and not name.startswith("_")]


@pytest.mark.parametrize("name", [*AGGREGATES, *METHODS])
def test_a_question_about_rows_lists_what_sql_takes(name):
    asked = {} if name in AGGREGATES else {each.name for each in METHODS[name].parameters}
    rows = {option: row for option, row in rows_of("ask").items() if option not in asked}
    for kind in (PrivateTable, GroupedTable):
        check_signature(getattr(kind, name), rows)
        assert set(asked) <= inspect.signature(getattr(kind, name)).parameters.keys()


def test_people_are_shown_the_types_that_type_checkers_are_told():
    known = {"Mapping": Mapping, "Sequence": Sequence, "Number": Number}
    shown = {each.name: each.annotation for each in list_parameters("ask")}
    of_question = get_type_hints(Payment)
    assert {name: eval(told, known) for name, told in shown.items() if name in of_question} == of_question
    assert {name: told for name, told in shown.items() if name not in of_question}.items() <= (
        LocalSession.sql.__annotations__.items()
    )


@pytest.fixture(scope="module")
def shell():
    made = InteractiveShell(user_ns={}, history_length=0)
    made.history_manager.enabled = False
    return made


@pytest.mark.parametrize("kind", [LocalSession, RemoteSession, OwnSession], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("call", ["session.sql('', ", "people.count(", "people.lm('a ~ b', ", "groups.agg("])
def test_a_notebook_completes_every_option_of_a_question(shell, kind, call):
    session = object.__new__(kind)
    people = PrivateTable(session, SelectBuilder("people", "people"))
    shell.user_ns |= {"session": session, "people": people, "groups": people.group_by("sex")}
    for name in rows_of("ask"):
        with provisionalcompleter():
            typed = call + name[:3]
            assert f"{name}=" in {each.text for each in shell.Completer.completions(typed, len(typed))}


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
