"""Questions as analysts type them, on three schemas: how many are accepted at once, and after the refusal's advice.

They were written beside the language, so that they say where it stands, not how it does on questions of others.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import pytest

from adomnia.errors import Refusal
from adomnia.session.curator import read_catalog
from adomnia.sql.lower import plan_question
from adomnia.sql.reading.parse import parse

FOLDER = Path(__file__).parents[1] / "fixtures" / "analysts"
SCHEMAS = ("clinic", "shop", "school")
QUESTIONS = tomllib.loads((FOLDER / "questions.toml").read_text())
ALL = [(schema, asked) for schema in SCHEMAS for asked in QUESTIONS[schema]]
AT_ONCE, AFTER_ADVICE = 29, 37  # of all 40


@pytest.fixture(scope="module")
def catalogs(tmp_path_factory):
    @cache
    def find(schema):
        folder = tmp_path_factory.mktemp(schema)
        (folder / "catalog.toml").write_text((FOLDER / f"{schema}.toml").read_text())
        return read_catalog(folder)

    return find


def refusal_of(text, catalog, *, finds=False):
    try:
        plan_question(parse(text), catalog, finds=finds)
    except Refusal as refusal:
        return refusal
    return None


def test_so_many_questions_are_accepted_at_once_and_after_the_advice(catalogs):
    refused = [(schema, asked) for schema, asked in ALL if refusal_of(asked["text"], catalogs(schema)) is not None]
    left = [
        asked["text"]
        for schema, asked in refused
        if ("then" not in asked and not asked.get("delta"))
        or refusal_of(asked.get("then", asked["text"]), catalogs(schema), finds=asked.get("delta", False)) is not None
    ]
    assert len(ALL) == 40
    assert len(ALL) - len(refused) == AT_ONCE
    assert len(ALL) - len(left) == AFTER_ADVICE


@pytest.mark.parametrize(("schema", "asked"), [pytest.param(*each, id=each[1]["text"]) for each in ALL])
def test_advice_speaks_of_what_there_is(catalogs, schema, asked):
    refusal = refusal_of(asked["text"], catalogs(schema))
    if refusal is None:
        assert "then" not in asked
        return
    said = f"{refusal.why} {refusal.fix}"
    assert not any(word in said for word in ("person_id", "people (", "FROM people", "(SPEC)", "visits"))
    advised = said.partition("ids up: ")[2] or said.partition("is missing: ")[2]
    assert advised in asked.get("then", "")


def test_the_dates_of_these_questions_are_those_that_their_owner_declares(catalogs):
    text = "SELECT COUNT(*) FROM stays WHERE discharged >= CURRENT_DATE - 30"
    constant = text.replace("CURRENT_DATE", "DATE '2024-12-31'")
    catalog = catalogs("clinic")
    assert plan_question(parse(text), catalog) == plan_question(parse(constant), catalog)
