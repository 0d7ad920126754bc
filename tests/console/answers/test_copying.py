"""Texts to copy mean what was asked, whatever stands in the question: each is read as its language reads it."""

from __future__ import annotations

import ast
import json
import shlex
import subprocess
from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.asking.batch import Batch
from adomnia.console.answers.copying import AnswerPlace, write_copies
from adomnia.pricing.questions import Question
from adomnia.wire.asking import Ask

PLACE = AnswerPlace("https://data.example", "hospital", "r 1")
TEXTS = [
    "SELECT 1",
    "SELECT 'it''s'",
    'SELECT "a" FROM b',
    "SELECT\n  'two'\nFROM lines",
    'SELECT\n"quoted"',
    "SELECT 'back\\slash'\n",
    "SELECT '$HOME `id` $(id) !!'",
    'SELECT """\n',
    "SELECT 'Ærø 東京 😀'",
    "SELECT '\u202e\x00\x1b'",
    "--\n'; rm -rf / #",
    "SELECT 'a\r\nb'",
]


def copies(text, place=0, questions=1, **named):
    batch = Batch((Question(text, **named),) * questions, 0.95, 1)
    recalled = SimpleNamespace(batch=batch, place=place, question=batch.questions[place])
    return {each.name: each.text for each in write_copies(recalled, PLACE)}


def calls(python):
    return [node for node in ast.walk(ast.parse(python)) if isinstance(node, ast.Call)]


def asked_by_python(python):
    """The text and what is named beside it, in the call of sql()."""
    call = next(each for each in calls(python) if getattr(each.func, "attr", "") == "sql")
    named = {each.arg: eval(ast.unparse(each.value), {"Fraction": Fraction}) for each in call.keywords}
    return ast.literal_eval(call.args[0]), named


def asked_by_curl(command):
    *_, flag, body = shlex.split(command)
    assert flag == "--data-raw"
    return json.loads(body)


@pytest.mark.parametrize("text", TEXTS)
def test_every_language_gets_the_question_as_it_is(text):
    found = copies(text, epsilon=Fraction(1, 4))
    assert found["SQL"] == text
    assert asked_by_python(found["Python"])[0] == text
    assert asked_by_curl(found["curl"])["sql"] == text


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_text_survives(text):
    found = copies(text, epsilon=Fraction(1, 4))
    assert asked_by_python(found["Python"])[0] == text
    assert asked_by_curl(found["curl"])["sql"] == text


@pytest.mark.parametrize("text", TEXTS)
def test_a_real_shell_reads_the_command_so_too(text):
    command = copies(text, epsilon=Fraction(1, 4))["curl"]
    script = f'curl() {{ printf "%s\\0" "$@"; }}\n{command}'
    words = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=True).stdout.decode().split("\0")
    assert words[0] == "https://data.example/api/v1/datasets/hospital/query"
    assert json.loads(words[-2])["sql"] == text


def test_all_that_was_named_is_there_exactly_and_what_is_usual_is_not():
    named = {"rho": Fraction(1, 3), "delta": Fraction(1, 10**7), "weights": {"n'": Fraction(1, 2)}, "rows": 500}
    found = copies("SELECT 1", **named, effort="high", interval=False, inference="population")
    _, python = asked_by_python(found["Python"])
    assert python.pop("delta") == 1e-7
    assert python == {
        **{k: v for k, v in named.items() if k != "delta"},
        "effort": "high",
        "interval": False,
        "inference": "population",
    }
    ask = Ask.model_validate(asked_by_curl(found["curl"]))
    assert (ask.rho, float(ask.delta), ask.rows, ask.interval) == (Fraction(1, 3), 1e-7, 500, False)
    assert asked_by_python(copies("SELECT 1", epsilon=Fraction(1, 4))["Python"])[1] == {"epsilon": 0.25}


def test_an_error_that_was_named_is_named_again():
    assert asked_by_python(copies("SELECT 1", error=30.0)["Python"])[1] == {"error": 30.0}


def test_one_of_a_batch_is_read_again_and_not_asked_alone():
    found = copies("SELECT 1", place=1, questions=2, epsilon=Fraction(1, 4))
    call = next(each for each in calls(found["Python"]) if getattr(each.func, "attr", "") == "answer")
    assert [ast.literal_eval(each) for each in call.args] == ["r 1", 1]
    assert shlex.split(found["curl"])[1].endswith("/answers/r%201?place=1")
    assert found["Link"] == "https://data.example/answers/r%201?place=1"


def test_no_token_is_in_any_text():
    found = copies("SELECT 1", epsilon=Fraction(1, 4))
    assert "ao_..." in found["Python"]
    assert "Bearer ao_..." in found["curl"]
