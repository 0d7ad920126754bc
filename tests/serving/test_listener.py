from __future__ import annotations

import signal
import socket

import pytest

from adomnia.api.settings import Settings
from adomnia.errors import Refusal
from adomnia.serving.listener import check_certificate, list_ending_signals, open_listener
from serving.certificates import write_certificate


def test_a_port_that_is_free_is_taken(tmp_path):
    with open_listener(Settings(tmp_path, port=0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(Refusal) as refused:
            open_listener(Settings(tmp_path, port=port))
        assert (refused.value.code, str(port) in refused.value.what) == ("port", True)
        assert "taken" in refused.value.why
    with open_listener(Settings(tmp_path, port=port)) as again:
        assert again.getsockname()[1] == port


def test_a_host_that_is_none_is_refused(tmp_path):
    with pytest.raises(Refusal, match="has no address"):
        open_listener(Settings(tmp_path, host="no.such.host.invalid", port=0, behind_proxy=True))
    with pytest.raises(Refusal, match="no address of this machine"):
        open_listener(Settings(tmp_path, host="192.0.2.1", port=0, behind_proxy=True))


def test_a_port_that_is_not_for_everybody_is_refused(tmp_path, monkeypatch):
    def denied(_self, _address):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", denied)
    with pytest.raises(Refusal, match="1024 or more"):
        open_listener(Settings(tmp_path, port=80))


def test_a_certificate_and_its_key_are_accepted(tmp_path):
    certificate, key = write_certificate(tmp_path)
    check_certificate(Settings(tmp_path))
    check_certificate(Settings(tmp_path, certificate=certificate, key=key))


@pytest.mark.parametrize("wrong", ["locked", "no certificate", "no file"])
def test_files_that_are_not_a_certificate_and_its_key_are_refused(tmp_path, wrong):
    certificate, key = write_certificate(tmp_path, b"a password" if wrong == "locked" else None)
    if wrong == "no certificate":
        certificate.write_text("something else")
    if wrong == "no file":
        key.unlink()
    with pytest.raises(Refusal) as refused:
        check_certificate(Settings(tmp_path, certificate=certificate, key=key))
    assert refused.value.code == "tls"


@pytest.mark.parametrize(
    ("handler", "ending"),
    [
        (signal.default_int_handler, [signal.SIGTERM, signal.SIGINT]),
        (signal.SIG_DFL, [signal.SIGTERM, signal.SIGINT]),
        (signal.SIG_IGN, [signal.SIGTERM]),
    ],
)
def test_what_was_ignored_before_the_start_stays_ignored(handler, ending):
    before = signal.signal(signal.SIGINT, handler)
    try:
        assert list_ending_signals() == ending
    finally:
        signal.signal(signal.SIGINT, before)
