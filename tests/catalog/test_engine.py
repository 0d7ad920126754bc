from __future__ import annotations

import pytest

from adomnia.catalog.model import EngineChoice
from adomnia.errors import Refusal
from catalog.catalogs import CLINIC, reading

URL = "postgresql://host/clinic"


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
