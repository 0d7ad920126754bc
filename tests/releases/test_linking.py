"""Linked tables have as many rows for each person as they say, of people like them, and are the same for everybody."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from adomnia.errors import Refusal
from adomnia.releases.facts import ReleaseFacts
from adomnia.releases.linking import link_releases
from adomnia.releases.model import Release
from adomnia.statistics.products import Attribute, Product

SEX, AGE = Attribute("sex", ("F", "M", None)), Attribute("age", ("0 to 9", "10 to 19"), "integer", (-0.5, 9.5, 19.5))
VISITS, COST = Attribute("visits", (0, 1, 2, 3, None), "integer"), Attribute("cost", ("low", "high"))


def release(name, attributes, rows, measured=(1, 2)):
    places = np.array(rows, dtype=np.int16).reshape(-1, len(attributes))
    values = {each.name: [each.levels[place] for place in places[:, k]] for k, each in enumerate(attributes)}
    for each in attributes:
        if each.edges:
            values[each.name] = [3 if level == each.levels[0] else 14 for level in values[each.name]]
    product = Product(tuple(attributes), rows=places)
    return Release(name, product, "", ReleaseFacts(), (), pa.table(values), (np.array(measured),))


PEOPLE = release("people", [SEX, AGE, VISITS], [(0, 0, 2), (1, 0, 3), (0, 1, 0), (1, 1, 1), (2, 0, 4), (2, 1, 1)])
# Women of the first age have low costs, men of either age high ones; nobody's sex is missing.
ROWS = release("rows", [COST, AGE, SEX], [(0, 0, 0), (0, 0, 0), (1, 0, 1), (1, 1, 1)])


def test_everybody_has_as_many_rows_as_they_say_and_an_id():
    linked = link_releases(PEOPLE, ROWS, count="visits")
    assert linked.people["person_id"].to_pylist() == [1, 2, 3, 4, 5, 6]
    assert linked.rows["person_id"].to_pylist() == [1, 1, 2, 2, 2, 4, 6]
    assert linked.people.num_rows == 6


def test_rows_are_of_people_like_them_and_share_their_values():
    linked = link_releases(PEOPLE, ROWS, count="visits").rows.to_pandas()
    assert linked["cost"].tolist()[:6] == ["low", "low", "high", "high", "high", "high"]
    assert linked["sex"].tolist()[:6] == ["F", "F", "M", "M", "M", "M"]
    assert linked["sex"].isna().tolist()[6]
    assert linked["age"].tolist() == [3, 3, 3, 3, 3, 14, 14]


def test_fewer_columns_are_shared_where_nobody_has_all_and_the_last_is_given_up_first():
    assert link_releases(PEOPLE, ROWS, count="visits", on=["sex", "age"]).matched == {2: 6, 0: 1}
    by_age = link_releases(PEOPLE, ROWS, count="visits", on=["age", "sex"])
    assert by_age.matched == {2: 6, 1: 1}
    assert by_age.rows["cost"].to_pylist()[-1] == "high"  # the only row of that age


def test_without_shared_columns_any_row_is_as_good():
    assert link_releases(PEOPLE, ROWS, count="visits", on=[]).matched == {0: 7}


def test_everybody_gets_the_same_and_other_measurements_give_others():
    many = [(k % 2, 0, 3) for k in range(60)]
    mixed = [(k % 2, 0, k // 2 % 2) for k in range(40)]
    people, rows = release("people", [SEX, AGE, VISITS], many), release("rows", [COST, AGE, SEX], mixed)
    one, same = (link_releases(people, rows, count="visits").rows for _ in range(2))
    assert one.equals(same)
    other = link_releases(people, release("rows", [COST, AGE, SEX], mixed, (7,)), count="visits").rows
    assert not one.equals(other)
    assert 0.2 < np.mean([cost == "high" for cost in one["cost"].to_pylist()]) < 0.8  # false alarm below 1e-12


def test_an_id_gives_way_to_a_column_of_that_name():
    named = release("people", [Attribute("person_id", ("a",)), VISITS], [(0, 2)])
    linked = link_releases(named, ROWS, count="visits")
    assert linked.people.column_names[0] == "person_id_"
    assert linked.rows.column_names[0] == "person_id"


@pytest.mark.parametrize(
    ("people", "rows", "options", "says"),
    [
        (PEOPLE, ROWS, {"count": "sex"}, "is not how many rows"),
        (PEOPLE, ROWS, {"count": "nothing"}, "is not how many rows"),
        (PEOPLE, ROWS, {"count": "visits", "on": ["cost"]}, "both have sex, age"),
        (PEOPLE, ROWS, {"count": "visits", "on": "sex"}, "both have sex, age"),
        (PEOPLE, release("rows", [COST, SEX], []), {"count": "visits"}, "has no rows to link"),
        (
            PEOPLE,
            release("rows", [Attribute("sex", ("F", "M"))], [(0,)]),
            {"count": "visits"},
            "has other values in one release",
        ),
    ],
)
def test_what_cannot_be_linked_is_refused(people, rows, options, says):
    with pytest.raises(Refusal, match=says):
        link_releases(people, rows, **options)
