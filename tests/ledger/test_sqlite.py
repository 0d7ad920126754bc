"""Files of SQLite that processes share, of every format: private, durable, recognized, and never half made."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest

from adomnia.errors import Refusal, Unavailable
from adomnia.ledger import file_store, sqlite
from adomnia.ledger.schema import LEDGER_FORMAT
from adomnia.ledger.sqlite import (
    execute_patiently,
    explain_error,
    is_transient,
    leaves_doubt,
    name_error,
    name_file,
)
from kit.shared_files import KINDS, LEDGER
from kit.sharing import counted_elsewhere, created_meanwhile
from kit.waiting import HANG_SECONDS
from ledger.references import child, wait_until_recovered


@pytest.fixture(params=KINDS, ids=str)
def kind(request):
    return request.param


@pytest.fixture
def path(kind, tmp_path):
    return tmp_path / kind.name


@pytest.fixture
def impatient(monkeypatch):
    """Time runs 600 times as fast for whoever waits."""
    for module in (sqlite, file_store):
        monkeypatch.setattr(module, "monotonic", lambda: 600 * time.monotonic())


def refusal_of(kind, path) -> Refusal | Unavailable:
    with pytest.raises((Refusal, Unavailable)) as refused:
        kind.open(path)
    assert refused.value.what == kind.file_format.name
    return refused.value


def count(path, table) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]


def change(path, statement) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)


def connections(monkeypatch) -> list[sqlite3.Connection]:
    """All that are made from now on."""
    made = []

    def connect(*arguments, **options):
        made.append(real(*arguments, **options))
        return made[-1]

    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", connect)
    return made


def test_every_file_is_its_owners_alone(kind, path, tmp_path):
    with kind.open(path) as file:
        kind.write(file, "one")
        names = {file.name for file in tmp_path.iterdir() if stat.S_IMODE(file.stat().st_mode) == 0o600}
        assert names.issuperset(f"{path.name}{suffix}" for suffix in ("", ".anchor", *kind.beside))
        assert {file.name for file in tmp_path.glob(f"{path.name}*")} == names


def test_a_commit_is_durable_before_it_is_reported(kind, path, monkeypatch):
    made = connections(monkeypatch)
    with kind.open(path):
        assert made
        for connection in made:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal" if kind.beside else "delete",)
            assert connection.execute("PRAGMA synchronous").fetchone() == (2 if kind.beside else 3,)  # FULL, EXTRA


@pytest.mark.parametrize("kind", [LEDGER], ids=str)
def test_a_disk_without_write_ahead_logs_is_refused(kind, path, monkeypatch):
    def execute(connection, file_format, statement, *values):
        rows = execute_patiently(connection, file_format, statement, *values)
        return [("delete",)] if "journal_mode" in statement else rows

    monkeypatch.setattr(sqlite, "execute_patiently", execute)
    refusal = refusal_of(kind, path)
    assert refusal.why == "is on a disk that cannot keep a write-ahead log"
    assert refusal.code == kind.file_format.code


def test_a_file_that_this_user_may_not_write_is_refused_at_open(kind, path, tmp_path):
    kind.open(path).close()
    tmp_path.chmod(0o755)
    trouble = kind.file_format.troubles[sqlite3.SQLITE_READONLY]
    if os.geteuid() != 0:
        path.chmod(0o400)
        assert refusal_of(kind, path).why == trouble.why
        return
    for folder in list(tmp_path.parents)[:3]:
        folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
    said = child("unprivileged", path).communicate(timeout=HANG_SECONDS)[0]
    assert said == f"{kind.file_format.name} may not be written. Fix: {trouble.fix}.\n"


def test_a_file_that_is_another_users_is_not_opened_at_all(kind, path, monkeypatch):
    kind.open(path).close()
    monkeypatch.setattr(os, "access", lambda *_, **__: False)  # for root there is no such file
    monkeypatch.setattr(sqlite3, "connect", lambda *_, **__: pytest.fail("It was opened."))
    assert refusal_of(kind, path).why == "may not be written"


def test_a_folder_in_its_place_is_refused(kind, path):
    path.mkdir()
    assert refusal_of(kind, path).why == "cannot be opened or created"


def test_a_file_that_is_no_database_is_refused_and_left_as_it_was(kind, path):
    path.write_text("person_id,salary\n" * 1000)
    refusal = refusal_of(kind, path)
    assert isinstance(refusal, Unavailable)
    assert refusal.why == "is not a database"
    assert path.read_text() == "person_id,salary\n" * 1000


@pytest.mark.parametrize("fact", ["CREATE TABLE people (name)", "PRAGMA user_version = 3", "PRAGMA application_id = 9"])
def test_another_programs_database_is_refused_and_left_as_it_was(kind, path, fact):
    change(path, fact)
    before = path.read_bytes()
    refusal = refusal_of(kind, path)
    assert (refusal.why, refusal.code) == ("is another program's database", kind.file_format.code)
    assert path.read_bytes() == before


@pytest.mark.parametrize(("kind", "other"), list(zip(KINDS, (*KINDS[1:], KINDS[0]), strict=True)), ids=str)
def test_a_file_of_the_one_format_is_not_taken_for_the_other(kind, other, tmp_path):
    path = tmp_path / kind.name
    other.open(tmp_path / other.name).close()
    (tmp_path / other.name).rename(path)
    before = path.read_bytes()
    refusal = refusal_of(kind, path)
    assert (refusal.why, refusal.fix) == ("is another program's database", kind.file_format.fix_if_foreign)
    assert path.read_bytes() == before


def test_a_later_format_is_refused(kind, path):
    kind.open(path).close()
    version = kind.file_format.version
    change(path, f"PRAGMA user_version = {version + 1}")
    refusal = refusal_of(kind, path)
    why = f"has format {version + 1}, not {version}"
    assert (refusal.why, refusal.fix) == (why, "open it with the version that wrote it")
    assert refusal.code == kind.file_format.code


def test_tables_that_are_half_made_are_not_kept(kind, path, monkeypatch):
    half = replace(kind.file_format, tables=(*kind.file_format.tables[:3], "CREATE nonsense"))
    with monkeypatch.context() as patched:
        patched.setattr(*kind.where, half)
        refusal_of(kind, path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone() == (0,)
    with kind.open(path) as file:
        kind.write(file, "one")


@pytest.mark.parametrize("content", [None, b"canary" * 1000], ids=["of another format", "no database"])
def test_an_open_that_fails_leaves_no_file_open(kind, path, monkeypatch, content):
    kind.open(path).close()
    change(path, "PRAGMA user_version = 99")
    if content is not None:
        path.write_bytes(content)
    made = connections(monkeypatch)
    refusal_of(kind, path)
    assert len(made) == 1
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        made[0].execute("SELECT 1")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.file_format.upgrades], ids=str)
def test_a_file_of_an_earlier_version_keeps_what_is_in_it(kind, path):
    make_earlier(kind, path)
    with kind.open(path) as file:
        kind.write(file, "later")
        assert kind.knows(file, "earlier")
        assert kind.knows(file, "later")
    assert not list(path.parent.glob("*-wal"))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.file_format.upgrades], ids=str)
def test_a_file_that_an_earlier_version_has_open_is_refused(kind, path, impatient):
    """What it has open in its log it would not see any more."""
    make_earlier(kind, path)
    with closing(sqlite3.connect(path, isolation_level=None)) as server:
        server.execute(f"SELECT COUNT(*) FROM {kind.table}").fetchall()
        refusal = refusal_of(kind, path)
        assert (refusal.why, refusal.code) == (
            "is still open in an earlier version of this program",
            kind.file_format.code,
        )
    with kind.open(path) as file:
        assert kind.knows(file, "earlier")


def make_earlier(kind, path) -> None:
    """A file as version 1 left it: with a write-ahead log, and without an anchor."""
    with kind.open(path) as file:
        kind.write(file, "earlier")
    for statement in ("DROP TABLE marks", "PRAGMA user_version = 1", "PRAGMA journal_mode = WAL"):
        change(path, statement)
    path.with_name(f"{path.name}.anchor").unlink()


def test_who_finds_it_locked_waits():
    class Locked:
        tries = 0

        def execute(self, statement, values):
            self.tries += 1
            if self.tries < 3:
                error = sqlite3.OperationalError("locked")
                error.sqlite_errorcode = sqlite3.SQLITE_BUSY_RECOVERY
                raise error
            return self

        def fetchall(self):
            return [("wal",)]

    assert execute_patiently(Locked(), LEDGER_FORMAT, "PRAGMA journal_mode = WAL") == [("wal",)]


def test_who_waits_for_too_long_is_told_to_try_again(kind, path, impatient):
    with kind.open(path) as file, closing(sqlite3.connect(path, isolation_level=None)) as other:
        kind.write(file, "before")
        rows = count(path, kind.table)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="is locked by another program"):
            kind.write(file, "meanwhile")
        assert refusal_of(kind, path).why == "is locked by another program"
        other.execute("ROLLBACK")
        assert count(path, kind.table) == rows
        if kind is LEDGER:
            wait_until_recovered(file)
        kind.write(file, "afterwards")
        assert count(path, kind.table) == rows + kind.rows


def test_what_is_not_a_lock_is_not_waited_for(kind):
    with closing(sqlite3.connect(":memory:")) as connection, pytest.raises(sqlite3.OperationalError, match="syntax"):
        execute_patiently(connection, kind.file_format, "nonsense")


def test_many_may_create_it_at_once(kind, path):
    def add(number):
        with kind.open(path) as file:
            kind.write(file, number)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(add, range(24)))
    with kind.open(path):
        assert count(path, kind.table) >= 24 * kind.rows


@pytest.mark.parametrize("kind", [LEDGER], ids=str)  # the others have a lock for all of it
def test_it_may_be_created_while_it_is_looked_at(kind, path, monkeypatch):
    """Facts that were read one by one, and not in one transaction, made it look like another program's file."""
    refusals = []
    with created_meanwhile(monkeypatch, lambda: kind.open(path).close()):
        try:
            kind.open(path).close()
        except Refusal as refusal:
            refusals.append(refusal)
    assert refusals == []
    with kind.open(path) as file:
        kind.write(file, "one")


