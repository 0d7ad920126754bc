from __future__ import annotations

import pytest
from pydantic import ValidationError

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
    assert CostReply.model_validate(told | {"event": {}, "epsilon": None}).epsilon is None
