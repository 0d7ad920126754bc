"""What tests of access share: both places of its tables, a clock set by hand, and hashes that take no time."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from argon2 import PasswordHasher

from adomnia.api.access import Access, Role, passwords, shared_database
from api.access.trials import DATASET, PASSWORD, InFiles, InPostgres, Time
from kit.postgres import database
from kit.waiting import HANG_SECONDS

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture
def tmp_path(tmp_path):
    """In memory where that is a disk: every change waits for a disk several times, and no test here is about that."""
    memory = Path("/dev/shm")
    if not memory.is_dir():
        yield tmp_path
        return
    with TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


@pytest.fixture
def real_hashes():
    """What the quick ones stand in for."""
    return {name: getattr(passwords, name) for name in ("_HASHER", "_UNMATCHED")}


@pytest.fixture(autouse=True)
def quick_hashes(real_hashes, monkeypatch):
    monkeypatch.setattr(passwords, "_HASHER", QUICK)
    monkeypatch.setattr(passwords, "_UNMATCHED", QUICK.hash("of nobody"))


@pytest.fixture(scope="module", autouse=True)
def patience():
    """However busy the machine is, nobody gives up; who is to give up is told so by a test."""
    hang = dict.fromkeys(("statement_timeout", "lock_timeout"), f"{HANG_SECONDS:.0f}s")
    with (
        patch.object(shared_database, "PATIENCE_SECONDS", HANG_SECONDS),
        patch.dict(shared_database._SETTINGS, hang),
    ):
        yield


@pytest.fixture(scope="module")
def shared_url():
    with database() as url:
        yield url


@pytest.fixture(scope="module")
def postgres_home(shared_url):
    with Access.open_shared(shared_url, DATASET) as keeper:
        yield InPostgres(shared_url, keeper)


@pytest.fixture
def in_postgres(postgres_home):
    postgres_home.empty()
    return postgres_home


@pytest.fixture(params=["file", "postgres"])
def home(request):
    """Where users are. A test that is about one place alone says so with `indirect`."""
    return InFiles() if request.param == "file" else request.getfixturevalue("in_postgres")


@pytest.fixture
def time(home):
    return Time(home)


@pytest.fixture
def access(tmp_path, time):
    """An owner and an analyst, the second with a password."""
    with time.opened(tmp_path) as opened:
        opened.add_user("olga", Role.OWNER)
        opened.add_user("alice", Role.ANALYST, PASSWORD)
        yield opened
