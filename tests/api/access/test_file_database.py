"""The file of users: private, durable, and whole or refused."""

from __future__ import annotations

import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from time import monotonic

import pytest

from adomnia.api.access import ACCESS, Access, Role
from adomnia.errors import Unavailable
from adomnia.ledger import sqlite
from api.access.trials import HERE, PASSWORD, InFiles


@pytest.fixture
def home():
    return InFiles()


def hurry(monkeypatch) -> None:
    """Time runs 600 times as fast for whoever waits for the file."""
    monkeypatch.setattr(sqlite, "monotonic", lambda: 600 * monotonic())


def refusal_of(folder) -> Unavailable:
    with pytest.raises(Unavailable) as refused:
        Access.open(folder).users()
    return refused.value


def test_a_folder_that_is_missing_is_made_for_its_owner_alone(tmp_path):
    Access.open(tmp_path / "dataset" / ".adomnia").close()
    assert stat.S_IMODE((tmp_path / "dataset" / ".adomnia").stat().st_mode) == 0o700


def changed(folder, *statements) -> None:
    Access.open(folder).close()
    with closing(sqlite3.connect(folder / ACCESS, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def test_a_missing_table_is_refused(tmp_path):
    changed(tmp_path, "DROP TABLE users")
    assert refusal_of(tmp_path).why == "has not the tables it was made with"


def test_a_damaged_file_is_refused(tmp_path):
    with Access.open(tmp_path) as access:
        for number in range(200):
            access.add_user(f"user {number}", Role.AUDITOR)
    content = bytearray((tmp_path / ACCESS).read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    (tmp_path / ACCESS).write_bytes(content)
    refusal = refusal_of(tmp_path)
    assert (refusal.why, refusal.code) == ("is damaged", "access")
    assert "backup" in refusal.fix


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "file").touch()
    assert refusal_of(tmp_path / "file").why == "cannot be opened or created"


def test_a_closed_file_is_refused(tmp_path, caplog):
    access = Access.open(tmp_path)
    access.close()
    with pytest.raises(Unavailable, match="only the log names") as refused:
        access.users()
    assert refused.value.code == "access"
    assert caplog.messages == ["The file of users is in trouble: ProgrammingError, access.sqlite"]


def test_who_cannot_write_in_time_is_told_to_try_again(tmp_path, monkeypatch):
    hurry(monkeypatch)
    with Access.open(tmp_path) as access, closing(sqlite3.connect(tmp_path / ACCESS, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable) as refused:
            access.add_user("alice", Role.ANALYST)
        assert refused.value.code == "busy"
        assert access.users() == []
        with pytest.raises(Unavailable, match="is locked by another program"):
            Access.open(tmp_path)
        other.execute("ROLLBACK")
        access.add_user("alice", Role.ANALYST)


def test_who_is_known_enters_also_while_nothing_can_be_written(tmp_path, monkeypatch, time):
    hurry(monkeypatch)
    with time.opened(tmp_path) as access:
        access.add_user("alice", Role.ANALYST, PASSWORD)
        token, visit = access.create_token("alice", "x", 1)[0], access.sign_in("alice", PASSWORD, HERE)[0]
        with closing(sqlite3.connect(tmp_path / ACCESS, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            time.go_on(120)
            assert access.identify_token(token)
            assert access.identify_browser(visit)
            time.go_on(100_000)
            assert access.identify_token(token) is None
            assert access.identify_browser(visit) is None
            other.execute("ROLLBACK")
        assert access.identify_token(token) is None


def test_a_full_disk_changes_nothing(access):
    connection = access._database._writer._connection
    page_count = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {page_count}")
    added = []
    with pytest.raises(Unavailable, match="no room left"):
        for number in range(1000):
            access.add_user(f"{number:0>100}", Role.AUDITOR)
            added.append(number)
    assert len(access.users()) == 2 + len(added)


def test_nobody_who_tries_to_sign_in_helps_an_older_copy_to_pass_for_a_later_one(tmp_path):
    """Attempts are written before they are known to fail: each would give the copy a higher number."""
    files = [tmp_path / f"{ACCESS}{end}" for end in ("", ".anchor")]
    with Access.open(tmp_path) as command, Access.open(tmp_path) as server:
        command.add_user("audrey", Role.AUDITOR)
        secret, token = command.create_token("audrey", "test", 1)
        older = [shutil.copy(file, f"{file} older") for file in files]
        command.revoke(token.id)
        assert server.identify_token(secret) is None
        for file, copy in zip(files, older, strict=True):
            shutil.copy(copy, file)
        for _ in range(3):
            with pytest.raises(Unavailable):
                server.sign_in("audrey", PASSWORD, HERE)
            with pytest.raises(Unavailable):
                server.identify_token(secret)
            assert files[0].read_bytes() == Path(older[0]).read_bytes()
