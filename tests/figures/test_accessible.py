"""Pictures in words."""

from __future__ import annotations

from adomnia.figures.accessible import MOST_ROWS, describe, label_svg, write_page
from adomnia.tables import TextTable


def test_many_rows_are_counted_and_not_told():
    table = TextTable(("k",), tuple((str(row),) for row in range(MOST_ROWS + 3)))
    words = describe("t", [], table)
    assert words.endswith(f"k {MOST_ROWS - 1}. And 3 more rows.")


def test_a_missing_cell_is_said():
    assert describe("t", ["c."], TextTable(("k", "n"), (("", "5"),))) == "t. c. k NULL, n 5."


def test_words_are_escaped():
    svg = label_svg('<svg width="1"><g/></svg>', "<b>", "a & \x00")
    assert svg == r'<svg width="1" role="img"><title>&lt;b&gt;</title><desc>a &amp; \x00</desc><g/></svg>'


def test_a_page_escapes_its_title():
    assert "<title>&lt;/title&gt;</title>" in write_page("<svg></svg>", "</title>", TextTable(("k",), ()))
