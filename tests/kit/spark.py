"""One Spark for each test process: a JVM with classic sessions and a Connect server on loopback; and Sail beside it."""

import atexit
import os
import shutil
import socket
import sys
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

# Compiled once and quickly: a JVM of tests does not live long enough to gain from more, nor from collecting garbage
# of its classes. Those of Spark are not verified, nor those that it writes for each statement.
_JAVA = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmn800m -XX:MetaspaceSize=512m -XX:ReservedCodeCacheSize=256m "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)


def _require_spark():
    try:
        import pyspark.sql.connect.session  # noqa: F401 - whether it can be loaded
    except ImportError:
        pytest.skip("Spark is not installed: pip install 'pyspark[connect]'")


def _require_java():
    home = os.environ.get("JAVA_HOME")
    if not (shutil.which("java") or (home and (Path(home) / "bin" / "java").exists())):
        pytest.skip("Java is not installed, and Spark needs it: apt install openjdk-17-jre-headless")


@cache
def classic():
    """The classic session of this process, small and quiet; a Connect server listens in the same JVM."""
    _require_spark()
    _require_java()
    from pyspark.sql import SparkSession

    folder = mkdtemp(prefix="spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {
        "spark.driver.memory": "2g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.local.dir": folder,
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        # Rows are few: one task reads them, and what is shuffled lies in two parts that are read one after the other.
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "1",
        "spark.sql.files.minPartitionNum": "1",
        "spark.shuffle.compress": "false",
        "spark.broadcast.compress": "false",
        "spark.sql.parquet.compression.codec": "uncompressed",
        # Pages of the usual size filled all memory with zeros, and every second ended in collecting them.
        "spark.buffer.pageSize": "1m",
        # Nobody looks at statements that have ended.
        "spark.sql.ui.retainedExecutions": "1",
        "spark.ui.retainedJobs": "1",
        "spark.ui.retainedStages": "1",
        "spark.ui.retainedTasks": "1",
        "spark.sql.lightweightPlanChangeValidation": "false",
        "spark.sql.codegen.cache.maxEntries": "5000",  # an index is built of the same statements again and again
        "spark.driver.extraJavaOptions": _JAVA,
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(_port()),
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(session.stop)  # before its folder is removed
    return session


@cache
def connect():
    """The address of the Connect server of this process."""
    classic()
    return f"sc://127.0.0.1:{_port()}"


@cache
def _port():
    """A port that is free; it is asked for once."""
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return tried.getsockname()[1]


@cache
def sail():
    """The address of a Sail server of this process."""
    _require_spark()
    try:
        from pysail.spark import SparkConnectServer
    except ImportError:
        pytest.skip("Sail is not installed: pip install pysail")
    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    atexit.register(server.stop)
    _, port = server.listening_address
    return f"sc://127.0.0.1:{port}"


class Wire:
    """A way to the Connect server that can be cut: an address of its own, which passes everything on."""

    def __init__(self):
        self._far = connect().removeprefix("sc://127.0.0.1:")
        self._sockets, self._listener = [], None
        with socket.socket() as tried:
            tried.bind(("127.0.0.1", 0))
            self.port = tried.getsockname()[1]
        self.mend()

    @property
    def url(self):
        return f"sc://127.0.0.1:{self.port}"

    def mend(self):
        """Pass on what comes from now on."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def cut(self):
        """Nobody listens any more, and what is open breaks."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        while self._sockets:
            end = self._sockets.pop()
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self, listener):
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.create_connection(("127.0.0.1", int(self._far)))
                self._sockets += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=_pass_on, args=(one, other), daemon=True).start()


def _pass_on(one, other):
    with suppress(OSError):
        while some := one.recv(65536):
            other.sendall(some)
    for end in (one, other):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
