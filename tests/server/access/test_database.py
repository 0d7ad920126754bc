"""The file of users: private, durable, and whole or refused."""

from __future__ import annotations

import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from adomnia.errors import Refusal
from adomnia.ledger import Ledger
from adomnia.privacy.filters import Budget
from adomnia.server.access import ACCESS, Access, Role, database
from kit.sharing import counted_elsewhere, created_meanwhile
from server.access.trials import HERE, PASSWORD


def refusal_of(folder) -> Refusal:
    with pytest.raises(Refusal) as refused:
        Access.open(folder).users()
    return refused.value


def test_every_file_is_its_owners_alone(access, tmp_path):
    files = sorted(tmp_path.glob(f"{ACCESS}*"))
    assert [file.name for file in files] == [ACCESS, f"{ACCESS}-shm", f"{ACCESS}-wal"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_folder_that_is_missing_is_made_for_its_owner_alone(tmp_path):
    Access.open(tmp_path / "dataset" / ".adomnia").close()
    assert stat.S_IMODE((tmp_path / "dataset" / ".adomnia").stat().st_mode) == 0o700


def test_changes_are_on_the_disk_before_they_are_reported(access):
    assert access._database._writer.execute("PRAGMA synchronous").fetchone() == (2,)
    assert access._database._writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_what_is_not_a_database_is_refused_and_left_alone(tmp_path):
    (tmp_path / ACCESS).write_bytes(b"canary" * 1000)
    refusal = refusal_of(tmp_path)
    assert (refusal.why, refusal.code) == ("is not a database", "access")
    assert (tmp_path / ACCESS).read_bytes() == b"canary" * 1000


def test_a_ledger_is_not_taken_for_it(tmp_path):
    Ledger.open(tmp_path / ACCESS, Budget(1), {}).close()
    before = (tmp_path / ACCESS).read_bytes()
    assert refusal_of(tmp_path).why == "is another program's database"
    assert (tmp_path / ACCESS).read_bytes() == before


def changed(folder, *statements) -> None:
    Access.open(folder).close()
    with closing(sqlite3.connect(folder / ACCESS, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def test_a_later_format_is_refused(tmp_path):
    changed(tmp_path, "PRAGMA user_version = 2")
    assert refusal_of(tmp_path).fix == "open it with the version that wrote it"


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


def test_tables_that_are_half_made_are_not_kept(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(database, "_SCHEMA", (*database._SCHEMA[:3], "CREATE nonsense"))
        assert refusal_of(tmp_path).code == "access"
    with Access.open(tmp_path) as access:
        assert access.users() == []


def test_who_finds_it_locked_while_it_is_made_waits():
    class Locked:
        tries = 0

        def execute(self, statement):
            self.tries += 1
            if self.tries < 3:
                error = sqlite3.OperationalError("locked")
                error.sqlite_errorcode = sqlite3.SQLITE_BUSY_RECOVERY
                raise error
            return self

        def fetchone(self):
            return ("wal",)

    assert database._patiently(Locked(), "PRAGMA journal_mode = WAL") == "wal"


def test_a_folder_in_its_place_is_refused(tmp_path):
    (tmp_path / ACCESS).mkdir()
    assert refusal_of(tmp_path).why == "cannot be opened or created"


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "file").touch()
    assert refusal_of(tmp_path / "file").why == "cannot be opened or created"


def test_a_closed_file_is_refused(tmp_path, caplog):
    access = Access.open(tmp_path)
    access.close()
    with pytest.raises(Refusal, match="only the log names") as refused:
        access.users()
    assert refused.value.code == "access"
    assert caplog.messages == ["access.sqlite: ProgrammingError"]


def test_who_cannot_write_in_time_is_told_to_try_again(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.05)
    with Access.open(tmp_path) as access, closing(sqlite3.connect(tmp_path / ACCESS, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Refusal) as refused:
            access.add_user("alice", Role.ANALYST)
        assert refused.value.code == "busy"
        assert access.users() == []
        with pytest.raises(Refusal, match="is locked by another program"):
            Access.open(tmp_path)
        other.execute("ROLLBACK")
        access.add_user("alice", Role.ANALYST)


def test_who_is_known_enters_also_while_nothing_can_be_written(tmp_path, monkeypatch, time):
    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.05)
    with time.opened(tmp_path) as access:
        access.add_user("alice", Role.ANALYST, PASSWORD)
        token, visit = access.create_token("alice", "x", 1)[0], access.sign_in("alice", PASSWORD, HERE)[0]
        with closing(sqlite3.connect(tmp_path / ACCESS, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            time.go_on(120)
            assert access.identify_token(token)
            assert access.identify_visit(visit)
            time.go_on(100_000)
            assert access.identify_token(token) is None
            assert access.identify_visit(visit) is None
            other.execute("ROLLBACK")
        assert access.identify_token(token) is None


def test_what_nobody_waits_for_is_put_off_and_noted_once(tmp_path, time):
    noted = []
    with Access.open(tmp_path, lambda: time.wall, lambda: time.steady, noted.append) as access:
        access.add_user("alice", Role.ANALYST, PASSWORD)
        visit, _ = access.sign_in("alice", PASSWORD, HERE)
        time.go_on(120)
        for _ in range(3):
            assert access.identify_visit(visit)
        assert len(noted) == 2  # the time, and the visit's last use
        for note in noted:
            note()
        noted.clear()
        assert access.identify_visit(visit)
        assert noted == []
        time.go_on(3500)
        assert access.identify_visit(visit)


def test_a_full_disk_changes_nothing(access):
    page_count = access._database._writer.execute("PRAGMA page_count").fetchone()[0]
    access._database._writer.execute(f"PRAGMA max_page_count = {page_count}")
    added = []
    with pytest.raises(Refusal, match="no room left"):
        for number in range(1000):
            access.add_user(f"{number:0>100}", Role.AUDITOR)
            added.append(number)
    assert len(access.users()) == 2 + len(added)


def test_a_change_that_is_broken_off_changes_nothing(access):
    def break_off():
        with access._database.change() as page:
            page.run("DELETE FROM users")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert len(access.users()) == 2


def test_many_may_create_it_at_once(tmp_path):
    def add(number):
        with Access.open(tmp_path) as access:
            access.add_user(f"user {number}", Role.AUDITOR)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(add, range(24)))
    with Access.open(tmp_path) as access:
        assert len(access.users()) == 24


def test_it_may_be_created_while_it_is_looked_at(tmp_path, monkeypatch):
    with created_meanwhile(monkeypatch, lambda: Access.open(tmp_path).close()):
        Access.open(tmp_path).close()
    with Access.open(tmp_path) as access:
        assert access.users() == []


def test_opening_it_again_leaves_this_process_its_locks(access, tmp_path):
    """Without them the next process to leave takes the log away, and with it whatever is written into it later."""
    with Access.open(tmp_path):
        before = counted_elsewhere(tmp_path / ACCESS, "users")
        access.add_user("new", Role.AUDITOR)
        assert counted_elsewhere(tmp_path / ACCESS, "users") == before + 1


@pytest.mark.parametrize("content", [None, b"canary" * 1000], ids=["of another format", "no database"])
def test_an_open_that_fails_leaves_no_file_open(tmp_path, monkeypatch, content):
    changed(tmp_path, "PRAGMA user_version = 2")
    if content is not None:
        (tmp_path / ACCESS).write_bytes(content)
    made = []

    def connect(*arguments, **options):
        made.append(real(*arguments, **options))
        return made[-1]

    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", connect)
    refusal_of(tmp_path)
    assert len(made) == 1
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        made[0].execute("SELECT 1")
