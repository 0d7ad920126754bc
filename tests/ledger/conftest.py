"""Where the ledger of a test is: what holds of the port holds in a file and in PostgreSQL."""

from __future__ import annotations

from uuid import uuid4

import pytest

from adomnia.ledger.postgres_place import PostgresPlace
from kit.postgres import durable_server


@pytest.fixture
def shared(tmp_path):
    """A place in PostgreSQL, for a machine that has its anchor in the folder of the test."""
    return PostgresPlace(durable_server().url(), f"test_{uuid4().hex}", "test", tmp_path)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    """A place where no ledger is yet."""
    return tmp_path / "ledger.db" if request.param == "sqlite" else request.getfixturevalue("shared")
