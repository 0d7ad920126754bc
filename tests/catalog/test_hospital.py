"""The example is what its catalog says, the same every time, and believable."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from pyarrow import csv, parquet

from adomnia.catalog.model import View
from adomnia.catalog.read import read
from adomnia.engines.sources.facts import find_facts
from adomnia.explaining.promises import promises

EXAMPLE = Path(__file__).parents[2] / "examples" / "hospital"
ARROW_TYPES = {
    "id": {"int64"},
    "integer": {"int64"},
    "number": {"double"},
    "category": {"string"},
    "text": {"string"},
    "date": {"date32[day]"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hospital")
    runpy.run_path(str(EXAMPLE / "generate.py"))["generate"](folder)
    return folder


@pytest.fixture(scope="module")
def tables(folder):
    return {
        "people": parquet.read_table(folder / "people.parquet"),
        "visits": parquet.read_table(folder / "visits.parquet"),
        "items": parquet.read_table(folder / "items.parquet"),
        "cities": csv.read_csv(folder / "cities.csv"),
    }


@pytest.fixture(scope="module")
def catalog(folder):
    return read(EXAMPLE, lambda table: find_facts(folder / table.source, table))


def numbers(column):
    return column.drop_null().to_numpy()


def test_the_files_hold_exactly_the_columns_that_the_catalog_declares(tables, catalog):
    for table in catalog.tables:
        found = {field.name: str(field.type) for field in tables[table.name].schema}
        assert list(found) == [column.name for column in table.columns]
        assert all(found[column.name] in ARROW_TYPES[str(column.kind)] for column in table.columns)


def test_there_are_as_many_people_visits_and_cities_as_promised(tables, catalog):
    sizes = {name: len(table) for name, table in tables.items()}
    assert 35_000 < sizes.pop("items") < 45_000
    assert sizes == {"people": 20_000, "visits": 80_000, "cities": 40}
    assert len(catalog.table("people").column("city").kind.values) == 40
    assert [analyst.name for analyst in catalog.analysts] == ["alice", "bob"]
    assert [promise.about for promise in promises(catalog) if promise.warning] == ["large budget"]


def test_the_same_hospital_is_generated_every_time(tmp_path, tables):
    runpy.run_path(str(EXAMPLE / "generate.py"))["generate"](tmp_path)
    assert parquet.read_table(tmp_path / "people.parquet").equals(tables["people"])
    assert parquet.read_table(tmp_path / "visits.parquet").equals(tables["visits"])
    assert parquet.read_table(tmp_path / "items.parquet").equals(tables["items"])


def test_the_catalog_knows_its_cities_and_names_the_adults(catalog):
    cities = catalog.table("cities")
    assert cities.repeats == (1, 10, 1)
    assert cities.column("city").kind == catalog.table("people").column("city").kind
    assert catalog.views == (View("adults", "SELECT * FROM people WHERE age >= 18"),)
    assert catalog.unique_keys("visits") == ("visit_id",)


def test_every_person_has_one_row_and_a_key_of_their_own(tables):
    assert len(set(tables["people"]["person_id"].to_pylist())) == 20_000
    assert tables["people"]["person_id"].null_count == 0


def test_salaries_are_lognormal_and_follow_age(tables):
    salary = numbers(tables["people"]["salary"])
    logs = np.log(salary)
    assert salary.mean() > np.median(salary) * 1.1
    assert abs(logs.mean() - np.median(logs)) < 0.05
    assert np.any(salary > 500_000)
    rows = tables["people"].select(["age", "salary"]).to_pandas().dropna()
    assert rows[rows.age.between(45, 60)].salary.median() > 1.3 * rows[rows.age < 28].salary.median()


def test_visits_are_skewed_and_some_people_have_more_than_the_cap(tables):
    _, counts = np.unique(numbers(tables["visits"]["person_id"]), return_counts=True)
    assert np.median(counts) < counts.mean()
    assert (counts > 10).sum() > 1_000
    assert counts.max() > 25


def test_few_people_have_more_items_than_the_cap(tables):
    rows = tables["items"].to_pandas().merge(tables["visits"].to_pandas(), on="visit_id")
    counts = rows.groupby("person_id").size()
    assert 0 < (counts > 30).sum() < 0.01 * len(counts)


def test_diagnosis_follows_age(tables):
    rows = tables["visits"].to_pandas().merge(tables["people"].to_pandas(), on="person_id")
    ages = rows.groupby("diagnosis").age.mean()
    assert ages["dementia"] > ages["common cold"] + 25


def test_the_data_is_as_untidy_as_real_data(tables):
    people, visits, items = tables["people"], tables["visits"], tables["items"]
    for column in ("age", "sex", "city", "salary", "eye_color"):
        assert 0 < people[column].null_count < 0.25 * len(people)
    for column in ("person_id", "diagnosis", "cost"):
        assert 0 < visits[column].null_count < 0.05 * len(visits)
    for column in ("visit_id", "kind", "price"):
        assert 0 < items[column].null_count < 0.05 * len(items)
    assert set(numbers(visits["person_id"])) - set(numbers(people["person_id"]))
    assert set(numbers(items["visit_id"])) - set(numbers(visits["visit_id"]))
    assert np.any(numbers(items["price"]) > 5_000)
    assert set(people["city"].drop_null().to_pylist()) - set(tables["cities"]["city"].to_pylist())
