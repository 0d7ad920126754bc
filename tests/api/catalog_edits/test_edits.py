from __future__ import annotations

import tomllib

import pytest

from adomnia.api.catalog_edits.edits import add_section, remove_key, remove_section, set_value
from adomnia.catalog.toml_places import find_spans
from adomnia.errors import Refusal
from kit import hospital

TEXT = hospital.LINKED
SALARY = ("tables", "people", "columns", "salary")


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    old, new = before.splitlines(), after.splitlines()
    return [line for line in old if line not in new], [line for line in new if line not in old]


def test_one_value_changes_and_every_other_character_stays():
    after = set_value(TEXT, (*SALARY, "upper"), "200_000")
    assert after == TEXT.replace("upper = 500_000 }", "upper = 200_000 }")


def test_a_comment_behind_a_value_stays():
    assert 'vacuous_answers = "refuse"  # most tests' in set_value(TEXT, ("dataset", "vacuous_answers"), '"refuse"')


def test_a_key_is_added_in_braces_and_under_a_heading():
    assert changed_lines(TEXT, set_value(TEXT, (*SALARY, "step"), "10"))[1] == [
        'salary = { type = "number", lower = 0, upper = 500_000, step = 10 }'
    ]
    after = set_value(TEXT, ("analysts", "alice", "ceiling"), "0.5")
    assert "[analysts.alice]\nepsilon = 100_000\nceiling = 0.5\n\n[analysts.bob]" in after


@pytest.mark.parametrize("key", ["type", "lower", "upper"])
def test_any_key_in_braces_is_removed_with_one_comma(key):
    after = remove_key(TEXT, (*SALARY, key))
    assert set(tomllib.loads(after)["tables"]["people"]["columns"]["salary"]) == {"type", "lower", "upper"} - {key}
    assert ",," not in after
    assert ", }" not in after


def test_a_key_under_a_heading_is_removed_with_its_line():
    assert remove_key(TEXT, ("analysts", "bob", "delta")) == TEXT.replace("delta = 1e-7\n", "")


def test_a_section_is_added_behind_the_last_of_its_kind():
    after = add_section(TEXT, ("analysts", "dora"), {"epsilon": "1.0", "policy": '"on_demand"'})
    assert '[analysts.carol]\nepsilon = 1\n\n[analysts.dora]\nepsilon = 1.0\npolicy = "on_demand"\n\n[tables.p' in after
    first = add_section(hospital.CATALOG, ("views", "v"), {"sql": '"SELECT 1"'})
    assert first.endswith('\n\n[views.v]\nsql = "SELECT 1"\n')


@pytest.mark.parametrize("path", [("analysts", "alice"), ("views", "stays"), ("tables", "people"), ("tables", "zones")])
def test_a_section_is_removed_with_all_that_is_under_it(path):
    before, after = tomllib.loads(TEXT), remove_section(TEXT, path)
    del before[path[0]][path[1]]
    assert tomllib.loads(after) == before
    assert "\n\n\n" not in after


def test_the_last_section_of_a_kind_can_go_too():
    text = add_section(hospital.CATALOG, ("views", "v"), {"sql": '"SELECT 1"'})
    assert remove_section(text, ("views", "v")) == hospital.CATALOG


def test_every_value_of_a_catalog_can_be_replaced_alone():
    content = tomllib.loads(TEXT)
    for path in find_spans(TEXT).pairs:
        after = tomllib.loads(set_value(TEXT, path, '"another"'))
        assert after != content


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("budget.epsilon = 1\n", ("budget", "delta")),  # a section without a heading
        ("[budget]\nepsilon = 1\n", ("analysts", "alice", "epsilon")),
    ],
)
def test_what_cannot_be_changed_in_place_is_left_to_the_text(text, path):
    with pytest.raises((Refusal, KeyError)):
        set_value(text, path, "1")


def test_a_literal_that_would_say_more_than_its_value_is_refused():
    with pytest.raises((Refusal, ValueError, KeyError)):
        set_value(TEXT, ("budget", "epsilon"), "1\n[analysts.mallory]\nepsilon = 1")
