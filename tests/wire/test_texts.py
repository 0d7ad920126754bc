"""Sentences on the wire: what they name arrives as what it was, and nothing in them could be obeyed by a terminal."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from adomnia.messages.notes import Note
from adomnia.messages.references import (
    Button,
    EarlierAnswer,
    Flag,
    Option,
    Pay,
    Reference,
    SessionCall,
    Setting,
    WithOption,
)
from adomnia.messages.surfaces import Surface
from adomnia.messages.texts import Fix, Message, show
from adomnia.wire.texts import TextReply, notes_of, texts_of, texts_record

REFERENCES = (
    Option("replay", False),
    Flag("format", "table"),
    SessionCall("sql"),
    Pay("epsilon", "2"),
    WithOption("rows"),
    Button("take it", Option("anyway", True)),
    EarlierAnswer("mine"),
    Setting("bounds", (("column", "age"), ("kind", "integer"), ("name", "age"))),
)
OBEYED = "\x1b]0;mine\x07"


def send(text):
    """A text as it arrives, and as the server says it."""
    told = json.loads(json.dumps(texts_record([text])))["texts"]
    return texts_of([TextReply.model_validate(each, strict=True) for each in told])(show(text, Surface.JSON))


def test_every_kind_of_reference_is_tried():
    assert {type(each) for each in REFERENCES} == set(get_args(Reference))


@pytest.mark.parametrize("reference", [*REFERENCES, Setting("approximate")], ids=str)
def test_what_a_text_names_arrives_as_what_it_was(reference):
    text = Message("then ", reference, " again")
    assert send(text).parts == text.parts


def test_facts_of_notes_and_fixes_arrive():
    note, fix = send(Note("About 5 rows.", "rows", rows=5)), send(Fix("pay 2", "pay", amount="2"))
    assert (note, note.code, note.facts) == ("About 5 rows.", "rows", {"rows": 5})
    assert (fix, fix.action, fix.facts) == ("pay 2", "pay", {"amount": "2"})


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"code": OBEYED},
        {"action": OBEYED},
        {"code": "rows", "facts": {"rows": OBEYED}},
        {"code": "rows", "facts": {"rows": [OBEYED]}},
        {"code": "rows", "facts": {OBEYED: 1}},
        {"code": "rows", "parts": [OBEYED]},
        {"code": "rows", "parts": [{"kind": "earlier_answer", "request_id": OBEYED}]},
        {"code": "rows", "parts": [{"kind": "session_call", "name": "unknown"}]},
    ],
    ids=str,
)
def test_nothing_that_a_server_tells_moves_the_cursor(told):
    texts = [TextReply.model_validate({"says": f"Hello{OBEYED}", **told}, strict=True)]
    (note,) = notes_of(texts, [f"Hello{OBEYED}"])
    assert note == r"Hello\x1b]0;mine\x07"
    assert (note.code, note.facts) == ("", {})
    texts = [TextReply.model_validate({"says": "Hello", **told}, strict=True)]
    assert OBEYED not in repr(notes_of(texts, ["Hello"])) + texts_of(texts)("Hello")
