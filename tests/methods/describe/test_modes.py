import numpy as np
import pytest

from adomnia.methods.contract import BadArgument
from kit.analyses import frame
from kit.describing import EPSILON, EXACT, build, covers_as_often, table_of

FRAME = frame({"x": (0, 100)}, {"city": ("A", "B", "C")})
DATA = {
    "city": np.array(["C"] * 50 + ["A"] * 30 + ["B"] * 20, dtype=object),
    "x": np.append(np.full(70, 37.3), np.linspace(50, 100, 30)),
}


def test_the_most_frequent_values_come_first_with_their_counts():
    table = table_of(build("modes", FRAME, factor=FRAME.factors["city"], top=2), EXACT, DATA)
    assert table.labels == {"rank": (1, 2)}
    assert table.facts["value"]() == ("C", "A")
    assert table.facts["upper"]() == (None, None)
    assert table.estimates["count"].values.tolist() == [50, 30]
    assert table.estimates["share"].values == pytest.approx([0.5, 0.3])


def test_of_numbers_the_fullest_bin_is_told_by_its_ends():
    table = table_of(build("modes", FRAME, column=FRAME.numbers["x"]), EXACT, DATA)
    assert (table.facts["value"](), table.facts["upper"]()) == ((35.0,), (40.0,))
    assert table.estimates["count"].values.tolist() == [70]


@pytest.mark.parametrize(("bins", "ends"), [(20, [(1, 1), (0, 0), (4, 4)]), (3, [(0, 1), (4, 4), (2, 3)])])
def test_of_whole_numbers_both_ends_are_values_that_the_bin_holds(bins, ends):
    whole = frame({"grade": (0, 4)}, whole=("grade",))
    grades = {"grade": np.repeat([0.0, 1, 2, 3, 4], [30, 40, 7, 6, 20])}
    table = table_of(build("modes", whole, column=whole.numbers["grade"], bins=bins, top=3), EXACT, grades)
    assert list(zip(table.facts["value"](), table.facts["upper"](), strict=True)) == ends
    counted = [np.sum((grades["grade"] >= lower) & (grades["grade"] <= upper)) for lower, upper in ends]
    assert table.estimates["count"].values.tolist() == counted


def test_counts_hold_although_they_were_chosen_for_being_great():
    levels = tuple(f"v{place}" for place in range(40))
    many = frame(levels={"v": levels})
    data, draws = {"v": np.repeat(np.array(levels, dtype=object), 10)}, 200
    asked, hits, naive = build("modes", many, factor=many.factors["v"]), 0, 0
    for seed in range(draws):
        count = table_of(asked, EPSILON, data, seed).estimates["count"]
        (low,), (high,) = count.interval(0.95, 1)
        hits += low <= 10 <= high
        naive += abs(count.values[0] - 10) <= 3  # the interval of one count that nobody chose
    assert covers_as_often(hits, draws, 0.94)
    assert not covers_as_often(naive, draws, 0.94)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"factor": FRAME.factors["city"], "column": FRAME.numbers["x"]}, {"factor": FRAME.factors["city"], "top": 4}],
)
def test_what_it_is_of_must_be_clear(arguments):
    with pytest.raises(BadArgument):
        build("modes", FRAME, **arguments)
