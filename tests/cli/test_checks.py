"""What `adomnia check` says: everything that is wrong, or what the catalog promises."""

from __future__ import annotations

import json

import pytest


def test_check_says_what_the_catalog_promises(hospital, typed):
    code, printed, complained = typed("check", hospital)
    page = " ".join(printed.split())
    assert (code, complained) == (0, "")
    for words in ("one person moves SUM by at most 500,000", "Public: about nobody", "coalitions", "epsilon 10"):
        assert words in page
    assert "Warning: Epsilon 10 is large" in page


def test_check_warns_where_analysts_can_use_up_what_others_were_given(hospital, typed):
    catalog = hospital / "catalog.toml"
    catalog.write_text(catalog.read_text().replace("epsilon = 10.0", "epsilon = 3.0"))
    code, printed, _ = typed("check", hospital)
    assert code == 0
    assert "Warning: Personal budgets add up to epsilon 4" in " ".join(printed.split())


def test_check_is_an_array_for_programs(hospital, typed):
    promises = json.loads(typed("check", hospital, "--format", "json")[1])
    assert [promise["about"] for promise in promises][:2] == ["unit", "people"]
    assert [promise["about"] for promise in promises if promise["warning"]] == ["large budget"]


def test_check_compares_headers_and_builds_nothing(hospital, typed, tmp_path):
    catalog = hospital / "catalog.toml"
    catalog.write_text(catalog.read_text().replace('eye_color = { type = "text" }', 'eye_colour = { type = "text" }'))
    before = sorted(hospital.rglob("*"))
    code, printed, complained = typed("check", hospital)
    assert (code, printed) == (2, "")
    assert "people.columns.eye_colour" in complained
    assert "is declared, and people.parquet has none of that name" in complained
    assert sorted(hospital.rglob("*")) == before


def test_check_lists_all_problems_for_people_and_for_programs(hospital, typed):
    catalog = hospital / "catalog.toml"
    text = catalog.read_text().replace("version = 1 ", "version = 0 ").replace("eye_color =", "eye_colour =")
    catalog.write_text(text)
    code, printed, complained = typed("check", hospital)
    assert (code, printed) == (2, "")
    assert [line.partition(" ")[0] for line in complained.splitlines()] == ["Refusal:", "Refusal:", "2"]
    code, printed, complained = typed("check", hospital, "--format", "json")
    assert (code, complained) == (2, "")
    found = json.loads(printed)
    lines = text.splitlines()
    assert [lines[problem["line"] - 1].split(" ")[0] for problem in found] == ["version", "eye_colour"]
    assert all(problem["fix"] and problem["why"] and problem["what"] for problem in found)


@pytest.fixture
def misfitting(hospital):
    """The hospital, of whose ages some are moved, and of whose visits some are left out."""
    catalog = hospital / "catalog.toml"
    text = catalog.read_text().replace("lower = 0, upper = 120", "lower = 0, upper = 30")
    catalog.write_text(text.replace("rows_per_person = 10", "rows_per_person = 1"))
    return hospital


def test_check_of_the_data_is_marked_as_private_and_builds_nothing(misfitting, typed):
    before = sorted(misfitting.rglob("*"))
    code, printed, complained = typed("check", misfitting, "--data")
    page = " ".join(printed.split())
    assert (code, complained) == (0, "")
    assert page.startswith("This is about your data: do not share it.")
    assert "lie outside of the bounds" in page
    assert "rows_per_person = " in page
    assert sorted(misfitting.rglob("*")) == before


def test_check_of_the_data_is_an_object_for_programs(misfitting, typed):
    report = json.loads(typed("check", misfitting, "--data", "--format", "json")[1])
    assert report["private"] == "This is about your data: do not share it."
    assert {column["table"] for column in report["columns"]} >= {"people", "visits"}
    found = {(each["kind"], each["table"], each["column"]): each for each in report["mismatches"]}
    assert found["clamped", "people", "age"]["changes"] == []
    (change,) = found["over_cap", "visits", None]["changes"]
    assert change["path"] == ["tables", "visits", "rows_per_person"]
    assert change["value"] > 1


def test_data_that_fits_is_said_to_fit(hospital, typed):
    (hospital / "one.csv").write_text("id\n1\n2\n")
    head, _, _ = (hospital / "catalog.toml").read_text().partition("[tables.people]")
    one = '[tables.one]\nsource = "one.csv"\nrows_per_person = 1\ncolumns = { id = { type = "id" } }\n'
    (hospital / "catalog.toml").write_text(head.replace("people.person_id", "one.id") + one)
    code, printed, _ = typed("check", hospital, "--data")
    assert code == 0
    assert "The data fits the catalog." in printed


def test_a_wrong_catalog_is_refused_before_any_data_is_read(hospital, typed):
    catalog = hospital / "catalog.toml"
    catalog.write_text(catalog.read_text().replace("version = 1 ", "version = 0 "))
    code, printed, complained = typed("check", hospital, "--data")
    assert (code, printed) == (2, "")
    assert "dataset.version" in complained
