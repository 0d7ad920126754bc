"""What is other every time is taken out of frozen texts, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia import __version__
from adomnia.ledger import requests
from kit.frozen.numbers import describe_measured, round_numbers, write_labels, write_number, write_table, write_values
from kit.frozen.seeded import MOMENT, standing_clock
from kit.frozen.texts import normalise, normalise_page, read_text

DIGEST = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        (f'href="/static/ask.css?v={DIGEST[:16]}"', 'href="/static/ask.css?v=DIGEST"'),
        ('name="csrf" value="ab-c_d"', 'name="csrf" value="CSRF"'),
        (f"<code>{DIGEST}</code><b>{DIGEST[:12]}</b>", "<code>HEX</code><b>HEX</b>"),
        (f"ao_{DIGEST[:16]}_{DIGEST}.", "TOKEN."),
        (f"adomnia {__version__}.", "adomnia VERSION."),
        ("[48494.44296644126, 0.1109, 1.25e-07]", "[48494.443, 0.1109, 1.25e-07]"),
        ("scale 400000000000 and 2054459128847/1011048497351", "scale 400000000000 and 2054459128847/1011048497351"),
        (f"1{__version__} and {__version__}1", f"1{__version__} and {__version__}1"),
    ],
)
def test_a_text_is_normal_without_what_is_other_every_time(text, normal):
    assert normalise(text) == normal


def test_a_page_has_every_tag_on_a_line_of_its_own():
    assert normalise_page("<p>Two\n  words <b>here</b></p>") == "<p>\nTwo\nwords\n<b>\nhere\n</b>\n</p>"


def test_what_somebody_reads_is_one_block_a_line_without_scripts():
    page = "<h1>A &amp; b</h1><script>let x</script><p>one <b>two</b>\n three</p><table><tr><td>1<td>2</table>"
    assert read_text(page) == "A & b\none two three\n| 1 | 2"


def test_numbers_have_eight_digits_and_no_negative_zero():
    assert list(map(write_number, (1 / 3, -0.0, 2.0, 5, None, True, "x", float("inf")))) == [
        *("0.33333333", "0", "2", "5", "NULL", "True", "x", "inf")
    ]
    assert round_numbers({"a": [1 / 3, 1, None]}) == {"a": [0.33333333, 1, None]}


def test_every_row_of_a_long_table_counts():
    values, ends = [float(place) for place in range(20)], [(0.0, float(place)) for place in range(20)]
    told = write_values(values, ends, ends)
    assert told[1] == "1 [0, 1] [0, 1]"
    for place in range(20):
        other = [*values[:place], 0.5, *values[place + 1 :]]
        assert write_values(other, ends, ends) != told
        assert write_labels(other) != write_labels(values)
    assert list(write_table({"a": ["1", "2"], "b": ["x", "y"]})) == ["a | b", "1 | x", "2 | y"]


def test_every_measured_integer_counts():
    told = {tuple(describe_measured([np.arange(10) + 7 * (np.arange(10) == place)])) for place in range(10)}
    assert len(told) == 10
    assert list(describe_measured([np.arange(3)])) == ["measured [3]: 0 1 2"]


def test_the_clock_stands_still_for_our_modules_alone():
    before = requests.datetime
    with standing_clock():
        assert requests.datetime.now(requests.UTC) == MOMENT
        assert isinstance(MOMENT, requests.datetime)
    assert requests.datetime is before
