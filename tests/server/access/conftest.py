"""What tests of access share: a clock that is set by hand, and hashes that take no time."""

from __future__ import annotations

import pytest
from argon2 import PasswordHasher

from adomnia.server.access import Role, passwords
from server.access.trials import PASSWORD, Time

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture
def real_hashes():
    """What the quick ones stand in for."""
    return {name: getattr(passwords, name) for name in ("_HASHER", "_UNMATCHED")}


@pytest.fixture(autouse=True)
def quick_hashes(real_hashes, monkeypatch):
    monkeypatch.setattr(passwords, "_HASHER", QUICK)
    monkeypatch.setattr(passwords, "_UNMATCHED", QUICK.hash("of nobody"))


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def access(tmp_path, time):
    """An owner and an analyst, the second with a password."""
    with time.opened(tmp_path) as opened:
        opened.add_user("olga", Role.OWNER)
        opened.add_user("alice", Role.ANALYST, PASSWORD)
        yield opened
