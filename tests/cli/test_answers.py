"""The three forms of an answer say the same."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from datetime import date
from io import StringIO

import pytest

from adomnia.cli import answers, opening
from adomnia.curator.columns import KeyColumn

TEXT = "SELECT city, COUNT(*) AS n, SUM(salary) AS pay FROM people GROUP BY city"


PUBLIC = "SELECT city, region, population / 2 AS half FROM cities ORDER BY city LIMIT 2"


@pytest.fixture
def public(hospital):
    with opening.dataset(hospital) as curator:
        return opening.session(curator, None).sql(PUBLIC)


@pytest.fixture
def answer(hospital):
    with opening.dataset(hospital) as curator:
        return opening.session(curator, None).sql(TEXT, epsilon=0.5)


def test_table_json_and_csv_have_the_same_rows(answer, capsys):
    answers.print_csv(answer)
    rows = list(csv.DictReader(StringIO(capsys.readouterr().out)))
    answers.print_json(answer)
    records = json.loads(capsys.readouterr().out)["rows"]
    answers.print_table(answer)
    lines = capsys.readouterr().out.splitlines()[2:42]
    assert len(rows) == len(records) == len(lines) == 40
    for row, record, line in zip(rows, records, lines, strict=True):
        assert row == {name: str(value) for name, value in record.items()}
        assert line.split()[:2] == [record["city"], f"{record['n']:,}"]


def test_made_up_answers_never_say_that_something_was_paid(answer):
    (line,) = answers.notes(answer, mock=True)
    assert "Paid" not in line
    assert "nothing was spent" in line


def test_public_rows_have_no_cost_and_no_receipt(public, capsys):
    answers.print_json(public)
    record = json.loads(capsys.readouterr().out)
    assert [row["city"] for row in record["rows"]] == ["Alham", "Almora"]
    assert [record[name] for name in ("cost", "analyst", "request_id", "receipt")] == [None] * 4
    assert not record["replayed"]


def test_public_rows_are_the_same_in_every_form(public, capsys):
    answers.print_csv(public)
    shown, said = capsys.readouterr()
    assert shown.splitlines()[0].split(",") == ["city", "region", "half"]
    assert said == "Public: read exactly, at no price.\n"
    answers.print_table(public)
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[2:4]] == ["Alham", "Almora"]


def test_dates_of_public_tables_are_written_as_text(public, capsys):
    dated = replace(public, columns=(KeyColumn("since", (date(2020, 1, 31), None)),))
    answers.print_json(dated)
    assert json.loads(capsys.readouterr().out)["rows"] == [{"since": "2020-01-31"}, {"since": None}]


def test_public_rows_are_never_made_up(public):
    assert answers.notes(public, mock=True) == ["Public: read exactly, at no price."]
