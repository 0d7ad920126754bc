"""Calls are taken apart as they are written: in brackets, texts and comments nothing is mistaken for something else."""

from __future__ import annotations

import pytest

from adomnia.sql.methods.call_texts import is_named, replace_name, replace_release, split_call

TEXT = "SELECT * FROM mwem((SELECT a, f(b, 1) AS b FROM t WHERE c = 'x, (y'), bins => 8, columns => (a, b)) -- , z)"


def test_a_call_is_its_rows_and_its_named_arguments():
    call = split_call(TEXT, "MWEM")
    assert (call.before, call.method) == ("SELECT * FROM ", "mwem")
    assert call.rows == "(SELECT a, f(b, 1) AS b FROM t WHERE c = 'x, (y')"
    assert call.arguments == {"bins": "8", "columns": "(a, b)"}


def test_the_same_rows_are_given_to_another_method():
    written = split_call(TEXT, "mwem").call("marginals", {"ways": "2", "bins": "8"})
    assert written.startswith(
        "SELECT * FROM marginals((SELECT a, f(b, 1) AS b FROM t WHERE c = 'x, (y'), ways => 2, bins => 8)"
    )


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("SELECT * FROM mwem(people)", "people"),
        ("WITH mwem AS (SELECT 1) SELECT * FROM mwem ( mwem ) LIMIT 1", "mwem"),
        ("SELECT * FROM mwem((SELECT mwem(a) FROM t))", "(SELECT mwem(a) FROM t)"),
    ],
)
def test_the_call_in_from_is_found(text, rows):
    assert split_call(text, "mwem").rows == rows


def test_a_question_without_that_call_has_none():
    assert split_call("SELECT COUNT(*) FROM people", "mwem") is None


def test_releases_are_replaced_where_they_are_named_and_not_in_texts():
    text = "SELECT 'releases.ages' FROM Releases . AGES JOIN releases.ages2"
    assert replace_release(text, "ages", "x") == "SELECT 'releases.ages' FROM x JOIN releases.ages2"


def test_names_of_tables_are_replaced_and_columns_of_others_are_not():
    text = "SELECT people.age, t.people, 'people' FROM People"
    assert replace_name(text, "people", "data") == "SELECT data.age, t.people, 'people' FROM data"
    assert is_named(text, "people")
    assert not is_named("SELECT 'people' FROM t", "people")
