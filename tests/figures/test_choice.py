"""Which picture an answer gets."""

from __future__ import annotations

import pytest

from adomnia.figures.choice import choose_layout
from kit.drawings import CITIES, count, days, drawable, gallery, label, value, with_labels

GALLERY = gallery()

SHAPES = {
    "bars": "groups",
    "one number": "groups",
    "two keys": "groups",
    "numbers": "groups",
    "many numbers": "line",
    "times": "groups",
    "times of groups": "line",
    "many days": "line",
    "bins": "bins",
    "coefficients": "points",
    "steps": "steps",
    "line": "line",
    "heat": "heat",
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_shape_follows_from_the_kinds_of_columns_and_from_the_description(name):
    assert choose_layout(GALLERY[name]).shape == SHAPES[name]


def test_counts_are_bars_and_other_numbers_points():
    layout = choose_layout(drawable(label("city", CITIES), count("n", [1, 2, 3]), value("pay", [1, 2, 3])))
    assert [layout.shape_of(each) for each in layout.values] == ["bars", "points"]


def test_names_stand_at_the_left_and_numbers_below():
    assert choose_layout(GALLERY["bars"]).horizontal
    assert not choose_layout(GALLERY["numbers"]).horizontal
    assert not choose_layout(GALLERY["times"]).horizontal


def test_the_axis_is_time_then_a_number_then_the_longest_list():
    sex, year, day = label("sex", "FMX"), label("year", [1, 2, 3]), label("day", days(3))
    assert choose_layout(drawable(sex, year, count("n", [1, 2, 3]))).axis.name == "year"
    assert choose_layout(drawable(year, day, count("n", [1, 2, 3]))).axis.name == "day"
    two = drawable(label("sex", "FMF"), label("city", CITIES), count("n", [1, 2, 3]))
    assert choose_layout(two).axis.name == "city"


def test_many_groups_have_panels_where_few_have_colours():
    few, many = (choose_layout(GALLERY[name]) for name in ("two keys", "panels"))
    assert (few.colour.name, few.panel) == ("sex", None)
    assert (many.colour, many.panel.name) == (None, "g")


def test_bands_that_overlap_have_panels_sooner_than_points():
    day, group = label("day", days(3) * 4), label("group", "aaabbbcccddd")
    layout = choose_layout(drawable(day, group, value("x", range(12))))
    assert (layout.shape, layout.panel.name) == ("line", "group")


def test_more_keys_than_two_are_joined():
    layout = choose_layout(GALLERY["three keys"])
    assert (layout.axis.name, layout.colour.name) == ("a · b", "c")
    assert layout.axis.values[:3] == ("x · u", "x · u", "x · v")


def test_rows_of_equal_labels_have_places_of_their_own():
    layout = choose_layout(GALLERY["equal places"])
    assert layout.axis.values == ("F (1)", "F (2)", "M (1)", "M (2)")
    nothing = choose_layout(drawable(count("n", [4, 5])))
    assert (nothing.axis.name, nothing.axis.values) == ("row", ("1", "2"))


def test_times_that_occur_twice_are_not_joined_by_a_line():
    layout = choose_layout(drawable(label("day", days(50) * 2), value("x", range(100))))
    assert (layout.shape, layout.axis.kind) == ("points", "text")


def test_a_missing_key_has_a_place():
    layout = choose_layout(drawable(label("year", [1, 2, None]), count("n", [1, 2, 3])))
    assert (layout.axis.kind, layout.axis.levels) == ("text", ("1", "2", "NULL"))


def test_a_description_whose_columns_were_not_chosen_is_not_followed():
    figure = with_labels("steps", "city", x="time", y="n")
    assert choose_layout(drawable(label("city", CITIES), count("n", [1, 2, 3]), figure=figure)).shape == "groups"
    unknown = {"kind": "spiral", "x": "city", "y": "n"}
    assert choose_layout(drawable(label("city", CITIES), count("n", [1, 2, 3]), figure=unknown)).shape == "groups"


def test_groups_of_a_method_are_colours_or_panels():
    assert choose_layout(GALLERY["steps"]).colour.name == "arm"
    low, high, figure = label("low", [0, 1] * 2), label("high", [1, 2] * 2), GALLERY["bins"].figure
    grouped = drawable(label("sex", "FFMM"), low, high, count("n", range(4)), figure=figure)
    assert choose_layout(grouped).panel.name == "sex"


def test_public_numbers_are_values_beside_names_and_axes_alone():
    layout = choose_layout(GALLERY["public"])
    assert (layout.axis.name, [each.name for each in layout.values]) == ("city", ["people"])
    alone = choose_layout(drawable(label("year", [1, 2]), label("people", [10, 20])))
    assert (alone.axis.name, [each.name for each in alone.values]) == ("year", ["people"])


def test_labels_that_say_the_same_again_make_no_groups():
    figure = with_labels("points", "term", "place", x="term", y="estimate")
    columns = (label("term", ["a", "b"]), label("place", [1, 2]), value("estimate", [1.0, 2.0]))
    layout = choose_layout(drawable(*columns, figure=figure))
    assert (layout.colour, layout.panel) == (None, None)


def test_columns_have_scales_of_their_own():
    figure = with_labels("points", "sex", "column", x="column", y="mean")
    columns = (label("sex", "FFMM"), label("column", ["age", "pay"] * 2), value("mean", [40.0, 9e4, 45.0, 8e4]))
    layout = choose_layout(drawable(*columns, figure=figure))
    assert [(each.name, each.values) for each in layout.values] == [
        ("mean of age", (40.0, 45.0)),
        ("mean of pay", (9e4, 8e4)),
    ]
    assert (layout.axis.name, layout.axis.values) == ("sex", ("F", "M"))
    alone = choose_layout(drawable(label("column", ["age", "pay"]), value("mean", [40.0, 9e4]), figure=figure))
    assert (alone.axis.values, [each.upper for each in alone.values]) == (("",), [(41.0,), (9e4 + 1,)])
    shared = choose_layout(drawable(*columns[1:], figure={**figure, "scales": "shared"}))
    assert len(shared.values) == 1


def test_labels_that_look_alike_have_places_of_their_own():
    layout = choose_layout(drawable(label("k", ["NULL", None, "true", True]), count("n", range(4))))
    assert layout.axis.values == ("NULL (1)", "NULL (2)", "true (1)", "true (2)")
