from __future__ import annotations

import tomllib

import pytest

from adomnia.console.catalog.draft import CatalogDraft
from adomnia.errors import Refusal
from kit import hospital

TEXT = hospital.LINKED


def sent(part: str, text: str = TEXT, **typed: str) -> CatalogDraft:
    return CatalogDraft.from_fields({"text": text.replace("\n", "\r\n"), "part": part, "base": "b", **typed})


def shown(part: str) -> dict[str, str]:
    """What a browser sends back if nobody typed anything."""
    return {field.name: field.value.replace("\n", "\r\n") for field in CatalogDraft(TEXT, "b", part).find_part().fields}


@pytest.mark.parametrize("part", ["dataset", "budget", "analysts/bob", "analysts/", "tables/items", "views/stays"])
def test_a_form_that_is_sent_back_as_it_is_changes_no_character(part):
    assert sent(part, **shown(part)).apply().text == TEXT


def test_what_was_typed_is_in_the_text():
    draft = sent("tables/items", **shown("tables/items") | {'["tables", "items", "columns", "price", "upper"]': "300"})
    assert draft.apply().text == TEXT.replace("lower = -10, upper = 250", "lower = -10, upper = 300")


def test_an_emptied_field_removes_its_key():
    draft = sent("analysts/bob", **shown("analysts/bob") | {'["analysts", "bob", "delta"]': " "})
    assert draft.apply().text == TEXT.replace("delta = 1e-7\n", "")


def test_a_field_of_another_part_is_not_taken():
    assert sent("budget", **{'["analysts", "bob", "epsilon"]': "9"}).apply().text == TEXT


def test_a_new_analyst_gets_a_section_and_is_shown():
    draft = sent("analysts/", **{'["analysts", "", "name"]': "dora", '["analysts", "", "epsilon"]': "0.5"}).apply()
    assert tomllib.loads(draft.text)["analysts"]["dora"] == {"epsilon": 0.5}
    assert draft.part == "analysts/dora"


@pytest.mark.parametrize("name", ["", "x y", "a]\n[b", "alice"])
def test_a_name_that_cannot_be_one_is_refused(name):
    with pytest.raises(Refusal):
        sent("analysts/", **{'["analysts", "", "name"]': name, '["analysts", "", "epsilon"]': "0.5"}).apply()


def test_a_section_is_removed_by_its_box():
    assert "carol" not in tomllib.loads(sent("analysts/carol", remove="yes").apply().text)["analysts"]
    assert sent("tables/people", remove="yes").apply().text == TEXT


def test_going_to_another_part_keeps_what_was_typed():
    draft = sent("budget", go="text", **shown("budget") | {'["budget", "epsilon"]': "7"}).apply()
    assert draft.part == "text"
    assert tomllib.loads(draft.text)["budget"]["epsilon"] == 7


def test_a_text_that_is_no_toml_stays_as_it_was_typed():
    draft = sent("text", "[broken").apply()
    assert (draft.text, draft.find_part().name) == ("[broken", "text")
