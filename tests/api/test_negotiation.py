"""Which form of an answer is sent."""

from __future__ import annotations

import pytest

from adomnia.api.negotiation import JSON, choose_form
from adomnia.wire.tables import ARROW, CSV


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        (None, JSON),
        ("", JSON),
        ("*/*", JSON),
        ("text/html,*/*;q=0.8", JSON),
        (ARROW, ARROW),
        (ARROW.upper(), ARROW),
        (CSV, CSV),
        (f"{CSV};charset=utf-8", CSV),
        (f"{CSV};q=0.4, {ARROW};q=0.5", ARROW),
        (f"{JSON}, {ARROW};q=0.5", JSON),
        (f"{ARROW};q=0", JSON),
        (f"{ARROW};q=nan", JSON),
        (f"{ARROW};q=x", JSON),
        (f"{ARROW};q=2", JSON),
        ("," * 100 + ARROW, JSON),
    ],
)
def test_json_is_sent_unless_another_form_is_preferred(accept, form):
    assert choose_form(accept) == form
