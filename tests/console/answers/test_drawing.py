from __future__ import annotations

import re
from math import inf

import pytest

from adomnia.console.answers.drawing import MOST_ROWS, SIZES, describe_chart, draw
from adomnia.console.answers.table import build_table
from adomnia.errors import Refusal
from adomnia.figures import files
from adomnia.session.plotting import as_drawable
from kit.answers import key, make_answer, measured

FULL = (0.0, 250.0, 500.0)
ANSWER = make_answer(key("city", "Oslo", "<b>"), measured("pay", (1, 2, 3), FULL, limits=(0.0, 500.0)))


def test_a_figure_is_drawn_for_light_and_for_dark_paper():
    light, dark = draw(ANSWER, "light", "wide").decode(), draw(ANSWER, "dark", "wide").decode()
    assert 'fill="white"' in light
    assert "#191E24" in dark
    assert "#191E24" not in light
    assert "<b>" not in light
    assert "&lt;b&gt;" in light


def test_its_sentence_says_what_it_shows_and_that_a_row_is_uninformative():
    says = describe_chart(ANSWER).says
    assert says.startswith("pay by city. Lines: 95% intervals of the noise.")
    assert "Grey: uninformative" in says
    quiet = make_answer(key("city", "Oslo"), measured("pay", FULL, limits=(0.0, 500.0)))
    assert describe_chart(quiet).problem == "Every row is uninformative: there is nothing to draw."


def test_a_column_of_which_every_row_is_uninformative_is_not_drawn_beside_another():
    quiet = measured("pay", FULL, FULL, limits=(0.0, 500.0))
    answer = make_answer(key("city", "Oslo", "Rome"), measured("n", (1, 2, 3), (1, 2, 3)), quiet)
    assert [column.name for column in as_drawable(answer).columns] == ["city", "n"]


def test_an_uninformative_row_does_not_stretch_the_figure():
    drawn = as_drawable(ANSWER).column("pay")
    assert (drawn.values, drawn.upper, drawn.silent) == ((2.0, None), (3.0, None), (False, True))


def test_too_many_rows_and_rows_without_numbers_are_not_drawn():
    many = make_answer(key("k", *range(MOST_ROWS + 1)), measured("n", *[(1, 2, 3)] * (MOST_ROWS + 1)))
    assert "too many for a figure" in describe_chart(many).problem
    with pytest.raises(Refusal, match="too many"):
        draw(many, "light", "wide")
    assert "no numbers to draw" in describe_chart(make_answer(key("k", "a"))).problem


def test_without_the_extra_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr(files, "find_spec", lambda _: None)
    chart = describe_chart(ANSWER)
    assert (chart.says, chart.install) == ("", "pip install '.[plot]' in a checkout of Ad Omnia")


def test_counts_stop_where_the_table_stops_them():
    ends = ((-20.0, 5.0, 30.0), (-50.0, -20.0, 13.0), (-70.0, -60.0, -2.0))
    answer = make_answer(key("k", "a", "b", "c"), measured("n", *ends, limits=(0.0, inf)))
    drawn = as_drawable(answer).column("n")
    assert (drawn.values, drawn.lower) == ((5.0, 0.0, -60.0), (0.0, 0.0, -70.0))
    assert [float(row[1].shown.text) for row in build_table(answer).rows] == list(drawn.values)


def test_a_figure_for_a_phone_is_as_wide_as_one():
    wide, narrow = (
        int(re.search(r'<svg[^>]* width="(\d+)', draw(ANSWER, "light", size).decode())[1]) for size in SIZES
    )
    assert 640 < wide < 860
    assert narrow < 340
