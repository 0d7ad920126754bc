from __future__ import annotations

import pytest

from adomnia.console.ask.price_guard import refuse_creation
from adomnia.errors import Refusal
from console.ask.visiting import read_text, sign_in

CREATE = "CREATE TABLE releases.x AS SELECT * FROM marginals((SELECT sex FROM people), ways => 1)"


def test_a_release_is_made_on_the_page_of_its_method(shared_house):
    alice = sign_in(shared_house)
    before = alice.spent()
    for path in ("/ask/price", "/ask"):
        assert "fill in the form of its method" in read_text(alice.post(path, sql=CREATE, amount="0.5"))
    assert alice.spent() == before


def test_questions_are_let_through():
    refuse_creation("SELECT COUNT(*) FROM people")
    with pytest.raises(Refusal):
        refuse_creation(f"/* a */ {CREATE}")