@pytest.mark.parametrize("kind", [LEDGER], ids=str)  # the others have no log, and no lock while nobody asks
def test_opening_it_again_leaves_this_process_its_locks(kind, path):
    """Without them the next process to leave took the log away: what was written into it later was lost."""
    with kind.open(path) as file, kind.open(path):
        before = counted_elsewhere(path, kind.table)
        kind.write(file, "one")
        assert counted_elsewhere(path, kind.table) == before + kind.rows


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError(28, "No space left on device"), sqlite3.SQLITE_FULL),
        (PermissionError(13, "Permission denied"), sqlite3.SQLITE_READONLY),
        (NotADirectoryError(20, "secret"), sqlite3.SQLITE_CANTOPEN),
        (FileExistsError(17, "secret"), sqlite3.SQLITE_CANTOPEN),
        (OSError(5, "Input/output error"), sqlite3.SQLITE_IOERR),
        (TimeoutError(110, "secret"), sqlite3.SQLITE_BUSY),
        (OSError("without a number"), None),
        (ValueError("secret"), None),
    ],
)
def test_an_error_of_the_system_is_explained_and_never_taken_lightly(kind, error, code):
    refusal = explain_error(error, kind.file_format)
    trouble = kind.file_format.troubles.get(code, kind.file_format.unknown_trouble)
    assert (refusal.what, refusal.why, refusal.fix, refusal.code) == (kind.file_format.name, *trouble)
    assert "secret" not in str(refusal)
    assert not is_transient(error)


