"""The shell on a real terminal."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from adomnia.cli.shell.terminal import MOST_ENTRIES, CatalogCompleter, FileHistory, history_file
from adomnia.session.curator import read_catalog
from kit.terminals import on_a_terminal
from kit.waiting import HANG_SECONDS

READY = "]>"


def test_questions_are_priced_confirmed_and_answered_one_after_another(hospital, tmp_path):
    state = tmp_path / "state"
    with on_a_terminal("shell", hospital, XDG_STATE_HOME=str(state)) as shell:
        shell.expect("hospital [epsilon 2]>")
        shell.type("SELECT COUNT(*) FROM people;\r")
        shell.expect(r"Fix: pay with one of \set epsilon, \set rho or \set error.")
        shell.expect("hospital [epsilon 2]>")  # what is typed before it is asked for may be lost
        shell.type("\\set epsilon 0.5\r")
        shell.expect("hospital [epsilon 2]>")
        # A statement goes on until its semicolon; Tab completes from the catalog.
        shell.type("SELECT COUNT(*) AS n\r")
        shell.expect("...")
        shell.type("FROM peo\t")
        shell.expect("ple")
        shell.type(" WHERE sex = 'F';\r")
        assert "at most" in shell.expect("Costs epsilon 0.5 of epsilon 2 left")
        shell.expect("[y/N]")
        shell.type("n\r")
        shell.expect("Not asked, and nothing was spent.")
        shell.expect("hospital [epsilon 2]>")
        shell.type("\x1b[A\r")  # the arrow up brings it back
        shell.expect("[y/N]")
        shell.type("y\r")
        shell.expect("Paid: epsilon 0.5. Left: epsilon 1.5.")
        shell.expect("hospital [epsilon 1.5]>")
        # Ctrl-C drops the text, a refusal underlines its place, and the shell goes on.
        shell.type("SELECT nonsense\x03")
        shell.expect("nonsense")
        shell.expect(READY)
        shell.type("SELECT COUNT(*) FROM peple;\r")
        shell.expect("Refusal: peple is not among the tables")
        shell.expect("\n" + " " * 23 + "^^^^^\n")
        shell.expect(READY)
        shell.type("\x04")
        assert shell.process.wait(HANG_SECONDS) == 0
    history = state / "adomnia" / "history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    assert stat.S_IMODE(history.parent.stat().st_mode) == 0o700
    assert json.loads(history.read_text().splitlines()[1]) == "\\set epsilon 0.5"


def test_without_confirmation_a_question_is_asked_at_once(hospital, tmp_path):
    with on_a_terminal("shell", hospital, "--epsilon", "0.25", XDG_STATE_HOME=str(tmp_path)) as shell:
        shell.expect(READY)
        shell.type("\\confirm off\r")
        shell.expect(READY)
        shell.type("SELECT COUNT(*) FROM people; SELECT COUNT(*) FROM visits;\r")
        assert shell.expect("hospital [epsilon 1.5]>").count("Paid: epsilon 0.25.") == 2
        shell.type("\\q\r")
        assert shell.process.wait(HANG_SECONDS) == 0


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


@pytest.fixture(scope="module")
def offered(example):
    completer = CatalogCompleter(read_catalog(example))
    return lambda text: {each.text for each in completer.get_completions(Document(text), CompleteEvent())}


@pytest.mark.parametrize(
    ("text", "some"),
    [
        ("sel", {"SELECT"}),
        ("SELECT COUNT(*) FROM pe", {"people", "person_id"}),
        ("SELECT COUNT(*) FROM ad", {"adults"}),
        ("SELECT sal", {"salary"}),
        ("SELECT med", {"MEDIAN"}),
        ("SELECT flo", {"FLOOR"}),
        ("SELECT people.a", {"age"}),
        ("SELECT p.a", {"age"}),
        ("SELECT 1 FROM people WHERE sex = '", {"F'", "M'", "X'"}),
        ("SELECT 1 FROM people WHERE city IN ('Oslo', 'Alt", {"Alton'"}),
        ("\\", {"d", "set", "q"}),
        ("\\fo", {"format"}),
        ("\\d pe", {"people"}),
        ("\\set ", {"epsilon", "confirm"}),
        ("\\set confirm ", {"on", "off"}),
        ("\\format j", {"json"}),
        ("\\p SELECT sal", {"salary"}),
    ],
)
def test_what_was_begun_is_completed(offered, text, some):
    assert some <= offered(text)
    start = re.search(r"\w*$", text)[0]
    assert all(each.lower().startswith(start.lower()) for each in offered(text))


@pytest.mark.parametrize(
    "text", ["SELECT ", "SELECT 1 FROM people WHERE name = '", "\\d people ", "\\set epsilon 1 ", "xyzzy"]
)
def test_where_nothing_is_known_nothing_is_offered(offered, text):
    assert offered(text) == set()


def test_columns_of_other_tables_are_not_those_of_a_table(offered):
    assert "cost" not in offered("SELECT people.co")
    assert "cost" in offered("SELECT visits.co")
