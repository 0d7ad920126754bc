from __future__ import annotations

import json
from fractions import Fraction

import pytest
from pydantic import ValidationError

from adomnia.privacy.events import Approximate, BoundedRange, Composed, Concentrated, Pure
from adomnia.wire.models import CostReply, LeftReply, Sent


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
