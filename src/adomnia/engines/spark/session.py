"""A Spark session of our own: of a Connect server, or of a Spark in this process; pinned, tried, and kept quiet.

Only what classic sessions and those of Connect both have is used. No message of Spark is passed on: it may quote the
statement or a row.
"""

import fcntl
import logging
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from socket import create_connection
from subprocess import DEVNULL
from tempfile import gettempdir, mkdtemp
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from adomnia.engines.limits import Limits
from adomnia.engines.spark.pinning import pin, try_out
from adomnia.errors import Refusal, Unavailable, install_extra

if TYPE_CHECKING:
    import pyspark.sql

    from adomnia.engines.spark.pinning import Session

# They write statements to stderr, and the last one what is sent to Java, to whatever log there is.
_LOUD, _JAVA = ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "pyspark.sql.connect.logging"), "py4j"
_ROOM, _UNITS = "adomnia-spark-", "_KMGT"
_PATIENCE = 10.0  # seconds for a connection
# A channel of its own, which does not wait for minutes before it looks for a server again that was away.
_CHANNEL = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_reconnect_backoff_ms", 1000)]
_LOCK = ".lock"  # held by whoever uses a room
TOKEN, TOKEN_FILE = "ADOMNIA_SPARK_TOKEN", "ADOMNIA_SPARK_TOKEN_FILE"
_ADDRESS = re.compile(r"sc://(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:(?P<port>[0-9]{1,5}))?/?")
_USUAL_PORT = 15002


def open_session(url: str | None, limits: Limits) -> "PinnedSession":
    """A session that nobody else has: of the server at an address, or of the Spark of this process."""
    _silence()
    own = _connect(complete_address(url)) if url is not None else LOCAL.session(limits)
    try:
        pin(own.session)
        try_out(own.session)
    except BaseException:
        own.close()
        raise
    return own


class PinnedSession:
    """A session and what ends with it."""

    def __init__(self, session: "Session", *, local: bool) -> None:
        self.session, self.is_local, self._closed = session, local, False

    def tag(self, tag: str) -> None:
        """Mark what this thread runs from now on."""
        if self.is_local:  # whose own tags are those of a thread, and no other can interrupt it by them
            self.session.sparkContext.setInterruptOnCancel(True)
            self.session.sparkContext.addJobTag(tag)
        else:
            self.session.addTag(tag)

    def untag(self, tag: str) -> None:
        """Mark no more of it."""
        if self.is_local:
            self.session.sparkContext.removeJobTag(tag)
        else:
            self.session.removeTag(tag)

    def interrupt(self, tag: str) -> None:
        """End what was marked so, from any thread."""
        with suppress(Exception):
            if self.is_local:
                self.session.sparkContext.cancelJobsWithTag(tag)
            else:
                self.session.interruptTag(tag)

    def close(self) -> None:
        """End the session; of Spark itself only what was started for our sessions, with the last of them."""
        if self._closed:
            return
        self._closed = True
        if self.is_local:
            LOCAL.release()
        else:
            with suppress(Exception):
                self.session.stop()


def _silence() -> None:
    for name in _LOUD:
        logging.getLogger(name).disabled = True
    logging.getLogger(_JAVA).setLevel(logging.CRITICAL + 1)  # for all loggers below it


def _connect(address: str) -> PinnedSession:
    try:
        from pyspark.sql.connect.client import DefaultChannelBuilder
        from pyspark.sql.connect.session import SparkSession
    except ImportError:
        raise _not_installed() from None
    with suppress(Exception):
        split = urlsplit(address)
        create_connection((split.hostname or "", split.port or 0), _PATIENCE).close()  # Spark would try for minutes
        session = SparkSession.builder.channelBuilder(DefaultChannelBuilder(address, _CHANNEL)).create()
        # What was asked of a server that is lost fails, and is not asked again. Without policies that is not so yet:
        # where executions can be reattached, one that the server does not know is asked for an hour.
        session.client.set_retry_policies([])
        session.client.disable_reattachable_execute()
        return PinnedSession(session, local=False)
    raise Unavailable("Spark", "cannot be reached at the url of [engine]", "start it, or correct the url and the token")


class LocalSpark:
    """The Spark of this process: started with the first session that needs it, unless there was one already."""

    def __init__(self) -> None:
        self._lock, self._users = Lock(), 0
        self._started: pyspark.sql.SparkSession | None = None
        self._room: ScratchFolder | None = None

    def session(self, limits: Limits) -> PinnedSession:
        try:
            from pyspark import SparkContext
            from pyspark.sql import SparkSession
        except ImportError:
            raise _not_installed() from None
        with self._lock:
            if SparkContext._active_spark_context is None:
                self._start(limits)
            with suppress(Exception):
                session = SparkSession.builder.getOrCreate().newSession()
                self._users += 1
                return PinnedSession(session, local=True)
        raise Unavailable("Spark", "has ended in this process", "start this process again")

    @contextmanager
    def kept(self) -> Iterator[None]:
        """A while in which it is not stopped, whichever sessions end."""
        with self._lock:
            self._users += 1
        try:
            yield
        finally:
            self.release()

    def release(self) -> None:
        """Stop what was started when nobody uses it any more."""
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._started is not None:
                with suppress(Exception):  # where Java has ended
                    self._started.stop()
                self._started = None
                self._leave()

    def _start(self, limits: Limits) -> None:
        """Start a Spark in a room of its own, in which rows lie while it works."""
        self._leave()
        self._room = ScratchFolder(_ROOM)
        try:
            self._started = _start(limits, str(self._room.path))
        except BaseException:
            self._leave()
            raise

    def _leave(self) -> None:
        if self._room is not None:
            self._room.leave()
            self._room = None


