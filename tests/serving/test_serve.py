"""Real servers in processes of their own."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.api.access import Role, open_access
from adomnia.serving.serve import OWNER, create_first_link
from adomnia.session.curator import STATE
from kit import serving
from kit.commands import COMMAND
from kit.example import write_example
from kit.serving import API, HOST
from kit.waiting import HANG_SECONDS, wait_until
from serving.certificates import is_trusted, write_certificate

QUESTION = {"sql": "SELECT COUNT(*) AS n FROM people", "epsilon": "0.01"}
ASK = "/datasets/hospital/query"
ME = f'adomnia_requests_total{{method="GET",route="{API}/me",status="200"}}'


@pytest.fixture
def hospital(tmp_path):
    return write_example(tmp_path / "hospital", people=300, indexed=True)


def sent(port, method, path, body=None, **headers):
    """The status, the headers and the content of a reply."""
    line = HTTPConnection(HOST, port, timeout=HANG_SECONDS)
    return exchanged(line, method, path, body, headers)


def exchanged(line, method, path, body, headers):
    try:
        content = None if body is None else json.dumps(body)
        kind = {} if body is None else {"Content-Type": "application/json"}
        line.request(method, f"{API}{path}", content, {**kind, **headers})
        reply = line.getresponse()
        return reply.status, reply.headers, reply.read()
    finally:
        line.close()


def metric(server, headers, name):
    """The value of a metric of all workers together."""
    lines = sent(server.port, "GET", "/metrics", **headers)[2].decode().splitlines()
    return next(float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"{name} "))


def ended(folder, *options):
    """The exit code and the complaint of a server that does not start."""
    command = [*COMMAND, "serve", str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [*command, *map(str, options)],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        env=environment,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def test_from_the_first_start_to_a_graceful_end(hospital):
    with serving.served(hospital, "--bucket", "0.1") as server:
        wait_until(lambda: "/sign-in?code=" in server.log.read_text())
        said = server.log.read_text()
        assert f"Serving hospital at http://{HOST}:{server.port} with 2 workers." in said
        (code,) = re.findall(rf"http://{HOST}:{server.port}/sign-in\?code=(\S+)", said)
        # The owner signs in by the link, once.
        link = {"code": code, "password": "correct horse battery"}
        status, headers, content = sent(server.port, "POST", "/sign-in/link", link)
        assert (status, json.loads(content)["role"]) == (200, "owner")
        assert "server" not in headers
        assert sent(server.port, "POST", "/sign-in/link", link)[0] == 401
        owner = {"Cookie": headers["set-cookie"].partition(";")[0]}
        first, second = server.all_workers()
        for _ in range(8):
            assert sent(server.port, "GET", "/me", **owner)[0] == 200
        wait_until(lambda: metric(server, owner, ME) == 8)  # a request is counted after its reply has left
        # A worker that dies is started again, and the other one answers meanwhile.
        os.kill(first, signal.SIGKILL)
        assert sent(server.port, "GET", "/health")[0] == 200
        wait_until(lambda: len(server.workers) == 2 and first not in server.workers)
        assert second in server.workers
        # What the dead one has counted stays counted, and it is no longer counted itself.
        assert metric(server, owner, ME) == 8
        wait_until(lambda: metric(server, owner, "adomnia_workers") == 2)
        # What runs is finished, and then it ends.
        token = serving.tokens(hospital, ["alice"])["alice"]
        asked = serving.request(ASK, token, QUESTION)
        with socket.create_connection((HOST, server.port), timeout=HANG_SECONDS) as line:
            line.sendall(asked.raw)
            wait_until(lambda: b"alice" in (hospital / STATE / "ledger.sqlite-wal").read_bytes())
            server.process.send_signal(signal.SIGTERM)
            reply = b"".join(iter(lambda: line.recv(65_536), b""))
        assert reply.startswith(b"HTTP/1.1 200") or b'"stopping"' in reply
        assert server.process.wait(HANG_SECONDS) == 0
        log = server.log.read_text()
    assert "Traceback" not in log
    events = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert {event["event"] for event in events} >= {"worker started", "worker died", "request"}
    assert code not in " ".join(map(str, events))


def test_a_server_whose_parent_is_killed_gives_its_port_free(hospital):
    server = serving.start(hospital)
    try:
        workers = server.all_workers()
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait(HANG_SECONDS)
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() and is_running(pid) for pid in workers))
        with socket.create_server((HOST, server.port)):
            pass
    finally:
        server.kill()


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_second_signal_ends_it_at_once(hospital):
    with serving.served(hospital, "--workers", 1) as server:
        (worker,) = server.all_workers(1)
        server.process.send_signal(signal.SIGSTOP)  # so that no watch of its workers comes between the two
        os.kill(worker, signal.SIGSTOP)  # it will not finish by itself
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
            server.process.send_signal(each)
        assert server.process.wait(HANG_SECONDS) == 1


def test_a_new_version_is_served_without_a_failed_request(hospital, tmp_path):
    token = serving.tokens(hospital, ["alice"])["alice"]
    newer = write_example(tmp_path / "newer", people=100)
    statuses = []

    def version():
        asked = {"sql": f"SELECT COUNT(*) FROM people WHERE age > {len(statuses) % 90}", "epsilon": "0.0001"}
        statuses.append(sent(server.port, "POST", ASK, asked, Authorization=f"Bearer {token}")[0])
        content = sent(server.port, "GET", "/datasets", Authorization=f"Bearer {token}")[2]
        return json.loads(content)["datasets"][0]["version"]

    with serving.served(hospital, "--bucket", "0") as server:
        assert version() == 1
        for file in newer.glob("*.parquet"):
            shutil.copy(file, hospital)
        catalog = hospital / "catalog.toml"
        catalog.write_text(catalog.read_text().replace("version = 1", "version = 2"))
        wait_until(lambda: all(version() == 2 for _ in range(8)))
        content = sent(server.port, "GET", "/datasets/hospital/answers", Authorization=f"Bearer {token}")[2]
    assert set(statuses) == {200}
    assert len(json.loads(content)["answers"]) >= 2  # those of version 1 are among them: budgets carry over


def test_tls_whose_certificate_is_renewed_by_a_signal(hospital):
    files = write_certificate(hospital.parent)
    port = serving.free_port()
    options = ["--port", str(port), "--workers", "1", "--tls-cert", str(files[0]), "--tls-key", str(files[1])]
    command = [*COMMAND, "serve", str(hospital), *options]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    trusting = ssl.create_default_context(cafile=str(files[0]))
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    try:
        assert process.stdout.readline().startswith(f"Serving hospital at https://{HOST}:{port}")
        line = HTTPSConnection("localhost", port, timeout=HANG_SECONDS, context=trusting)
        status, headers, _ = exchanged(line, "GET", "/health", None, {})
        assert status == 200
        assert "strict-transport-security" in headers
        renewed = ssl.create_default_context(cadata=write_certificate(hospital.parent, serial=2)[0].read_text())
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: is_trusted(port, renewed))
        assert not is_trusted(port, trusting)
    finally:
        process.terminate()
        process.wait(HANG_SECONDS)
        process.stdout.close()


def test_what_cannot_be_served_is_refused_with_the_way_out(hospital, tmp_path):
    with socket.create_server((HOST, 0)) as taken:
        code, said = ended(hospital, "--port", taken.getsockname()[1])
        assert code == 2
        assert "is taken by another program. Fix: stop that one, or give another --port." in said
    code, said = ended(tmp_path, "--port", 0, "--workers", 1)
    assert code == 2
    assert "catalog.toml" in said
    assert "Refusal: " in said
    (hospital / STATE / "access.sqlite").mkdir()
    code, said = ended(hospital, "--port", 0, "--workers", 1)
    assert (code, "Unavailable: " in said) == (3, True)
    code, said = ended(hospital, "--port", 0, "--tls-cert", "none.pem", "--tls-key", "none.pem")
    assert (code, "are not a certificate and its key" in said) == (2, True)


def test_the_first_start_makes_an_owner_and_links_go_on_until_there_is_a_password(tmp_path):
    links = [create_first_link(tmp_path, "http://127.0.0.1:8000") for _ in range(2)]
    assert all(link.startswith("http://127.0.0.1:8000/sign-in?code=") for link in links)
    access = open_access(tmp_path)
    assert [(user.name, user.role) for user in access.users()] == [(OWNER, Role.OWNER)]
    access.redeem_link(links[1].partition("=")[2], "correct horse battery", "127.0.0.1")
    access.close()
    assert create_first_link(tmp_path, "http://127.0.0.1:8000") is None


def with_canaries(folder, canaries):
    """Put them where people have names and eye colours."""
    people = pq.read_table(folder / "people.parquet").to_pydict()
    for place, canary in enumerate(canaries):
        people["name" if place % 2 else "eye_color"][place // 2] = canary
    pq.write_table(pa.table(people), folder / "people.parquet")


def test_no_planted_value_gets_into_logs_metrics_or_replies(tmp_path):
    folder = write_example(tmp_path / "hospital", people=300)
    canaries = [f"canary{7919 * k % 10**6:06d}x" for k in range(560)]
    in_data, in_requests = canaries[:500], iter(canaries[500:])
    with_canaries(folder, in_data)
    token = serving.tokens(folder, ["alice"])["alice"]
    access = open_access(folder)
    access.add_user("audrey", Role.AUDITOR)
    auditor = access.create_token("audrey", "test", 1)[0]
    access.close()
    replies = []
    mine = {"Authorization": f"Bearer {token}"}
    with serving.served(folder, "--bucket", "0", "--rate", "10000") as server:

        def send(*request, **headers):
            replies.append(sent(server.port, *request, **headers)[2])

        for _ in range(6):  # with a connection for each request, so that both workers get some
            one, two, three, four, *rest = (next(in_requests) for _ in range(10))
            send("POST", ASK, {"sql": f"SELECT COUNT(*) FROM people WHERE name = '{one}'", "epsilon": 0.0001}, **mine)
            send("POST", ASK, {"sql": f"SELECT {two} FROM {two}", "epsilon": 0.1, "request_id": three}, **mine)
            send("POST", ASK, {"sql": "SELECT COUNT(*) FROM people", three: four}, **mine)
            cookie = f"adomnia-{server.port}={rest[0]}"
            send("POST", f"/datasets/{four}/query?{four}={four}", {"sql": four}, **mine, Cookie=cookie)
            send("GET", f"/{rest[1]}", Authorization=f"Bearer {rest[2]}")
            send(
                "POST",
                "/sign-in",
                {"name": rest[3], "password": rest[4] * 2},
                **{"User-Agent": rest[5], "X-A": rest[5]},
            )
        status, _, metrics = sent(server.port, "GET", "/metrics", Authorization=f"Bearer {auditor}")
        assert status == 200
        assert server.stop() == 0
        log = server.log.read_text()
    assert log.count('"event": "request"') >= 36
    assert b"adomnia_requests_total" in metrics
    assert [canary for canary in canaries if canary in log or canary.encode() in metrics] == []
    everything = b"".join(replies)
    assert [canary for canary in in_data if canary.encode() in everything] == []
    assert token not in log
