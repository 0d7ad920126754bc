from __future__ import annotations

import ast
import io
import json
import logging
import re
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

import adomnia
from adomnia.api.running.logs import FIELDS, Logs
from adomnia.api.running.request_facts import CURRENT_REQUEST, RequestSummary
from adomnia.api.settings import Settings

NOON = datetime(2030, 1, 2, 12, tzinfo=UTC)


@pytest.fixture
def out():
    return io.StringIO()


@pytest.fixture
def logs(out):
    return Logs(Settings(Path("study")), out, lambda: NOON)


@pytest.fixture
def taken_over(logs, monkeypatch):
    """The logging of libraries, put back afterwards."""
    root, level = list(logging.root.handlers), logging.root.level
    for module, hook in ((threading, "excepthook"), (sys, "excepthook"), (sys, "unraisablehook")):
        monkeypatch.setattr(module, hook, None)
    logs.capture_libraries()
    yield logs
    logging.root.handlers[:] = root
    logging.root.setLevel(level)
    logging.getLogger("uvicorn.error").setLevel(logging.NOTSET)


def lines(out):
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_request_is_one_line_of_allowed_fields(logs, out):
    logs.log_request(RequestSummary("POST", "/api/v1/datasets/{dataset}/query", 200, "alice", 0.01234, "r1", False))
    assert lines(out) == [
        {
            "time": "2030-01-02T12:00:00.000+00:00",
            "level": "info",
            "event": "request",
            "method": "POST",
            "route": "/api/v1/datasets/{dataset}/query",
            "status": 200,
            "user": "alice",
            "milliseconds": 13,
            "request_id": "r1",
        }
    ]


@pytest.mark.parametrize(
    ("seconds", "milliseconds"), [(0.0, 100), (0.034, 100), (0.104, 100), (0.17, 200), (0.39, 400), (61.0, 60_000)]
)
def test_the_time_of_what_reads_data_is_told_in_buckets(logs, out, seconds, milliseconds):
    logs.log_request(RequestSummary("POST", "/query", 200, "alice", seconds, "r1", True))
    assert lines(out)[0]["milliseconds"] == milliseconds


def test_a_method_that_a_caller_made_up_is_not_repeated(logs, out):
    logs.log_request(RequestSummary("SECRET-4711", "unmatched", 405, None, 0.1, "r1", False))
    assert lines(out)[0]["method"] == "other"
    assert "user" not in lines(out)[0]


def test_fields_that_are_not_allowed_are_dropped(logs, out):
    logs.write("info", event="x", sql="SELECT 4711", token="ao_1", body={"a": 1})
    assert set(lines(out)[0]) == {"time", "level", "event"}
    assert not {"sql", "path", "query", "token", "body", "headers"} & set(FIELDS)


def test_a_fault_is_told_by_its_class_alone(logs, out):
    logs.log_fault("/query", ValueError("salary 4711"))
    assert lines(out)[0]["fault"] == "ValueError"
    assert "4711" not in out.getvalue()


@pytest.mark.usefixtures("taken_over")
def test_libraries_are_heard_by_their_fixed_words_and_the_names_of_exceptions(out):
    ours = logging.getLogger("adomnia.curator")
    ours.error("Request %s failed: %s", "canary-4711", "ZeroDivisionError")
    ours.error("The ledger granted nothing: %r", OSError("canary-4711"))
    ours.error("Nothing is named by %s", {"canary-4711": 1})
    logging.getLogger("elsewhere").error("canary-4711")
    logging.getLogger("uvicorn.error").error(ValueError("canary-4711"))
    try:
        {}["canary-4711"]
    except KeyError:
        logging.getLogger("uvicorn.error").exception("Exception in ASGI application\n")
    assert [(line["event"], line.get("why"), line.get("fault")) for line in lines(out)] == [
        ("adomnia.curator", "Request (not logged) failed: ZeroDivisionError", "ZeroDivisionError"),
        ("adomnia.curator", "The ledger granted nothing: OSError", "OSError"),
        ("adomnia.curator", "Nothing is named by (not logged)", None),
        ("elsewhere", None, None),
        ("uvicorn.error", "ValueError", None),
        ("uvicorn.error", "Exception in ASGI application", "KeyError"),
    ]
    assert "canary" not in out.getvalue()


