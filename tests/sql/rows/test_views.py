from __future__ import annotations

from adomnia.catalog.model import View
from adomnia.sql.rows.views import list_sources, open_view
from kit import hospital
from kit.catalogs import gather, people, plain, public


def test_a_view_is_a_table_with_what_follows_of_its_columns(tmp_path):
    catalog = hospital.declare(tmp_path / "hospital", hospital.LINKED)
    grown, stays = (open_view(view, catalog) for view in catalog.views)
    assert [column.name for column in grown.columns] == ["person_id", "sex", "monthly", "age"]
    assert (grown.rows_per_person, grown.public, stays.rows_per_person) == (1, False, 3)
    assert grown.column("age").domain is not None


def test_a_view_of_public_tables_is_public():
    catalog = gather([public("cities", plain("city"))], [view := View("towns", "SELECT city FROM cities")], unit="row")
    assert open_view(view, catalog).public


def test_a_view_is_made_of_tables_and_of_other_views():
    joined = "WITH c AS (SELECT * FROM a) SELECT * FROM c JOIN people USING (person_id)"
    views = [View("a", "SELECT * FROM PEOPLE"), View("b", joined)]
    catalog = gather([people()], views)
    assert [list_sources(view, catalog) for view in views] == [("people",), ("people", "a")]
