"""Places that lie within each other, as far as a question declares it."""

from __future__ import annotations

import pytest

from adomnia.methods.contract import BadArgument
from adomnia.methods.synthesis.geography import Geography, read_geography
from adomnia.statistics.products import Attribute

REGION = Attribute("region", ("south", "west", None))
CITY = Attribute("city", ("Oslo", "Hamar", "Bergen", None))
NESTING = "south: Oslo, Hamar; west: Bergen"


def test_without_a_declaration_every_combination_is_a_place():
    geography = read_geography([REGION, CITY], None)
    assert geography.leaves == 12
    assert [geography.count_nodes(level) for level in range(3)] == [1, 3, 12]
    assert geography.nodes[1].tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert geography.coordinates[1].tolist() == [0, 1, 2, 3] * 3


def test_declared_places_lie_where_they_are_listed_and_missing_ones_in_the_missing_one():
    geography = read_geography([REGION, CITY], NESTING)
    assert geography.leaves == 4
    assert geography.coordinates.tolist() == [[0, 0, 1, 2], [0, 1, 2, 3]]
    assert [geography.count_nodes(level) for level in range(3)] == [1, 3, 4]
    assert geography.nodes.tolist() == [[0] * 4, [0, 0, 1, 2], [0, 1, 2, 3]]


def test_levels_follow_one_another():
    district = Attribute("district", (1, 2, 3, 4, 5))
    region, city = Attribute("region", REGION.levels[:-1]), Attribute("city", CITY.levels[:-1])
    geography = read_geography([region, city, district], NESTING + " | Oslo: 1, 2; Hamar: 3; Bergen: 5, 4")
    assert geography.coordinates.tolist() == [[0, 0, 0, 1, 1], [0, 0, 1, 2, 2], [0, 1, 2, 3, 4]]


def test_one_level_is_nested_by_itself():
    assert Geography((4,)).nodes.tolist() == [[0] * 4, [0, 1, 2, 3]]


@pytest.mark.parametrize(
    ("nesting", "why"),
    [
        ("south: Oslo, Hamar", "Bergen"),
        ("south: Oslo, Hamar, Bergen", "nothing in west"),
        ("south: Oslo, Hamar; west: Bergen, Oslo", "two places"),
        ("south: Oslo, Hamar; east: Bergen", "'east'"),
        ("south: Oslo, Hamar; west: Paris", "'Paris'"),
        ("south Oslo", "without a colon"),
        (NESTING + "|" + NESTING, "2 lists"),
    ],
)
def test_what_is_wrong_with_a_declaration_is_said(nesting, why):
    with pytest.raises(BadArgument, match="nesting") as refused:
        read_geography([REGION, CITY], nesting)
    assert why in refused.value.why
