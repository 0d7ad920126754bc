from __future__ import annotations

from adomnia.console.data.links import TableLink, list_links
from kit.catalogs import belongings, category, gather, people, public


def test_rows_lead_to_their_people_and_categories_to_what_explains_them():
    catalog = gather(
        [people(category("city", "a", "b")), belongings("visits"), public("cities", category("town", "a", "b"))]
    )
    assert list_links(catalog) == (
        TableLink("people", "city", "cities", "town", lookup=True),
        TableLink("visits", "person_id", "people", "person_id"),
    )


def test_the_value_of_all_others_is_not_looked_up():
    city = category("city", "a", "b", "?", others=True)
    catalog = gather([people(city), public("cities", category("city", "a", "b"))])
    assert [link.lookup for link in list_links(catalog)] == [True]


def test_other_values_are_no_lookup():
    catalog = gather([people(category("city", "a", "c", "b")), public("cities", category("city", "a", "d", "b"))])
    assert list_links(catalog) == ()


def test_lists_that_are_equal_by_chance_are_no_lookup():
    words = ("yes", "no")
    catalog = gather([people(category("smokes", *words)), public("shops", category("open", *words), repeats=(50,))])
    assert list_links(catalog) == ()


def test_a_column_of_the_same_name_is_one_though_its_values_repeat():
    catalog = gather([people(category("city", "a", "b")), public("zones", category("City", "a", "b"), repeats=(9,))])
    assert [(link.target, link.target_column) for link in list_links(catalog)] == [("zones", "City")]
