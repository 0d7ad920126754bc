from __future__ import annotations

from adomnia.console.data.joins import find_joins, offer_joins
from adomnia.console.data.links import list_links
from kit import hospital
from kit.catalogs import belongings, category, gather, people, public


def joins_of(catalog, name):
    return offer_joins(catalog, list(find_joins(catalog, catalog.table(name), list_links(catalog))))


def test_the_hospital_is_joined_along_its_links(tmp_path):
    catalog = hospital.declare(tmp_path / "hospital", hospital.LINKED)
    told = {join.clause: join.rows_per_person for join in joins_of(catalog, "visits")}
    assert told == {"visits JOIN people USING (person_id)": 3, "visits JOIN items USING (visit_id)": 4}
    told = {join.clause: join.rows_per_person for join in joins_of(catalog, "people")}
    assert told == {
        "people JOIN visits USING (person_id)": 3,
        "people JOIN cities USING (city)": 1,
        "people JOIN zones USING (city)": 2,
    }
    assert {join.clause for join in joins_of(catalog, "items")} == {"items JOIN visits USING (visit_id)"}


def test_public_tables_meet_at_public_values_and_are_free_among_themselves(tmp_path):
    catalog = hospital.declare(tmp_path / "hospital", hospital.LINKED)
    told = {join.clause: join.says for join in joins_of(catalog, "cities")}
    assert told == {
        "cities JOIN people USING (city)": "rows meet at public values: at most 1 row a person",
        "cities JOIN zones USING (city)": "public rows: exact and free",
    }


def test_columns_of_other_names_are_equated():
    catalog = gather([people(category("home town", "a", "b")), public("cities", category("city", "a", "b"))])
    (join,) = joins_of(catalog, "people")
    assert join.clause == 'people JOIN cities ON people."home town" = cities.city'
    assert join.sql == f"SELECT COUNT(*) AS pairs\nFROM {join.clause}"


def test_a_join_that_would_be_refused_is_not_offered():
    catalog = gather([people(), belongings("a", rows=1000), belongings("b", rows=1000), belongings("c", rows=4)])
    assert {join.right for join in joins_of(catalog, "a")} == {"people", "c"}
