"""What cannot be a question is refused from its text alone, quickly, and with its place."""

from __future__ import annotations

import logging

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from adomnia.errors import Refusal
from adomnia.sql.reading.parse import MOST_BRACKETS, MOST_CHARACTERS, MOST_LEVELS, MOST_PIECES, parse
from kit.effort import do_within

ASK = "SELECT COUNT(*) FROM people WHERE "


def refused(text):
    with pytest.raises(Refusal) as refusal:
        parse(text)
    return refusal.value


def test_a_plain_question_is_parsed():
    assert isinstance(parse(ASK + "age > 3"), exp.Select)


@pytest.mark.parametrize("text", ["", " \n\t", ";", ";;", "-- only a comment", "/* the same */;"])
def test_nothing_is_no_question(text):
    assert refused(text).code == "empty"


@pytest.mark.parametrize("code", [0, 1, 8, 11, 12, 14, 31, 127, 128, 0x9F, 0x200E, 0x202E, 0x2066, 0xD800, 0xDFFF])
def test_an_invisible_character_is_refused_wherever_it_stands(code):
    refusal = refused(f"{ASK}name = 'a\n{chr(code)}b'")
    assert (refusal.code, refusal.position) == ("bad_character", (2, 1))
    assert f"U+{code:04X}" in str(refusal)


@pytest.mark.parametrize("separator", ["\x85", "\u2028", "\u2029"])
def test_a_line_separator_that_not_everybody_knows_is_refused(separator):
    refusal = refused(f"SELECT COUNT(*) FROM people --{separator} WHERE age > 1")
    assert (refusal.code, refusal.position) == ("syntax_not_allowed", (1, 31))


@pytest.mark.parametrize("text", ["'Zoë'", "'日本'", "'\U0001f600'", "'a\tb'", "'a''b'", "'a\\'"])
def test_any_readable_text_may_be_a_constant(text):
    assert parse(f"{ASK}name = {text}")


def test_comments_are_read_by_nobody():
    assert parse("SELECT /* ö ; ' */ COUNT(*) FROM people -- ; DROP TABLE \"people")


HEAVY = {
    "a megabyte": "SELECT '" + "x" * 2**20 + "'",
    "too many characters": ASK + "name = '" + "x" * MOST_CHARACTERS + "'",
    "2,000 brackets": ASK + "(" * 2000 + "age > 1" + ")" * 2000,
    "10,000 brackets": ASK + "(" * 10_000 + "age > 1" + ")" * 10_000,
    "one bracket too many": ASK + "(" * (MOST_BRACKETS + 1) + "age > 1" + ")" * (MOST_BRACKETS + 1),
    "one level too many": ASK + "+".join(["age"] * (MOST_LEVELS + 1)) + "> 1",
    "negations": ASK + "NOT " * 2000 + "active",
    "signs": ASK + "- " * 2500 + "age > 1",
    "alternatives of brackets": ASK + "age IN (" + "1," * 30_000 + "1)",
    "words": "SELECT " + "x " * (MOST_PIECES + 1),
    "cases": "SELECT " + "CASE WHEN " * 2500,
    "casts": ASK + "age" + "::INT" * 1500 + " > 1",
    "joins": "SELECT COUNT(*) FROM people" + " JOIN visits" * 12,
    "types": ASK + "TIMESTAMP(" * 60 + "1" + ")" * 60 + " > 1",
    "structs": ASK + "STRUCT(" * 60 + "1" + ")" * 60 + " > 1",
    "unions": "SELECT 1" + " UNION SELECT 1" * 1500,
    "subqueries": "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 70 + "people" + ")" * 70,
    "common table expressions": "WITH " + ", ".join(f"a{n} AS (SELECT 1)" for n in range(1000)) + " SELECT 1",
    "dots": ASK + "a" + ".b" * 2500 + " > 1",
    "semicolons": ";" * 60_000,
    "quotes": "'" * 60_001,
    "dollars": "$" * 60_000,
    "backslashes": "SELECT " + "\\" * 60_000,
    "selects": "SELECT " * 5000,
    "limits": "SELECT 1 LIMIT (" * 60,
}


