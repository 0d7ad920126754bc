from __future__ import annotations

import inspect
import re

import pytest

from adomnia.api.settings import Settings
from adomnia.cli import serving, surveys
from adomnia.errors import Refusal
from adomnia.serving import serve as module
from adomnia.serving.serve import Started


@pytest.fixture
def served(monkeypatch):
    """What would be served, instead of serving it."""
    seen = []

    def serve(settings, progress, announce):
        seen.append(settings)
        progress("people: rank", 0.5)
        announce(
            Started("study", settings.address, "http://127.0.0.1:8000/sign-in?code=c" if settings.port else None, 2)
        )
        return 0

    monkeypatch.setattr(module, "serve", serve)
    return seen


def test_without_options_it_serves_this_machine(typed, served, tmp_path):
    code, said, _ = typed("serve", tmp_path)
    assert code == 0
    assert served == [Settings(tmp_path)]
    assert said.splitlines() == [
        "Serving study at http://127.0.0.1:8000 with 2 workers. Stop it with Ctrl-C.",
        "The owner signs in here and chooses a password; the link works once, within 24 hours:",
        "http://127.0.0.1:8000/sign-in?code=c",
    ]


def test_every_option_is_a_setting(typed, served, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["--host", "0.0.0.0", "--port", 0, "--name", "a.example", "--name", "b.example", "--workers", 3]
    options += ["--threads", 5, "--queue", 6, "--bucket", "0.25", "--limit", 7, "--rate", 8, "--burst", 9]
    options += ["--tls-cert", "c.pem", "--tls-key", "k.pem", "--behind-proxy", "--memory", "2GB"]
    code, said, _ = typed("serve", "study", *options)
    assert code == 0
    assert "sign-in" not in said
    assert served == [
        Settings(
            tmp_path / "study",
            host="0.0.0.0",
            port=0,
            names=("a.example", "b.example"),
            workers=3,
            threads=5,
            queue=6,
            bucket=0.25,
            limit=7.0,
            rate=8.0,
            burst=9,
            memory="2GB",
            certificate=tmp_path / "c.pem",
            key=tmp_path / "k.pem",
            behind_proxy=True,
        )
    ]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--host", "0.0.0.0"], "passwords and tokens would travel in the open. Fix: give --tls-cert and --tls-key"),
        (["--bucket", "soon"], "--bucket 'soon' is not a number"),
        (["--bucket", "NaN"], "--bucket nan is not between 0 and the limit"),
        (["--workers", 0], "--workers 0 is not between 1 and 1024"),
        (["--burst", 0], "--burst 0 is not between 1 and 1048576"),
        (["--burst", -1], "--burst -1 is not between 1 and 1048576"),
        (["--rate", 0], "--rate 0.0 is not a number of requests above 0"),
        (["--memory", "lots"], "--memory lots is not a size"),
        (["--tls-cert", "c.pem"], "TLS needs a certificate and its key"),
    ],
)
def test_what_makes_no_sense_is_refused(typed, served, tmp_path, options, says):
    code, _, complaint = typed("serve", tmp_path, *options)
    assert code == 2
    assert says in complaint
    assert served == []


@pytest.mark.parametrize("command", [serving.serve, surveys.serve])
def test_every_option_that_a_refusal_of_the_settings_names_exists(command, tmp_path):
    named = set()
    for wrong in ({"port": -1}, {"burst": 0}, {"rate": 0.0}, {"names": ("A",)}, {"host": "0.0.0.0"}):
        with pytest.raises(Refusal) as refused:
            Settings(tmp_path, **wrong)
        named |= set(re.findall(r"--([a-z-]+)", str(refused.value)))
    options = {name.replace("_", "-") for name in inspect.signature(command).parameters}
    assert named <= options
    assert "burst" in named
