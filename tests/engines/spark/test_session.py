"""Sessions of our own: pinned, quiet, and ended without ending what others use."""

from __future__ import annotations

import builtins
import logging
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import gettempdir
from types import SimpleNamespace

import pytest

from adomnia.engines.limits import Limits
from adomnia.engines.spark import session as sessions
from adomnia.engines.spark.pinning import PINNED, pin
from adomnia.engines.spark.running import finish
from adomnia.engines.spark.session import (
    TOKEN,
    TOKEN_FILE,
    PinnedSession,
    ScratchFolder,
    complete_address,
    is_loopback,
    open_session,
)
from adomnia.errors import Failure, Refusal, Unavailable
from kit import spark
from kit.waiting import HANG_SECONDS

USUAL = Limits()
SECRET = "dapi-0123456789"


class Settings:
    """Settings of a server that keeps only some."""

    def __init__(self, kept, refused=()):
        self.kept, self.refused = dict(kept), refused

    def get(self, name):
        if name not in self.kept:
            raise KeyError(name)
        return self.kept[name]

    def set(self, name, value):
        if name in self.refused:
            raise ValueError(name)
        self.kept[name] = value


def test_settings_are_pinned_and_read_again():
    settings = Settings({"spark.sql.ansi.enabled": "false"})
    pin(SimpleNamespace(conf=settings))
    assert settings.kept == PINNED


@pytest.mark.parametrize("name", ["spark.sql.ansi.enabled", "spark.sql.redaction.string.regex"])
def test_a_setting_that_cannot_be_pinned_is_a_refusal(name):
    with pytest.raises(Refusal, match=f"does not keep the setting {name}"):
        pin(SimpleNamespace(conf=Settings({name: "other"}, refused={name})))


def test_a_setting_that_is_so_already_need_not_be_set():
    pin(SimpleNamespace(conf=Settings(PINNED, refused=set(PINNED))))


def test_nobody_listens_at_an_address():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with pytest.raises(Unavailable, match="cannot be reached"):
        open_session(f"sc://127.0.0.1:{port}", USUAL)


@pytest.fixture
def forgetful():
    """A server that knows no session and no execution, and counts what it is asked to run."""
    spark.classic()
    import grpc
    from google.rpc import status_pb2
    from grpc_status import rpc_status
    from pyspark.sql.connect.proto import base_pb2_grpc

    class Forgetful(base_pb2_grpc.SparkConnectServiceServicer):
        asked = 0

        def ExecutePlan(self, _request, context):  # noqa: N802 - as Spark has it
            self.asked += 1
            code = grpc.StatusCode.NOT_FOUND.value[0]
            said = "[INVALID_HANDLE.OPERATION_NOT_FOUND] [INVALID_HANDLE.SESSION_NOT_FOUND]"
            context.abort_with_status(rpc_status.to_status(status_pb2.Status(code=code, message=said)))

        ReattachExecute = ExecutePlan

    found, server = Forgetful(), grpc.server(ThreadPoolExecutor(4))
    base_pb2_grpc.add_SparkConnectServiceServicer_to_server(found, server)
    found.url = f"sc://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    yield found
    server.stop(None)


def test_a_server_that_forgot_a_statement_is_not_asked_again(forgetful):
    """The client asks again whatever policies there are, for an hour: what is paid for once would run often."""
    own = sessions._connect(forgetful.url)
    with pytest.raises(Failure):
        finish(lambda: own.session.sql("SELECT 1").toArrow(), 5)
    assert forgetful.asked == 1
    own.close()


@pytest.mark.parametrize("where", ["classic", "connect"])
def test_statements_are_in_no_log_of_this_process_however_much_is_logged(where, caplog):
    spark.classic()
    own = open_session(spark.connect() if where == "connect" else None, USUAL)
    caplog.set_level(logging.DEBUG)
    for name in ("py4j", "pyspark.sql.connect.logging"):
        logging.getLogger(name)  # however they were made
    asked = "SELECT 'canary-9' AS x WHERE :p1 = 'canary-8'"
    assert own.session.sql(asked, args={"p1": "canary-8"}).toArrow().to_pylist() == [{"x": "canary-9"}]
    with pytest.raises(Exception, match="canary"):
        own.session.sql("SELECT `canary-7`").toArrow()
    own.close()
    assert "canary" not in caplog.text


