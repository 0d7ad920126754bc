"""What is left out of a picture is said."""

from __future__ import annotations

import pytest

from adomnia.figures.choice import choose_layout
from adomnia.figures.cutting import MOST_GROUPS, MOST_PANELS, MOST_POINTS, MOST_SIDE, MOST_VALUES, cut
from kit.drawings import CITIES, count, drawable, gallery, label

GALLERY = gallery()


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
