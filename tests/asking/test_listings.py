"""What there is to ask about, answered from the catalog and free."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from adomnia.asking.listings import list_catalog
from adomnia.errors import Refusal
from adomnia.methods.registry import METHODS
from adomnia.session.curator import open_mock, read_catalog
from adomnia.sql.reading.statements import is_listing
from adomnia.statistics.products import Attribute
from kit import hospital


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hospital")
    hospital.write(folder, [hospital.person(1)], [hospital.visit(1)])
    return read_catalog(folder)


def rows(text, catalog):
    columns = list_catalog(text, catalog)
    lines = zip(*(column.values for column in columns), strict=True)
    return [dict(zip([column.name for column in columns], line, strict=True)) for line in lines]


@pytest.mark.parametrize(
    "text",
    [
        "SHOW TABLES",
        " show\n/* all */ tables ;; -- x",
        "DESCRIBE people",
        'DESC "people";',
        "describe nothing",
        "SHOW METHODS;",
    ],
)
def test_listings_are_recognized(text):
    assert is_listing(text)


@pytest.mark.parametrize(
    "text",
    ["SHOWTABLES", "SHOW TABLES x", "DESCRIBE", "DESCRIBE a b", "DESCRIBE a; SELECT 1", "SELECT 1", "", "DESC a.b"],
)
def test_what_only_looks_like_one_is_none(text, catalog):
    assert not is_listing(text)
    with pytest.raises(ValueError, match="Listing must be"):
        list_catalog(text, catalog)


def test_tables_are_told_with_how_many_rows_of_a_person_count(catalog):
    found = {row["table"]: row for row in rows("SHOW TABLES", catalog)}
    assert list(found) == [each.name for each in (*catalog.tables, *catalog.views)]
    for table in catalog.tables:
        wanted = ("public", None) if table.public else ("private", table.rows_per_person)
        assert (found[table.name]["kind"], found[table.name]["rows_per_person"]) == wanted
        assert found[table.name]["columns"] == len(table.columns)


def test_columns_are_told_with_what_is_declared_of_them(catalog):
    found = {row["column"]: (row["type"], row["declared"]) for row in rows("DESCRIBE People", catalog)}
    assert list(found) == [column.name for column in catalog.table("people").columns]
    assert found["age"] == ("integer", "0 to 120")
    assert found["sex"][0] == "category"
    assert found["sex"][1].startswith("F, M")
    assert found["name"] == ("text", None)


def test_a_table_that_is_not_there_is_refused_at_its_place(catalog):
    with pytest.raises(Refusal) as refused:
        list_catalog("DESCRIBE\n  peple", catalog)
    assert (refused.value.code, refused.value.position) == ("unknown_table", (2, 3))
    assert "people" in refused.value.fix


def test_a_session_answers_them_for_nothing_and_stores_nothing(catalog):
    with open_mock(catalog) as curator:
        session = curator.session("alice")
        before = session.budget().personal
        answer = session.sql("SHOW TABLES;", epsilon=1)
        assert (answer.cost, answer.receipt, answer.replayed) == (None, None, False)
        assert answer["table"] == [row["table"] for row in rows("SHOW TABLES", catalog)]
        assert session.budget().personal == before
        assert session.answers() == []


def test_show_methods_lists_them_and_describe_tells_their_arguments(catalog):
    found = rows("SHOW METHODS", catalog)
    assert {row["method"] for row in found} == set(METHODS)
    told = rows("DESCRIBE lm", catalog)
    assert told[0]["argument"] == "formula"
    assert told[0]["required"] is True


def test_a_release_is_described_with_the_columns_that_name_its_bins(catalog):
    age = Attribute("age", ("0 to 49", "50 to 99", None), "integer", (-0.5, 49.5, 99.5))
    release = SimpleNamespace(name="ages", attributes=(age, Attribute("sex", ("F", "M"))))
    columns = list_catalog("DESCRIBE releases.ages", catalog, [release])
    assert [column.values for column in columns[:2]] == [("age", "sex", "age_bin"), ("integer", "text", "text")]
    assert columns[2].values[2] == "the bins of age"
