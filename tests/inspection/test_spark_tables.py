"""Tables that only Spark reads: what the owner is told before the dataset is opened."""

from __future__ import annotations

import pytest

from adomnia.catalog.read import read
from adomnia.engines.spark import sources
from adomnia.errors import Refusal
from adomnia.inspection.checking import check_folder
from adomnia.inspection.reports import describe_index, inspect_data

CATALOG = """
[dataset]
name = "ward"
version = 1
unit = "people.person_id"
[budget]
epsilon = 1
[analysts.bob]
epsilon = 1
[engine]
name = "spark"
url = "sc://localhost"
index = "s3a://bucket/adomnia"
[tables.people]
source = "spark://"
table = "ward.people"
rows_per_person = 1
[tables.people.columns]
person_id = { type = "id" }
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "catalog.toml").write_text(CATALOG)
    return tmp_path


def test_headers_are_asked_of_the_spark_that_the_catalog_names(folder, monkeypatch):
    asked = []

    def refuse(choice, table):
        asked.append((choice.url, table.source_table))
        raise Refusal("Source ward.people", "is not there for Spark", "correct the catalog")

    monkeypatch.setattr(sources, "check_header", refuse)
    (problem,) = check_folder(folder).problems
    assert "tables.people.source" in problem.what
    assert "is not there for Spark" in problem.why
    assert asked == [("sc://localhost", "ward.people")]
    monkeypatch.setattr(sources, "check_header", lambda *_: None)
    assert check_folder(folder).problems == ()


def test_no_spark_is_asked_where_the_catalog_names_none(folder, monkeypatch):
    monkeypatch.delattr(sources, "check_header")
    (folder / "catalog.toml").write_text(CATALOG.replace('name = "spark"\n', 'name = "duckdb"\n'))
    assert [problem.position is not None for problem in check_folder(folder).problems] == [True]


def test_the_place_of_the_index_is_told(folder):
    catalog = read(folder, lambda _: ())
    (promise,) = describe_index(catalog)
    assert "it will be made in s3a://bucket/adomnia" in str(promise)


def test_data_is_not_looked_at_where_only_spark_reads(folder):
    with pytest.raises(Refusal, match="--data looks at files and databases"):
        inspect_data(read(folder, lambda _: ()))