@pytest.mark.parametrize(
    "error", [Refusal("The ledger", "is forked", "compare it"), Unavailable("The ledger", "is closed", "wait", "x", 7)]
)
def test_an_error_of_ours_keeps_its_words_in_an_error_of_its_own(kind, error):
    """Several callers raise it, each with a traceback of its own."""
    copy = explain_error(error, kind.file_format)
    assert copy is not error
    assert isinstance(copy, Unavailable)
    assert (copy.what, copy.why, copy.fix) == (error.what, error.why, error.fix)
    assert copy.code == ("unavailable" if isinstance(error, Refusal) else "x")


@pytest.mark.parametrize(
    ("error", "name", "file"),
    [
        (OSError(28, "No space left", "/secret/ledger.sqlite.anchor"), "ENOSPC", "ledger.sqlite.anchor"),
        (OSError(28, "No space left", b"/secret/a"), "ENOSPC", "a"),
        (OSError(99_999, "odd"), "OSError", "usual"),
        (OSError("without a number"), "OSError", "usual"),
        (ValueError("secret"), "ValueError", "usual"),
    ],
)
def test_errors_are_named_without_their_folder_or_their_words(error, name, file):
    assert (name_error(error), name_file(error, "usual")) == (name, file)


def test_sqlite_names_its_errors_itself():
    with closing(sqlite3.connect(":memory:")) as connection, pytest.raises(sqlite3.Error) as raised:
        connection.execute("nonsense")
    assert name_error(raised.value) == "SQLITE_ERROR"
    assert leaves_doubt(raised.value)
    assert not leaves_doubt(ValueError())


TAKE = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute('BEGIN IMMEDIATE')"


def test_a_file_that_is_there_is_not_opened_to_create_it(tmp_path):
    """Closing any descriptor of it would end the locks of this process, and another could write at the same time."""
    path = tmp_path / "file.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        sqlite._create_file(path)
        taken = subprocess.run([sys.executable, "-c", TAKE, path], capture_output=True, check=False)
    assert b"database is locked" in taken.stderr


def test_what_marks_a_file_is_read_in_one_view_of_it(monkeypatch):
    seen = []
    monkeypatch.setattr(sqlite, "is_new", lambda connection, _format: seen.append(connection.in_transaction))
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        sqlite.check_format(connection, LEDGER.file_format)
        assert (seen, connection.in_transaction) == ([True], False)
