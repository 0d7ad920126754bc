from __future__ import annotations

from math import inf, nan

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.engines.duckdb import DuckDB
from adomnia.errors import Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Quantity
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import NonNull, Rows, Total
from engines.databases import answer, catalog, category, contents, number, people, relation

FARE = number("fare", 0, 100, 0.25)
CITY = category("city", "Oslo", "Bergen")
TABLE = people(FARE, CITY)
DATA = {"person_id": [1, 2, 3, None], "fare": [1.5, None, 1000.0, 4.0], "city": ["Oslo", "Bergen", None, "Oslo"]}
QUERIES = [
    Query(relation(TABLE), (CITY,), Rows()),
    Query(relation(TABLE), (CITY,), NonNull(FARE)),
    Query(relation(TABLE), (CITY,), Total(FARE, FARE.domain)),
]
EXPECTED = [[1, 1], [1, 0], [6, 0]]


def opened(folder, source, text=None):
    if text is not None:
        (folder / source).write_bytes(text.encode() if isinstance(text, str) else text)
    engine = DuckDB.open(catalog(people(FARE, CITY, source=source), folder=folder), folder / "state")
    found = answer(engine, *QUERIES)
    engine.close()
    return found


@pytest.mark.parametrize(
    "frame",
    [pa.table(DATA), pd.DataFrame(DATA), pl.DataFrame(DATA), pl.DataFrame(DATA).cast({"city": pl.Categorical})],
    ids=lambda frame: type(frame).__module__,
)
def test_tables_in_memory_are_read_alike(frame):
    engine = DuckDB.load(catalog(TABLE), {"people": frame})
    assert answer(engine, *QUERIES) == EXPECTED
    engine.close()


def test_a_parquet_file_is_read(tmp_path):
    pq.write_table(pa.table(DATA), tmp_path / "it's people.parquet")
    assert opened(tmp_path, "it's people.parquet") == EXPECTED


@pytest.mark.parametrize("others", [[], [2.5], [inf]], ids=["alone", "beside a number", "beside an infinity"])
def test_what_is_not_a_number_is_missing_whatever_the_other_rows_of_the_file_hold(tmp_path, others):
    """Parquet files say what the least and the greatest number is, NaN aside: nothing follows for NaN from that."""
    table = people(FARE, Column("weight", Quantity()), source="people.parquet")
    fares = [nan, nan, nan, *others]
    rows = {"person_id": [1.0, 2.0, nan, *(9.0 for _ in others)], "fare": fares, "weight": fares}
    pq.write_table(pa.table(rows), tmp_path / "people.parquet")
    engine = DuckDB.open(catalog(table, folder=tmp_path), tmp_path / "state")
    found = contents(engine, "people")
    engine.close()
    empty = {"rank": 1, "fare": None, "fare grid": None, "weight": None}
    assert [row | {"person": 0} for row in found[:2]] == [empty | {"person": 0}] * 2
    assert len(found) == 2 + len(others)


def test_a_name_that_would_match_other_files_means_itself(tmp_path):
    for name in ("p1.csv", "pa.csv", "p?.csv"):
        (tmp_path / name).write_text(CSV + "9,9,Oslo\n")
    assert opened(tmp_path, "p[1a]*?.csv", CSV) == EXPECTED


CSV = "person_id,fare,city\n1,1.5,Oslo\n2,,Bergen\n3,1000,\n,4,Oslo\n"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("people.csv", CSV),
        ("people.CSV", CSV),
        ("people.tsv", CSV.replace(",", "\t")),
        ("people.csv", CSV.replace("\n", "\r\n")),
        ("people.csv", CSV.encode("utf-8-sig")),
        ("people.csv", CSV.removesuffix("\n")),
        ("people.csv", CSV.replace("Bergen", '"Bergen"').replace("fare,", '"fare",')),
        (
            "people.csv",
            CSV.replace("fare,city", "fare,note,city")
            .replace("1.5,", '1.5,"a, ""b""\nc; d|e",')
            .replace("4,", "4,,")
            .replace("2,,", "2,,,")
            .replace("1000,", "1000,,"),
        ),
    ],
)
@pytest.mark.no_cover
def test_csv_files_are_read_alike(tmp_path, source, text):
    assert opened(tmp_path, source, text) == EXPECTED


def test_bytes_that_are_in_no_encoding_spoil_their_own_value_alone(tmp_path):
    assert opened(tmp_path, "people.csv", CSV.encode() + b"7,8,Oslo\xff\n") == EXPECTED


def test_a_file_with_a_header_and_no_rows_is_an_empty_table(tmp_path):
    assert opened(tmp_path, "people.csv", "person_id,fare,city\n") == [[0, 0]] * 3


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("people.csv", CSV + "7,8,Oslo,CANARY\n"),
        ("people.csv", CSV + "CANARY\n"),
        ("people.csv", b"\xff\xfe" + CSV.encode("utf-16-le")),
        ("people.csv", ""),
        ("people.csv", '"person_id,fare,city\n1,1,CANARY\n'),
        ("people.parquet", "CANARY"),
        ("people.xlsx", "CANARY"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_without_quoting_it(tmp_path, source, text):
    with pytest.raises(Refusal) as refused:
        opened(tmp_path, source, text)
    assert "CANARY" not in str(refused.value)
    assert refused.value.__context__ is None
    assert refused.value.what in (f"Source {source}", "Column people.person_id")


@pytest.mark.parametrize("source", ["missing.csv", "*.csv", "peopl?.csv", "state"])
def test_a_source_that_is_not_one_file_is_refused(tmp_path, source):
    (tmp_path / "people.csv").write_text(CSV)
    with pytest.raises(Refusal, match="is not a file that can be read"):
        opened(tmp_path, source)


@pytest.mark.parametrize("frame", [pd.DataFrame({"person_id": [1, "CANARY"], "fare": [1, 2]}), [1, 2], None])
def test_what_is_not_a_table_is_refused_without_quoting_it(frame):
    with pytest.raises(Refusal, match="Table people cannot be read as a table") as refused:
        DuckDB.load(catalog(TABLE), {"people": frame})
    assert "CANARY" not in str(refused.value)
    assert refused.value.__context__ is None


def test_an_undeclared_column_is_never_stored(tmp_path):
    frame = pa.table({**DATA, " key": ["x"] * 4, "rank": [9] * 4, "secret": ["s"] * 4})
    engine = DuckDB.load(catalog(TABLE), {"people": frame})
    assert set(contents(engine, "people")[0]) == {"rank", "person", "fare", "fare grid", "city"}
    engine.close()
