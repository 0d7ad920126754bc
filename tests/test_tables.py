"""Tables of texts: nothing in them is markup, and long ones are cut."""

from __future__ import annotations

from adomnia.tables import MOST_SHOWN, TextTable, html_lines

EVIL = "<img src=x onerror=alert(1)>\x1b[31m"


def test_nothing_in_a_table_is_markup():
    table = TextTable((EVIL,), ((EVIL,),))
    assert "\x1b" not in str(table)
    html = table.html() + html_lines([EVIL])
    assert "<img" not in html
    assert "\x1b" not in html
    assert html.count("&lt;img src=x onerror=alert(1)&gt;\\x1b[31m") == 3


def test_numbers_stand_on_the_right():
    table = TextTable(("city", "n"), (("Oslo", "7"), ("Bergen", "-12")))
    assert str(table).splitlines()[2:] == ["Oslo      7", "Bergen  -12"]
    assert table.html().count("text-align: right") == 3


def test_long_tables_are_cut_and_empty_ones_say_so():
    rows = tuple((str(number),) for number in range(MOST_SHOWN + 2))
    assert str(TextTable(("n",), rows)).endswith("59\n... and 2 more rows")
    assert TextTable(("n",), rows).html().count("<tr>") == MOST_SHOWN + 1
    assert "<p>... and 2 more rows</p>" in TextTable(("n",), rows).html()
    assert str(TextTable(("n",), ())) == "n\n-\nNo rows."
