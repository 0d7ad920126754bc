"""The Python client: it randomises once, remembers for good, and sends nothing else."""

from __future__ import annotations

import gzip
import json
import stat
from collections import Counter
from fractions import Fraction

import httpx
import pytest

from adomnia.errors import Refusal, Unavailable
from adomnia.survey import respond
from adomnia.survey.kary import KaryResponse
from adomnia.survey.responding import DeviceMemory, KeptReport
from adomnia.survey.subset import SubsetSelection
from adomnia.survey.survey import Survey, draw_token

SURVEY = Survey("cd" * 16, "Why?", ("yes", "no", "perhaps"), KaryResponse(3, Fraction(3)))
ADDRESS = "http://127.0.0.1:9"


class Server:
    """A survey that keeps what it was sent."""

    def __init__(self, survey=SURVEY, status=201, body=None, invited=False):
        self.survey, self.status, self.body, self.invited = survey, status, body, invited
        self.requests = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if request.method == "GET":
            return httpx.Response(200, json={**self.survey.record(), "invited": self.invited})
        return httpx.Response(self.status, json={"first": True} if self.body is None else self.body)

    @property
    def posted(self):
        return [json.loads(request.content) for request in self.requests if request.method == "POST"]


def answer(server, memory, given="yes", address=ADDRESS, **options):
    return respond(address, given, memory=memory, transport=httpx.MockTransport(server), **options)


def test_only_the_randomised_answer_leaves_and_it_stays_the_same(tmp_path):
    server = Server()
    first = answer(server, tmp_path)
    again = answer(server, tmp_path, "perhaps")
    assert (first.repeated, again.repeated) == (False, True)
    assert first.report == again.report
    assert server.posted[0] == server.posted[1]
    assert set(server.posted[0]) == {"survey", "token", "report"}
    assert SURVEY.design.is_report(tuple(server.posted[0]["report"]))
    assert first.epsilon == SURVEY.design.epsilon


def test_every_report_is_sent_in_as_many_bytes(tmp_path):
    design = SubsetSelection(40, Fraction(3), 5)
    server = Server(Survey("ef" * 16, "Which?", tuple(map(str, range(40))), design))
    for number, report in enumerate([(0, 1, 2, 3, 4), (5, 6, 7, 8, 10), (30, 31, 32, 33, 34)]):
        memory = tmp_path / f"{number}"
        DeviceMemory(memory).keep(server.survey.id, KeptReport(draw_token(), report, server.survey.digest))
        assert answer(server, memory, "0").report == report
    sent = [request for request in server.requests if request.method == "POST"]
    assert len({len(request.content) for request in sent}) == 1
    assert [json.loads(request.content)["report"][0] for request in sent] == [0, 5, 30]
    assert {request.headers["Content-Type"] for request in sent} == {"application/json"}


def test_what_is_posted_has_the_distribution_of_the_design_whatever_is_answered(tmp_path):
    """False alarm below 1e-6: five deviations of 120 reports."""
    server = Server()
    for number in range(120):
        answer(server, tmp_path / str(number))
    reports = Counter(body["report"][0] for body in server.posted)
    assert set(reports) == {0, 1, 2}
    assert abs(reports[0] - 72) < 5 * (120 * 0.6 * 0.4) ** 0.5
    assert len({body["token"] for body in server.posted}) == 120


def test_the_answer_is_in_no_byte_that_leaves_or_stays(tmp_path):
    survey = Survey("ef" * 16, "Why?", ("sentinel-one", "sentinel-two"), KaryResponse(2, Fraction(3)))
    server = Server(survey)
    answer(server, tmp_path, "sentinel-one")
    sent = b"".join(request.content + str(request.url).encode() for request in server.requests)
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"sentinel" not in sent + kept


def test_the_report_is_kept_before_it_is_sent_and_sent_again_after_trouble(tmp_path):
    problem = {"error": {"code": "unavailable", "what": "The file", "why": "is full", "fix": "wait"}}
    broken = Server(status=503, body=problem)
    with pytest.raises(Unavailable, match="is full"):
        answer(broken, tmp_path)
    mended = Server()
    answer(mended, tmp_path, "no")
    assert mended.posted == broken.posted


def test_a_server_that_has_another_report_of_the_token_says_so(tmp_path):
    problem = {"error": {"code": "reported", "what": "The token", "why": "has reported already", "fix": "nothing"}}
    with pytest.raises(Refusal, match="has reported already"):
        answer(Server(status=409, body=problem), tmp_path)


def test_a_survey_that_costs_too_much_is_refused_before_anything_is_drawn(tmp_path):
    costly = Survey("ab" * 16, "Why?", ("yes", "no"), KaryResponse(2, Fraction(10**8)))
    server = Server(costly)
    with pytest.raises(Refusal, match="more than the 3 that you accept"):
        answer(server, tmp_path)
    assert (server.posted, list(tmp_path.iterdir())) == ([], [])
    assert answer(server, tmp_path, at_most=20).epsilon > 18


def test_an_answer_that_there_is_not_is_refused_and_nothing_is_sent(tmp_path):
    server = Server()
    with pytest.raises(Refusal, match="none of this survey's"):
        answer(server, tmp_path, "maybe")
    assert server.posted == []


