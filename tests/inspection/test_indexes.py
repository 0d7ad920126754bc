from __future__ import annotations

from dataclasses import replace

from adomnia.catalog.model import EngineChoice
from adomnia.inspection.indexes import describe_index
from adomnia.session.curator import STATE, open_folder, read_catalog
from inspection.catalogs import write_catalog
from kit.filled_postgres import filled

RIDES = """
[engine]
name = "duckdb"
[tables.rides]
source = "{}"
table = "rides"
rows_per_person = 1
[tables.rides.columns]
person_id = {{ type = "id" }}
"""


def test_tables_in_a_database_are_of_when_they_were_read(tmp_path):
    with filled("CREATE TABLE rides (person_id int)") as url:
        folder = write_catalog(tmp_path, "rides.person_id", RIDES.format(url))
        (before,) = describe_index(read_catalog(folder))
        assert before.says == f"There is none of version 1 yet: it will be made in {folder / STATE}."
        open_folder(folder).close()
        (after,) = describe_index(read_catalog(folder))
    assert after.says.startswith(f"It lies in {folder / STATE}, and has the rows of 20")
    assert "raise version" in after.says


def test_an_index_that_lies_elsewhere_is_not_missed_here(tmp_path):
    with filled("CREATE TABLE rides (person_id int)") as url:
        catalog = read_catalog(write_catalog(tmp_path, "rides.person_id", RIDES.format(url)))
        (told,) = describe_index(replace(catalog, engine=EngineChoice("postgres")))
        assert told.says.startswith("It lies in a schema of the database of these tables, or, where its role may not")
        (told,) = describe_index(replace(catalog, engine=EngineChoice("spark", index="s3a://bucket/adomnia")))
        assert told.says == "There is none of version 1 yet: it will be made in s3a://bucket/adomnia."


def test_nothing_is_said_of_files(tmp_path):
    (tmp_path / "rides.csv").write_text("person_id\n1\n")
    text = RIDES.format("rides.csv").replace('table = "rides"\n', "")
    assert list(describe_index(read_catalog(write_catalog(tmp_path, "rides.person_id", text)))) == []
