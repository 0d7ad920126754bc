"""Tables fit the terminal, are whole in a file, and lose no character in either."""

from __future__ import annotations

import json

import pytest

from adomnia.cli import pages


def wide_table():
    table = pages.table(("Name", "Value"), {1})
    table.add_row("a" * 70, "1" * 70)
    return table


@pytest.mark.parametrize("columns", [20, 80, 200])
def test_a_table_is_as_wide_as_the_terminal_allows_and_folded_not_cut(columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    pages.show(wide_table())
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= columns
    assert (printed.count("a"), printed.count("1")) == (70 + "NameValue".count("a"), 70)


def test_an_answer_in_a_file_has_one_line_a_row(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    pages.show_answer(wide_table(), "A sentence " * 10)
    lines = capsys.readouterr().out.splitlines()
    assert f"{'a' * 70}   {'1' * 70}" in lines
    assert "A sentence " * 10 in lines


def test_an_answer_on_a_terminal_fits_it(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    pages.show_answer(wide_table())
    assert "1" * 70 not in capsys.readouterr().out


def test_a_record_is_one_json_value(capsys):
    pages.show_json({"city": "Malmö", "count": 3})
    assert json.loads(capsys.readouterr().out) == {"city": "Malmö", "count": 3}


@pytest.mark.parametrize(("share", "shown"), [(0.95, "95%"), (0.999, "99.9%"), (0.5, "50%"), (0.99999, "99.999%")])
def test_a_confidence_is_never_rounded_to_certainty(share, shown):
    assert pages.percent(share) == shown


def test_what_others_wrote_cannot_command_the_terminal(capsys):
    table = pages.table(["\x1b[2Jhead"])
    table.add_row("\x1b]0;title\x07cell\nline")
    pages.show(table, "\x9b31m words")
    printed = capsys.readouterr().out
    assert not {"\x1b", "\x07", "\x9b"} & set(printed)
    assert r"\x1b]0;title\x07cell" in printed
    assert printed.count("\n") >= 4


def test_json_commands_no_terminal_and_is_the_same_value(capsys):
    record = {"city": "Zürich \x1b[31m \x9b31m \u202e \x7f"}
    pages.show_json(record)
    shown = capsys.readouterr().out
    assert json.loads(shown) == record
    assert "Zürich" in shown
    assert all(each.isprintable() or each == "\n" for each in shown)
