from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest

from adomnia.catalog.model import USUAL_CSV, CsvFormat, EngineChoice, SourceColumn
from adomnia.catalog.sources import split_table_name
from adomnia.errors import Refusal
from catalog.catalogs import CLINIC, changed, reading

AGE = 'age = { type = "integer", lower = 0, upper = 120 }'
URL = "postgresql://host/clinic"


def test_how_a_csv_file_is_spelled_is_read_as_it_is_written(tmp_path):
    declared = (
        'delimiter = ";", encoding = "cp1252", decimal = ",", thousands = ".", dates = "%d.%m.%Y", currency = "$"'
    )
    text = changed(
        'source = "visits.csv"', f'source = "visits.csv.gz"\ncsv = {{ {declared}, null = ["NA", ""], quote = "" }}'
    )
    catalog = reading(tmp_path, text)
    assert catalog.table("visits").csv == CsvFormat(";", "cp1252", ",", ".", "%d.%m.%Y", "$", ("NA", ""), "")
    assert catalog.table("people").csv == USUAL_CSV


def test_a_column_is_found_under_the_name_that_the_file_has_for_it(tmp_path):
    text = changed(
        AGE, 'age = { column = "Age (years)", type = "integer" }\n"Née le" = { type = "date", format = "%d/%m/%Y" }'
    )
    table = reading(tmp_path, text).table("people")
    assert table.source_column("age") == SourceColumn("Age (years)")
    assert table.source_column("Née le") == SourceColumn("Née le", "%d/%m/%Y")
    assert table.source_column("name") == SourceColumn("name")
    assert table.column("Née le") is not None


@pytest.mark.parametrize(
    "name", ["rank", "person", "rowid", "bucket", "select", "a.b", "Größe", 'a"b', "age grid", "-"]
)
def test_a_column_may_have_any_name(tmp_path, name):
    key = name.replace('"', '\\"')
    text = changed(AGE, f'"{key}" = {{ type = "integer" }}')
    assert reading(tmp_path, text).table("people").column(name) is not None


def test_the_unit_and_links_may_have_any_name(tmp_path):
    text = changed('unit = "people.person_id"', 'unit = "people.Person. Id"')
    text = text.replace('person_id = { type = "id" }\nage', '"Person. Id" = { type = "id" }\nage')
    text = text.replace('"person_id -> people.person_id"', '"Who is it -> people.Person. Id"')
    text = text.replace('person_id = { type = "id" }, cost', '"Who is it" = { type = "id" }, cost')
    catalog = reading(tmp_path, text)
    assert str(catalog.unit) == "people.Person. Id"
    assert catalog.table("people").column("Person. Id").kind.person
    assert catalog.table("visits").column("Who is it").kind.person


def in_postgres(table, url="postgresql://host/clinic"):
    return f'source = "{url}"\ntable = "{table}"'


def test_a_table_in_postgresql_is_named_with_or_without_its_schema(tmp_path):
    text = changed('source = "people.parquet"', in_postgres("people"))
    text = text.replace('source = "visits.csv"', in_postgres("ward.visits"))
    catalog = reading(tmp_path, text)
    people, visits = catalog.table("people"), catalog.table("visits")
    assert people.locate(tmp_path) == "postgresql://host/clinic"
    assert split_table_name(people.source_table) == ("public", "people")
    assert split_table_name(visits.source_table) == ("ward", "visits")
    assert catalog.table("items").locate(tmp_path) == tmp_path / "items.parquet"


def test_a_database_of_postgresql_needs_a_table_and_no_csv_format(tmp_path):
    with pytest.raises(Refusal, match='add table = "people"'):
        reading(tmp_path, changed('source = "people.parquet"', 'source = "postgresql://host/clinic.csv"'))
    spelled = in_postgres("people", "postgresql://host/clinic.csv") + '\ncsv = { delimiter = ";" }'
    with pytest.raises(Refusal, match="is for CSV files"):
        reading(tmp_path, changed('source = "people.parquet"', spelled))


