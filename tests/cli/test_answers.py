"""The three forms of an answer say the same."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from datetime import date
from io import StringIO

import numpy as np
import pytest

from adomnia.cli import answers, opening
from adomnia.messages.texts import Note, write
from adomnia.plans.columns import KeyColumn

TEXT = "SELECT city, COUNT(*) AS n, SUM(salary) AS pay FROM people GROUP BY city"


PUBLIC = "SELECT city, region, population / 2 AS half FROM cities ORDER BY city LIMIT 2"


@pytest.fixture
def public(hospital):
    with opening.open_dataset(hospital) as curator:
        return opening.open_session(curator, None).sql(PUBLIC)


@pytest.fixture
def answer(hospital):
    with opening.open_dataset(hospital) as curator:
        return opening.open_session(curator, None).sql(TEXT, epsilon=0.5)


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
        assert line.split()[0] == record["city"]  # numbers are rounded for the eye: tests/contracts/test_surfaces.py


def test_made_up_answers_never_say_that_something_was_paid(answer):
    line, cap, missing = answers.notes(answer, mock=True)
    assert "Paid" not in line + cap + missing
    assert "nothing was spent" in line
    assert cap.startswith("people: at most 1 row of a person counts")
    assert missing.endswith("are in no group.")


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
    dated = replace(public, typed_columns=(KeyColumn("since", (date(2020, 1, 31), None)),))
    answers.print_json(dated)
    assert json.loads(capsys.readouterr().out)["rows"] == [{"since": "2020-01-31"}, {"since": None}]


def test_public_rows_are_never_made_up(public):
    assert answers.notes(public, mock=True) == ["Public: read exactly, at no price."]


def test_an_answer_without_rows_is_a_heading_in_every_form(hospital, capsys):
    with opening.open_dataset(hospital) as curator:
        empty = opening.open_session(curator, None).sql(f"{TEXT} HAVING city IS NULL", epsilon=0.5)
    answers.print_csv(empty)
    assert capsys.readouterr().out == "city,n,n_lower,n_upper,pay,pay_lower,pay_upper\n"
    answers.print_json(empty)
    assert json.loads(capsys.readouterr().out)["rows"] == []
    answers.print_table(empty)
    assert "city" in capsys.readouterr().out.splitlines()[0]


def test_an_unbounded_interval_is_null_empty_or_a_word(hospital, capsys):
    with opening.open_dataset(hospital) as curator:
        text = "SELECT COUNT(*) / (COUNT(salary) - COUNT(salary)) AS x FROM people"
        answer = opening.open_session(curator, None).sql(text, epsilon=0.5)
    answers.print_csv(answer)
    assert capsys.readouterr().out == "x,x_lower,x_upper\n,,\n"
    answers.print_json(answer)
    no_number = pytest.fail  # what the decoder calls for NaN and Infinity
    rows = json.loads(capsys.readouterr().out, parse_constant=no_number)["rows"]
    assert rows == [{"x": None, "x_lower": None, "x_upper": None}]
    answers.print_table(answer)
    assert "unbounded" in capsys.readouterr().out


def test_csv_tells_null_from_an_empty_text_and_writes_texts_that_need_quotes(public, capsys, monkeypatch):
    values = ("", None, True, 'a"b,c', " x", "\x1b[31m", 2.5)
    odd = replace(public, typed_columns=(KeyColumn("x", values),), rows=np.arange(len(values)))
    answers.print_csv(odd)
    shown = capsys.readouterr().out
    assert shown == 'x\n""\n\ntrue\n"a""b,c"\n" x"\n\x1b[31m\n2.5\n'
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    answers.print_csv(odd)
    assert r"\x1b[31m" in capsys.readouterr().out


def test_what_a_server_notes_commands_no_terminal_and_is_in_the_words_of_the_command_line(answer, capsys):
    noted = replace(
        answer, notes=(Note(write("n says\x1b[31m nothing: pay {epsilon=2}, or say {with rows=} how many")),)
    )
    for form in answers.AnswerFormat:
        answers.print_answer(noted, form)
        shown = "".join(capsys.readouterr()).replace("\n", " ")
        assert "\x1b" not in shown
        assert "pay --epsilon 2, or say with --rows how many" in shown
