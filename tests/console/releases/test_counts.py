from __future__ import annotations

import pytest

from adomnia.api.actions.releases import list_keys
from adomnia.console.releases.counts import count_by, read_keys, write_count
from adomnia.console.releases.release_lines import open_for
from console.ask.visiting import visiting


@pytest.fixture
def release(publisher):
    def open_named(name):
        with visiting(publisher) as visit:
            return open_for(visit, name)

    return open_named


def test_numbers_in_ranges_are_counted_by_their_ranges(release):
    assert list_keys(release("years")) == ("age_bin",)
    assert list_keys(release("sexes")) == ("sex", "city", "member")


@pytest.mark.parametrize(
    ("asked", "keys"),
    [
        ({}, ()),
        ({"by": "CITY"}, ("city",)),
        ({"by": "city", "and": "sex"}, ("city", "sex")),
        ({"by": "sex", "and": "sex"}, ("sex",)),
        ({"by": "salary", "and": "sex"}, ("sex",)),
        ({"by": "sex; DROP TABLE people"}, ()),
    ],
)
def test_only_columns_of_the_release_are_read_from_an_address(release, asked, keys):
    assert read_keys(release("sexes"), asked) == keys


def test_the_first_two_columns_are_counted_where_nothing_is_named(release):
    both = count_by(release("sexes"), ())
    assert both.keys == ("sex", "city")
    assert both.drawable.figure == {"kind": "heat", "x": "city", "y": "sex", "value": "n"}
    one = count_by(release("years"), ())
    assert one.drawable.figure == {"kind": "bars", "x": "age_bin", "y": "n"}


def test_columns_that_were_not_measured_together_are_a_problem_and_no_error(release):
    apart = release("apart")
    wrong = count_by(apart, ("sex", "city"))
    assert wrong.answer is None
    assert wrong.drawable is None
    assert "not measured together" in str(wrong.problem)
    assert count_by(apart, ()).keys == ("sex",)  # the first alone, where nothing is named


def test_the_question_is_one_that_the_release_answers(release):
    sexes = release("sexes")
    assert write_count(sexes, ("sex",)) == "SELECT sex, COUNT(*) AS n\nFROM releases.sexes\nGROUP BY sex"
    assert len(sexes.sql(write_count(sexes, ("sex", "city")))) == 12
