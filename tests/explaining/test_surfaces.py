"""Errors speak the words of whoever reads them."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path

import pytest

import adomnia
from adomnia.cli.question_options import QuestionOptions
from adomnia.errors import Refusal, Unavailable
from adomnia.explaining.surfaces import _FLAGS, _NAMES, _REPEATED, reword, reword_lines
from adomnia.messages.surfaces import Surface
from adomnia.pricing.questions import Payment

WORDS = {
    "pay with one of epsilon=, rho= or error=": (
        "pay with one of --epsilon, --rho or --error",
        r"pay with one of \set epsilon, \set rho or \set error",
        "pay with one of `epsilon`, `rho` or `error`",
    ),
    "write rows=1000": ("write --rows 1000", r"write \set rows 1000", 'write `"rows": 1000`'),
    "pay epsilon=2, or take it all the same: anyway=True": (
        "pay --epsilon 2, or take it all the same: --anyway",
        r"\set epsilon 2, or take it all the same: \set anyway on",
        'pay `"epsilon": 2`, or take it all the same: `"anyway": true`',
    ),
    "add delta=1e-9": ("add --delta 1e-9", r"add \set delta 1e-9", 'add `"delta": 1e-9`'),
    'write weights={"pay": 2}': ("write --weight pay=2", r"write \set weight pay=2", 'write `"weights": {"pay": 2}`'),
    'write effort="high", or leave it out': (
        "write --effort high, or leave it out",
        r"write \set effort high, or leave it out",
        'write `"effort": "high"`, or leave it out',
    ),
    'leave inference="population" out': (
        "leave --population out",
        r"leave \set population on out",
        'leave `"inference": "population"` out',
    ),
    "take interval=False": ("take --no-interval", r"take \set no-interval on", 'take `"interval": false`'),
    "ask again with request_id='mine': free": (
        "ask again with --request-id mine: free",
        r"ask again with \again: free",
        "ask again with `\"request_id\": 'mine'`: free",
    ),
    "ask it by itself, with sql()": (
        "ask it by itself, with `adomnia sql`",
        "ask it by itself, with no command before it",
        "ask it by itself, with `POST query`",
    ),
    "take one that answers() lists": (
        "take one that `adomnia answers` lists",
        r"take one that \a lists",
        "take one that `GET answers` lists",
    ),
    "use WHERE a.epsilon == 5 and b-error=x": ("use WHERE a.epsilon == 5 and b-error=x",) * 3,
    "did you mean salary?": ("did you mean salary?",) * 3,
}


@pytest.mark.parametrize(("python", "others"), WORDS.items())
def test_an_option_is_called_what_the_surface_calls_it(python, others):
    refusal = Refusal("The question", "is not right", python, code="bad_price")
    surfaces = (Surface.COMMAND_LINE, Surface.SHELL, Surface.JSON)
    assert tuple(reword(refusal, surface).fix for surface in surfaces) == others
    assert refusal.fix == python


@pytest.mark.parametrize("python", WORDS)
def test_what_was_said_in_json_is_said_in_python_again(python):
    refusal = Refusal("rows=0", "is not right for error=", python, code="bad_price")
    there = reword(refusal, Surface.JSON)
    back = reword(there, Surface.PYTHON)
    assert (there.what, there.why) == ('`"rows": 0`', "is not right for `error`")
    assert (back.what, back.why, back.fix, back.code) == (refusal.what, refusal.why, python, "bad_price")
    assert str(pickle.loads(pickle.dumps(there))) == str(copy.copy(there)) == str(there)


@pytest.mark.parametrize(
    "quoted", ["'rows=5'", "'a rows=5 it''s error=1'", '"my epsilon=1"', "'`rows`'", "'`\"rows\": 3`'"]
)
def test_what_stands_between_quotes_is_left_alone(quoted):
    lines = (f"write city = {quoted}, or the owner's people pay epsilon=1",)
    assert reword_lines(lines, Surface.COMMAND_LINE) == (
        f"write city = {quoted}, or the owner's people pay --epsilon 1",
    )
    there = reword_lines(lines, Surface.JSON)
    assert there == (f'write city = {quoted}, or the owner\'s people pay `"epsilon": 1`',)
    assert reword_lines(there, Surface.PYTHON) == lines


def test_what_a_refusal_quotes_of_a_question_is_left_alone():
    about = Refusal("x.epsilon=0.5", "has error=1 in it", "add delta=1e-9", (1, 8))
    told = reword(about, Surface.COMMAND_LINE)
    assert (told.what, told.why, told.fix, told.position) == (about.what, about.why, "add --delta 1e-9", (1, 8))


def test_trouble_keeps_its_code_and_when_to_try_again():
    told = reword(Unavailable("The server", "is away", "ask with request_id='a'", "unreachable", 7), Surface.JSON)
    assert (told.code, told.retry_seconds) == ("unreachable", 7)
    assert str(told).endswith("Fix: ask with `\"request_id\": 'a'`.")


def test_every_option_of_a_payment_and_of_the_command_line_is_known():
    assert set(Payment.__annotations__) <= set(_NAMES)
    flags = {option.removeprefix("--").replace("-", "_") for option in _FLAGS.values()}
    options = {_REPEATED.get(name, name) for name in _NAMES} | flags
    own = {"place", "text", "analyst", "token_file"}
    assert set(QuestionOptions.__dataclass_fields__) - own <= options


def test_every_option_that_an_error_names_is_known():
    """What looks like an option in an error about questions and prices is translated."""
    named = set()
    root = Path(adomnia.__file__).parent
    for path in (each for part in ("pricing", "session", "client", "curator") for each in (root / part).rglob("*.py")):
        for line in path.read_text().splitlines():
            if re.search(r"(fix|why) = |Refusal\(|Unavailable\(", line):
                texts = re.findall(r"f?\"[^\"]*\"|'[^']*'", line)
                named |= {name for text in texts for name in re.findall(r"\b([a-z_]+)=[\s,\"'\d{]", f"{text} ")}
    assert {"epsilon", "rows", "effort"} <= named
    of_protect = {"bounds", "categories", "columns", "links", "rows_per_person", "spill", "unit"}
    assert named - set(_NAMES) <= {*of_protect, "insecure", "n"}  # of `connect` and `agg`: Python alone has them


def test_a_page_names_its_own_fields_and_no_ids():
    known = "n says little (13 rows, by your answer 575f34e1)."
    said = f"{known} Say with rows= how many, or take it all the same: anyway=True"
    (told,) = reword_lines([said], Surface.PAGE)
    assert told == (
        "n says little (13 rows, by an earlier answer of yours). Say in More choices how many, or take it all the same"
    )
