"""Everything that is wrong with a folder is found at once, with the line of the catalog that it is about."""

from __future__ import annotations

import pytest

from adomnia.inspection.checking import check_folder
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


def test_no_file_is_read_as_public_before_it_is_certain_which_are(folder, monkeypatch):
    """Where a public table has the file of a private one, nothing of it is looked up."""
    from adomnia.inspection import checking

    read = []
    monkeypatch.setattr(checking, "facts_in", lambda _: lambda table: read.append(table.name))
    change(folder, ('source = "cities.csv"', 'source = "people.parquet"'))
    problems = check_folder(folder).problems
    assert any("is also the file of people" in problem.why for problem in problems)
    assert read == []