@pytest.mark.parametrize("url", [None, "sc://localhost:1"])
def test_an_installation_without_spark_is_told_what_to_install(url, monkeypatch):
    real = builtins.__import__

    def without(name, *given, **named):
        if name.startswith("pyspark"):
            raise ImportError(name)
        return real(name, *given, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(Refusal, match="is declared as the engine, and is not installed"):
        open_session(url, USUAL)


@pytest.mark.parametrize("where", ["classic", "connect"])
def test_sessions_are_alone_and_end_alone(where):
    head = spark.classic()
    url = spark.connect() if where == "connect" else None
    one, other = open_session(url, USUAL), open_session(url, USUAL)
    one.session.sql("CREATE TEMPORARY VIEW own AS SELECT 1 AS x")
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        other.session.sql("SELECT * FROM own").toArrow()
    assert all(one.session.conf.get(name) == value for name, value in PINNED.items())
    one.close()
    one.close()
    assert other.session.sql("SELECT 1 AS x").toArrow().to_pylist() == [{"x": 1}]
    other.close()
    assert head.sql("SELECT 2 AS x").toArrow().to_pylist() == [{"x": 2}]


def test_a_session_that_cannot_be_pinned_is_ended(monkeypatch):
    ended = []
    spark.classic()
    monkeypatch.setattr(PinnedSession, "close", lambda self: ended.append(self))  # noqa: PLW0108 - a method
    monkeypatch.setattr(sessions, "pin", lambda session: pin(SimpleNamespace(conf=Settings({}, refused=set(PINNED)))))
    with pytest.raises(Refusal, match="does not keep"):
        open_session(None, USUAL)
    assert len(ended) == 1
    sessions.LOCAL.release()


class Started:
    """What a builder of sessions was told, and whether what it started was stopped."""

    def __init__(self, *, fails=False):
        self.told, self.stopped, self.fails = {}, 0, fails

    def config(self, name, value):
        self.told[name] = value
        return self

    def getOrCreate(self):  # noqa: N802 - as Spark has it
        if self.fails:
            raise RuntimeError("no Java")
        return self

    def newSession(self):  # noqa: N802 - as Spark has it
        return self

    def stop(self):
        self.stopped += 1


@pytest.fixture
def nothing_runs(monkeypatch):
    """A process without Spark, in which a builder of ours is asked for it."""

    def start(builder):
        import pyspark
        import pyspark.sql

        monkeypatch.setattr(pyspark.SparkContext, "_active_spark_context", None)
        monkeypatch.setattr(pyspark.SparkContext, "_gateway", object())  # to a Java that runs already
        monkeypatch.setattr(pyspark.sql, "SparkSession", SimpleNamespace(builder=builder))
        return builder

    return start


def test_a_spark_of_this_process_is_small_closed_to_others_and_stopped_with_its_last_session(nothing_runs):
    local, builder = sessions.LocalSpark(), nothing_runs(Started())
    sessions_of_ours = [local.session(Limits(threads=3, memory="1.5 GiB")), local.session(USUAL)]
    assert builder.told["spark.master"] == "local[*]"
    assert {builder.told["spark.driver.host"], builder.told["spark.driver.bindAddress"]} == {"127.0.0.1"}
    assert (builder.told["spark.ui.enabled"], builder.told["spark.log.level"]) == ("false", "OFF")
    assert [each.session for each in sessions_of_ours] == [builder, builder]
    local.release()
    assert builder.stopped == 0
    local.release()
    assert builder.stopped == 1


@pytest.mark.parametrize(
    ("memory", "told"), [("1200MB", "1200m"), ("1.5 GiB", "1536m"), ("2TB", "2000000m"), ("64KB", "1m")]
)
def test_memory_is_told_in_whole_megabytes(nothing_runs, memory, told):
    local, builder = sessions.LocalSpark(), nothing_runs(Started())
    local.session(Limits(threads=3, memory=memory))
    local.release()
    assert (builder.told["spark.master"], builder.told["spark.driver.memory"]) == ("local[3]", told)


def test_a_spark_that_is_kept_is_not_stopped_with_its_sessions(nothing_runs):
    local, builder = sessions.LocalSpark(), nothing_runs(Started())
    with local.kept():
        local.session(USUAL)
        local.release()
        assert builder.stopped == 0
    assert builder.stopped == 1


def test_java_is_started_without_a_word_on_the_terminal(nothing_runs, monkeypatch):
    import pyspark

    launched = []
    nothing_runs(Started())
    monkeypatch.setattr(pyspark.SparkContext, "_gateway", None)
    monkeypatch.setattr(pyspark.SparkContext, "_jvm", None)
    monkeypatch.setattr(pyspark.SparkContext, "_ensure_initialized", lambda gateway, conf: launched.append(gateway))
    monkeypatch.setattr("pyspark.java_gateway.launch_gateway", lambda conf, popen: (conf.get("spark.master"), popen))
    local = sessions.LocalSpark()
    local.session(Limits(threads=3))
    local.release()
    assert launched == [("local[3]", {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL})]


def rooms():
    return set(Path(gettempdir()).glob("adomnia-spark-*"))


def test_a_machine_without_java_is_told_so_and_nothing_is_left_behind(nothing_runs):
    before = rooms()
    nothing_runs(Started(fails=True))
    with pytest.raises(Unavailable, match="cannot be started in this process"):
        sessions.LocalSpark().session(USUAL)
    assert rooms() <= before


def test_what_spark_writes_lies_in_a_room_that_is_closed_to_others_and_goes_with_it(nothing_runs):
    local, builder = sessions.LocalSpark(), nothing_runs(Started())
    local.session(USUAL)
    room = Path(builder.told["spark.local.dir"])
    assert room.stat().st_mode & 0o777 == 0o700
    assert room in Path(builder.told["spark.sql.warehouse.dir"]).parents
    assert builder.told["spark.hadoop.fs.permissions.umask-mode"] == "077"
    local.release()
    assert not room.exists()


def test_a_spark_whose_java_has_ended_is_told_and_not_counted(nothing_runs, monkeypatch):
    local, builder = sessions.LocalSpark(), nothing_runs(Started())
    local.session(USUAL)
    with monkeypatch.context() as dead:
        dead.setattr(builder, "fails", True)
        dead.setattr("pyspark.SparkContext._active_spark_context", object())
        dead.setattr(Started, "stop", lambda _self: 1 / 0)
        with pytest.raises(Unavailable, match="has ended in this process") as unavailable:
            local.session(USUAL)
        assert unavailable.value.__context__ is None
        local.release()
    assert local._started is None
    local.session(USUAL)  # where a new one can be started
    local.release()
    assert builder.stopped == 1


STARTS = """
import sys
from adomnia.engines.limits import Limits
from adomnia.engines.spark.session import open_session
from pyspark import SparkContext
own = open_session(None, Limits(threads=1, memory="600MB"))
other = open_session(None, Limits())
context = SparkContext._active_spark_context
print(context.master, context.getConf().get("spark.driver.memory"), context.getConf().get("spark.driver.bindAddress"))
try:
    own.session.sql("SELECT SUM(x) AS secret_question FROM VALUES (9223372036854775807), (1) AS t(x)").toArrow()
except Exception:
    print("failed")
own.close()
print(SparkContext._active_spark_context is not None)
other.close()
print(SparkContext._active_spark_context is None)
"""


@pytest.mark.soak
def test_spark_is_started_when_there_is_none_says_nothing_of_questions_and_ends_with_its_last_session():
    spark.classic()
    done = subprocess.run(
        [sys.executable, "-c", STARTS], capture_output=True, text=True, check=True, timeout=HANG_SECONDS
    )
    assert done.stdout.split() == ["local[1]", "600m", "127.0.0.1", "failed", "True", "True"]
    assert not done.stderr


CLIENT = """
import sys
sys.modules |= {"py4j": None, "pyspark.core": None}  # as where pyspark-client alone is installed
from adomnia.engines.contract import Statement
from adomnia.engines.limits import Limits
from adomnia.engines.spark.engine import Spark
from adomnia.engines.spark.session import open_session
made = Spark(lambda: open_session(sys.argv[1], Limits()), 60)
print(made.is_reachable(), made.read(Statement("SELECT 1 AS x", ()), 1))
made.close()
"""


def test_a_session_of_connect_needs_the_client_alone():
    command = [sys.executable, "-W", "ignore", "-c", CLIENT, spark.connect()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=HANG_SECONDS)
    assert done.stdout == "True [(1,)]\n"
    assert not done.stderr


KILLED = """
import sys, time
sys.path[:0] = {path!r}
from adomnia.engines.spark.session import ScratchFolder
room = ScratchFolder("adomnia-test-", {parent!r})
print(room.path, flush=True)
time.sleep(1000)
"""


def test_a_room_is_closed_to_others_and_is_removed_with_what_is_in_it(tmp_path):
    room = ScratchFolder("adomnia-test-", str(tmp_path))
    assert room.path.stat().st_mode & 0o777 == 0o700
    (room.path / "rows").write_text("")
    room.leave()
    assert list(tmp_path.iterdir()) == []
    room.leave()


def test_only_the_rooms_of_processes_that_were_killed_are_cleared(tmp_path):
    script = KILLED.format(path=sys.path, parent=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as child:
        left = child.stdout.readline().strip()
        used = ScratchFolder("adomnia-test-", str(tmp_path))
        was_there = Path(left).is_dir()
        child.send_signal(signal.SIGKILL)
    assert was_there  # its process was alive still
    others = [tmp_path / "adomnia-other-1", tmp_path / "adomnia-test-without-a-lock"]
    for other in others:
        other.mkdir()
    (others[0] / ".lock").write_text("")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".lock").write_text("")
    link = tmp_path / "adomnia-test-link"
    link.symlink_to(elsewhere)
    made = ScratchFolder("adomnia-test-", str(tmp_path))
    assert set(tmp_path.iterdir()) == {used.path, made.path, *others, elsewhere, link}
    assert (elsewhere / ".lock").exists()
    used.leave()
    made.leave()


def test_what_belongs_to_another_user_is_left_alone(tmp_path, monkeypatch):
    """Whoever may write to the same folder could put something there."""
    left = tmp_path / "adomnia-test-1"
    left.mkdir()
    (left / ".lock").write_text("")
    monkeypatch.setattr(os, "getuid", lambda: left.stat().st_uid + 1)
    ScratchFolder("adomnia-test-", str(tmp_path)).leave()
    assert left.exists()
    monkeypatch.undo()
    ScratchFolder("adomnia-test-", str(tmp_path)).leave()
    assert not left.exists()


@pytest.fixture(autouse=True)
def no_token(monkeypatch):
    monkeypatch.delenv(TOKEN, raising=False)
    monkeypatch.delenv(TOKEN_FILE, raising=False)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("sc://localhost", "sc://localhost:15002"),
        ("sc://127.0.0.1:4000/", "sc://127.0.0.1:4000"),
        ("sc://[::1]:4000", "sc://[::1]:4000"),
    ],
)
def test_this_machine_needs_neither_tls_nor_a_token(url, address):
    assert complete_address(url) == address


