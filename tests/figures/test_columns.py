"""Values on axes."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from adomnia.figures.columns import find_kind, place, show_label


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a"], "text"),
        ([True, False], "text"),
        ([1, 2.5], "number"),
        ([date(2020, 1, 1), datetime(2020, 1, 1, 12)], "time"),  # noqa: DTZ001 - local time, as answers have it
        ([1, None], "number"),
        ([1, "a"], "text"),
        ([None], "text"),
    ],
)
def test_kinds_follow_from_types(values, kind):
    assert find_kind(values) == kind


def test_times_are_milliseconds_of_the_calendar():
    assert place(date(1970, 1, 2)) == 86_400_000
    assert place(datetime(1970, 1, 1, 0, 0, 1)) == 1000  # noqa: DTZ001
    assert place(date.min) < place(date.max)


@pytest.mark.parametrize("value", [None, "a", float("nan"), float("inf"), -float("inf")])
def test_what_is_nowhere_has_no_place(value):
    assert place(value) is None


def test_labels_are_plain_texts():
    assert [show_label(value) for value in (None, True, 5, "a\tb", date(2020, 1, 31))] == [
        "NULL",
        "true",
        "5",
        r"a\tb",
        "2020-01-31",
    ]


def test_a_long_label_is_cut():
    assert show_label("a" * 5000) == "a" * 99 + "…"
