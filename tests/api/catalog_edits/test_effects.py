from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import pytest

from adomnia.api.catalog_edits.effects import MOST_EFFECTS, carry_profiles, compare_errors, show_number
from adomnia.api.catalog_edits.examining import examine_text
from adomnia.catalog.model import Profile
from adomnia.engines.registry import load_engine
from adomnia.session.curator import open_mock
from kit import hospital

SALARY = "lower = 0, upper = 500_000"


@pytest.fixture
def folder(tmp_path):
    hospital.declare(tmp_path)
    return tmp_path


def read(folder, *changes: tuple[str, str]):
    text = hospital.CATALOG
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    examined = examine_text(text, folder)
    assert examined.problems == ()
    return examined.catalog


def test_bounds_move_sum_and_mean_by_their_ratio(folder):
    found = compare_errors(read(folder), read(folder, (SALARY, "lower = 0, upper = 200_000")))
    total, mean = found
    assert (total.sql, total.moves_before, total.moves_after) == (
        "SELECT SUM(salary) FROM people",
        "500,000",
        "200,000",
    )
    assert (total.error_before, total.error_after, total.sharper) == ("± 5,990,000", "± 2,400,000", True)
    assert mean.sql == "SELECT AVG(salary) FROM people"
    assert mean.sharper is True


def test_errors_are_those_that_a_session_prices(folder):
    before, after = read(folder), read(folder, (SALARY, "lower = 0, upper = 900_000"))
    effects = {effect.sql: effect for effect in compare_errors(before, after)}
    for catalog, side in ((before, "error_before"), (after, "error_after")):
        with open_mock(catalog) as curator:
            for sql, effect in effects.items():
                quote = curator.session("alice").price(sql, epsilon=Fraction(1, 4), rows=1000)
                assert getattr(effect, side) == f"± {show_number(quote.outputs[-1].error)}"


def test_no_data_is_opened(folder):
    before, after = read(folder), read(folder, ("rows_per_person = 3", "rows_per_person = 9"))
    with (
        patch.object(load_engine(), "open", side_effect=AssertionError),
        patch.object(load_engine(), "load", side_effect=AssertionError),
    ):
        found = compare_errors(before, after)
    assert {effect.sql for effect in found} >= {"SELECT COUNT(*) FROM visits", "SELECT SUM(cost) FROM visits"}
    assert all(effect.sharper is False for effect in found)


@pytest.mark.parametrize(
    ("change", "sql", "before", "after"),
    [
        (
            ('["F", "M", "X"]', '["F", "M"]'),
            "SELECT sex, COUNT(*) FROM people GROUP BY sex",
            "1, in 3 groups",
            "1, in 2 groups",
        ),
        (
            (SALARY + " }", "lower = 0, upper = 500_000, step = 100 }"),
            "SELECT AVG(salary) FROM people",
            "500,000",
            "500,000",
        ),
        ((", " + SALARY, ""), "SELECT SUM(salary) FROM people", "500,000", "-"),
        (
            ('weight = { type = "number" }', 'weight = { type = "number", lower = 0, upper = 9 }'),
            "SELECT SUM(weight) FROM people",
            "-",
            "9",
        ),
        (
            ('day = { type = "date" }', 'day = { type = "date", lower = 2020-01-01, upper = 2020-12-31 }'),
            "SELECT MEDIAN(day) FROM visits",
            "-",
            "3",
        ),
    ],
)
def test_each_kind_of_change_has_its_question(folder, change, sql, before, after):
    effects = {effect.sql: effect for effect in compare_errors(read(folder), read(folder, change))}
    assert (effects[sql].moves_before, effects[sql].moves_after) == (before, after)


def test_what_changes_no_error_is_not_listed(folder):
    changes = [("version = 1", "version = 2"), ("epsilon = 1_000_000", "epsilon = 2_000_000")]
    assert compare_errors(read(folder), read(folder, *changes)) == []


def test_names_that_are_words_of_sql_are_priced_too(folder):
    odd = ('score = { type = "number", lower = -1.5', '"group by" = { type = "number", lower = {}')
    was, becomes = ((odd[0], odd[1].replace("{}", bound)) for bound in ("-1.5", "-100"))
    found = compare_errors(read(folder, was), read(folder, becomes))
    assert [effect.sql for effect in found] == ["SELECT SUM(group by) FROM people", "SELECT AVG(group by) FROM people"]
    assert all(effect.sharper is False for effect in found)


def test_very_many_changes_are_priced_in_part(folder):
    columns = "".join(f'c{number} = {{ type = "number", lower = 0, upper = 1 }}\n' for number in range(60))
    was = ("eye_color", columns + "eye_color")
    becomes = ("eye_color", columns.replace("upper = 1 ", "upper = 2 ") + "eye_color")
    assert len(compare_errors(read(folder, was), read(folder, becomes))) == MOST_EFFECTS


def test_a_profile_is_carried_over_where_it_need_not_be_paid_again(folder):
    cap = ("rows_per_person = 3", "rows_per_person = { max = 8, epsilon = 0.5 }")
    catalog = read(folder, cap)
    profile = Profile((0, 1, 2, 3, 4, 6, 8), (5, 0, 0, 0, 0, 0), Fraction(1, 2))
    served = replace(
        catalog,
        tables=tuple(replace(table, profile=profile) if table.name == "visits" else table for table in catalog.tables),
    )
    same = carry_profiles(served, read(folder, cap, (SALARY, "lower = 0, upper = 9")))
    assert same.table("visits").profile == profile
    assert carry_profiles(served, read(folder, cap, ("version = 1", "version = 2"))).table("visits").profile is None
