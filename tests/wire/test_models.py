"""Sentences on the wire: what they name arrives as what it was, and nothing in them could be obeyed by a terminal."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import get_args

import pytest
from pydantic import ValidationError

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
from adomnia.messages.texts import Fix, Message, Note, show
from adomnia.privacy.events import Approximate, BoundedRange, Composed, Concentrated, Pure
from adomnia.wire.models import CostReply, LeftReply, Sent, TextReply, notes_of, texts_of, texts_record

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


class Small(Sent):
    number: int = 1


def test_what_is_sent_may_hold_nothing_unknown():
    with pytest.raises(ValidationError, match="Extra inputs"):
        Small.model_validate({"numbre": 2})


def test_what_is_sent_has_the_types_that_it_says():
    with pytest.raises(ValidationError):
        Small.model_validate({"number": "2"})


def test_what_was_sent_is_not_repeated():
    with pytest.raises(ValidationError) as raised:
        Small.model_validate({"number": "4711"})
    assert "4711" not in str(raised.value)


def test_replies_may_learn_new_fields():
    told = {"epsilon": "1", "rho": "0.5", "delta": "0"}
    assert LeftReply.model_validate(told | {"later": 1}).model_dump() == told
    event = {"kind": "pure", "epsilon": "1"}
    assert CostReply.model_validate(told | {"event": event, "epsilon": None}).event == Pure(1)


def test_a_reply_with_an_event_that_nobody_knows_is_not_read():
    told = {"epsilon": "1", "rho": "0.5", "delta": "0", "event": {"kind": "other"}}
    with pytest.raises(ValidationError, match="kind must be one of"):
        CostReply.model_validate(told)


@pytest.mark.parametrize(
    "event",
    [
        Pure(Fraction(1, 3)),
        Concentrated(0.1, 1e-9),
        Approximate(1, 1e-7),
        BoundedRange(0.5),
        Composed([Approximate(1, 1e-9), Pure(2)]),
    ],
)
def test_what_was_paid_is_told_in_currencies_and_kept_exactly(event):
    record = json.loads(json.dumps(CostReply.record(event)))
    assert CostReply.model_validate(record, strict=True).event == event
    assert set(record) == {"epsilon", "rho", "delta", "event"}


def test_a_pure_event_has_an_epsilon_and_others_have_none():
    assert CostReply.record(Pure(0.5))["epsilon"] == "0.5"
    assert CostReply.record(Concentrated(0.5))["epsilon"] is None
