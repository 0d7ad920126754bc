"""Every surface writes what a text names in its own words."""

from __future__ import annotations

import pytest

from adomnia.messages.references import Button, EarlierAnswer, Option, Pay, SessionCall, Setting, WithOption
from adomnia.messages.surfaces import SETTINGS, Surface, write_reference
from adomnia.options import OPTIONS
from adomnia.pricing.questions import Payment

_SURFACES = (Surface.PYTHON, Surface.COMMAND_LINE, Surface.SHELL, Surface.JSON, Surface.PAGE)
_WORDS = {
    Option("epsilon"): ("epsilon=", "--epsilon", r"\set epsilon", "`epsilon`", "epsilon"),
    Option("delta", "1e-9"): ("delta=1e-9", "--delta 1e-9", r"\set delta 1e-9", '`"delta": 1e-9`', "delta 1e-9"),
    Option("weights", (("pay", "2"), ("n", "1"))): (
        'weights={"pay": 2, "n": 1}',
        "--weight pay=2 --weight n=1",
        r"\set weight pay=2 \set weight n=1",
        '`"weights": {"pay": 2, "n": 1}`',
        "weights pay=2 n=1",
    ),
    Option("effort", "high"): (
        *('effort="high"', "--effort high", r"\set effort high"),
        *('`"effort": "high"`', "effort high"),
    ),
    Option("inference", "population"): (
        *('inference="population"', "--population", r"\set population on"),
        *('`"inference": "population"`', "inference population"),
    ),
    Option("interval", False): (
        *("interval=False", "--no-interval", r"\set no-interval on"),
        *('`"interval": false`', "interval False"),
    ),
    Option("private", True): ("private=True", "--private", r"\set private on", '`"private": true`', "private"),
    Option("parameters", "{...}"): (
        *("parameters={...}", "--parameter ...", r"\set parameter ..."),
        *('`"parameters": {...}`', "parameters ..."),
    ),
    Option("request_id", 'a"b'): (
        *("request_id='a\"b'", '--request-id a"b', r"\again"),
        *(r'`"request_id": "a\"b"`', 'request id a"b'),
    ),
    SessionCall("sql"): ("sql()", "`adomnia sql`", "no command before it", "`POST query`", "Ask"),
    SessionCall("answers"): ("answers()", "`adomnia answers`", r"\a", "`GET answers`", "your history"),
    Pay("epsilon", "2"): ("pay epsilon=2", "pay --epsilon 2", r"\set epsilon 2", 'pay `"epsilon": 2`', "pay epsilon 2"),
    WithOption("rows"): ("with rows=", "with --rows", r"with \set rows", "with `rows`", "in More options"),
    Button("take it all the same", Option("allow_uninformative", True)): (
        "take it all the same: allow_uninformative=True",
        "take it all the same: --allow-uninformative",
        r"take it all the same: \set allow-uninformative on",
        'take it all the same: `"allow_uninformative": true`',
        "take it all the same",
    ),
    EarlierAnswer("575f"): (*("your answer 575f",) * 4, "an earlier answer of yours"),
}


@pytest.mark.parametrize("reference", _WORDS, ids=str)
def test_a_surface_has_its_own_words(reference):
    assert tuple(write_reference(reference, surface) for surface in _SURFACES) == _WORDS[reference]


def test_a_script_that_ended_is_taken_up_by_a_command():
    told = write_reference(Option("request_id", "a"), Surface.SCRIPT)
    assert told == "`adomnia sql` and --request-id a"
    assert write_reference(Option("rows", "9"), Surface.SCRIPT) == r"\set rows 9"


def test_a_cell_of_a_notebook_has_the_options_of_a_command():
    assert write_reference(Option("effort", "high"), Surface.NOTEBOOK) == "--effort high"
    assert write_reference(SessionCall("sql"), Surface.NOTEBOOK) == "`%%private`"


@pytest.mark.parametrize("surface", Surface)
@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_stands_in_the_catalog_or_is_passed_to_protect(name, surface):
    facts = (("column", "born"), ("name", "born"), ("kind", "date"))
    declared = write_reference(Setting(name, facts), surface)
    passed = write_reference(Setting(name, facts, in_catalog=False), surface)
    assert declared != passed


def test_every_option_of_a_payment_is_known():
    assert set(Payment.__annotations__) <= set(OPTIONS)
