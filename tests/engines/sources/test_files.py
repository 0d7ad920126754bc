from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.engines.duckdb import DuckDB
from adomnia.engines.sources.files import list_files
from adomnia.errors import Refusal
from engines.databases import catalog, contents, people, whole

TABLE = whole("age", 0, 120)


def write(folder, *names, first=0):
    for place, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"person_id": [first + place], "age": [30 + place]}), folder / name)


def ages(folder, source, version=1):
    known = catalog(people(TABLE, source=source), folder=folder, version=version)
    engine = DuckDB.open(known, folder / "state")
    found = sorted(row["age"] for row in contents(engine, "people"))
    engine.close()
    return found


@pytest.mark.parametrize("source", ["parts", "parts/", "parts/*.parquet", "parts/p[12].parquet"])
def test_a_folder_and_a_pattern_are_all_of_their_files(tmp_path, source):
    write(tmp_path, "parts/p1.parquet", "parts/p2.parquet")
    (tmp_path / "parts" / "_SUCCESS").touch()
    assert ages(tmp_path, source) == [30, 31]


def test_a_folder_has_the_files_of_the_folders_in_it(tmp_path):
    write(tmp_path, "parts/year=2020/a.parquet", "parts/year=2021/a.parquet")
    assert ages(tmp_path, "parts") == [30, 31]


@pytest.mark.no_cover
@pytest.mark.parametrize("source", ["parts", "parts/*.parquet"])
def test_one_file_more_or_less_is_another_version_of_the_data(tmp_path, source):
    write(tmp_path, "parts/p1.parquet", "parts/p2.parquet")
    assert ages(tmp_path, source) == ages(tmp_path, source) == [30, 31]
    write(tmp_path, "parts/p3.parquet", first=7)
    with pytest.raises(Refusal, match="The data of table people changed, and version 1 stands for what it was"):
        ages(tmp_path, source)
    assert ages(tmp_path, source, version=2) == [30, 30, 31]
    (tmp_path / "parts/p1.parquet").unlink()
    with pytest.raises(Refusal, match="The data of table people changed, and version 2 stands for what it was"):
        ages(tmp_path, source, version=2)


def test_a_file_that_changed_its_name_is_another_version_of_the_data(tmp_path):
    write(tmp_path, "parts/p1.parquet", "parts/p2.parquet")
    ages(tmp_path, "parts")
    (tmp_path / "parts/p1.parquet").rename(tmp_path / "parts/p3.parquet")
    with pytest.raises(Refusal, match="changed, and version 1"):
        ages(tmp_path, "parts")


def test_files_of_one_source_must_be_alike(tmp_path):
    write(tmp_path, "parts/p1.parquet")
    pq.write_table(pa.table({"person_id": [1], "age": ["CANARY"]}), tmp_path / "parts/p2.parquet")
    with pytest.raises(Refusal, match=r"Source p2\.parquet has other columns, .* than p1\.parquet") as refused:
        ages(tmp_path, "parts")
    assert "CANARY" not in str(refused.value)


@pytest.mark.parametrize("source", ["parts", "parts/*.parquet", "*.csv", "missing.parquet"])
def test_a_source_without_files_is_refused(tmp_path, source):
    (tmp_path / "parts").mkdir()
    (tmp_path / "a.csv").touch()
    with pytest.raises(Refusal, match="is not a file that can be read"):
        list_files(tmp_path / source)
