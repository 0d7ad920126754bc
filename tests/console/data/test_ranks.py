from __future__ import annotations

from adomnia.console.data.links import list_links
from adomnia.console.data.ranks import arrange_ranks
from kit.catalogs import belongings, category, gather, people, plain, public


def arrange(*tables):
    catalog = gather(tables)
    return arrange_ranks(catalog, list_links(catalog))


def test_tables_stand_as_far_from_people_as_their_links_are_long():
    assert arrange(belongings("items", "visits"), belongings("visits"), people()) == [["people"], ["visits"], ["items"]]


def test_public_tables_stand_one_step_behind_the_nearest_that_they_explain():
    city = category("city", "a", "b")
    visits, items = belongings("visits", "people", city), belongings("items", "visits", city)
    assert arrange(people(), visits, items, public("cities", city)) == [["people"], ["visits"], ["items", "cities"]]


def test_tables_stand_in_the_order_of_those_that_they_belong_to():
    tables = [people(), belongings("a"), belongings("b"), belongings("of_b", "b"), belongings("of_a", "a")]
    assert arrange(*tables)[2] == ["of_a", "of_b"]


def test_what_is_linked_with_nothing_stands_side_by_side():
    assert arrange(people(), *(public(f"p{k}", plain("x")) for k in range(5)))[0] == ["people", "p0", "p4"]