@pytest.mark.parametrize("host", ["spark.example.org", "192.0.2.7", "[2001:db8::1]", "localhost.example.org"])
def test_another_machine_is_spoken_to_through_tls_and_with_a_token(host, monkeypatch):
    assert not is_loopback(host)
    with pytest.raises(Refusal, match="takes a token, and there is none"):
        complete_address(f"sc://{host}")
    monkeypatch.setenv(TOKEN, SECRET)
    assert complete_address(f"sc://{host}") == f"sc://{host}:15002/;use_ssl=true;token={SECRET}"


def test_a_token_is_read_from_a_file(monkeypatch, tmp_path):
    (tmp_path / "token").write_text(f"{SECRET}\n")
    monkeypatch.setenv(TOKEN_FILE, str(tmp_path / "token"))
    assert complete_address("sc://spark.example.org").endswith(f"token={SECRET}")
    monkeypatch.setenv(TOKEN_FILE, str(tmp_path / "other"))
    with pytest.raises(Refusal, match="cannot be read from its file"):
        complete_address("sc://spark.example.org")


@pytest.mark.parametrize("token", ["", "two words", "a;user_id=other", "line\nbreak"])
def test_a_token_that_could_say_more_than_itself_is_none(token, monkeypatch):
    monkeypatch.setenv(TOKEN, token)
    with pytest.raises(Refusal, match="there is none") as refused:
        complete_address("sc://spark.example.org")
    assert token == "" or token not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        f"sc://localhost/;token={SECRET}",
        f"sc://user:{SECRET}@localhost",
        "sc://spark.example.org/;use_ssl=false",
        "http://localhost",
        "sc://",
        "sc://localhost:1/x",
    ],
)
def test_an_address_holds_nothing_else_and_is_never_repeated(url):
    with pytest.raises(Refusal, match="no address of a Spark Connect server") as refused:
        complete_address(url)
    assert SECRET not in str(refused.value)
