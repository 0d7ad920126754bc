"""Every question command, asked of a real server by its address and a token."""

from __future__ import annotations

import csv
import json
import socket
import subprocess
from contextlib import contextmanager, suppress
from io import BytesIO, StringIO

import pyarrow as pa
import pytest

from kit import serving
from kit.example import write_example
from kit.terminals import on_a_terminal
from kit.waiting import wait_until

COUNT = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
ARROW = "application/vnd.apache.arrow.stream"


@contextmanager
def served(folder):
    """A running server, its address with the dataset, and alice's token."""
    token = serving.tokens(write_example(folder, people=1_000, indexed=True), ["alice"])["alice"]
    with serving.served(folder, "--workers", 1, "--bucket", 0) as running:
        yield running, f"http://127.0.0.1:{running.port}/hospital", token


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(tmp_path_factory.mktemp("served") / "hospital") as found:
        yield found


@pytest.fixture
def mortal_server(tmp_path):
    with served(tmp_path / "hospital") as found:
        yield found


@pytest.fixture
def ask(server, typed, monkeypatch):
    _, address, token = server
    monkeypatch.setenv("ADOMNIA_TOKEN", token)
    return lambda command, *arguments: typed(command, address, *arguments)


def listen(port: int) -> socket.socket:
    """A server that says nothing, in the place of one whose last processes may still be ending."""
    made = []

    def is_free() -> bool:
        with suppress(OSError):
            made.append(socket.create_server(("127.0.0.1", port)))
        return bool(made)

    wait_until(is_free)
    return made[0]


def test_a_question_has_one_answer_by_every_command_and_form(ask, server):
    _, address, token = server
    code, printed, complained = ask("sql", COUNT, "--epsilon", "0.1", "--request-id", "r1", "--format", "json")
    assert (code, complained) == (0, "")
    record = json.loads(printed)
    assert (record["analyst"], record["request_id"], record["replayed"]) == ("alice", "r1", False)

    # Arrow and CSV, as any program asks for them.
    url = address.replace("/hospital", "/api/v1/datasets/hospital")
    head = ["curl", "-sS", "--fail", "-H", f"Authorization: Bearer {token}"]
    body = json.dumps({"sql": COUNT, "epsilon": 0.1})
    posted = ["-H", "Content-Type: application/json", "-d", body, f"{url}/query"]
    for request in (posted, [f"{url}/answers/r1"]):
        arrow, text = (
            subprocess.run([*head, "-H", f"Accept: {form}", *request], capture_output=True, check=True).stdout
            for form in (ARROW, "text/csv")
        )
        reader = pa.ipc.open_stream(BytesIO(arrow))
        facts = json.loads(reader.schema.metadata[b"adomnia"])
        assert (facts["receipt"]["request_id"], facts["cost"]["epsilon"], facts["replayed"]) == ("r1", "0.1", True)
        assert reader.read_all().to_pylist() == record["rows"]
        rows = list(csv.DictReader(StringIO(text.decode())))
        assert rows == [{name: str(value) for name, value in row.items()} for row in record["rows"]]

    # Everything else that is free.
    assert json.loads(ask("price", COUNT, "--epsilon", "0.1", "--format", "json")[1])["price"]["epsilon"] == "1/10"
    assert ask("explain", COUNT)[1].startswith("1 measurement, 2 outputs")
    assert ask("sql", f"EXPLAIN {COUNT}")[1].startswith("1 measurement, 2 outputs")
    assert "people" in ask("sql", "SHOW TABLES")[1]
    own, all_together = json.loads(ask("budget", "--format", "json")[1])
    assert (own["analyst"], own["left"]["epsilon"], all_together["analyst"]) == ("alice", "19/10", None)
    assert "r1" in ask("answers")[1]
    assert json.loads(ask("sql", COUNT, "--epsilon", "1", "--mock", "--format", "json")[1])["mock"] is True


def test_refusals_and_trouble_end_with_their_codes_in_the_words_of_the_command_line(ask, server, typed, monkeypatch):
    code, _, complained = ask("sql", COUNT)
    assert (code, complained) == (
        2,
        "Refusal: The question needs exactly one price. Fix: pay with one of --epsilon, --rho or --error.\n",
    )
    assert ask("sql", COUNT, "--epsilon", "0.1", "--analyst", "bob")[0] == 2
    monkeypatch.setattr("adomnia.client.connection.TRIES", 1)
    code, _, complained = typed("sql", "http://127.0.0.1:9/hospital", COUNT, "--epsilon", "0.1")
    assert (code, complained.split(":")[0]) == (3, "Unavailable")
    monkeypatch.delenv("ADOMNIA_TOKEN")
    code, _, complained = ask("budget")
    assert code == 2
    assert "ADOMNIA_TOKEN" in complained


def test_a_shell_with_a_server_prices_asks_and_tells_what_was_lost(mortal_server, tmp_path):
    running, address, token = mortal_server
    file = tmp_path / "token"
    file.write_text(f"{token}\n")
    file.chmod(0o600)
    options = ("--token-file", file, "--epsilon", "0.25")
    with on_a_terminal("shell", address, *options, XDG_STATE_HOME=str(tmp_path)) as shell:
        shell.expect("hospital [epsilon 2]>")
        shell.type("SELECT COUNT(*) FROM visits;\r")
        shell.expect("[y/N]")
        shell.type("y\r")
        shell.expect("Paid: epsilon 0.25.")
        shell.expect("hospital [epsilon 1.75]>")
        shell.type("\\d people\r")
        shell.expect("person_id")
        for line in ("\\set confirm off", "\\set epsilon 0.05", "SELECT COUNT(*) FROM items;"):
            shell.expect("hospital [epsilon 1.75]>")  # what is typed before it is asked for may be lost
            shell.type(f"{line}\r")
        shell.expect("hospital [epsilon 1.7]>")
        # The server is gone: whether the next question is paid is not known, and that is what is said.
        running.kill()
        with listen(running.port) as deaf:
            shell.type("SELECT COUNT(*) FROM people WHERE age > 50;\r")
            line, _ = deaf.accept()
            with line:
                assert line.recv(5) == b"POST "
                # The waiting ends, and not the shell.
                shell.interrupt_until("Stopped waiting. If it was paid for, it stays paid, and its answer is kept.")
                shell.expect("hospital [epsilon 1.7?]>")


def test_an_answer_of_a_server_is_drawn_here(ask, tmp_path):
    code, _, complained = ask("sql", COUNT, "--epsilon", "0.1", "--plot", tmp_path / "a.svg")
    assert (code, complained) == (0, f"Wrote {tmp_path / 'a.svg'}.\n")
    assert "<title>n by sex</title>" in (tmp_path / "a.svg").read_text()
