"""Forms are filled before anybody types: with the example where it fits, with columns that do elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adomnia.api.actions.method_calls import list_tables
from adomnia.console.methods import prefilling
from adomnia.console.methods.prefilling import prefill, refit
from adomnia.console.methods.writing import write_question
from adomnia.methods.registry import METHODS
from adomnia.session.curator import read_catalog
from adomnia.sql.lower import lower
from kit.example import write_example
from kit.methods import hospital_catalog
from kit.planted_method import METHOD, tally

__all__ = ["hospital_catalog", "tally"]

every_method = pytest.mark.parametrize("name", METHODS)


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The hospital of the examples."""
    folder = tmp_path_factory.mktemp("example") / "hospital"
    write_example(folder, 50)
    return read_catalog(folder)


@every_method
def test_a_prefilled_form_means_the_example(example, name):
    method = METHODS[name]
    written = write_question(method, prefill(method, example))
    assert lower(written.text, example) == lower(method.example, example)


@every_method
def test_a_form_over_another_table_keeps_what_fits_and_is_read(hospital_catalog, name):
    method = METHODS[name]
    fields = refit(
        method, {**prefill(method, hospital_catalog), "source": "table", "table": "visits"}, hospital_catalog
    )
    assert fields["table"] == "visits"
    write_question(method, fields)  # nothing is missing


def test_where_the_example_does_not_fit_a_table_with_enough_columns_is_chosen(hospital_catalog):
    tables = [table for table in hospital_catalog.tables if table.name != "people"]
    people = replace(hospital_catalog.table("people"), columns=hospital_catalog.table("people").columns[:2])
    catalog = replace(hospital_catalog, tables=(people, *tables))
    assert prefill(METHODS["crosstab"], catalog)["table"] == "visits"
    fields = prefill(METHODS["lm"], catalog)
    assert fields["arg-formula"] == "cost ~ C(hospital)"
    assert fields["arg-inference"] == "data"  # a person may have several visits
    lower(write_question(METHODS["lm"], fields).text, catalog)


def test_a_catalog_of_many_tables_is_not_tried_to_its_end(hospital_catalog, monkeypatch):
    people, visits, tried = hospital_catalog.table("people"), hospital_catalog.table("visits"), []
    many = tuple(replace(visits, name=f"visits_{number}") for number in range(100))
    narrow = replace(people, columns=people.columns[:2])
    catalog = replace(hospital_catalog, tables=(narrow, visits, *many))
    monkeypatch.setattr(prefilling, "refit", lambda *given: tried.append(given) or refit(*given))
    assert prefill(METHODS["lm"], catalog)["table"] == "visits"
    assert len(tried) < 5


def test_two_columns_that_must_differ_are_not_the_same_one(hospital_catalog):
    fields = refit(METHODS["correlation_test"], {"source": "table", "table": "people"}, hospital_catalog)
    assert fields["arg-column"] != fields["arg-other"]


def test_refitting_changes_nothing_that_fits(hospital_catalog, tally):
    rows = {"source": "table", "table": "people", "where": "age > 3"}
    columns = {"arg-column": "own", "arg-column.own": "age + 1", "arg-columns:age": "on", "arg-factor": "=sex"}
    fields = {**rows, **columns, "arg-formula": "salary ~ age", "arg-share": "x", "arg-by:city": "on"}
    assert refit(METHOD, fields, hospital_catalog) == fields
    moved = refit(METHOD, {**fields, "table": "visits"}, hospital_catalog)
    assert moved == {"source": "table", "table": "visits", "where": "", "arg-share": "x", "arg-column": "=cost"}


def test_rows_that_cannot_be_read_are_left_as_they_are(hospital_catalog):
    fields = {"source": "select", "select": "SELECT", "arg-column": "=age"}
    assert refit(METHODS["iqr"], fields, hospital_catalog) == fields


def test_only_what_is_about_people_is_offered(example):
    assert list_tables(example) == ("people", "visits", "items", "adults")
