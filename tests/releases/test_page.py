"""Releases print as a table, and what was made as one row."""

from __future__ import annotations

from adomnia.releases.page import ReleaseList, describe_release
from adomnia.releases.store import ReleaseEntry
from kit.released import make_release

ABOUT = {"price": "rho 0.1", "paid_by": "the dataset", "made_by": "alice", "version": 2}


def test_a_list_says_who_made_what_for_whom():
    entries = [make_release("ages", **ABOUT), make_release("mine", **ABOUT, private=True)]
    lines = repr(ReleaseList(map(ReleaseEntry.of, entries))).splitlines()
    assert lines[2].split() == [
        "releases.ages",
        "marginals",
        "sex,",
        "age,",
        "day",
        "rho",
        "0.1",
        "alice",
        "2",
        "everybody",
    ]
    assert lines[3].split()[-1] == "alice"
    assert "<table>" in ReleaseList(map(ReleaseEntry.of, entries))._repr_html_()
    assert "No rows." in repr(ReleaseList())


def test_what_was_made_is_one_row():
    told = {column.name: column.values for column in describe_release(make_release(**ABOUT))}
    assert told["release"] == ("releases.ages",)
    assert (told["rows"], told["paid"], told["paid_by"]) == ((2,), ("rho 0.1",), ("the dataset",))
