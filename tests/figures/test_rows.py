"""Rows of pictures: where things stand, and what is said of what does not."""

from __future__ import annotations

import json

import pytest

from adomnia.figures.choice import choose_layout
from adomnia.figures.rows import draw_rows
from kit.drawings import CITIES, count, drawable, gallery, label, value, with_labels

GALLERY = gallery()


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
