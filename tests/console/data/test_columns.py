from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction

from adomnia.console.data.columns import Bounds, describe_columns
from adomnia.privacy.domains import Numbers
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Boolean, Day, Identity, Moment, Quantity
from kit.catalogs import belongings, category, people, plain, public


def describe(column, rows=1):
    return describe_columns(people(column, rows=rows))[1]


def number(lower, upper, step="0.25"):
    bounds = Fraction(lower), Fraction(upper)
    return Column("x", Quantity(*bounds), Numbers(*bounds, Fraction(step)))


def test_bounds_are_shown_with_their_step_and_where_zero_lies():
    assert describe(number(0, 500_000)).bounds == Bounds("0", "500,000", None, "0.25")
    assert describe(number(-10, 30)).bounds == Bounds("-10", "30", 0.25, "0.25")


def test_one_person_moves_a_sum_by_all_their_rows_at_the_farther_bound():
    assert describe(number(-10, 30), rows=10).moves == "300"
    assert describe(number(-50, 30), rows=2).moves == "100"
    assert describe(plain("x")).moves == ""


def test_days_and_times_have_bounds_and_zones():
    assert describe(Column("x", Day(date(2020, 1, 1), date(2024, 12, 31)))).bounds == Bounds("2020-01-01", "2024-12-31")
    seen = describe(
        Column("x", Moment(*map(datetime.fromisoformat, ("2020-01-01", "2020-01-02T03:00")), "Europe/Oslo"))
    )
    assert seen.bounds == Bounds("2020-01-01 00:00:00", "2020-01-02 03:00:00")
    assert seen.says == "local time of Europe/Oslo"


def test_the_first_twelve_values_are_shown_and_two_hundred_more_on_request():
    values = describe(category("x", *map(str, range(1000)))).values
    assert (values.first[-1], values.more[0], len(values.more)) == ("11", "12", 200)
    assert (values.beyond, values.rest, values.total) == (788, 988, 1000)
    assert describe(category("x", "a", "b", "?", others=True)).values.others == "?"


def test_ids_say_where_they_lead():
    told = {facts.name: facts.says for facts in describe_columns(belongings("items", "visits"))}
    assert told == {"items_id": "other tables lead to it", "visits_id": "leads to visits.visits_id"}
    assert describe_columns(people())[0].says == "whose row it is"


def test_what_is_not_declared_is_said_to_be_nothing():
    kinds = (Quantity(), Day(), Identity())
    assert [describe(Column("x", kind)).says for kind in kinds] == ["nothing"] * 3
    assert describe(Column("x", Boolean())).says == ""


def test_of_public_columns_no_person_moves_anything():
    (facts,) = describe_columns(public("cities", number(0, 9)))
    assert (facts.moves, facts.uses) == ("", "")
