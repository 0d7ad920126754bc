"""The ways to read a text by a pattern are counted before any text is read."""

from __future__ import annotations

from math import inf

import pytest

from adomnia.engines.backtracking import count_ways
from adomnia.sql.values.patterns import read_like, read_pattern

ANYWHERE = 1025  # places where a text of the greatest length may begin to fit


@pytest.mark.parametrize(
    ("written", "ways"),
    [
        ("^[a-z]+$", 1),
        ("^[a-z.]+@[a-z]+[.]com$", 1),
        ("[0-9]+-[0-9]+", ANYWHERE),
        ("^[A-Z]{2}[0-9]*$", 1),
        ("^[^x]*x", 1),
        ("^[^x]*y", ANYWHERE),
        ("^a?a", 2),
        ("^a{2,5}b", 1),
        ("^a{2,5}a", 4),
        ("^.*foo.*bar$", ANYWHERE**2),
        ("^(a|b)$", 2),
        ("^(a|b){3}$", 8),
        ("^(a|b){1,3}$", 2 + 4 + 8),
        ("^(ab)*$", ANYWHERE),
        ("^a*(b|c)$", 2 * ANYWHERE),
        ("^a*b?c", ANYWHERE),
        ("(a*)*", inf),
        ("(a|b)*c", inf),
        ("^(a|ab)(c|bcd)(d*)$", 2 * 2 * ANYWHERE),
    ],
)
def test_ways_are_counted(written, ways):
    assert count_ways(read_pattern(written).text) == ways


def test_each_sign_for_anything_in_a_pattern_of_like_is_a_choice():
    assert [count_ways(read_like("%".join("abcd"[:pieces]), "!").text) for pieces in (1, 2, 3)] == [
        1,
        ANYWHERE,
        ANYWHERE**2,
    ]
