"""No CSV that we write holds a formula, whoever writes it."""

from __future__ import annotations

import csv
from io import StringIO

import pyarrow as pa
import pytest

from adomnia.api.ledger_view import LedgerEntry
from adomnia.api.ledger_view import write_csv as write_ledger_csv
from adomnia.cli.answers import print_csv
from adomnia.console.answers.exports import encode_file
from adomnia.releases.parquet_files import read_table, write_csv, write_table
from adomnia.spreadsheets import defuse, defuse_table
from adomnia.wire.tables import encode_csv
from kit.answers import key, make_answer, measured

DANGEROUS = ("=1+1", "+x", "-y", "@z", "\tt", "\rr", "\nn", "=", "-", "＝1", "＋1", "－1", "＠z")  # noqa: RUF001 - wide ones
HARMLESS = ("Oslo", "a=b", "", " =1", "'=1", "1-2", "é", "a;b", 'a;"b"', "a, =b", "a\nb", "a;'=b")
INSIDE = {  # where cells are parted by semicolons
    "a;=1": "a;'=1",
    'a;"=1;b': "a;\"'=1;b",
    "a\t@b": "a\t'@b",
    "a\n-b;;+c": "a\n'-b;;'+c",
    "=a;=b": "'=a;'=b",
    "\r\n=a": "'\r\n'=a",
    "a;＝1": "a;'＝1",  # noqa: RUF001 - a wide one
}
TEXTS = (*DANGEROUS, *HARMLESS, *INSIDE)
ANSWER = make_answer(key("=city", *TEXTS), measured("-n", *[(-2, -1, 0)] * len(TEXTS)))


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(StringIO(text, newline="")))


@pytest.mark.parametrize("text", DANGEROUS)
def test_a_text_that_begins_like_a_formula_gets_an_apostrophe(text):
    assert defuse(text) == f"'{text}"


@pytest.mark.parametrize(("text", "wanted"), INSIDE.items())
def test_what_would_be_a_cell_by_itself_gets_one_too(text, wanted):
    assert defuse(text) == wanted
    assert defuse(wanted) == wanted


@pytest.mark.parametrize("text", HARMLESS)
def test_other_texts_stay_as_they_are(text):
    assert defuse(text) == text


def test_tables_are_changed_as_texts_are_and_numbers_stay_numbers():
    texts = pa.array([*TEXTS, None])
    table = pa.table({"=a": texts, "b": texts.cast(pa.large_string()), "c": pa.array([-1.5] * len(texts))})
    found = defuse_table(table)
    assert found.column_names == ["'=a", "b", "c"]
    wanted = [*map(defuse, TEXTS), None]
    assert found["'=a"].to_pylist() == found["b"].to_pylist() == wanted
    assert found["c"].equals(table["c"])


def print_answer(capsys) -> str:
    print_csv(ANSWER)
    return capsys.readouterr().out


def test_every_writer_of_answers_uses_it(capsys):
    over_http, exported = (
        b"".join(some).decode() for some in (encode_csv(ANSWER), encode_file(ANSWER, "csv", simultaneous=False))
    )
    released = write_csv(ANSWER.to_arrow()).decode()
    for text in (over_http, exported, released, print_answer(capsys)):
        heading, *rows = rows_of(text)
        assert heading == ["'=city", "'-n", "'-n_lower", "'-n_upper"]
        assert [row[0] for row in rows] == list(map(defuse, TEXTS))
        assert {tuple(map(float, row[1:])) for row in rows} == {(-1.0, -2.0, 0.0)}


def test_a_release_is_read_from_parquet_which_has_texts_as_they_are():
    table = ANSWER.to_arrow()
    assert read_table(write_table(table)).equals(table)


@pytest.mark.parametrize("text", [text for text in DANGEROUS if text.isprintable()])
def test_the_ledger_uses_it(text):
    entry = LedgerEntry(7, "reserve", "ab", None, text, text, reason=text)
    row = rows_of("".join(write_ledger_csv([entry])))[1]
    assert row.count(f"'{text}") == 3
