"""The parts of a worker; whole ones are started in tests/server/test_serve.py."""

from __future__ import annotations

import io
import resource
import shutil
import signal
import socket
from time import monotonic

import pytest

from adomnia.catalog.read import FILE
from adomnia.curator.curator import open_folder
from adomnia.server.running import worker
from adomnia.server.running.accepting import Shares
from adomnia.server.running.line import Line
from adomnia.server.running.logs import Logs
from adomnia.server.settings import Settings
from kit.example import write_example


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    folder = write_example(tmp_path_factory.mktemp("worker") / "hospital", people=100)
    open_folder(folder).close()
    return folder


@pytest.fixture
def hospital(example, tmp_path):
    return shutil.copytree(example, tmp_path / "hospital")


@pytest.fixture
def said():
    """The end of the line at which a parent hears."""
    own, its = socket.socketpair()
    own.setblocking(False)
    with own, its:
        yield Line(own), Line(its)


@pytest.fixture
def log():
    return io.StringIO()


@pytest.fixture
def open_desk(hospital, tmp_path, said, log):
    opened = []

    def desk(**chosen):
        settings = Settings(hospital, **chosen)
        opened.append(worker.desk_of(settings, Logs(settings, log), said[1]))
        return opened[-1]

    yield desk
    for each in opened:
        each.served.close()
        each.access.close()
        for counter in (each.counter, each.doors, each.pace._counter):
            counter.close()


def test_answers_of_every_curator_wait_for_their_edge(open_desk, hospital):
    desk = open_desk(bucket=0.2)
    for version in (1, 2):
        (hospital / FILE).write_text((hospital / FILE).read_text().replace("version = 1", f"version = {version}"))
        desk.served.look()
        with desk.served.curator() as curator:
            assert curator.catalog.version == version
            began = monotonic()
            curator.session("alice").sql("SELECT COUNT(*) FROM people", epsilon=0.01)
            assert monotonic() - began >= 0.2


def test_getting_ready_spends_nothing_and_says_so(open_desk, said, log):
    desk = open_desk()
    worker._get_ready(desk, said[1])
    assert said[0].heard()[-1] == {"ready": "hospital"}
    with desk.served.curator() as curator:
        assert curator.ledger.spent().epsilon_units == 0
        assert curator.session("alice").answers() == []
    assert log.getvalue() == ""


def test_getting_ready_keeps_to_a_policy(open_desk, hospital, said, log):
    text = (hospital / FILE).read_text()
    (hospital / FILE).write_text(text.replace('policy = "on_demand"', 'policy = "equal_split"\nquestions = 20', 1))
    worker._get_ready(open_desk(), said[1])
    assert log.getvalue() == ""


def test_a_rehearsal_that_fails_keeps_nobody_from_being_ready(open_desk, said, log, monkeypatch):
    desk = open_desk()
    monkeypatch.setattr("adomnia.curator.curator.Curator.mock", lambda _: 1 / 0)
    worker._get_ready(desk, said[1])
    assert said[0].heard()[-1] == {"ready": "hospital"}
    assert '"route": "warm-up", "fault": "ZeroDivisionError"' in log.getvalue()


def test_a_worker_ends_by_the_signal_of_its_parent_alone(open_desk, tmp_path):
    desk = open_desk()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = worker._Server(worker._config(desk), desk, Shares.open(tmp_path, 1, 0), listener)
        server.handle_exit(signal.SIGINT, None)
        assert not server.should_exit
        server.handle_exit(signal.SIGTERM, None)
        assert server.should_exit
    assert desk.counter.stopping
    assert desk.doors.stopping
    assert desk.pace._counter.stopping


def test_a_worker_may_open_as_many_files_as_it_has_connections(monkeypatch):
    wanted = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: wanted.append(limits))
    for limits in ((1024, 4096), (1024, 1100), (256, resource.RLIM_INFINITY), (4096, 4096)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limits=limits: limits)
        worker._allow_files()
    assert wanted == [(1200, 4096), (1100, 1100), (1200, resource.RLIM_INFINITY)]
