from __future__ import annotations

import io
import json
import socket
import ssl
from threading import Thread

import pytest
from cryptography import x509

from adomnia.api.running.logs import Logs
from adomnia.api.settings import Settings
from adomnia.serving.certificates import CHECK_SECONDS, Certificate, open_certificate
from serving.certificates import write_certificate


@pytest.fixture
def log():
    return io.StringIO()


@pytest.fixture
def now():
    return [1000.0]


@pytest.fixture
def certificate(tmp_path, log, now):
    files = write_certificate(tmp_path, serial=1)
    return Certificate(*files, Logs(Settings(tmp_path), log), lambda: now[0])


def presented(certificate):
    """The number of the certificate that a caller sees who connects now."""

    def shake_hands() -> None:
        with listener.accept()[0] as plain, certificate.context.wrap_socket(plain, server_side=True) as line:
            line.recv(1)

    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Thread(target=shake_hands)
        server.start()
        with socket.create_connection(listener.getsockname()) as plain, trusting.wrap_socket(plain) as line:
            shown = line.getpeercert(binary_form=True)
            line.sendall(b"x")
        server.join()
    return x509.load_der_x509_certificate(shown).serial_number


def events(log):
    return [json.loads(line) for line in log.getvalue().splitlines()]


def test_new_files_are_presented_after_the_next_look(certificate, log, tmp_path):
    assert presented(certificate) == 1
    write_certificate(tmp_path, serial=2)
    assert presented(certificate) == 1
    certificate.check()
    assert presented(certificate) == 2
    certificate.check()
    assert [(line["level"], line["why"]) for line in events(log)] == [("info", "A new certificate is in use.")]


def test_a_connection_that_is_open_goes_on_with_the_old_one(certificate, tmp_path):
    trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    server_side, client_side = socket.socketpair()
    context, lines = certificate.context, []
    shaking = Thread(target=lambda: lines.append(context.wrap_socket(server_side, server_side=True)))
    shaking.start()
    with trusting.wrap_socket(client_side, server_hostname="localhost") as line:
        shaking.join()
        write_certificate(tmp_path, serial=2)
        certificate.check()
        line.sendall(b"still there")
        assert lines[0].recv(100) == b"still there"
    lines[0].close()


def test_the_files_are_looked_at_once_a_minute(certificate, now, tmp_path):
    write_certificate(tmp_path, serial=2)
    now[0] += CHECK_SECONDS - 1
    certificate.check_each_minute()
    assert presented(certificate) == 1
    now[0] += 1
    certificate.check_each_minute()
    assert presented(certificate) == 2
    write_certificate(tmp_path, serial=3)
    now[0] += CHECK_SECONDS - 1
    certificate.check_each_minute()
    assert presented(certificate) == 2


@pytest.mark.parametrize("wrong", ["no certificate", "no file", "a key of another", "a key with a password"])
def test_files_that_cannot_be_used_leave_the_old_ones_in_use_and_are_told_of_once(certificate, log, tmp_path, wrong):
    key = (tmp_path / "key.pem").read_bytes()
    write_certificate(tmp_path, b"locked" if wrong == "a key with a password" else None, serial=2)
    if wrong == "no certificate":
        (tmp_path / "cert.pem").write_text("something else")
    if wrong == "no file":
        (tmp_path / "cert.pem").unlink()
    if wrong == "a key of another":
        (tmp_path / "key.pem").write_bytes(key)
    for _ in range(3):
        certificate.check()
    assert presented(certificate) == 1
    (line,) = events(log)
    assert (line["level"], line["event"]) == ("error", "certificate")
    assert line["fault"] in {"SSLError", "FileNotFoundError"}
    assert "stay in use" in line["why"]
    assert str(tmp_path) not in log.getvalue()
    write_certificate(tmp_path, serial=3)
    certificate.check()
    assert presented(certificate) == 3


def test_who_has_no_log_tells_nobody_and_settings_without_tls_have_none(tmp_path):
    assert open_certificate(Settings(tmp_path)) is None
    files = write_certificate(tmp_path)
    opened = open_certificate(Settings(tmp_path, certificate=files[0], key=files[1]))
    write_certificate(tmp_path, serial=2)
    opened.check()
    assert presented(opened) == 2
