"""A text is taken apart where statements end, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.errors import Refusal
from adomnia.sql.reading.statements import is_complete, read_creation, split_statements
from kit.effort import do_within

PIECES = [
    "SELECT 1",
    "';'",
    "'it''s;'",
    '"a;b"',
    '"a"";"',
    "-- ;\n",
    "/* ; */",
    "/* /* ; */ ; */",
    "$$;$$",
    "$x$;$$;$x$",
]


def texts(text: str) -> list[str]:
    return [statement.text.strip() for statement in split_statements(text)]


@pytest.mark.parametrize("piece", PIECES[1:])
def test_a_semicolon_inside_of_something_ends_nothing(piece):
    assert texts(f"SELECT {piece}; SELECT 2;") == [f"SELECT {piece}".strip(), "SELECT 2"]


@pytest.mark.parametrize("piece", ["'it''s;", '"a;', "/* ;", "/* /* */ ;", "$$;", "$a$ ; $b$"])
def test_what_is_not_closed_goes_to_the_end_and_has_not_ended(piece):
    (only,) = split_statements(f"SELECT {piece} SELECT 2;")
    assert not only.ended
    assert only.text == f"SELECT {piece} SELECT 2;"
    assert not is_complete(only.text)


@pytest.mark.parametrize("text", ["", " \n", ";;", "-- only\n", "/* a; */ ;", "\n;-- x"])
def test_comments_alone_are_no_statement(text):
    assert texts(text) == []
    assert is_complete(text)


def test_an_open_comment_is_told_and_not_dropped():
    assert texts("/* SELECT 1;") == ["/* SELECT 1;"]


def test_a_command_is_a_line_where_a_statement_could_begin():
    found = list(split_statements("\\set epsilon 0.1\n  \\d people; x\nSELECT\n\\d\n;\\q"))
    assert [(each.text, each.command) for each in found] == [
        ("\\set epsilon 0.1", True),
        ("\\d people; x", True),
        ("SELECT\n\\d\n", False),
        ("\\q", True),
    ]


def test_a_statement_knows_where_it_began():
    found = list(split_statements("SELECT 1;\n\n  /* two */ SELECT\n2; SELECT 3"))
    assert [(each.text, each.line, each.column, each.ended) for each in found] == [
        ("SELECT 1", 1, 1, True),
        ("SELECT\n2", 3, 13, True),
        ("SELECT 3", 4, 4, False),
    ]


@given(st.lists(st.sampled_from([*PIECES, " ", "\n", ";", "x", "é", "$", "'", '"', "*/"]), max_size=12))
def test_nothing_but_comments_blanks_and_semicolons_is_lost(pieces):
    text = "".join(pieces)
    found = list(split_statements(text))
    assert all(each.text in text for each in found)
    assert [each.ended for each in found[:-1]] == [True] * (len(found) - 1)
    lines = text.split("\n")
    assert all(lines[each.line - 1][each.column - 1 :].startswith(each.text.split("\n")[0]) for each in found)


@pytest.mark.parametrize("text", ["'" * 60_001, "/*" * 30_000, "$$" * 30_001, "$a" * 30_000, "''" * 30_000 + ";"])
def test_no_text_takes_long(text):
    do_within(0.5, lambda: list(split_statements(text)))


def test_a_comment_ends_where_the_parser_ends_it():
    """At a carriage return too: what follows it is a statement for both."""
    assert [each.text for each in split_statements("-- one;\rSELECT 1; -- two\r\nSELECT 2")] == ["SELECT 1", "SELECT 2"]


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