@pytest.mark.parametrize(
    "other",
    [
        Survey(SURVEY.id, "Do you like tea?", SURVEY.answers, SURVEY.design),
        Survey(SURVEY.id, SURVEY.question, ("no", "yes", "perhaps"), SURVEY.design),
        Survey(SURVEY.id, SURVEY.question, SURVEY.answers, KaryResponse(3, Fraction(11, 10))),
    ],
    ids=["question", "answers", "design"],
)
def test_a_report_is_not_sent_to_whoever_takes_the_id_of_its_survey(other, tmp_path):
    """An id is public: another server that shows it must not be handed what somebody reported elsewhere."""
    first = answer(Server(), tmp_path)
    thief = Server(other)
    with pytest.raises(Refusal, match="nobody else's business"):
        answer(thief, tmp_path, address="https://other.example")
    assert thief.posted == []
    assert answer(Server(), tmp_path).report == first.report


def test_who_forgets_the_invitation_can_still_use_it(tmp_path):
    """A report that is kept under a token of its own would be refused for ever."""
    token = draw_token()
    server = Server(invited=True)
    with pytest.raises(Refusal, match="people who were invited"):
        answer(server, tmp_path)
    assert (server.posted, list(tmp_path.iterdir())) == ([], [])
    answer(server, tmp_path, address=f"{ADDRESS}/#{token}")
    assert server.posted[0]["token"] == token


def test_an_invitation_of_the_address_is_the_token_and_goes_into_no_url(tmp_path):
    server, token = Server(), draw_token()
    answer(server, tmp_path, address=f"{ADDRESS}/#{token}")
    assert server.posted[0]["token"] == token
    assert all(token not in str(request.url) for request in server.requests)


@pytest.mark.parametrize(
    "address", ["http://example.org", "ftp://127.0.0.1", "127.0.0.1", f"{ADDRESS}/#nonsense", "http://[", "https:", 3]
)
def test_addresses_that_are_none_or_in_the_open_are_refused(address, tmp_path):
    server = Server()
    if address == "https:":
        with pytest.raises((Refusal, Unavailable)):
            respond(address, "yes", memory=tmp_path)
        return
    with pytest.raises(Refusal):
        answer(server, tmp_path, address=address)
    assert server.requests == []


@pytest.mark.parametrize(
    "reply",
    [b"", b"{}", b"[]", b"<html>", b'{"id": 3}', b"x" * (2**20 + 1)],
    ids=["empty", "record", "list", "page", "id", "long"],
)
def test_a_stranger_s_reply_is_a_refusal(reply, tmp_path):
    with pytest.raises(Refusal):
        answer(lambda _: httpx.Response(200, content=reply), tmp_path)
    with pytest.raises(Refusal):
        answer(lambda _: httpx.Response(500, content=reply), tmp_path)
    packed = {"Content-Encoding": "gzip"}
    with pytest.raises(Refusal):
        answer(lambda _: httpx.Response(200, headers=packed, content=gzip.compress(b" " * 2**24)), tmp_path)


def test_a_server_that_cannot_be_reached_is_told(tmp_path):
    def fail(request):
        raise httpx.ConnectError("no")

    with pytest.raises(Unavailable, match="cannot be reached"):
        answer(fail, tmp_path)


def test_the_memory_is_the_user_s_alone_and_written_once(tmp_path):
    memory = DeviceMemory(tmp_path / "kept")
    first, second = (KeptReport(draw_token(), (part,), SURVEY.digest) for part in (1, 2))
    assert memory.recall(SURVEY.id) is None
    assert memory.keep(SURVEY.id, first) == first
    assert memory.keep(SURVEY.id, second) == first
    [path] = memory.folder.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(memory.folder.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"token": "x", "report": [1], "survey": "y"}',
        '{"token": 3, "report": 4, "survey": "y"}',
        '{"report": [1]}',
        json.dumps({"token": "ab" * 16, "report": [1]}),
    ],
)
def test_a_damaged_memory_is_no_reason_to_answer_again(text, tmp_path):
    (tmp_path / f"{SURVEY.id}.json").write_text(text)
    server = Server()
    with pytest.raises(Unavailable, match="second time"):
        answer(server, tmp_path)
    assert server.posted == []


def test_without_a_memory_nothing_is_sent(tmp_path):
    (tmp_path / "file").write_text("")
    server = Server()
    with pytest.raises(Unavailable, match="cannot be read"):
        answer(server, tmp_path / "file" / "below")
    assert server.posted == []


def test_what_cannot_be_kept_is_not_sent(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    server = Server()
    monkeypatch.setattr("adomnia.survey.responding.os.fsync", refuse)
    with pytest.raises(Unavailable, match="cannot be written"):
        answer(server, tmp_path)
    assert server.posted == []


def test_the_memory_of_a_user_is_where_their_programs_keep_data(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert DeviceMemory.of_user().folder == tmp_path / "adomnia" / "surveys"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert DeviceMemory.of_user().folder == tmp_path / ".local" / "share" / "adomnia" / "surveys"
    with pytest.raises(ValueError, match="hexadecimal"):
        DeviceMemory(tmp_path).recall("../../etc/passwd")
