from __future__ import annotations

import tomllib

from adomnia.console.catalog.parts import TEXT, find_part, list_parts
from kit import hospital

CONTENT = tomllib.loads(hospital.LINKED)


def test_there_is_a_part_for_each_section_and_for_new_ones():
    names = [part.name for part in list_parts(CONTENT)]
    assert names[:3] == ["dataset", "budget", "analysts/alice"]
    assert {"analysts/", "tables/people", "tables/visits", "views/grown", "views/", TEXT} <= set(names)


def test_what_is_no_toml_has_the_text_alone():
    assert [part.name for part in list_parts(None)] == [TEXT]
    assert find_part(list_parts(CONTENT), "nowhere").name == "dataset"


def test_no_form_has_more_fields_than_a_form_may_have():
    columns = {f"c{number}": {"type": "number", "lower": 0, "upper": 1} for number in range(500)}
    parts = list_parts({"tables": {"wide": {"rows_per_person": 1, "columns": columns}}})
    tables = [part for part in parts if part.heading == "Tables"]
    assert max(len(part.fields) for part in tables) < 190
    assert sum(len(part.fields) for part in tables) == 1 + 3 * 500


def test_a_cap_that_is_chosen_privately_has_two_fields():
    table = {"rows_per_person": {"max": 200, "epsilon": 0.05}, "columns": {}}
    part = find_part(list_parts({"tables": {"visits": table}}), "tables/visits")
    assert [field.path[2:] for field in part.fields] == [("rows_per_person", "max"), ("rows_per_person", "epsilon")]


def test_a_text_of_any_shape_has_parts():
    for content in ({}, {"tables": 1}, {"tables": {"t": 1}}, {"tables": {"t": {"columns": 1}}}, {"analysts": []}):
        assert list_parts(content)[-1].name == TEXT
