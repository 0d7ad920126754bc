"""A frozen record that changed is told with its key, its lines and the command that keeps what is new."""

from __future__ import annotations

import pytest

from kit.frozen import records
from kit.frozen.records import collect, read, tell_differences, write
from kit.frozen.registry import ADDRESSES, THINGS
from kit.parts import TESTS, part_of

KEPT = collect([("b two", "one\n\n  two  \nthree\n"), ("a", "x"), ("empty", "")])


def test_records_are_sorted_and_read_back_as_they_were_written():
    assert list(KEPT) == ["a", "b two", "empty"]
    assert KEPT["b two"] == "one\n\n  two\nthree"
    assert read(write(KEPT)) == KEPT
    assert write(KEPT).startswith("=== a\nx\n\n=== b two\none\n")


def test_nothing_is_told_where_nothing_differs():
    assert tell_differences("name", KEPT, dict(KEPT)) == ""


def test_a_changed_line_is_told_with_its_key_and_the_command_that_rewrites():
    told = tell_differences("name", KEPT, KEPT | {"b two": "one\n\n  2\nthree"})
    assert "1 of 3 records of name.txt differ." in told
    assert "=== b two differs:" in told
    assert "\n-  two\n+  2\n" in told
    assert "`make freeze NAME=name`" in told
    assert "=== a" not in told


def test_new_and_lost_records_are_told():
    told = tell_differences("name", KEPT, {"a": "x", "empty": "", "c": "new line"})
    assert "=== b two is gone:" in told
    assert "-three" in told
    assert "=== c is new:" in told
    assert "+new line" in told


def test_an_empty_record_that_is_gone_is_told():
    assert "=== empty is gone:" in tell_differences("name", KEPT, {key: KEPT[key] for key in ("a", "b two")})


def test_a_long_difference_is_cut():
    kept = {f"k{place:03}": "\n".join(map(str, range(100))) for place in range(60)}
    told = tell_differences("name", kept, {key: text.replace("\n", "\n-") for key, text in kept.items()})
    assert told.count(" differs:") == records.MOST_RECORDS
    assert "lines more" in told
    assert "And 52 more: k008" in told
    assert len(told.splitlines()) < 20 * records.MOST_RECORDS


@pytest.mark.parametrize("told", [[("a", ""), ("a", "")], [("a\nb", "")], [(" a", "")], [("a", "=== b")]])
def test_what_could_be_read_otherwise_is_not_written(told):
    with pytest.raises(ValueError, match="Record "):
        collect(told)


def test_every_file_has_its_thing_and_every_thing_its_file():
    assert sorted(path.stem for path in records.FOLDER.iterdir()) == sorted(ADDRESSES)
    assert sum(path.stat().st_size for path in records.FOLDER.iterdir()) < 4_000_000


@pytest.mark.parametrize("name", ADDRESSES)
def test_every_file_is_as_it_is_written(name):
    text = records.file_of(name).read_text(encoding="utf-8")
    assert write(read(text)) == text


@pytest.mark.parametrize("part", THINGS)
def test_every_part_looks_at_its_own(part):
    assert part_of(TESTS / "frozen" / f"test_{part}.py", is_search=False) == part
