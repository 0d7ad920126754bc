"""An answer of another version on all pages and routes: as it was given, with the version that gave it."""

from __future__ import annotations

import pytest

from adomnia.api.replies import ReplyCache
from asking.test_replaying import MARK, QUANTILES, other_intervals, other_rounds
from kit.house import DATASET

GROUPED = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


@pytest.fixture(
    params=[(QUANTILES.replace("salary", "age"), other_rounds), (GROUPED, other_intervals)], ids=["rounds", "intervals"]
)
def asked(request, shared_house):
    """A question, the change of code that is made once it is answered, and its reply."""
    text, change = request.param
    return text, change, shared_house.query("alice", text, epsilon=2).json()


def without_mark(reply):
    assert reply["notes"][0].startswith(MARK)
    assert reply["texts"][0]["says"] == reply["notes"][0]
    return {**reply, "notes": reply["notes"][1:], "texts": reply["texts"][1:], "replayed": False}


def test_it_is_replied_as_it_was_with_a_note(shared_house, asked):
    text, change, first = asked
    place = f"{DATASET}/answers/{first['receipt']['request_id']}"
    shared_house.app.state.reply_cache = ReplyCache()  # as after a restart, which newer code takes
    with change():
        again = shared_house.query("alice", text, epsilon=2).json()
        recalled = shared_house.ask("alice", "GET", place).json()
        other = shared_house.ask("alice", "GET", f"{place}?confidence=0.8")
        simultaneous = shared_house.ask("alice", "GET", f"{place}?simultaneous=true")
    assert without_mark(again) | {"left": 0} == first | {"left": 0, "replayed": False}
    assert without_mark(recalled) | {"left": 0} == first | {"left": 0, "replayed": False}
    for refused in (other, simultaneous):
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "other_version")


def test_its_page_and_its_files_show_it(shared_house, asked):
    _, change, first = asked
    place = f"/answers/{first['receipt']['request_id']}"
    files = [shared_house.ask("alice", "GET", f"{place}/export?form={form}").content for form in ("csv", "json")]
    with change():
        page = shared_house.ask("alice", "GET", place)
        again = [shared_house.ask("alice", "GET", f"{place}/export?form={form}").content for form in ("csv", "json")]
        other = shared_house.ask("alice", "GET", f"{place}?confidence=0.99")
    assert (page.status_code, MARK in page.text, "The bill" in page.text) == (200, True, True)
    assert again[0] == files[0]
    assert MARK.encode() in again[1]
    assert MARK.encode() not in files[1]
    assert other.status_code == 409
    assert "with intervals at the confidence level 0.95 alone" in other.text