LOCAL = LocalSpark()


def _start(limits: Limits, room: str) -> "pyspark.sql.SparkSession":
    from pyspark.sql import SparkSession

    settings = {
        "spark.master": f"local[{limits.threads or '*'}]",
        "spark.driver.memory": _count_megabytes(limits.memory),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.eventLog.enabled": "false",
        "spark.local.dir": room,
        "spark.sql.warehouse.dir": f"{room}/warehouse",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.hadoop.fs.permissions.umask-mode": "077",  # what is written is closed to other users
    }
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with suppress(Exception):
        _launch_quietly(settings)
        builder = SparkSession.builder
        for name, value in settings.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()
    raise Unavailable(
        "Spark", "cannot be started in this process", 'install Java 17, or name a server: url = "sc://..."'
    )


def _launch_quietly(settings: Mapping[str, str]) -> None:
    """Start a Java that writes nothing to the terminal, not even before it hears of settings."""
    from pyspark import SparkConf, SparkContext, java_gateway

    if SparkContext._gateway is None:
        chosen = SparkConf().setAll(list(settings.items()))
        quiet = {"stdout": DEVNULL, "stderr": DEVNULL}
        java = java_gateway.launch_gateway(chosen, quiet)  # type: ignore[no-untyped-call]
        SparkContext._ensure_initialized(gateway=java, conf=chosen)


def _count_megabytes(size: str) -> str:
    """A size as Java takes it, which has no fractions."""
    number, unit = size.replace(" ", "").rstrip("B").removesuffix("i")[:-1], size.rstrip("iB")[-1]
    bytes_ = float(number) * (1024 if "i" in size else 1000) ** _UNITS.index(unit)
    return f"{max(1, int(bytes_ / (2**20 if 'i' in size else 10**6)))}m"


def _not_installed() -> Refusal:
    fix = f"{install_extra('spark')}; for Spark Connect alone, pip install pyspark-client and name its url"
    return Refusal("Spark", "is declared as the engine, and is not installed", fix)


class ScratchFolder:
    """A folder of this process, until it leaves."""

    def __init__(self, prefix: str, parent: str = "") -> None:
        place = Path(parent or gettempdir())
        _clear(place, prefix)
        self.path = Path(mkdtemp(prefix=prefix, dir=place))
        unlocked = self.path / f"{_LOCK}.new"
        self._held = unlocked.open("w")
        fcntl.flock(self._held, fcntl.LOCK_SH)
        unlocked.replace(self.path / _LOCK)  # a room whose lock nobody holds yet is not cleared by others

    def leave(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._held.close()


def _clear(place: Path, prefix: str) -> None:
    """Remove the scratch folders of this user whose processes have ended without leaving them."""
    for left in place.glob(f"{prefix}*"):
        with suppress(OSError):  # another's, in use, or gone meanwhile
            if left.lstat().st_uid != os.getuid() or left.is_symlink():
                continue
            with (left / _LOCK).open("r") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)


def complete_address(url: str) -> str:
    """The address with what a connection needs: of another machine always TLS and a token."""
    found = _ADDRESS.fullmatch(url)
    if found is None:
        why = "is no address of a Spark Connect server; a token or a setting may not stand in it"
        raise Refusal("The url of [engine]", why, 'write "sc://host:15002"')
    host, port = found["host"], found["port"] or _USUAL_PORT
    if is_loopback(host):
        return f"sc://{host}:{port}"
    return f"sc://{host}:{port}/;use_ssl=true;token={_read_token(host)}"


def is_this_machine(url: str) -> bool:
    """Whether a server listens on this machine, and sees its files."""
    found = _ADDRESS.fullmatch(url)
    return found is not None and is_loopback(found["host"])


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, whatever a name server says."""
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _read_token(host: str) -> str:
    """The token from the environment, or from the file that it names."""
    token, file = os.environ.get(TOKEN, ""), os.environ.get(TOKEN_FILE)
    if file is not None:
        try:
            token = Path(file).read_text().strip()
        except (OSError, UnicodeError):
            fix = f"let {TOKEN_FILE} name a file that this process can read"
            raise Refusal("The token for Spark", "cannot be read from its file", fix) from None
    if not re.fullmatch(r"[!-:<-~]+", token):  # an address ends at a semicolon
        fix = f"set {TOKEN}, or {TOKEN_FILE} to the name of a file"
        raise Refusal(f"Spark on {host}", "is another machine, which takes a token, and there is none", fix)
    return token
