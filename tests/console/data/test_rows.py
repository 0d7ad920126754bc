from __future__ import annotations

from adomnia.console.data.rows import make_up_rows, read_public_rows
from adomnia.session import mock
from kit import hospital
from kit.catalogs import people, plain, public
from kit.visits import visit_as_owner


def test_rows_are_made_up_from_the_catalog_alone(tmp_path):
    table = hospital.declare(tmp_path / "hospital").table("people")
    shown = make_up_rows(table)
    assert [head.name for head in shown.heads] == [column.name for column in table.columns]
    assert [head.name for head in shown.heads if head.number] == ["age", "salary", "score", "weight"]
    assert len(set(shown.rows)) == 10
    for row in shown.rows:
        told = dict(zip((head.name for head in shown.heads), row, strict=True))
        assert told["sex"] in {"F", "M", "X"}
        assert told["city"] in hospital.CITIES
        assert 0 <= int(told["age"]) <= 120
        assert 0 <= float(told["salary"].replace(",", "")) <= 500_000


def test_made_up_rows_are_among_those_that_questions_are_tried_on(tmp_path):
    catalog = hospital.declare(tmp_path / "hospital")
    people_of = mock.frames(catalog)["people"].to_pylist()
    names = [column.name for column in catalog.table("people").columns]
    assert [dict(zip(names, row, strict=True)) for row in mock.make_rows(catalog.table("people"), 3)] == people_of[1:4]


def test_of_wide_tables_some_columns_are_shown():
    shown = make_up_rows(people(*(plain(f"c{number}") for number in range(99))))
    assert (len(shown.heads), len(shown.rows[0]), shown.hidden) == (30, 30, 70)


def test_public_rows_are_those_of_the_file(tmp_path):
    catalog = hospital.declare(tmp_path / "hospital")
    with hospital.curated(catalog, [hospital.person(1)], []) as curator:
        shown = read_public_rows(visit_as_owner(curator), catalog.table("cities"))
        assert shown.rows == tuple((city, "North", "1000") for city in hospital.CITIES)


def test_what_cannot_be_read_is_told(tmp_path):
    catalog = hospital.declare(tmp_path / "hospital")
    with hospital.curated(catalog, [hospital.person(1)], []) as curator:
        missing = public("nothing", plain("x"))
        assert "nothing is not among the tables" in read_public_rows(visit_as_owner(curator), missing).problem
