"""A survey from its file to its results, over a real connection."""

from __future__ import annotations

import asyncio
import signal
import ssl
from fractions import Fraction
from types import SimpleNamespace

import pytest
from uvicorn import Config

from adomnia.api.settings import Settings
from adomnia.errors import Refusal
from adomnia.survey import respond
from adomnia.survey.serve import _Server, serve_survey
from adomnia.survey.store import read_reports
from adomnia.survey.survey import Survey, draw_token, write_survey
from adomnia.survey.warner import Warner
from kit.surveys import run_survey, served_survey
from kit.waiting import wait_until
from serving.certificates import is_trusted, write_certificate

SURVEY = Survey(draw_token(), "Why?", ("yes", "no"), Warner(Fraction(3, 4)))


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_a_respondent_counts_once_and_the_survey_ends_quietly(tmp_path, ending):
    write_survey(tmp_path, SURVEY)
    with served_survey(tmp_path, ending) as address:
        first = respond(address, "yes", memory=tmp_path / "device")
        again = respond(address, "no", memory=tmp_path / "device")
        assert (first.report, again.repeated) == (again.report, True)
        respond(address, "no", memory=tmp_path / "another")
        assert read_reports(tmp_path, SURVEY).total() == 2
    assert read_reports(tmp_path, SURVEY).total() == 2


def test_a_folder_without_a_survey_is_refused_before_anything_listens(tmp_path):
    with pytest.raises(Refusal, match="has no survey"):
        serve_survey(Settings(tmp_path, port=0), lambda *_: pytest.fail("announced"))


def test_a_survey_that_a_script_started_goes_on_after_its_ctrl_c():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        server = _Server(Config(None))
    finally:
        signal.signal(signal.SIGINT, before)
    server.handle_exit(signal.SIGINT, None)
    assert not server.should_exit
    server.handle_exit(signal.SIGTERM, None)
    assert server.should_exit


def test_a_renewed_certificate_is_used_after_a_signal_as_by_serve(tmp_path):
    write_survey(tmp_path, SURVEY)
    certificate, key = write_certificate(tmp_path)
    former = ssl.create_default_context(cafile=str(certificate))
    said = []
    with run_survey(tmp_path, said, "--tls-cert", str(certificate), "--tls-key", str(key)) as (port, process):
        assert is_trusted(port, former)
        renewed = ssl.create_default_context(cadata=write_certificate(tmp_path, serial=2)[0].read_text())
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: is_trusted(port, renewed))
        assert not is_trusted(port, former)
    assert b"A new certificate is in use." in said[0]


def test_a_certificate_that_was_renewed_is_found_without_a_signal():
    looks = []
    server = _Server(Config(None), SimpleNamespace(check_each_minute=lambda: looks.append(1)))
    asyncio.run(server.on_tick(1))
    assert looks == [1]
