"""One statement creates something, a release; every other one is refused with what to write instead."""

from __future__ import annotations

import pytest

from adomnia.errors import Refusal
from adomnia.sql.reading.creating import read_creation


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("CREATE TABLE releases.ages AS SELECT 1", "ages"),
        ("create table Releases.Ages as select 1", "Ages"),
        ('  -- a comment\nCREATE /* so */ TABLE releases . "ages"\nAS(SELECT 1)', "ages"),
        ("CREATE TABLE releases._x9 AS WITH a AS (SELECT 1) SELECT * FROM a", "_x9"),
    ],
)
def test_a_release_has_a_name_and_a_question_in_its_place(text, name):
    found = read_creation(text)
    assert found.name == name
    assert len(found.question) == len(text)
    assert found.question.count("\n") == text.count("\n")
    assert found.question.strip().lower().strip("(").startswith(("select", "with"))


@pytest.mark.parametrize("text", ["SELECT 1", "", "EXPLAIN SELECT 1", "SELECT created FROM people", "CREATED"])
def test_questions_create_nothing(text):
    assert read_creation(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE ages AS SELECT 1",
        "CREATE TABLE main.ages AS SELECT 1",
        "CREATE TABLE releases.ages (n INTEGER)",
        "CREATE OR REPLACE TABLE releases.ages AS SELECT 1",
        "CREATE TEMP TABLE releases.ages AS SELECT 1",
        "CREATE TABLE IF NOT EXISTS releases.ages AS SELECT 1",
        "CREATE VIEW releases.ages AS SELECT 1",
        "CREATE SCHEMA releases",
        "CREATE TABLE releases.a.b AS SELECT 1",
        "CREATE",
    ],
)
def test_nothing_else_may_be_created_and_the_refusal_says_what_may(text):
    with pytest.raises(Refusal) as caught:
        read_creation(f"\n {text}")
    assert caught.value.code == "statement_not_allowed"
    assert "CREATE TABLE releases.NAME AS SELECT" in caught.value.fix
    assert caught.value.position == (2, 2)


@pytest.mark.parametrize("text", ["DROP TABLE releases.ages", "ALTER TABLE releases.ages ADD x", "TRUNCATE people"])
def test_what_was_published_stays_published(text):
    with pytest.raises(Refusal, match="stays published") as caught:
        read_creation(text)
    assert caught.value.code == "statement_not_allowed"


def test_a_long_text_is_read_in_one_pass():
    text = "CREATE " + "/* */" * 12_000 + "TABLE"
    with pytest.raises(Refusal):
        read_creation(text)
