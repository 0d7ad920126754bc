"""The shell on a real terminal."""

from __future__ import annotations

import json
import stat

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
