"""Texts keep what they name, wherever they are put together or sent."""

from __future__ import annotations

import copy
import pickle

import pytest

from adomnia.messages.references import Button, Option, Setting
from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import Fix, Message, show, show_all, write

_DELTA = Option("delta", "1e-9")


def test_a_message_is_a_text_in_pythons_words():
    told = write("add {delta} {times} times", delta=_DELTA, times=2)
    assert told == "add delta=1e-9 2 times"
    assert told.parts == ("add ", _DELTA, " 2 times")


def test_what_is_put_in_is_not_read():
    told = write("ask {sql}, or add {delta}", sql="SELECT '{delta}', 'rows=5'", delta=_DELTA)
    assert show(told, Surface.COMMAND_LINE) == "ask SELECT '{delta}', 'rows=5', or add --delta 1e-9"


def test_messages_within_messages_are_one():
    inner = Message("add ", _DELTA)
    outer = write("{inner}, or {button}", inner=inner, button=Button("leave", Option("allow_uninformative", True)))
    assert show(outer, Surface.PAGE) == "add delta 1e-9, or leave"
    assert [isinstance(each, str) for each in outer.parts] == [True, False, True, False]


def test_texts_without_references_are_the_same_everywhere():
    assert show_all(["rows=5", Message("n ", _DELTA)], Surface.JSON) == ("rows=5", 'n `"delta": 1e-9`')


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda text: pickle.loads(pickle.dumps(text))])
def test_a_fix_keeps_what_programs_act_on(again):
    fix = again(Fix(Message("add ", _DELTA), "add_delta", delta="1e-9"))
    assert (fix, fix.parts, fix.action, fix.facts) == (
        "add delta=1e-9",
        ("add ", _DELTA),
        "add_delta",
        {"delta": "1e-9"},
    )
    assert (Fix("think").action, Fix("think").facts) == ("", {})


def test_references_are_replaced_and_the_action_is_kept():
    fix = Fix(Message("to have it, ", Setting("approximate")), "allow_delta", column="n")
    passed = fix.replace_references(lambda _: Setting("approximate", in_catalog=False))
    assert passed == "to have it, pass delta=1e-6 to adomnia.protect"
    assert (passed.action, passed.facts) == ("allow_delta", {"column": "n"})