@pytest.mark.parametrize("text", HEAVY.values(), ids=HEAVY)
def test_a_heavy_text_is_refused_soon(text):
    parse(ASK + "age > 1")  # the first call of the parser builds its tables
    refusal = do_within(0.5, lambda: refused(text))  # promised: 50 ms; what is not bounded takes seconds
    assert refusal.position is not None


@pytest.mark.parametrize(
    "text",
    [
        ASK + "(" * MOST_BRACKETS + "age > 1" + ")" * MOST_BRACKETS,
        ASK + " AND ".join(["active"] * 1500),
        ASK + " OR ".join(["active"] * 1500),
        ASK + "+".join(["age"] * (MOST_LEVELS - 3)) + "> 1",
        ASK + "age IN (" + ", ".join(map(str, range(2500))) + ")",
    ],
    ids=["brackets", "AND", "OR", "levels", "IN"],
)
def test_what_is_large_but_plain_is_parsed(text):
    assert parse(text)


@pytest.mark.parametrize(
    ("text", "code", "position"),
    [
        ("SELECT COUNT(*)\nFROM people;\nDROP TABLE people", "multiple_statements", (2, 12)),
        ("  DROP TABLE people", "statement_not_allowed", (1, 3)),
        ("SELECT COUNT(*)\n FROM\n  WHERE", "syntax_error", (3, 3)),
        (ASK + "name =\n $$x$$", "syntax_not_allowed", (2, 2)),
        (ASK + "name =\n 'x", "syntax_error", (2, 2)),
        (ASK + "age > 1 LIMIT\n (1)", "bad_literal", (2, 2)),
    ],
)
def test_a_refusal_names_line_and_column(text, code, position):
    refusal = refused(text)
    assert (refusal.code, refusal.position) == (code, position)


@pytest.mark.parametrize(
    ("clause", "code"),
    [
        ("WINDOW w AS (ORDER BY age)", "window_function"),
        ("USING SAMPLE 3", "tablesample"),
        ("FOR UPDATE", "statement_not_allowed"),
    ],
)
def test_a_clause_without_meaning_is_refused_by_name(clause, code):
    assert refused(f"SELECT COUNT(*) FROM people {clause}").code == code


def test_a_clause_nobody_thought_of_is_refused_too():
    assert refused("SELECT AS STRUCT COUNT(*) FROM people").code in ("syntax_error", "syntax_not_allowed")
    assert refused("SELECT COUNT(*) FROM people SETTINGS x = 1").code in ("syntax_error", "syntax_not_allowed")


@pytest.mark.parametrize(("fault", "code"), [(RecursionError, "too_complex"), (AttributeError, "syntax_error")])
def test_a_parser_that_stumbles_is_a_refusal(fault, code, monkeypatch):
    class Stumbling:
        def parse(self, *_):
            raise fault

    monkeypatch.setattr("adomnia.sql.reading.parse._DIALECT", Dialect(Stumbling))
    assert refused(ASK + "age > 1").code == code


class Dialect(DuckDB):
    """The dialect with another parser."""

    def __init__(self, parser):
        super().__init__()
        self.parser = parser


def test_a_comment_in_a_comment_must_end_too():
    assert refused("SELECT COUNT(*) FROM people /* a /* b */").code == "syntax_error"
    assert parse("SELECT COUNT(*) FROM people /* a /* b */ */")


@pytest.mark.parametrize("name", ["ƒ", "ƒage", "ƒƒ"])
def test_no_letter_of_a_name_is_lost(name):
    """Functions are marked while the parser reads, by a character that no text may have."""
    (column,) = parse(f'SELECT "{name}" FROM people').expressions
    assert column.name == name
    with pytest.raises(Refusal):
        parse(f"SELECT {name} FROM people")


QUOTED = "WITH secret AS (ALTER TABLE people DROP age) SELECT COUNT(*) FROM secret"


def test_the_parser_does_not_log_a_question(caplog):
    with caplog.at_level(logging.DEBUG), pytest.raises(Refusal):
        parse(QUOTED)
    assert caplog.records == []


def test_what_others_parse_is_logged_as_before(caplog):
    with pytest.raises(Refusal):
        parse(QUOTED)
    sqlglot.parse_one("ALTER TABLE people FOO", dialect="duckdb")
    assert [record.name for record in caplog.records] == ["sqlglot"]
