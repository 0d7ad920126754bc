"""Specifications: valid, small, the same every time, and as they were."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import altair as alt
import pytest
from jsonschema import Draft7Validator

from adomnia.errors import Refusal
from adomnia.figures.choice import choose_layout
from adomnia.figures.rows import draw_rows
from adomnia.figures.spec import MOST_ROWS, build_spec, describe, label_svg, write_caption, write_page, write_title
from adomnia.figures.style import DARK, LIGHT
from adomnia.messages.texts import Note
from adomnia.tables import TextTable
from kit.drawings import CITIES, count, drawable, gallery, label, value

GALLERY = gallery()
SCHEMA = Draft7Validator(alt.load_schema())
SNAPSHOTS = Path(__file__).parents[1] / "fixtures" / "figures.json"


def shorten(spec):
    """What a snapshot holds: all but the common style and the words for who cannot see it."""
    return {part: each for part, each in spec.items() if part not in {"config", "description", "$schema"}}


@pytest.mark.parametrize("name", GALLERY)
def test_every_picture_is_valid_by_the_schema_of_vega_lite(name):
    spec = build_spec(GALLERY[name])
    written = json.dumps({**spec, "$schema": ""}, allow_nan=False)
    assert "url" not in written  # nothing is loaded
    assert "http" not in written
    few = spec["data"]["values"][:2]  # each row takes milliseconds
    assert SCHEMA.is_valid({**spec, "data": {"values": few}})


def test_a_specification_that_is_not_valid_is_found():
    spec = build_spec(GALLERY["bars"])
    assert SCHEMA.is_valid(spec)
    assert not SCHEMA.is_valid({**spec, "width": "wide"})
    assert not SCHEMA.is_valid({**spec, "layer": [{"mark": "bar", "encodings": {}}]})


@pytest.mark.parametrize("name", json.loads(SNAPSHOTS.read_text()))
def test_small_pictures_are_what_they_were(name):
    assert shorten(build_spec(GALLERY[name])) == json.loads(SNAPSHOTS.read_text())[name]


def test_names_of_columns_are_never_names_of_fields():
    """Vega reads dots, brackets and quotes in the name of a field as a path."""
    spec = build_spec(drawable(label("a.b['c']", CITIES), count("datum.x\\[0]", [1, 2, 3])))
    assert {name for row in spec["data"]["values"] for name in row} == {"axis", "v0", "l0", "u0"}
    fields = {channel.get("field") for layer in spec["layer"] for channel in layer["encoding"].values()}
    assert fields <= {"axis", "v0", "l0", "u0", None}


def test_each_value_has_a_panel_and_a_scale_of_its_own():
    spec = build_spec(drawable(label("city", CITIES), count("n", [520, 310, 40]), value("pay", [5.2, 3.1, 4.0])))
    assert [panel["layer"][0]["mark"]["type"] for panel in spec["vconcat"]] == ["bar", "rule"]
    domains = [panel["layer"][-1]["encoding"]["x"]["scale"]["domain"] for panel in spec["vconcat"]]
    assert domains[0][1] >= 521
    assert domains[1][1] <= 10


def test_the_form_of_a_picture_does_not_depend_on_its_numbers():
    def form(numbers):
        spec = build_spec(drawable(label("city", CITIES), count("n", numbers)))
        return [(layer["mark"], set(layer["encoding"])) for layer in spec["layer"]]

    assert form([1, 2, 3]) == form([-1e9, 0, 5]) == form([0, 0, 0])


def test_what_has_no_numbers_is_refused():
    with pytest.raises(Refusal, match=r"no numbers to draw. Fix: ask for a count") as caught:
        build_spec(drawable(label("city", CITIES)))
    assert caught.value.code == "nothing_to_draw"


def test_long_lists_are_drawn_in_less_height():
    few, many = (build_spec(drawable(label("k", map(str, range(n))), count("n", range(n)))) for n in (5, 40))
    assert few["height"]["step"] > many["height"]["step"]


def test_a_row_that_says_nothing_is_grey_and_has_neither_a_number_nor_a_word():
    drawn = value("pay", [5.2, 3.1, 4.0])
    silent = replace(
        drawn, values=(5.2, None, 4.0), lower=(4.2, None, 3.0), upper=(6.2, None, 5.0), silent=(False, True, False)
    )
    spec = build_spec(drawable(label("city", CITIES), silent))
    assert {"axis": CITIES[1], "v0": None, "silent0": True} in spec["data"]["values"]
    grey, *others = spec["layer"]
    assert grey["transform"] == [{"filter": "datum.silent0 === true"}]
    assert not any(layer["mark"]["type"] == "text" for layer in others)
    assert "Grey: uninformative, the interval is all that is possible." in spec["title"]["subtitle"]
    assert len(build_spec(drawable(label("city", CITIES), drawn))["layer"]) == len(others)


def test_dark_paper_changes_colours_and_nothing_else():
    light, dark = (build_spec(GALLERY["bars"], style) for style in (LIGHT, DARK))
    assert dark["config"]["background"] == DARK.paper
    assert dark["data"] == light["data"]
    assert DARK.colours[0] in json.dumps(dark)
    assert not any(colour in json.dumps(dark) for colour in (*LIGHT.colours[:5], LIGHT.ink))


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


def test_many_rows_are_counted_and_not_told():
    table = TextTable(("k",), tuple((str(row),) for row in range(MOST_ROWS + 3)))
    words = describe("t", [], table)
    assert words.endswith(f"k {MOST_ROWS - 1}. And 3 more rows.")


def test_a_missing_cell_is_said():
    assert describe("t", ["c."], TextTable(("k", "n"), (("", "5"),))) == "t. c. k NULL, n 5."


def test_words_are_escaped():
    svg = label_svg('<svg width="1"><g/></svg>', "<b>", "a & \x00")
    assert svg == r'<svg width="1" role="img"><title>&lt;b&gt;</title><desc>a &amp; \x00</desc><g/></svg>'


def test_a_page_escapes_its_title():
    assert "<title>&lt;/title&gt;</title>" in write_page("<svg></svg>", "</title>", TextTable(("k",), ()))
