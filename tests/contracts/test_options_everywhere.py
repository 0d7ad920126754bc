"""Each option of a question on each surface: naming it there reaches a session, and a question, with the same value."""

from __future__ import annotations

import ast
import json
import shlex
from contextlib import contextmanager
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, get_type_hints
from urllib.parse import parse_qsl, urlsplit

import pytest
from typer.testing import CliRunner

from adomnia.asking.batch import Batch, bind_question
from adomnia.cli import dataset_places
from adomnia.cli.app import app
from adomnia.cli.shell.settings import NAMES, ShellSettings
from adomnia.client.session import RemoteSession
from adomnia.console.answers.copying import AnswerPlace, write_copies
from adomnia.console.ask.form import AskForm
from adomnia.console.ask.option_fields import FIELDS, show_option
from adomnia.console.history.page import link_again
from adomnia.options import ASK, CURRENCIES, OPTIONS, PRICE, RELEASE
from adomnia.pricing.questions import Payment, Question
from adomnia.session import notebook
from adomnia.session.session import LocalSession
from adomnia.wire.asking import Ask, AskPrice, question_body
from adomnia.wire.releases import AskRelease

if TYPE_CHECKING:
    from adomnia.options import QuestionOption

TEXT = "SELECT COUNT(*) AS n FROM people WHERE age >= :least"
SAMPLES = {
    "amount": Decimal("0.5"),
    "distance": 50.0,
    "whole number": 500,
    "share": 0.9,
    "text": "mine",
    "amounts": {"n": Decimal(3)},
    "values": {"least": Decimal(18)},
}
MODELS = {ASK: Ask, PRICE: AskPrice, RELEASE: AskRelease}
every_option = pytest.mark.parametrize("row", OPTIONS.values(), ids=OPTIONS)


class Reached(Exception):
    """What a session was asked."""


class Recorder:
    """A session that answers nothing."""

    def sql(self, text, **named):
        raise Reached(named)

    price = explain = sql

    def release(self, name, text, **named):
        raise Reached(named)


def sample_of(row: QuestionOption):
    """A value that is not what is usual."""
    if row.typed.stands_for is not None:
        return row.typed.stands_for
    return row.choices[-1] if row.kind == "choice" else SAMPLES[row.kind]


def request_of(row: QuestionOption) -> str:
    """What it is named for here."""
    return PRICE if row.asked_afterwards else ASK if ASK in row.applies else RELEASE


def exactly(row: QuestionOption, value):
    """A value apart from how its number is written."""
    if row.kind in {"amount", "distance"}:
        return Fraction(str(value))
    return {name: Fraction(str(each)) for name, each in value.items()} if row.kind == "amounts" else value


def type_option(row: QuestionOption) -> list[str]:
    """An option as it is typed behind a command."""
    if row.typed.stands_for is not None:
        return [f"--{row.typed.flag}"]
    value = sample_of(row)
    pairs = [f"{name}={each}" for name, each in value.items()] if isinstance(value, dict) else [value]
    return [str(part) for each in pairs for part in (f"--{row.typed.flag}", each)]


def is_same(row: QuestionOption, named) -> bool:
    return row.name in named and exactly(row, named[row.name]) == exactly(row, sample_of(row))


def reach(call, *arguments, **options):
    with pytest.raises(Reached) as reached:
        call(*arguments, **options)
    return reached.value.args[0]


def test_a_value_is_none_that_is_usual():
    assert [row.name for row in OPTIONS.values() if sample_of(row) == row.default] == []


@every_option
def test_in_process(monkeypatch, row):
    def stop(*asked, **options):
        inquiry = asked[0] if hasattr(asked[0], "payment") else SimpleNamespace(payment=asked[-1])
        own = {"simultaneous": asked[-2]} if len(asked) > 2 else vars(inquiry)
        raise Reached({**own, **inquiry.payment})

    session = LocalSession(None, "alice")
    monkeypatch.setattr(LocalSession, "_asker", SimpleNamespace(build_batch=lambda questions, _: questions))
    monkeypatch.setattr("adomnia.session.session.ask", stop)
    monkeypatch.setattr("adomnia.session.session.quote", stop)
    monkeypatch.setattr(
        "adomnia.session.session.buy_release", lambda *_: stop(SimpleNamespace(payment={"private": True}))
    )
    call = {ASK: session.sql, PRICE: session.price, RELEASE: lambda text, **named: session.release("it", text, **named)}
    named = reach(call[request_of(row)], TEXT, **{row.name: sample_of(row)})
    assert is_same(row, named)
    if row.is_of_question:
        assert getattr(Question(TEXT, **{row.name: named[row.name]}), row.name) == sample_of(row)


@every_option
def test_over_http(row):
    value = sample_of(row)
    body = {"sql": TEXT, **({"name": "it"} if request_of(row) == RELEASE else {})}
    sent = (
        question_body(Question("SELECT 1 WHERE :least", **{row.name: value}))
        if row.is_of_question
        else {row.name: value}
    )
    told = MODELS[request_of(row)].model_validate_json(json.dumps(body | {**sent, "sql": TEXT}))
    assert is_same(row, reach(told.put_to, Recorder()))


