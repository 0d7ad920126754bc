"""The parts of a worker; whole ones are started in tests/serving/test_serve.py."""

from __future__ import annotations

import io
import resource
import signal
import socket
from time import monotonic

import pytest

from adomnia.api.running.logs import Logs
from adomnia.api.running.worker_states import WorkerStates
from adomnia.api.settings import Settings
from adomnia.catalog.read import FILE
from adomnia.serving import worker
from adomnia.serving.acceptor import ConnectionCounts
from adomnia.serving.channel import ControlChannel
from kit.example import write_example


@pytest.fixture
def hospital(tmp_path):
    return write_example(tmp_path / "hospital", people=300, indexed=True)


@pytest.fixture
def said():
    """The end of the line at which a parent hears."""
    own, its = socket.socketpair()
    own.setblocking(False)
    with own, its:
        yield ControlChannel(own), ControlChannel(its)


@pytest.fixture
def log():
    return io.StringIO()


@pytest.fixture
def start_services(hospital, tmp_path, said, log):
    opened = []

    def services(**chosen):
        settings = Settings(hospital, **chosen)
        states = WorkerStates.open(tmp_path, settings.workers)
        opened.append(worker.open_services(settings, Logs(settings, log), said[1], states, 0))
        return opened[-1]

    yield services
    for each in opened:
        each.dataset.close()
        each.access.close()
        for pool in (each.pool, each.password_pool, each.time_buckets._pool):
            pool.close()


def test_answers_of_every_curator_wait_for_their_edge(start_services, hospital):
    services = start_services(bucket=0.2)
    for version in (1, 2):
        (hospital / FILE).write_text((hospital / FILE).read_text().replace("version = 1", f"version = {version}"))
        services.dataset.reload()
        with services.dataset.curator() as curator:
            assert curator.catalog.version == version
            began = monotonic()
            curator.session("alice").sql("SELECT COUNT(*) FROM people", epsilon=0.01)
            assert monotonic() - began >= 0.2


def test_behind_a_proxy_the_cookie_has_the_name_of_the_dataset(start_services):
    assert start_services(behind_proxy=True).settings.cookie == "__Host-adomnia-hospital"
    assert start_services(port=8001).settings.cookie == "adomnia-8001"


def test_getting_ready_spends_nothing_and_says_so(start_services, said, log):
    services = start_services()
    worker._prepare(services, said[1])
    assert said[0].receive()[-1] == {"ready": "hospital"}
    with services.dataset.curator() as curator:
        assert curator.ledger.spent().epsilon_units == 0
        assert curator.session("alice").answers() == []
    assert log.getvalue() == ""


def test_getting_ready_keeps_to_a_policy(start_services, hospital, said, log):
    text = (hospital / FILE).read_text()
    (hospital / FILE).write_text(text.replace('policy = "on_demand"', 'policy = "equal_split"\nquestions = 20', 1))
    worker._prepare(start_services(), said[1])
    assert log.getvalue() == ""


def test_a_rehearsal_that_fails_keeps_nobody_from_being_ready(start_services, said, log, monkeypatch):
    services = start_services()
    monkeypatch.setattr("adomnia.session.curator.Curator.mock", lambda _: 1 / 0)
    worker._prepare(services, said[1])
    assert said[0].receive()[-1] == {"ready": "hospital"}
    assert '"route": "warm-up", "fault": "ZeroDivisionError"' in log.getvalue()


def test_a_worker_ends_by_the_signal_of_its_parent_alone(start_services, tmp_path):
    services = start_services()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = worker._Server(worker._config(services), services, ConnectionCounts.open(tmp_path, 1, 0), listener)
        server.handle_exit(signal.SIGINT, None)
        assert not server.should_exit
        server.handle_exit(signal.SIGTERM, None)
        assert server.should_exit
    assert services.pool.stopping
    assert services.password_pool.stopping
    assert services.time_buckets._pool.stopping


def test_a_worker_may_open_as_many_files_as_it_has_connections(monkeypatch):
    wanted = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: wanted.append(limits))
    for limits in ((1024, 4096), (1024, 1100), (256, resource.RLIM_INFINITY), (4096, 4096)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limits=limits: limits)
        worker._raise_file_limit()
    assert wanted == [(1200, 4096), (1100, 1100), (1200, resource.RLIM_INFINITY)]


def test_a_catalog_that_moves_ledger_and_users_is_not_taken_before_a_restart(start_services, hospital):
    services, catalog = start_services(), hospital / FILE
    text = catalog.read_text()
    catalog.write_text(f'{text}\n[ledger]\nurl = "postgresql:///elsewhere"\n')
    services.dataset.reload()
    assert "says that ledger and users are somewhere else now" in services.dataset.problem
    catalog.write_text(text.replace('name = "hospital"', 'name = "clinic"'))
    services.dataset.reload()
    assert services.dataset.problem is None
    catalog.write_text("nonsense = [")
    services.dataset.reload()
    assert "line 1" in services.dataset.problem
