from __future__ import annotations

import pytest

from adomnia.engines.contract import grid_name, stored_name
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Identity
from engines.databases import PERSON, number, whole


def test_a_bounded_number_has_a_grid_beside_it_and_a_whole_one_is_its_own():
    assert grid_name(number("fare", 0, 100)) == "fare grid"
    assert grid_name(whole("age", 0, 120)) == "age"


def test_the_key_of_the_person_is_read_as_the_person_and_ids_that_link_nothing_cannot_be_read():
    assert stored_name(PERSON) == "person"
    assert stored_name(Column("visit_id", Identity(linked="visits.visit_id"))) == "visit_id"
    assert stored_name(whole("age", 0, 120)) == "age"
    with pytest.raises(ValueError, match="Column visit_id is an id other than the person's, which no index keeps"):
        stored_name(Column("visit_id", Identity()))
