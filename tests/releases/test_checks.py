"""What makes no release is refused from its text alone, with what to write instead."""

from __future__ import annotations

import pytest

from adomnia.errors import Refusal
from adomnia.ledger import Ledger
from adomnia.ledger.ledger_places import FilePlace
from adomnia.privacy.events import Pure
from adomnia.privacy.filters import Budget
from adomnia.releases.checks import (
    check_maker,
    check_release,
    check_release_name,
    list_charges,
    read_charges,
    taken_name,
)
from kit.released import OTHER, QUESTION


@pytest.mark.parametrize("text", [QUESTION, OTHER, f"WITH p AS (SELECT sex FROM people) {OTHER}", OTHER.lower()])
def test_all_that_a_method_for_it_gives_is_a_release(text):
    check_release(text)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("SELECT COUNT(*) FROM people", "marginals"),
        ("SELECT * FROM summary(people)", "marginals"),
        ("SELECT * FROM nothing(people)", "marginals"),
        (f"{QUESTION} LIMIT 3", "with a star, and nothing more"),
        (QUESTION.replace("*", "*, sex AS again"), "with a star, and nothing more"),
        (QUESTION.replace("SELECT *", "SELECT DISTINCT *", 1), "with a star, and nothing more"),
    ],
)
def test_anything_else_is_refused_with_what_to_ask(text, fix):
    with pytest.raises(Refusal) as caught:
        check_release(text)
    assert caught.value.code == "no_release"
    assert fix in caught.value.fix


def test_the_owner_may_always_publish():
    check_maker(None)


def test_a_name_is_that_of_a_table():
    check_release_name("ages_2024")
    with pytest.raises(Refusal, match="cannot be called that"):
        check_release_name("2024")
    assert taken_name("ages").code == "release_taken"


def test_every_debit_for_a_release_counts_and_no_other(tmp_path):
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(path, Budget(epsilon=10), {"alice": Budget(epsilon=5)}) as ledger:
        ledger.reserve(None, "dataset:release:ages", b"a", Pure(1)).commit(b"[]")
        ledger.reserve(None, "dataset:release:failed", b"b", Pure(2))
        ledger.reserve(None, "dataset:profile:x", b"c", Pure(1)).commit(b"[]")
        ledger.reserve("alice", "release:mine", b"d", Pure(1)).commit(b"[]")
        assert list_charges(ledger) == {"ages": Pure(1), "failed": Pure(2)}
    with FilePlace(path).snapshot() as records:
        assert read_charges(records) == {"ages": Pure(1), "failed": Pure(2)}
