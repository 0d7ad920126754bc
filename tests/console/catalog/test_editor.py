from __future__ import annotations

import pytest

from adomnia.api.access import Role
from adomnia.api.access.model import Visitor
from adomnia.api.requests import Visit
from adomnia.console.catalog.draft import CatalogDraft
from adomnia.console.catalog.editor import build_editor, compare_lines, start_draft
from kit import hospital


@pytest.fixture
def visit(shared_house):
    with shared_house.services.dataset.lease() as edition:
        yield Visit(shared_house.services, Visitor("olga", Role.OWNER), edition)


def preview_of(visit, *changes: tuple[str, str]):
    draft, text = start_draft(visit, "", ""), hospital.CATALOG
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return build_editor(visit, CatalogDraft(text, draft.base)).filling["preview"]


def test_a_draft_begins_as_the_text_on_disk_and_changes_nothing(visit):
    draft = start_draft(visit, "", "")
    assert draft.text == hospital.CATALOG
    preview = build_editor(visit, draft).filling["preview"]
    assert (preview.lines, preview.problems, preview.effects, preview.consequences) == ((), (), (), ())
    assert not preview.moved


def test_promises_are_told_before_and_after(visit):
    preview = preview_of(visit, ("upper = 500_000", "upper = 9"))
    (change,) = preview.changes
    assert change.about == "people.salary"
    assert "by at most 500,000" in change.was[0]
    assert "by at most 9" in change.becomes[0]


@pytest.mark.parametrize(
    "change",
    [
        ("version = 1", "version = 2"),
        ("epsilon = 1_000_000", "epsilon = 3"),
        ("rows_per_person = 3", "rows_per_person = 30"),
        ("rows_per_person = 3", "rows_per_person = { max = 20, epsilon = 0.5 }"),
        ("[analysts.carol]", '[analysts.carol]\npolicy = "geometric"\nkeep = 0.5'),
        ("[analysts.carol]", "[analysts.dora]"),
        ('["F", "M", "X"]', '["F", "M", "X", "D"]'),
        ("step = 0.1", "step = 0.5"),
        ('day = { type = "date" }', 'day = { type = "date", lower = 2020-01-01, upper = 2021-01-01 }'),
        ("[tables.cities]", '[views.v]\nsql = "SELECT * FROM people"\n[tables.cities]'),
        ('unit = "people.person_id"', 'unit = "people.person_id"\nminimum_frequency = 3'),
    ],
)
def test_each_kind_of_change_has_lines_and_consequences(visit, change):
    preview = preview_of(visit, change)
    assert preview.problems == ()
    assert preview.lines
    assert preview.consequences


def test_a_text_that_moved_is_told(visit):
    assert build_editor(visit, CatalogDraft(hospital.CATALOG, "0" * 64)).filling["preview"].moved


def test_problems_belong_to_the_fields_that_are_shown(visit):
    text = hospital.CATALOG.replace("upper = 120", 'upper = "many"').replace("epsilon = 100_000", 'epsilon = "x"')
    filling = build_editor(visit, CatalogDraft(text, "", "tables/people")).filling
    wrong = {name: found for name, found in filling["wrong"].items() if found}
    assert list(wrong) == ['["tables", "people", "columns", "age", "upper"]']
    assert len(filling["preview"].problems) == 3


def test_equal_texts_differ_in_no_line():
    assert compare_lines("a\nb\n", "a\nb\n") == []


def test_lines_have_their_numbers_in_both_texts():
    before = "\n".join(f"line {number}" for number in range(1, 31))
    found = compare_lines(before, before.replace("line 3\n", "").replace("line 28", "other"))
    assert [(line.sign, line.before, line.after) for line in found if line.sign] == [
        ("-", 3, None),
        ("...", None, None),
        ("-", 28, None),
        ("+", None, 27),
    ]


def test_very_many_lines_are_cut():
    found = compare_lines("", "\n".join(map(str, range(5000))))
    assert len(found) == 401
    assert found[-1].sign == "..."