@pytest.mark.parametrize("url", ["postgresql://me:geheim@host/clinic", "postgresql://host/clinic?password=geheim"])
def test_a_password_in_a_source_is_refused_and_never_repeated(tmp_path, url):
    with pytest.raises(Refusal, match="has a password in it") as caught:
        reading(tmp_path, changed('source = "people.parquet"', in_postgres("people", url)))
    assert "geheim" not in str(caught.value)
    assert caught.value.position == (15, 1)


@pytest.mark.parametrize(
    ("private", "public"),
    [
        (in_postgres("people"), in_postgres("people")),
        (in_postgres("people"), in_postgres("public.People")),
        (in_postgres("ward.people"), in_postgres("ward.people", "postgres:///?service=clinic")),
    ],
)
def test_a_public_table_is_no_private_one_of_any_database(tmp_path, private, public):
    text = changed('source = "people.parquet"', private).replace('source = "cities.csv"', public)
    with pytest.raises(Refusal, match="is also the table of people, which is private"):
        reading(tmp_path, text)


@pytest.mark.parametrize("public", [in_postgres("cities"), in_postgres("codes.people"), 'source = "people.parquet"'])
def test_a_public_table_may_lie_beside_a_private_one_in_postgresql(tmp_path, public):
    text = changed('source = "people.parquet"', in_postgres("people")).replace('source = "cities.csv"', public)
    assert reading(tmp_path, text).table("cities").public


def test_a_table_of_a_database_is_named(tmp_path):
    text = changed('source = "people.parquet"', 'source = "all.sqlite"\ntable = "The People"')
    text = text.replace('source = "cities.csv"', 'source = "all.sqlite"\ntable = "cities"')
    catalog = reading(tmp_path, text)
    assert catalog.table("people").source_table == "The People"
    assert catalog.table("visits").source_table is None


@pytest.mark.parametrize(
    ("private", "public"),
    [
        ('"data"', '"data/cities.parquet"'),
        ('"data/cities.parquet"', '"data"'),
        ('"data"', '"data/more/*.parquet"'),
        ('"data/*.parquet"', '"data/cities.parquet"'),
        ('"data/c?ties.parquet"', '"data/../data/cities.parquet"'),
        ('"data/a*.parquet"', '"data/*b.parquet"'),
        ('"all.db"\ntable = "People"', '"all.db"\ntable = "people"'),
    ],
)
def test_a_public_table_shares_no_file_with_a_private_one(tmp_path, private, public):
    text = changed('"people.parquet"', private).replace('"cities.csv"', public)
    with pytest.raises(Refusal, match="is also the file of people, which is private"):
        reading(tmp_path, text)


@pytest.mark.parametrize("private", ["data", "data/*.parquet", "data/own.parquet"])
@pytest.mark.parametrize("is_hard", [True, False])
def test_a_link_gives_a_file_another_name_and_not_another_content(tmp_path, private, is_hard):
    (tmp_path / "data").mkdir()
    (tmp_path / "other.parquet").touch()
    own = tmp_path / "data" / "own.parquet"
    own.hardlink_to(tmp_path / "other.parquet") if is_hard else own.symlink_to(tmp_path / "other.parquet")
    text = changed("people.parquet", private).replace("cities.csv", "other.parquet")
    with pytest.raises(Refusal, match="is also the file of people, which is private"):
        reading(tmp_path, text)


def test_files_that_nobody_may_list_are_left_to_who_reads_them(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "is_dir", Mock(side_effect=PermissionError))
    assert reading(tmp_path, changed("people.parquet", "data")).table("people").source == "data"


@pytest.mark.parametrize(
    ("private", "public"),
    [
        ('"data/visits*.parquet"', '"data/cities.parquet"'),
        ('"data/a*.parquet"', '"more/a*.parquet"'),
        ('"data"', '"data.parquet"'),
    ],
)
def test_a_public_table_may_lie_beside_a_private_one(tmp_path, private, public):
    assert (
        reading(tmp_path, changed('"people.parquet"', private).replace('"cities.csv"', public)).table("cities").public
    )


