"""Titles and captions."""

from __future__ import annotations

from adomnia.figures.captions import write_caption, write_title
from adomnia.figures.choice import choose_layout
from adomnia.figures.rows import draw_rows
from adomnia.messages.notes import Note
from kit.drawings import CITIES, count, drawable, gallery, label, value

GALLERY = gallery()


def caption(answer):
    return write_caption(answer, draw_rows(choose_layout(answer)))


def title(answer):
    return write_title(answer, draw_rows(choose_layout(answer)))


def test_a_title_names_values_and_keys():
    assert title(GALLERY["one number"]) == "n"
    assert title(GALLERY["two values"]) == "n and pay by city"
    assert title(GALLERY["two keys"]) == "n by city and sex"
    assert title(GALLERY["heat"]) == "r by a and b"
    assert title(GALLERY["steps"]) == "Survival"


def test_a_long_title_is_cut():
    assert len(title(drawable(*(count(f"a long name {place}", [1]) for place in range(9))))) <= 90


def test_the_caption_says_what_intervals_are_about():
    columns = (label("city", CITIES), value("x", [1, 2, 3]))
    assert caption(drawable(*columns)) == ["Lines: 95% intervals of the noise."]
    assert caption(drawable(*columns, confidence=0.999)) == ["Lines: 99.9% intervals of the noise."]
    of_sample, believed = value("x", [1, 2, 3], about="population"), value("y", [1, 2, 3], about="credible")
    assert caption(drawable(columns[0], of_sample)) == ["Lines: 95% intervals about the population."]
    assert caption(drawable(columns[0], believed)) == ["Lines: 95% credible intervals."]
    assert caption(drawable(columns[0], of_sample, value("z", [1, 2, 3]))) == [
        "Lines: 95% intervals about the population and intervals of the noise."
    ]
    assert caption(GALLERY["steps"]) == ["Bands: 95% intervals of the noise."]
    assert caption(GALLERY["public"]) == []


def test_the_caption_says_what_says_almost_nothing_and_no_other_note():
    notes = (
        Note("x says almost nothing: off by up to 5, where it could be 0 to 6.", "says_nothing"),
        Note("Rows whose city is missing are in no group.", "missing"),
    )
    lines = caption(drawable(label("city", CITIES), value("x", [1, 2, 3]), notes=notes))
    assert lines[1:] == ["x says almost nothing: off by up to 5, where it could be 0 to 6."]


def test_a_value_without_an_interval_is_told():
    lines = caption(drawable(label("city", CITIES), value("m", [1, 2, 3], lower=(), upper=())))
    assert lines == ["m has no interval."]


def test_no_rows_are_told():
    assert caption(GALLERY["no rows"]) == ["No rows."]
