"""Times in intervals: whole ones stand alone where they are few, others are halved."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from adomnia.mechanisms.laplace import DiscreteLaplace
from adomnia.methods.contract import BadArgument, Factor
from adomnia.methods.parts.survival.times import choose_times, require_event
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.keys import Bucket
from adomnia.privacy.kinds import Boolean, Quantity
from adomnia.statistics.contract import Measured
from kit.analyses import Arms, frame
from kit.bits import SeededBits

FRAME = frame(
    {"months": (0, 48), "week": (1, 5), "day": (0, 365), "tenths": (0, 2), "once": (2, 2)},
    whole=("week", "day", "once"),
)


def choose(name, intervals=20, breaks=()):
    arguments = {"time": FRAME.numbers[name], "intervals": intervals, "breaks": tuple(map(Fraction, breaks))}
    return choose_times(arguments)


def places(times, values):
    arms = Arms({times.bins.column.name: np.array(values, dtype=float)}, SeededBits("times"))
    return arms._place(times.bins.key).tolist()


def test_few_whole_times_stand_alone():
    times = choose("week")
    assert times.ends == (1, 2, 3, 4, 5)
    assert times.start == 0.5
    assert not times.open_end
    assert places(times, [1, 2, 5]) == [0, 1, 4]


def test_intervals_are_followed_by_a_cell_of_those_seen_until_the_end():
    times = choose("months", 4)
    assert times.ends == (12, 24, 36, 48)
    assert times.start == 0
    assert times.until_latest
    assert places(times, [0, 11.9, 12, 12.5, 24, 47.9, 48, 50]) == [0, 0, 0, 1, 1, 3, 4, 4]


def test_ends_that_no_double_holds_exactly_are_in_their_interval():
    times = choose("tenths", 20)
    ends = [place / 10 for place in range(1, 21)]
    assert times.ends == pytest.approx(ends)
    assert places(times, ends[:-1]) == list(range(19))
    assert places(times, [0.1 * 3, 0.1 * 6, 0.7 + 0.1]) == [2, 5, 7]


def test_times_on_a_declared_grid_are_as_whole_ones():
    column, domain = FRAME.numbers["months"], Numbers.bounded(0, 48, Fraction(1, 2))
    halves = replace(column, value=replace(column.value, domain=domain), domain=domain)
    alone = choose_times({"time": halves, "intervals": None, "breaks": ()})
    assert alone.ends == tuple(np.arange(0, 48.5, 0.5))
    assert places(alone, [0, 0.5, 47.5, 48]) == [0, 1, 95, 96]
    times = choose_times({"time": halves, "intervals": 20, "breaks": ()})
    assert times.ends[:3] + times.ends[-1:] == (2, 4.5, 7, 48)  # of 2.4, 4.8, 7.2, 48
    assert places(times, [2, 2.5, 4.5, 5, 47.5, 48]) == [0, 1, 1, 2, 19, 20]


def test_the_latest_of_grouped_whole_times_is_counted_apart_and_ends_the_last_interval():
    times = choose("day", 5)
    assert times.ends == (73, 146, 219, 292, 365)
    assert times.open_end
    assert times.until_latest
    assert places(times, [0, 73, 74, 292, 364, 365]) == [0, 0, 1, 3, 4, 5]


def test_breaks_are_intervals_too():
    times = choose("week", breaks=(1, 2, 4))
    assert times.ends == (2, 4)
    assert places(times, [1, 2, 3, 4, 5]) == [0, 0, 1, 1, 2]
    assert not times.until_latest
    assert choose("week", breaks=(1.5, 2.25, 2.75, 5)).ends == (2, 5)
    months = choose("months", breaks=(0, 6, 12))
    assert months.ends == (6, 12)
    assert places(months, [6, 6.5, 12, 12.5]) == [0, 1, 1, 2]


def test_whole_times_stand_alone_by_default_up_to_200_of_them():
    assert choose("week", None).ends == (1, 2, 3, 4, 5)
    assert len(choose("day", None).ends) == 20
    assert len(choose("months", None).ends) == 20


def test_counts_by_event_and_time_become_a_curve():
    values = np.array([[1, 2, 30], [4, 5, 6]])
    curve = choose("months", 2).curve(Measured(values, DiscreteLaplace(Fraction(1))))
    assert curve.events.tolist() == [4, 5]
    assert curve.censored.tolist() == [1, 2]
    assert curve.after.tolist() == [30, 6]
    assert curve.happened.tolist() == [4, 11]
    assert curve.at_risk.tolist() == [48 - 0.5, 43 - 1]
    assert curve.halved


def test_one_time_alone_is_refused():
    with pytest.raises(BadArgument, match="one value alone"):
        choose("once")


def test_an_event_is_a_boolean_or_0_and_1():
    boolean = Factor("died", Column("died", Boolean()))
    column = Column("dead", Quantity(Fraction(0), Fraction(1), whole=True))
    assert require_event(boolean) is boolean
    numbers = Factor("dead", Bucket(column, Numbers.integers(0, 1), column))
    assert require_event(numbers) is numbers
    for factor in (
        frame({}, {"arm": ("new", "old")}).factors["arm"],
        Factor("dead", Bucket(column, Numbers.integers(0, 2), column)),
    ):
        with pytest.raises(BadArgument) as refused:
            require_event(factor)
        assert "AS event" in refused.value.fix
