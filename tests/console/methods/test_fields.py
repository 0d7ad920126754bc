from __future__ import annotations

import pytest

from adomnia.api.actions.method_calls import read_frame
from adomnia.console.methods.fields import list_fields, list_terms
from kit.methods import hospital_catalog
from kit.planted_method import METHOD, tally

__all__ = ["hospital_catalog", "tally"]


@pytest.fixture
def frame(hospital_catalog, tally):
    return read_frame(METHOD, "SELECT age, sex, city, salary FROM people", hospital_catalog)


def fields_of(typed, frame):
    return {field.id: field for field in list_fields(METHOD.parameters, typed, frame)}


def test_every_kind_has_its_widget(frame):
    assert {name: field.widget for name, field in fields_of({}, frame).items()} == {
        "arg-column": "column",
        "arg-columns": "boxes",
        "arg-factor": "column",
        "arg-share": "number",
        "arg-shares": "text",
        "arg-places": "number",
        "arg-side": "choice",
        "arg-text": "text",
        "arg-formula": "formula",
        "arg-exact": "choice",
        "arg-by": "boxes",
    }


def test_columns_are_offered_by_their_kind_with_what_is_declared_of_them(frame):
    fields = fields_of({"arg-column": "=salary"}, frame)
    offered = [(option.label, option.note, option.chosen) for option in fields["arg-column"].options]
    assert offered == [
        ("age", "0 to 120", False),
        ("salary", "0 to 500,000", True),
        ("something computed ...", "", False),
    ]
    assert [option.label for option in fields["arg-by"].options] == ["age", "sex", "city"]
    assert fields["arg-by"].options[1].note == "F, M, X"


def test_bounds_and_defaults_are_shown(frame):
    fields = fields_of({}, frame)
    share, places = fields["arg-share"], fields["arg-places"]
    assert (share.lower, share.upper, share.step, share.usual) == ("0", "1", "any", "0.5")
    assert (places.lower, places.upper, places.step, places.usual) == ("1", "10", "1", "3")
    assert [option.value for option in fields["arg-side"].options if option.chosen] == ["both"]
    assert not fields["arg-side"].is_given


def test_what_was_typed_stays_though_the_rows_do_not_have_it(frame):
    fields = fields_of({"arg-column": "=gone", "arg-by:gone": "on", "arg-share": "x"}, frame)
    assert ("gone", "not in these rows") in [(each.label, each.note) for each in fields["arg-column"].options]
    assert fields["arg-by"].is_given
    assert fields["arg-share"].value == "x"
    assert fields_of({"arg-column": "=age"}, None)["arg-column"].options[0].label == "age"


def test_formulas_are_offered_numbers_and_factors(frame):
    assert [term.value for term in list_terms(frame)] == ["age", "salary", "C(sex)", "C(city)"]
    assert list_terms(None) == ()


def test_texts_are_suggested_the_declared_values(frame):
    values = [option.value for option in fields_of({}, frame)["arg-text"].options]
    assert {"F", "Oslo"} <= set(values)
