"""No CSV that we write holds a formula, whoever writes it."""

from __future__ import annotations

import csv
from io import StringIO

import pyarrow as pa
import pytest

from adomnia.cli.answers import print_csv
from adomnia.releases.parquet_files import read_table, write_csv, write_table
from adomnia.server.console.answers.exports import encode_file
from adomnia.server.ledger_csv import write_csv as write_ledger_csv
from adomnia.server.ledger_view import LedgerEntry
from adomnia.spreadsheets import defuse, defuse_table
from adomnia.wire.tables import encode_csv
from kit.answers import key, make_answer, measured

DANGEROUS = ("=1+1", "+x", "-y", "@z", "\tt", "\rr", "\nn", "=", "-")
HARMLESS = ("Oslo", "a=b", "", " =1", "'=1", "1-2", "é")
ANSWER = make_answer(key("=city", *DANGEROUS, *HARMLESS), measured("-n", *[(-2, -1, 0)] * 16))


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(StringIO(text, newline="")))


@pytest.mark.parametrize("text", DANGEROUS)
def test_a_text_that_begins_like_a_formula_gets_an_apostrophe(text):
    assert defuse(text) == f"'{text}"


@pytest.mark.parametrize("text", HARMLESS)
def test_other_texts_stay_as_they_are(text):
    assert defuse(text) == text


def test_tables_are_changed_as_texts_are_and_numbers_stay_numbers():
    texts = pa.array([*DANGEROUS, *HARMLESS, None])
    table = pa.table({"=a": texts, "b": texts.cast(pa.large_string()), "c": pa.array([-1.5] * len(texts))})
    found = defuse_table(table)
    assert found.column_names == ["'=a", "b", "c"]
    wanted = [*map(defuse, (*DANGEROUS, *HARMLESS)), None]
    assert found["'=a"].to_pylist() == found["b"].to_pylist() == wanted
    assert found["c"].equals(table["c"])


def print_answer(capsys) -> str:
    print_csv(ANSWER)
    return capsys.readouterr().out


def test_every_writer_of_answers_uses_it(capsys):
    over_http, exported = (
        b"".join(some).decode() for some in (encode_csv(ANSWER), encode_file(ANSWER, "csv", together=False))
    )
    released = write_csv(ANSWER.to_arrow()).decode()
    for text in (over_http, exported, released, print_answer(capsys)):
        heading, *rows = rows_of(text)
        assert heading == ["'=city", "'-n", "'-n_lower", "'-n_upper"]
        assert [row[0] for row in rows] == list(map(defuse, (*DANGEROUS, *HARMLESS)))
        assert {tuple(map(float, row[1:])) for row in rows} == {(-1.0, -2.0, 0.0)}


def test_a_release_is_read_from_parquet_which_has_texts_as_they_are():
    table = ANSWER.to_arrow()
    assert read_table(write_table(table)).equals(table)


@pytest.mark.parametrize("text", [text for text in DANGEROUS if text.isprintable()])
def test_the_ledger_uses_it(text):
    entry = LedgerEntry(7, "reserve", "ab", None, text, text, reason=text)
    row = rows_of("".join(write_ledger_csv([entry])))[1]
    assert row.count(f"'{text}") == 3
