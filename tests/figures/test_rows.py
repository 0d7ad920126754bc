"""Rows of pictures: where things stand, and what is said of what does not."""

from __future__ import annotations

import json
from itertools import pairwise
from math import inf, isfinite, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.figures.choice import choose_layout
from adomnia.figures.columns import LARGEST
from adomnia.figures.rows import (
    MOST_GROUPS,
    MOST_PANELS,
    MOST_POINTS,
    MOST_SIDE,
    MOST_VALUES,
    cut,
    draw_rows,
    span,
    span_exactly,
    span_loosely,
)
from kit.drawings import CITIES, count, drawable, gallery, label, value, with_labels

GALLERY = gallery()
numbers = st.lists(st.floats(-LARGEST, LARGEST) | st.none(), max_size=5)


def draw(answer):
    return draw_rows(choose_layout(answer))


def test_a_row_has_its_place_its_value_and_its_ends():
    rows = draw(drawable(label("city", CITIES), count("n", [5, 3, -2])))
    assert rows.records[0] == {"axis": "Oslo", "v0": 5, "l0": 4, "u0": 6}
    assert rows.domains == ((-4.0, 6.0),)


def test_an_interval_without_an_end_ends_at_the_edge():
    rows = draw(GALLERY["unbounded"])
    assert rows.records[1] == {"axis": "Bergen", "v0": 2, "l0": rows.domains[0][0], "u0": 3, "open0": True}
    assert rows.remarks == ("Dashed: an interval without an end.",)


def test_what_has_no_value_has_no_interval_either():
    assert draw(GALLERY["unbounded"]).records[2] == {"axis": "Narvik", "v0": None}


@pytest.mark.parametrize("name", GALLERY)
def test_every_number_is_finite(name):
    json.dumps(draw(GALLERY[name]).records, allow_nan=False)


def test_bars_start_at_zero_and_points_need_not():
    assert draw(drawable(label("city", CITIES), count("n", [98, 99, 97]))).domains[0][0] == 0
    assert draw(drawable(label("city", CITIES), value("x", [98, 99, 97]))).domains[0][0] > 90


def test_probabilities_are_drawn_from_zero_to_one():
    figure = with_labels("steps", "x", x="x", y="p")
    low = drawable(label("x", [1, 2]), value("p", [0.4, 0.5], 0.1), figure=figure)
    assert draw(low).domains == ((0.0, 1.0),)


def test_coefficients_are_drawn_beside_zero_without_the_intercept():
    rows = draw(GALLERY["coefficients"])
    assert [record["axis"] for record in rows.records] == ["age", "city[Oslo]"]
    assert rows.remarks == ("The intercept has a scale of its own, and is not drawn.",)
    alone = drawable(label("term", ["(Intercept)"]), value("estimate", [5.0]), figure=GALLERY["coefficients"].figure)
    assert [record["axis"] for record in draw(alone).records] == ["(Intercept)"]
    assert draw(alone).domains[0][0] <= 0


def test_a_bin_without_an_end_is_as_wide_as_the_others():
    figure = with_labels("bars", "low", "high", x_from="low", x_to="high", y="n")
    open_ended = drawable(
        label("low", [None, 0, 10]), label("high", [0, 10, None]), count("n", [1, 2, 3]), figure=figure
    )
    assert [(each["axis"], each["across"]) for each in draw(open_ended).records] == [(-10, 0), (0, 10), (10, 20)]


def test_cells_of_a_heat_map_say_their_numbers_and_intervals():
    records = draw(GALLERY["heat"]).records
    assert (records[2]["text"], records[2]["between"]) == ("-0.70", "-0.80 to -0.60")
    assert "text" not in records[7]
    assert draw(GALLERY["heat"]).domains == ((-1.0, 1.0),)


def test_integers_beyond_doubles_do_not_break_a_picture():
    assert draw(drawable(label("k", ["a"]), label("n", [10**400]))).records[0]["v0"] == 1e300


def test_a_picture_of_few_groups_is_whole():
    layout = choose_layout(GALLERY["bars"])
    assert cut(layout) == (layout, ())


@pytest.mark.parametrize(
    ("name", "rows", "remark"),
    [
        ("many groups", MOST_GROUPS, "The first 50 of 10,000 groups are drawn."),
        ("many days", MOST_POINTS, "The first 1,500 of 10,000 rows are drawn."),
    ],
)
def test_the_first_of_many_rows_are_drawn(name, rows, remark):
    layout, remarks = cut(choose_layout(GALLERY[name]))
    assert len(layout.axis.values) == len(layout.values[0].values) == len(layout.values[0].upper) == rows
    assert remarks == (remark,)


def test_the_first_of_many_panels_are_drawn_whole():
    groups = [f"g{group:02}" for group in range(30) for _ in CITIES]
    layout, remarks = cut(
        choose_layout(drawable(label("city", CITIES * 30), label("g", groups), count("n", range(90))))
    )
    assert layout.axis.name == "g"
    assert len(layout.axis.levels) == 30
    panels = cut(
        choose_layout(
            drawable(
                label("a", [f"a{i}" for i in range(20) for _ in range(15)]),
                label("b", [f"b{i}" for i in range(15)] * 20),
                count("n", range(300)),
            )
        )
    )
    assert len(panels[0].panel.levels) == MOST_PANELS
    assert len(panels[0].axis.values) == MOST_PANELS * 20
    assert panels[1] == ("The first 12 of 15 groups are drawn.",)
    assert remarks == ()


def test_the_first_of_many_values_are_drawn():
    columns = [count(f"n{place}", [1, 2, 3]) for place in range(20)]
    layout, remarks = cut(choose_layout(drawable(label("city", CITIES), *columns)))
    assert len(layout.values) == 8
    assert remarks == ("The first 8 of 20 values are drawn.",)
    long = [count(f"n{place}", range(30)) for place in range(20)]
    assert len(cut(choose_layout(drawable(label("k", map(str, range(30))), *long)))[0].values) == MOST_VALUES


def test_both_sides_of_a_heat_map_are_cut():
    layout, remarks = cut(choose_layout(GALLERY["large heat"]))
    assert (len(layout.axis.levels), len(layout.across.levels)) == (MOST_SIDE, MOST_SIDE)
    assert remarks == ("The first 24 of 50 groups are drawn.",) * 2


@given(numbers)
def test_axes_hold_all_numbers_and_have_finite_ends(values):
    for find in (span, span_exactly, span_loosely):
        lower, upper = find(values)
        assert isfinite(lower)
        assert isfinite(upper)
        assert lower < upper
        slack = 1e-9 * (upper - lower)
        assert all(lower - slack <= value <= upper + slack for value in values if value is not None)


@pytest.mark.parametrize(
    ("values", "ends"),
    [([3, 47], (0, 50)), ([-17, 252], (-50, 300)), ([0.12, 0.97], (0, 1)), ([5, 5], (4.4, 5.6)), ([], (0, 1))],
)
def test_ends_are_round(values, ends):
    assert span(values) == pytest.approx(ends)


def test_what_is_no_number_is_passed_over():
    assert span([None, nan, inf, 1, 9]) == span([1, 9])


def test_ends_may_have_to_hold_more():
    assert span([40, 50], include=(0,))[0] == 0
    assert all(low <= high for low, high in pairwise([*span([0.4], include=(0, 1))]))
