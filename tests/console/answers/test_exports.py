from __future__ import annotations

import csv
import io
import json
from math import inf

import pyarrow.parquet as pq
import pytest

from adomnia.console.answers.exports import check_form, encode_file, name_file
from adomnia.errors import Refusal
from kit.answers import key, make_answer, measured

ANSWER = make_answer(
    key("city", "=1+1", "+x", "-y", "@z", "\tt", "Oslo", 'a"b', None),
    measured("n", *[(-k, 10.125, 20.5) for k in range(8)]),
)


def rows_of(answer, **options):
    text = b"".join(encode_file(answer, "csv", **{"simultaneous": False, **options})).decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_numbers_keep_their_signs_and_all_digits():
    row = rows_of(ANSWER)[3]
    assert (row["n"], row["n_lower"], row["n_upper"]) == ("10.125", "-3", "20.5")
    assert rows_of(ANSWER, simultaneous=True)[0]["n_lower"] == "-10.125"


def test_parquet_has_intervals_as_columns_and_the_facts_beside():
    endless = make_answer(key("k", "=a"), measured("n", (-inf, 2.5, inf)))
    table = pq.read_table(io.BytesIO(b"".join(encode_file(endless, "parquet", simultaneous=False))))
    assert table.to_pylist() == [{"k": "=a", "n": None, "n_lower": -inf, "n_upper": inf}]
    assert json.loads(table.schema.metadata[b"adomnia"])["receipt"]["request_id"] == "r-1"


def test_json_is_that_of_the_api():
    told = json.loads(b"".join(encode_file(ANSWER, "json", simultaneous=True)))
    assert told["simultaneous"] is True
    assert told["columns"][0]["values"][0] == "=1+1"


def test_a_form_that_there_is_not_is_refused():
    with pytest.raises(Refusal, match="none of csv, json and parquet"):
        check_form("xlsx")


@pytest.mark.parametrize(
    ("dataset", "request_id", "name"),
    [("hospital", "ab12", "hospital-ab12.csv"), ("Spítali", '"../\r\n;x', "Sp-tali-x.csv"), ("東", "京", "answer.csv")],
)
def test_files_have_plain_names(dataset, request_id, name):
    assert name_file(dataset, request_id, "csv") == name
