"""Signatures as plain data."""

from __future__ import annotations

import json

from adomnia.methods.signatures import describe_kind, method_record
from kit.planted_method import METHOD


def test_a_record_is_plain_data_that_says_all_of_a_method():
    record = method_record(METHOD)
    assert json.loads(json.dumps(record)) == record
    assert record["name"] == "tally"
    assert record["parameters"][0] == {
        "name": "column",
        "kind": "column",
        "takes": "a column of numbers",
        "required": True,
        "default": None,
        "meaning": "what to count",
    }
    assert list(record["returns"]) == ["term", "place", "estimate", "p_value"]


def test_the_schema_says_types_bounds_choices_and_what_is_required():
    schema = method_record(METHOD)["schema"]
    assert schema["required"] == ["column"]
    assert schema["properties"]["share"] == {
        "type": "number",
        "description": "a share",
        "minimum": 0,
        "maximum": 1,
        "default": 0.5,
    }
    assert schema["properties"]["side"]["enum"] == ["both", "left", "right"]
    assert schema["properties"]["by"]["items"] == {"type": "string"}
    assert schema["properties"]["exact"]["type"] == "boolean"


def test_kinds_are_told_in_words():
    told = {each.name: describe_kind(each) for each in METHOD.parameters}
    assert told["places"] == "a whole number from 1 to 10"
    assert told["side"] == "'both' or 'left' or 'right'"