def moved(*tables, url=URL):
    """The clinic with some tables in PostgreSQL."""
    text = CLINIC
    for name in tables:
        start = text.index(f"[tables.{name}]\n") + len(f"[tables.{name}]\n")
        end = text.index("\n", start)
        text = text[:start] + f'source = "{url}"\ntable = "{name}"' + text[end:]
    return text


PRIVATE = ("people", "visits", "items")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (CLINIC, "duckdb"),
        (moved("cities"), "duckdb"),
        (moved("people"), "duckdb"),
        (moved(*PRIVATE), "postgres"),
        (moved(*PRIVATE, "cities"), "postgres"),
        (moved(*PRIVATE).replace(URL, "postgresql://other/clinic", 1), "duckdb"),
    ],
)
def test_the_index_lies_in_the_database_that_holds_all_private_tables(tmp_path, text, name):
    assert reading(tmp_path, text).engine == EngineChoice(name)


def test_an_engine_that_is_declared_is_taken(tmp_path):
    declared = '\n[engine]\nname = "spark"\nurl = "sc://host:15002"\n'
    assert reading(tmp_path, CLINIC + declared).engine == EngineChoice("spark", "sc://host:15002")
    assert reading(tmp_path, moved(*PRIVATE) + '\n[engine]\nname = "duckdb"\n').engine == EngineChoice("duckdb")
    assert reading(tmp_path, moved(*PRIVATE) + '\n[engine]\nname = "postgres"\n').engine == EngineChoice("postgres")


@pytest.mark.parametrize("line", ['url = "sc://host:15002"', 'index = "/srv/adomnia"'])
def test_the_address_of_a_server_and_the_place_of_its_index_are_for_spark(tmp_path, line):
    with pytest.raises(Refusal, match="is for spark, and duckdb takes none"):
        reading(tmp_path, CLINIC + f'\n[engine]\nname = "duckdb"\n{line}\n')


SPARK = '\n[engine]\nname = "spark"\nindex = "s3a://bucket/adomnia"\n'


def test_tables_are_read_where_only_spark_does(tmp_path):
    text = moved("people", url="spark://").replace('source = "visits.csv"', 'source = "s3a://bucket/visits"')
    found = reading(tmp_path, text + SPARK)
    assert found.engine == EngineChoice("spark", None, "s3a://bucket/adomnia")
    assert [found.table(name).locate(tmp_path) for name in ("people", "visits")] == ["spark://", "s3a://bucket/visits"]
    assert [found.table(name).is_elsewhere for name in PRIVATE] == [True, True, False]
    for other in ("", '\n[engine]\nname = "duckdb"\n'):
        with pytest.raises(Refusal, match="is where only Spark reads"):
            reading(tmp_path, text + other)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (moved("people", url="spark://").replace('table = "people"\n', ""), "nothing says which of its tables"),
        (moved("people", url="s3a://bucket/people"), "is for databases"),
        (moved("cities", url="spark://"), "a public table is a file"),
        (moved("people", url="s3a://key:secret@bucket/people"), "not built yet"),
        (CLINIC.replace('"visits.csv"', '"s3a://bucket/visits.csv"\ncsv = { quote = "" }'), "is for CSV files"),
    ],
)
def test_what_spark_does_not_read_is_refused(tmp_path, text, why):
    with pytest.raises(Refusal, match=why) as refused:
        reading(tmp_path, text + SPARK)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("text", [CLINIC, moved("people"), moved("cities")])
def test_postgres_needs_all_private_tables_in_one_database(tmp_path, text):
    with pytest.raises(Refusal, match="needs all private tables in one database") as caught:
        reading(tmp_path, text + '\n[engine]\nname = "postgres"\n')
    assert caught.value.what.startswith("engine.name")
