"""A file and its anchor: one chain of changes, whatever fails between the two and whichever copy is put in place."""

from __future__ import annotations

import os
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event

import pytest

from adomnia import anchored_file
from adomnia.anchored_file import MARKS, AnchoredFile
from adomnia.errors import Refusal
from adomnia.ledger.files import FilesReplacedError
from adomnia.ledger.sqlite import FileFormat, Trouble
from kit.waiting import HANG_SECONDS

FORMAT = FileFormat(
    name="The file",
    application_id=0x54657374,
    version=2,
    tables=("CREATE TABLE words (word TEXT)", MARKS),
    upgrades={1: (MARKS,)},
    troubles={},
    unknown_trouble=Trouble("cannot be used", "look"),
    fix_if_foreign="move it away",
    busy_seconds=30.0,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "words.sqlite"


@pytest.fixture
def file(path):
    with opened(path) as file:
        add(file, "first")
        yield file


@contextmanager
def opened(path):
    with closing(AnchoredFile(path, FORMAT)) as file:
        yield file


def add(file, word) -> None:
    with file.write() as connection:
        connection.execute("INSERT INTO words VALUES (?)", (word,))


def words(file) -> list[str]:
    return file.read(lambda connection: [word for (word,) in connection.execute("SELECT word FROM words")])


def anchor_of(path) -> Path:
    return path.with_name(f"{path.name}.anchor")


def copy(path, name) -> Path:
    return Path(shutil.copy(path, path.with_name(name)))


def test_a_change_that_fails_leaves_nothing(file, path):
    before = anchor_of(path).read_bytes()
    with pytest.raises(ValueError, match="no"), file.write() as connection:
        connection.execute("INSERT INTO words VALUES ('second')")
        raise ValueError("no")
    assert words(file) == ["first"]
    assert anchor_of(path).read_bytes() == before


def test_two_that_have_it_open_see_each_other_at_once(file, path):
    with opened(path) as other:
        add(other, "second")
        assert words(file) == ["first", "second"]
        add(file, "third")
        assert words(other) == ["first", "second", "third"]


def test_a_change_that_the_anchor_did_not_hear_of_is_told_as_failed_and_is_no_fork(file, path, monkeypatch):
    """Such is also a kill between the two: the file is one change ahead of its anchor, and never two."""
    with opened(path) as other:
        with monkeypatch.context() as broken:
            broken.setattr(os, "pwrite", refuse_writing)
            for word in ("second", "third"):
                with pytest.raises(OSError, match="failed"):
                    add(file, word)
                assert words(other) == ["first", "second"]
        add(other, "fourth")
        assert words(file) == ["first", "second", "fourth"]


def refuse_writing(*_):
    raise OSError(5, "failed")


def test_a_journal_that_vanishes_is_told_and_harms_nobody(file, path):
    with pytest.raises(sqlite3.OperationalError) as raised, file.write() as connection:
        connection.execute("INSERT INTO words VALUES ('second')")
        path.with_name(f"{path.name}-journal").unlink()
    assert raised.value.sqlite_errorname == "SQLITE_IOERR_DELETE_NOENT"
    add(file, "third")
    with opened(path) as other:
        assert words(other) == words(file) == ["first", "second", "third"]


def test_a_change_into_a_file_that_is_gone_is_told_and_does_not_come_back(file, path):
    """Else a revocation in the copy would be undone when the file of before gets its name again."""
    with pytest.raises(FilesReplacedError), file.write() as connection:
        connection.execute("INSERT INTO words VALUES ('lost')")
        replaced = copy(path, "copy")
        path.rename(path.with_name("away"))
        replaced.rename(path)
    with opened(path) as other:
        add(other, "second")
        assert words(file) == ["first", "second"]
        path.with_name("away").replace(path)
        for each in (file, other):
            with pytest.raises(FilesReplacedError):
                words(each)
            with pytest.raises(FilesReplacedError):
                add(each, "third")


@pytest.mark.parametrize("version", [1, 2])
def test_an_older_copy_is_refused_by_whoever_opens_it_and_left_as_it_was(file, path, version):
    older = copy(path, "older")
    if version == 1:
        with closing(sqlite3.connect(older, isolation_level=None)) as connection:
            connection.execute("DROP TABLE marks")
            connection.execute("PRAGMA user_version = 1")
    for word in ("second", "third"):
        add(file, word)
    before = older.read_bytes()
    older.replace(path)
    with pytest.raises(FilesReplacedError):
        AnchoredFile(path, FORMAT)
    assert path.read_bytes() == before


def test_without_its_anchor_a_copy_is_taken_as_it_is(file, path):
    older = copy(path, "older")
    add(file, "second")
    file.close()
    older.replace(path)
    anchor_of(path).unlink()
    with opened(path) as again:
        assert words(again) == ["first"]
        add(again, "third")


def test_an_older_copy_is_noticed_by_whoever_has_it_open(file, path):
    older = path.read_bytes()
    add(file, "second")
    add(file, "third")
    newest = path.read_bytes()
    path.write_bytes(older)
    with pytest.raises(FilesReplacedError):
        words(file)
    path.write_bytes(newest)
    assert words(file) == ["first", "second", "third"]


def test_file_and_anchor_put_back_together_are_noticed_by_whoever_runs(file, path):
    older = [copy(path, "older"), copy(anchor_of(path), "older.anchor")]
    add(file, "second")
    older[0].replace(path)
    older[1].replace(anchor_of(path))
    for _ in range(2):
        with pytest.raises(FilesReplacedError):
            words(file)
    with opened(path) as again:
        assert words(again) == ["first"]


def test_nothing_is_made_in_the_place_of_a_file_that_is_gone(file, path):
    path.unlink()
    for _ in range(2):
        with pytest.raises(FilesReplacedError):
            words(file)
    with pytest.raises(FilesReplacedError):
        AnchoredFile(path, FORMAT)
    anchor_of(path).unlink()
    with pytest.raises(FilesReplacedError):
        words(file)
    assert not path.exists()
    path.touch()
    with pytest.raises(FilesReplacedError):
        words(file)
    assert path.read_bytes() == b""


def test_an_anchor_that_cannot_be_read_is_refused(file, path):
    anchor_of(path).write_text("nonsense")
    with pytest.raises(FilesReplacedError):
        words(file)
    with pytest.raises(FilesReplacedError):
        AnchoredFile(path, FORMAT)


@pytest.mark.parametrize("moment", ["read", "locked"])
def test_an_anchor_that_vanishes_in_between_is_told_and_made_again(file, path, monkeypatch, moment):
    vanishing = {"read": "_read_marks", "locked": "lock_patiently"}[moment]
    real = getattr(anchored_file, vanishing)

    def vanish(*arguments):
        anchor_of(path).unlink()
        monkeypatch.undo()
        return real(*arguments)

    monkeypatch.setattr(anchored_file, vanishing, vanish)
    with pytest.raises(FilesReplacedError):
        words(file) if moment == "read" else add(file, "second")
    assert words(file) == ["first"]
    assert anchor_of(path).exists()


def test_a_log_that_is_not_its_own_is_not_taken_over(file, path):
    log = path.with_name(f"{path.name}-wal")
    log.write_bytes(b"")
    for _ in range(2):
        with pytest.raises(FilesReplacedError):
            words(file)
    log.unlink()
    assert words(file) == ["first"]


def test_a_change_waits_for_those_who_read(file, path):
    reading, done = Event(), Event()

    def look(connection):
        connection.execute("SELECT word FROM words").fetchall()
        reading.set()
        return done.wait(0.05)

    with opened(path) as other, ThreadPoolExecutor(1) as threads:
        looked = threads.submit(other.read, look)
        assert reading.wait(HANG_SECONDS)
        add(file, "second")
        done.set()
        assert looked.result() is False  # it had ended before the change did
        assert words(other) == ["first", "second"]


def test_reading_may_wait_while_somebody_writes_and_while_the_file_is_gone(file, path):
    assert not file.may_wait()
    with opened(path) as other, other.write() as connection:
        connection.execute("INSERT INTO words VALUES ('second')")
        assert file.may_wait()
    assert not file.may_wait()
    path.rename(path.with_name("away"))
    with pytest.raises(FilesReplacedError):
        words(file)
    assert file.may_wait()


def test_a_closed_one_stays_closed(file):
    file.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        words(file)


def test_other_errors_than_locks_are_not_explained_as_an_earlier_version(path):
    class Broken:
        def execute(self, *_):
            raise sqlite3.OperationalError("broken")

    with pytest.raises(sqlite3.OperationalError, match="broken"):
        anchored_file._keep_journal(Broken(), FORMAT)


def test_a_file_with_a_log_that_others_use_is_refused(path, monkeypatch):
    with opened(path) as file:
        add(file, "first")
    with closing(sqlite3.connect(path, isolation_level=None)) as server:
        server.execute("PRAGMA journal_mode = WAL")
        server.execute("INSERT INTO words VALUES ('second')")
        anchor_of(path).unlink()
        monkeypatch.setattr(anchored_file, "execute_patiently", lambda connection, _, text: connection.execute(text))
        with pytest.raises(Refusal, match="still open in an earlier version"):
            AnchoredFile(path, FORMAT)
    with opened(path) as again:
        assert words(again) == ["first", "second"]
