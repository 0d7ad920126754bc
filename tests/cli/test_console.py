from __future__ import annotations

import os
import re
import socket

import httpx
import pytest

from adomnia.serving import serve as module
from adomnia.serving.serve import Started
from kit.terminals import on_a_terminal
from kit.waiting import HANG_SECONDS


@pytest.fixture
def served(monkeypatch):
    """What would be served, instead of serving it."""
    seen = []

    def serve(settings, progress, announce):
        seen.append(settings)
        progress("people: rank", 0.5)
        os.write(2, b"a line of the log\n")
        announce(Started("hospital", settings.address, None, 2))
        return 0

    monkeypatch.setattr(module, "serve", serve)
    return seen


def test_it_says_in_three_lines_where_it_is_and_how_to_sign_in(typed, served, hospital, monkeypatch):
    monkeypatch.chdir(hospital.parent)
    code, said, complaint = typed("console", "hospital")
    assert (code, complaint) == (0, "")
    first, owner, analyst = said.splitlines()
    assert re.fullmatch(r"The console of hospital is at http://127\.0\.0\.1:\d+\. Stop it with Ctrl-C\. .*", first)
    assert first.endswith("Its log is hospital/.adomnia/console.log.")
    assert re.fullmatch(r"The owner signs in with  http://127\.0\.0\.1:\d+/sign-in\?code=link_\w+", owner)
    assert re.fullmatch(r"alice, who asks, with    http://127\.0\.0\.1:\d+/sign-in\?code=link_\w+", analyst)
    assert (hospital / ".adomnia" / "console.log").read_text() == "a line of the log\n"
    assert served[0].folder == hospital


def test_another_analyst_and_another_port_may_be_named(typed, served, hospital):
    code, said, _ = typed("console", hospital, "--analyst", "bob", "--port", 9000)
    assert code == 0
    assert said.splitlines()[2].startswith("bob, who asks, with")
    assert served[0].port == 9000


def test_who_is_not_in_the_catalog_cannot_ask(typed, served, hospital):
    code, _, complaint = typed("console", hospital, "--analyst", "mallory")
    assert code == 2
    assert "is not in the catalog" in complaint
    assert served == []


def test_another_port_is_taken_where_the_usual_one_is_not_free(typed, served, hospital, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setattr("adomnia.api.settings.Settings.port", taken.getsockname()[1])
        typed("console", hospital)
    assert served[0].port == 0


def test_q_ends_it(hospital):
    with on_a_terminal("console", hospital, "--port", 0) as typist:
        address = re.search(r"http://127\.0\.0\.1:\d+", typist.expect("Press q to stop it"))[0]
        assert httpx.get(f"{address}/sign-in", timeout=HANG_SECONDS).status_code == 200
        typist.expect("alice, who asks, with")
        typist.type("x")
        typist.type("q")
        assert typist.process.wait(HANG_SECONDS) == 0
