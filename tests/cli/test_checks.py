"""What `adomnia check` says: everything that is wrong, or what the catalog promises."""

from __future__ import annotations

import json


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
