"""Specifications: valid, small, the same every time, and as they were."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import altair as alt
import pytest
from jsonschema import Draft7Validator

from adomnia.errors import Refusal
from adomnia.figures.spec import build_spec
from adomnia.figures.style import DARK, LIGHT
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
    assert "Grey: says nothing, the interval is all that is possible." in spec["title"]["subtitle"]
    assert len(build_spec(drawable(label("city", CITIES), drawn))["layer"]) == len(others)


def test_dark_paper_changes_colours_and_nothing_else():
    light, dark = (build_spec(GALLERY["bars"], style) for style in (LIGHT, DARK))
    assert dark["config"]["background"] == DARK.paper
    assert dark["data"] == light["data"]
    assert DARK.colours[0] in json.dumps(dark)
    assert not any(colour in json.dumps(dark) for colour in (*LIGHT.colours[:5], LIGHT.ink))