@every_option
def test_by_the_client(monkeypatch, row):
    def post(_session, _path, body):
        raise Reached(body)

    monkeypatch.setattr(RemoteSession, "_post", post)
    session = RemoteSession(None, "hospital", "alice")
    call = {ASK: session.sql, PRICE: session.price, RELEASE: lambda text, **named: session.release("it", text, **named)}
    body = reach(call[request_of(row)], TEXT, **{"parameters": {"least": 18}, row.name: sample_of(row)})
    assert is_same(row, reach(MODELS[request_of(row)].model_validate_json(json.dumps(body)).put_to, Recorder()))


@every_option
def test_on_the_command_line(monkeypatch, row):
    @contextmanager
    def opened(*_, **__):
        yield Recorder()

    monkeypatch.setattr(dataset_places, "open_to_ask", opened)
    monkeypatch.setattr(dataset_places, "open_to_quote", opened)
    command = {ASK: ["sql", "x"], PRICE: ["price", "x"], RELEASE: ["release", "x", "it", "--analyst", "alice"]}
    ended = CliRunner().invoke(app, [*command[request_of(row)], TEXT, *type_option(row)])
    assert isinstance(ended.exception, Reached), ended.output
    assert is_same(row, ended.exception.args[0])


@pytest.mark.parametrize("row", [row for row in OPTIONS.values() if row.typed.flag in NAMES], ids=lambda row: row.name)
def test_in_the_shell(row):
    settings, typed = ShellSettings(), type_option(row)
    settings.set(row.typed.flag, typed[1] if len(typed) > 1 else "on")
    assert is_same(row, settings.read(TEXT, ASK))


@pytest.mark.parametrize(
    "row", [row for row in OPTIONS.values() if {ASK, PRICE} & row.applies], ids=lambda row: row.name
)
def test_in_a_cell_of_a_notebook(row):
    values = {"session": Recorder(), "least": Decimal(18)}
    typed = [] if row.kind == "values" else type_option(row)  # those are variables
    line = " ".join(["session", *(["--price"] if request_of(row) == PRICE else []), *typed])
    assert is_same(row, reach(notebook.ask_cell, line, TEXT, values))


@every_option
def test_on_a_page(row):
    value = sample_of(row)
    if row.asked_afterwards:  # the page of an answer asks for it
        assert row.name not in FIELDS
        return
    if row.name in CURRENCIES:
        fields_ = {"pay": row.name, "amount": str(value)}
    elif row.name not in FIELDS:
        fields_ = {row.name: str(value)}
    elif row.kind == "values":
        fields_ = {row.name: "\n".join(f"{name} = {each}" for name, each in value.items())}
    else:
        fields_ = {row.name: show_option(row, value)}
    form = AskForm.from_fields({"sql": TEXT, **fields_})
    asked = form.release("it", private=value) if request_of(row) == RELEASE else form.asked()
    assert is_same(row, reach(asked.put_to, Recorder()))


def ask_again(batch: Batch) -> dict[str, dict]:
    """What a session is asked by all that a page offers to take an answer along, or to ask for it again."""
    recalled = SimpleNamespace(batch=batch, place=0, question=batch.questions[0])
    texts = {each.name: each.text for each in write_copies(recalled, AnswerPlace("https://data.example", "house", "r"))}
    calls = [each for each in ast.walk(ast.parse(texts["Python"])) if isinstance(each, ast.Call)]
    called = next(each for each in calls if getattr(each.func, "attr", "") == "sql")
    link = dict(parse_qsl(urlsplit(link_again(batch)).query))
    return {
        "Python": {each.arg: eval(ast.unparse(each.value), {"Fraction": Fraction}) for each in called.keywords},
        "curl": reach(Ask.model_validate_json(shlex.split(texts["curl"])[-1]).put_to, Recorder()),
        "form": reach(AskForm.from_paid(batch).asked().put_to, Recorder()),
        "history": reach(AskForm.from_fields(link).asked().put_to, Recorder()),
    }


OF_ONE_REQUEST = {"request_id", "allow_uninformative", "simultaneous", "private"}  # no answer remembers them
KEPT = [row for row in OPTIONS.values() if row.name not in {*OF_ONE_REQUEST, "parameters", "from_release"}]


@pytest.mark.parametrize("row", KEPT, ids=lambda row: row.name)
def test_what_was_named_comes_back_wherever_it_is_asked_again(row):
    named = {row.name: sample_of(row)}
    price = {} if row.name in CURRENCIES else {"epsilon": Decimal(1)}
    question = Question("SELECT 1", **price, **(named if row.is_of_question else {}))
    settings = {"confidence": 0.95, "version": 1, **({} if row.is_of_question else named)}
    paid = Batch.from_text(Batch((question,), **settings).to_text())
    assert [surface for surface, asked in ask_again(paid).items() if not is_same(row, asked)] == []


def test_values_of_parameters_come_back_in_the_text_and_a_release_is_paid_by_nobody():
    question = bind_question(Question("SELECT :least", parameters={"least": 18}, from_release=True))
    kept = Batch.from_text(Batch((question,), 0.95, 1).to_text()).questions[0]
    assert ("18" in kept.text, kept.parameters, kept.from_release) == (True, None, None)


def test_type_checkers_are_told_what_the_table_says():
    payment, question = get_type_hints(Payment), get_type_hints(Question)
    rows = [row.name for row in OPTIONS.values() if row.is_of_question]
    assert payment.keys() == question.keys() - {"text"} == set(rows)
    assert [name for name in rows if payment[name] != question[name]] == []
    assert {each.name for each in fields(Question) if not each.hash and each.hash is not None} == {
        row.name for row in OPTIONS.values() if row.kind in {"amounts", "values"}
    }
