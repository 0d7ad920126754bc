"""Everything that is wrong with a folder is found at once, with the line of the catalog that it is about."""

from __future__ import annotations

import pytest

from adomnia.inspection.checking import check_folder
from inspection.catalogs import write_catalog
from kit.example import write_example
from kit.filled_postgres import filled, run


@pytest.fixture
def folder(tmp_path):
    return write_example(tmp_path / "hospital", people=20)


def change(folder, *replacements):
    catalog = folder / "catalog.toml"
    text = catalog.read_text()
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new, 1)
    catalog.write_text(text)
    return text.splitlines()


def told(folder, lines):
    return [(lines[problem.position[0] - 1].split(" ")[0], problem.why) for problem in check_folder(folder).problems]


def test_a_folder_without_problems_has_a_catalog(folder):
    found = check_folder(folder)
    assert found.problems == ()
    assert found.catalog.name == "hospital"


def test_files_and_columns_that_are_not_there_are_found_beside_faults_of_the_catalog(folder):
    (folder / "visits.parquet").unlink()
    lines = change(folder, ("version = 1", "version = 0"), ("eye_color =", "eye_colour ="), ("age = {", "aeg = {"))
    assert [word for word, _ in told(folder, lines)] == ["version", "aeg", "eye_colour", "source"]


def test_a_public_file_that_is_missing_is_one_problem(folder):
    (folder / "cities.csv").unlink()
    lines = change(folder)
    assert "source" in [word for word, _ in told(folder, lines)]


def test_every_view_that_cannot_be_read_is_a_problem(folder):
    text = (folder / "catalog.toml").read_text()
    views = '\n[views.wrong]\nsql = "SELECT nothing FROM people"\n[views.empty]\nsql = ""\n'
    (folder / "catalog.toml").write_text(text + views)
    found = told(folder, (text + views).splitlines())
    assert [word for word, _ in found] == ["sql", "sql"]
    assert all(why.startswith("cannot be read: ") for _, why in found)


PEOPLE = """
[tables.people]
source = "people.csv"
rows_per_person = 1
[tables.people.columns]
person_id = { type = "id" }
eye_color = { type = "text" }
"""


CSV = ("rows_per_person", "csv = {{ {} }}\nrows_per_person")
COLUMN = ("eye_color = {", 'eye_color = {{ column = "{}",')


@pytest.mark.parametrize(
    ("content", "fix", "edits"),
    [
        (b"person_id;eye_color\n1;blue\n", 'csv = { delimiter = ";" }', [(CSV, 'delimiter = ";"')]),
        (
            "person_id,Augenfärbung\n1,blau\n".encode("latin-1"),
            'csv = { encoding = "latin-1" }',
            [(CSV, 'encoding = "latin-1"'), (COLUMN, "Augenfärbung")],
        ),
        (b"person_id,Eye Color\n1,blue\n", 'column = "Eye Color" in its line', [(COLUMN, "Eye Color")]),
    ],
)
def test_a_header_that_differs_is_refused_with_the_line_that_mends_it(tmp_path, content, fix, edits):
    (tmp_path / "people.csv").write_bytes(content)
    write_catalog(tmp_path, "people.person_id", PEOPLE)
    (problem,) = check_folder(tmp_path).problems
    assert problem.fix == f"write {fix}"
    change(tmp_path, *((old, new.format(value)) for (old, new), value in edits))
    assert check_folder(tmp_path).problems == ()


def test_a_file_without_a_header_is_one_problem_beside_the_others(folder):
    (folder / "people.parquet").unlink()
    (folder / "people.csv").touch()
    lines = change(folder, ("version = 1", "version = 0"), ("people.parquet", "people.csv"))
    assert told(folder, lines)[1:] == [("source", "cannot be used: File people.csv is empty")]


def test_of_a_public_file_that_cannot_be_read_it_is_said_once(folder):
    lines = change(folder, ('values = "cities.city"', 'values = ["Oslo"]'), ("cities.csv", "nowhere.csv"))
    assert [word for word, _ in told(folder, lines)] == ["source"]


IN_DATABASE = """
[dataset]
name = "town"
version = 1
unit = "people.id"
[budget]
epsilon = 1
[analysts.alice]
epsilon = 1
[tables.people]
source = "{}"
table = "People"
rows_per_person = 1
[tables.people.columns]
id = {{ type = "id" }}
born = {{ type = "date", format = "%d.%m.%Y" }}
"""


def test_what_the_engine_of_a_database_cannot_read_is_found_before_it_is_opened(tmp_path):
    """A role that may make no schema has its rows read by DuckDB, which takes such texts."""
    with filled('CREATE TABLE "People" (id int, born text)') as url:
        run(url, "DROP ROLE IF EXISTS onlooker", "CREATE ROLE onlooker LOGIN")
        (tmp_path / "catalog.toml").write_text(IN_DATABASE.format(url))
        (fault,) = check_folder(tmp_path).problems
        assert "columns.born in " in fault.what
        assert fault.why == "is declared as date, and the table holds text"
        assert 'add [engine] with name = "duckdb"' in fault.fix
        (tmp_path / "catalog.toml").write_text(IN_DATABASE.format(url.replace("postgres@", "onlooker@")))
        (fault,) = check_folder(tmp_path).problems
        assert "does not let its role read all rows of People" in fault.why
        assert 'GRANT SELECT ON "public"."People"' in fault.fix
        run(url, 'GRANT SELECT ON "People" TO onlooker')
        assert check_folder(tmp_path).problems == ()
        run(url, "DROP OWNED BY onlooker", "DROP ROLE onlooker")
