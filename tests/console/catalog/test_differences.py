from __future__ import annotations

from adomnia.console.catalog.differences import compare_lines


def test_equal_texts_differ_in_no_line():
    assert compare_lines("a\nb\n", "a\nb\n") == []


def test_lines_have_their_numbers_in_both_texts():
    before = "\n".join(f"line {number}" for number in range(1, 31))
    found = compare_lines(before, before.replace("line 3\n", "").replace("line 28", "other"))
    assert [(line.sign, line.before, line.after) for line in found if line.sign] == [
        ("-", 3, None),
        ("...", None, None),
        ("-", 28, None),
        ("+", None, 27),
    ]


def test_very_many_lines_are_cut():
    found = compare_lines("", "\n".join(map(str, range(5000))))
    assert len(found) == 401
    assert found[-1].sign == "..."
