"""`adomnia shell` without a terminal: a text, a file, standard input."""

from __future__ import annotations

import io
import json
import sys

import pytest

COUNT = "SELECT COUNT(*) AS n FROM people"


def test_statements_of_a_text_a_file_and_standard_input_are_run(hospital, typed, tmp_path, monkeypatch):
    file = tmp_path / "questions.sql"
    file.write_text(f"\ufeff-- two; of them\n\\set epsilon 0.1\n{COUNT};\n{COUNT} WHERE sex = ';';\n")
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"\\set epsilon 0.1\n{COUNT}"))
    options = ("--epsilon", "0.1", "--set", "format=json")
    one, two, three = (
        typed("shell", hospital, *more)
        for more in ((*options, "-c", COUNT), ("-f", file, "--format", "csv"), ("--format", "json"))
    )
    assert [code for code, *_ in (one, two, three)] == [0, 0, 0]
    first, again = json.loads(one[1]), json.loads(three[1])
    assert (first["rows"], again["replayed"]) == (again["rows"], True)
    assert two[1].splitlines()[1].split(",")[0] == str(first["rows"][0]["n"])
    assert [line.split(":")[0] for line in two[2].splitlines()[::2]] == ["Replayed, free", "Paid"]


def test_the_first_error_ends_it_with_its_code_and_its_place_in_the_file(hospital, typed, tmp_path):
    file = tmp_path / "questions.sql"
    file.write_text(f"{COUNT};\n\nSELECT nothing FROM people;\n{COUNT} WHERE age > 3;")
    code, printed, complained = typed("shell", hospital, "--epsilon", "0.1", "-f", file)
    assert code == 2
    assert printed.count("Paid") == 1
    assert "(line 3, column 8)" in complained
    assert json.loads(typed("budget", hospital, "--format", "json")[1])[0]["answers"] == 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("-c", "x", "-f", "y"), "-c and -f both say what to run"),
        (("-f", "nowhere.sql"), "File nowhere.sql cannot be read: no such file or directory"),
        (("--set", "epsilon"), "--set 'epsilon' does not name a setting and its value"),
        (("--set", "colour=red", "-c", "x"), "The setting colour is not known"),
        (("--epsilon", "lots", "-c", "x"), "--epsilon 'lots' is not a number"),
        (("--token-file", "x", "-c", "x"), "--token-file is for servers"),
    ],
)
def test_what_cannot_be_begun_is_refused(hospital, typed, options, says):
    code, _, complained = typed("shell", hospital, *options)
    assert (code, says in complained) == (2, True)


def test_what_is_not_text_is_refused(hospital, typed, tmp_path):
    file = tmp_path / "questions.sql"
    file.write_bytes(b"SELECT '\xff'")
    assert "is not text in UTF-8" in typed("shell", hospital, "-f", file)[2]


def test_made_up_rows_cost_nothing(hospital, typed):
    code, printed, _ = typed("shell", hospital, "--mock", "--epsilon", "1", "-c", COUNT)
    assert (code, "Made-up rows" in printed) == (0, True)
    assert not list((hospital / ".adomnia").glob("ledger*"))