@pytest.mark.usefixtures("taken_over")
@pytest.mark.parametrize(
    ("words", "arguments", "told"),
    [
        ("It took %d of %-5.2f s: 100%%", (4711, 47.11), "It took (not logged) of (not logged) s: 100%"),
        ("Named %(error)s", ({"error": "4711"},), "Named (not logged)"),
        ("100% of it", (), "100% of it"),
    ],
)
def test_no_line_shows_a_placeholder_or_an_argument_that_may_not_be_told(out, words, arguments, told):
    logging.getLogger("adomnia.curator").error(words, *arguments)
    (line,) = lines(out)
    assert told in line["why"]
    assert not re.search(r"%[-(.\dsrf]|47", line["why"])


def test_every_template_of_ours_ends_in_a_sentence_without_placeholders(taken_over, out):
    """All calls of the source that log: whatever they are given, a line has words alone."""
    templates = []
    for path in sorted(Path(adomnia.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="_log"), attr=level), args=[ast.Constant(value=words), *rest]
                ):
                    templates.append(words)
                    getattr(logging.getLogger("adomnia.any"), level)(words, *["canary-4711"] * len(rest))
    told = [line["why"] for line in lines(out)]
    assert len(templates) == len(told) >= 10
    assert not [why for why in told if "%" in why or "canary" in why]


@pytest.mark.usefixtures("taken_over")
def test_every_line_of_a_request_has_its_id(logs, out):
    token = CURRENT_REQUEST.set("r1")
    logs.log_fault("/query", ValueError("x"))
    logs.write("info", event="x", request_id="r2")
    logging.getLogger("adomnia.curator").error("Request %s failed: %s", "mine", "OSError")
    CURRENT_REQUEST.reset(token)
    logs.write("info", event="worker started")
    assert [line.get("request_id") for line in lines(out)] == ["r1", "r2", "r1", None]


@pytest.mark.usefixtures("taken_over")
def test_what_is_merely_told_by_libraries_is_not_written(out):
    logging.getLogger("uvicorn.access").info("GET /?canary")
    assert out.getvalue() == ""


def test_lines_go_to_standard_error_unless_told(capsys):
    Logs(Settings(Path("study"))).write("info", event="x")
    assert json.loads(capsys.readouterr().err)["event"] == "x"


@pytest.mark.usefixtures("taken_over")
def test_what_ends_a_thread_is_told_by_its_class_alone(out):
    def fail():
        raise ValueError("canary-4711")

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    sys.excepthook(KeyError, KeyError("canary-4711"), None)
    sys.unraisablehook(SimpleNamespace(exc_type=OSError, exc_value=OSError("canary-4711")))
    assert [(line["route"], line["fault"]) for line in lines(out)] == [
        ("thread", "ValueError"),
        ("process", "KeyError"),
        ("unraisable", "OSError"),
    ]
    assert "canary" not in out.getvalue()


@pytest.mark.usefixtures("taken_over")
def test_nobody_fills_the_log_with_what_is_not_http(out):
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    assert out.getvalue() == ""


@pytest.mark.parametrize(
    ("arguments", "fault", "file"),
    [
        (("SQLITE_IOERR_FSYNC", "ledger.sqlite"), "SQLITE_IOERR_FSYNC", "ledger.sqlite"),
        (("ENOSPC", "ledger.sqlite.anchor"), "ENOSPC", "ledger.sqlite.anchor"),
        (("SQLITE_SECRET", "salaries.sqlite"), None, None),
        ((7, "ledger.sqlite of alice"), None, None),
    ],
)
def test_an_error_of_a_file_is_named_with_the_file_and_nothing_else_is(taken_over, out, arguments, fault, file):
    logging.getLogger("adomnia.ledger").error("The ledger is in trouble: %s, %s", *arguments)
    (line,) = lines(out)
    assert (line.get("fault"), line.get("file")) == (fault, file)


def test_a_log_that_cannot_be_written_keeps_nobody_from_answering(monkeypatch):
    class Full(io.StringIO):
        def write(self, _):
            raise OSError(28, "No space left on device")

    Logs(Settings(Path("study")), Full()).write("info", event="request")
