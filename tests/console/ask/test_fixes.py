"""Ways out of refusals: each leads on, and says what it changes."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from adomnia.console.ask.form import AskForm
from adomnia.console.ask.pricing import build_price
from adomnia.errors import Refusal
from console.ask.visiting import visiting


def refused(opened, sql, name="alice", **fields):
    with visiting(opened, name) as visit:
        return build_price(visit, AskForm(sql).changed(fields)).refusal


def take(fix, sql):
    return parse_qs(fix.change, keep_blank_values=True).get("sql", [sql])[0]


MENDED = [
    (
        "SELECT citty, AVG(salary) FROM people GROUP BY citty",
        "SELECT city, AVG(salary) FROM people GROUP BY city",
    ),
    ("SELECT AVG(salery) FROM people", "SELECT AVG(salary) FROM people"),
    ("SELECT AVG(p.salery) FROM people p", "SELECT AVG(p.salary) FROM people p"),
    ("SELECT COUNT(*) FROM poeple", "SELECT COUNT(*) FROM people"),
    ("SELECT COUNTT(*) FROM people", "SELECT COUNT(*) FROM people"),
    (
        "SELECT sex, city, COUNT(*) FROM people GROUP BY sex",
        "SELECT sex, city, COUNT(*) FROM people GROUP BY city, sex",
    ),
    ("SELECT sex, COUNT(*) FROM people LIMIT 2", "SELECT sex, COUNT(*) FROM people\nGROUP BY sex LIMIT 2"),
    ("SELECT age FROM people", "SELECT AVG(age) FROM people"),
    ("SELECT * FROM people", "SELECT COUNT(*) FROM people"),
    ("SELECT SUM(weight) FROM people", "SELECT SUM(CLAMP(weight, 0, 100)) FROM people"),
    (
        "SELECT salary, COUNT(*) FROM people GROUP BY salary",
        "SELECT FLOOR(salary / 50000) * 50000, COUNT(*) FROM people GROUP BY FLOOR(salary / 50000) * 50000",
    ),
    (
        "SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis",
        "SELECT hospital, COUNT(*) FROM visits GROUP BY hospital",
    ),
    ("SELECT COUNT(*) FROM people; SELECT 2", "SELECT COUNT(*) FROM people"),
]


@pytest.mark.parametrize(("sql", "mended"), MENDED)
def test_the_first_fix_of_a_text_mends_it(shared_house, sql, mended):
    first = refused(shared_house, sql).fixes[0]
    assert take(first, sql) == mended
    assert refused(shared_house, mended) is None
    assert {part.kind for part in first.diff} & {"ins", "del"}


def test_values_that_nobody_declared_can_be_named_or_found(shared_house):
    sql = "SELECT diagnosis, COUNT(*) FROM visits WHERE cost > 3 GROUP BY diagnosis"
    fixes = {fix.label: fix for fix in refused(shared_house, sql, "bob").fixes}
    named = take(fixes["Name the values that you want"], sql)
    assert named == sql.replace("GROUP", "AND diagnosis IN ('a', 'b')\nGROUP")
    assert fixes["Find the values that enough people share"].change == "delta=1e-9"
    last = refused(shared_house, sql, "alice").fixes[-1]
    assert (last.off, last.change) == (True, "")


def test_of_two_mistakes_a_fix_mends_one_and_says_that_there_is_more(shared_house):
    (first,) = refused(shared_house, "SELECT AVG(salery) FROM people WHERE agee > 3").fixes
    assert "more to fix" in first.note


def test_an_error_in_groups_of_unknown_size_is_asked_with_a_size(shared_house):
    fixes = refused(shared_house, "SELECT sex, AVG(age) AS a FROM people GROUP BY sex", pay="error", amount="2").fixes
    assert [fix.label for fix in fixes][:2] == ["Suppose groups of 1,000 rows", "Ask how large the groups are first"]
    assert "COUNT(*)" in take(fixes[1], "")


@pytest.mark.parametrize(
    ("fields", "change"),
    [
        ({"rows": "none"}, "rows=1000"),
        ({"effort": "extreme"}, "effort=normal"),
        ({"inference": "martians"}, "inference=data"),
        ({"pay": "gold"}, "pay=epsilon&amount=0.25"),
    ],
)
def test_a_field_that_cannot_be_read_is_set_to_one_that_can(shared_house, fields, change):
    assert refused(shared_house, "SELECT COUNT(*) FROM people", **fields).fixes[0].change == change


def test_what_would_be_refused_for_the_same_reason_is_not_offered(shared_house):
    assert refused(shared_house, "DELETE FROM people").fixes == ()
    assert refused(shared_house, "SELECT COUNT(* FROM people").fixes == ()


def test_no_fix_needs_a_place_that_a_refusal_does_not_have(shared_house):
    from adomnia.console.ask.pricing import view_problem

    with visiting(shared_house) as visit:
        for code in ("unknown_column", "not_an_aggregate", "unbounded_expression", "multiple_statements", "other"):
            told = Refusal("x", "is not known", "did you mean y?", code=code)
            assert view_problem(visit, AskForm("SELECT x"), told).fixes == ()
