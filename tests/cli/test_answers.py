"""The three forms of an answer say the same."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pytest

from adomnia.cli import answers, opening

TEXT = "SELECT city, COUNT(*) AS n, SUM(salary) AS pay FROM people GROUP BY city"


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
