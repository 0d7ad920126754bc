"""Everything that is wrong with a folder is found at once, with the line of the catalog that it is about."""

from __future__ import annotations

import pytest

from adomnia.inspection.checking import check_folder
from inspection.catalogs import write_catalog
from kit.example import write_example


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
