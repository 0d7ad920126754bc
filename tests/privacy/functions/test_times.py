"""Bounds and time zones of timestamps follow from those of what they are made of."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction

import pytest

from adomnia.privacy.expressions import Column, call, number
from adomnia.privacy.functions.contract import hull
from adomnia.privacy.kinds import Day, Moment, Quantity
from adomnia.privacy.wall_time import EPOCH, FIRST, LAST, count_seconds, read_seconds

EARLY, LATE = map(datetime.fromisoformat, ("2020-01-01T05:59:30", "2020-01-02T06:00:00"))
SIX = EARLY.replace(hour=6, minute=0, second=0)
AT = Column("at", Moment(EARLY, LATE, "Europe/Oslo"))
ELSEWHERE = Column("elsewhere", Moment(EARLY, LATE, "UTC"))
WRITTEN = Column("written", Moment(FIRST, EARLY))
ANY = Column("any", Moment(zone="UTC"))


@pytest.mark.parametrize(
    ("function", "arguments", "kind"),
    [
        ("day of", (AT,), Day(date(2020, 1, 1), date(2020, 1, 2))),
        ("day of", (ANY,), Day()),
        ("midnight", (Column("d", Day(date(2020, 1, 2), date(2020, 1, 2))),), Moment(*[LATE.replace(hour=0)] * 2)),
        ("midnight", (Column("d", Day()),), Moment()),
        ("start of hour", (AT,), Moment(EARLY.replace(minute=0, second=0), LATE, "Europe/Oslo")),
        ("start of minute", (AT,), Moment(EARLY.replace(second=0), LATE, "Europe/Oslo")),
        (
            "shift seconds",
            (AT, number(30)),
            Moment(SIX, LATE.replace(second=30), "Europe/Oslo"),
        ),
        ("shift seconds", (WRITTEN, number(-1)), Moment(None, EARLY.replace(second=29))),
        ("shift seconds", (ANY, number(1)), ANY.kind),
        ("seconds between", (AT, AT), Quantity(Fraction(-86430), Fraction(86430), whole=True)),
        ("hour", (AT,), Quantity(Fraction(0), Fraction(23), whole=True)),
    ],
)
def test_bounds_follow_from_bounds(function, arguments, kind):
    assert call(function, *arguments).kind == kind


def test_without_bounds_the_seconds_between_two_times_have_none():
    assert call("seconds between", ANY, ELSEWHERE).kind == Quantity(whole=True)


def test_local_times_of_different_zones_are_not_put_together():
    assert hull(AT.kind, WRITTEN.kind) == Moment(FIRST, LATE, "Europe/Oslo")
    assert hull(WRITTEN.kind, ANY.kind) == Moment(None, None, "UTC")
    assert hull(AT.kind, ELSEWHERE.kind) is None
    for function in ("seconds between", "=", "<", "greatest", "coalesce"):
        with pytest.raises(ValueError, match=function):
            call(function, AT, ELSEWHERE)


def test_seconds_are_counted_from_the_first_of_1970_to_both_ends_of_the_calendar():
    assert [count_seconds(moment) for moment in (FIRST, EPOCH, LAST)] == [-62135596800, 0, 253402300799]
    assert [read_seconds(seconds) for seconds in (-62135596800, 0, 253402300799)] == [FIRST, EPOCH, LAST]
