"""The history file: private, bounded, and never in the way."""

from __future__ import annotations

import stat
from pathlib import Path

from adomnia.cli.shell.history import MOST_ENTRIES, FileHistory, history_file


def entries(path) -> list[str]:
    """Oldest first."""
    return list(FileHistory(path).load_history_strings())[::-1]


def test_it_is_in_the_folder_for_state(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert history_file() == tmp_path / "adomnia" / "history"
    monkeypatch.delenv("XDG_STATE_HOME")
    assert history_file() == Path.home() / ".local/state/adomnia/history"


def test_texts_of_any_sort_come_back_and_nobody_else_reads_them(tmp_path):
    path = tmp_path / "state" / "history"
    texts = ["SELECT 1;", "SELECT\n'é\u2028'; -- x", "\\q"]
    history = FileHistory(path)
    for text in texts:
        history.append_string(text)
    assert entries(path) == texts
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    assert entries(path) == texts
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_it_is_bounded(tmp_path):
    path = tmp_path / "history"
    path.write_text("".join(f'"{number}"\n' for number in range(2 * MOST_ENTRIES + 5)))
    found = entries(path)
    assert (len(found), found[-1]) == (MOST_ENTRIES, str(2 * MOST_ENTRIES + 4))
    assert path.read_text().count("\n") == MOST_ENTRIES
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    FileHistory(path).append_string("x" * 20_000)
    assert len(path.read_text()) < 20_000
    assert [each.name for each in tmp_path.iterdir()] == ["history"]


def test_lines_of_others_are_left_out(tmp_path):
    path = tmp_path / "history"
    path.write_bytes(b'"a"\n{"b": 1}\nnonsense\n\xff\n"c"\n')
    assert entries(path) == ["a", "c"]


def test_where_it_cannot_be_written_texts_are_remembered_until_the_end(tmp_path):
    (tmp_path / "file").write_text("")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text('"secret"\n')
    (tmp_path / "link").symlink_to(elsewhere)
    for path in (tmp_path / "file" / "history", tmp_path / "link"):
        history = FileHistory(path)
        assert list(history.load_history_strings()) == []
        history.append_string("x")
        assert history.get_strings() == ["x"]
    assert elsewhere.read_text() == '"secret"\n'
