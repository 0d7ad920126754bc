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
from adomnia.anchored_file import MARKS, AnchoredFile, Memory
from adomnia.errors import Refusal, Unavailable
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


def test_a_file_has_a_change_and_an_anchor_from_its_first_opening_on(path):
    """So has one of an earlier version: else an older copy of it could be put back until somebody changes something."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in (FORMAT.tables[0], f"PRAGMA application_id = {FORMAT.application_id}"):
            connection.execute(statement)
        connection.execute("PRAGMA user_version = 1")
    with opened(path) as file:
        ((number, name),) = file.read(lambda connection: connection.execute("SELECT * FROM marks").fetchall())
        assert anchor_of(path).read_text() == f"{number:020d} {name}\n"


def test_changes_are_on_the_disk_before_they_are_reported(file, path, monkeypatch):
    flags, real = [], os.open
    monkeypatch.setattr(os, "open", lambda *arguments: flags.append(arguments[1]) or real(*arguments))
    with file.write() as connection:
        assert connection.execute("PRAGMA synchronous").fetchall() == [(3,)]  # EXTRA
        assert connection.execute("PRAGMA journal_mode").fetchall() == [("delete",)]
    assert [flag & os.O_DSYNC for flag in flags] == [os.O_DSYNC]


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


def test_whoever_writes_next_brings_the_anchor_forward_first(file, path, monkeypatch):
    """Else a second kill between the two would leave the file two ahead, and everybody would refuse it."""
    with opened(path) as other:
        monkeypatch.setattr(os, "pwrite", refuse_writing)
        for each, word in ((file, "second"), (other, "third")):
            with pytest.raises(OSError, match="failed"):
                add(each, word)
    monkeypatch.undo()
    assert words(file) == ["first", "second"]


def refuse_writing(*_):
    raise OSError(5, "failed")


def test_a_journal_that_vanishes_is_told_and_harms_nobody(file, path):
    with pytest.raises(sqlite3.OperationalError) as raised, file.write() as connection:
        connection.execute("INSERT INTO words VALUES ('second')")
        path.with_name(f"{path.name}-journal").unlink()
    assert raised.value.sqlite_errorname == "SQLITE_IOERR_DELETE_NOENT"
    assert file._connection is None  # nobody knows its state
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


def test_nothing_is_written_into_a_file_that_was_moved_away_before(file, path, monkeypatch):
    """It would be told as failed, and be there when the file is put back."""
    away, real = path.with_name("away"), anchored_file.lock_open_file

    def move(*arguments):
        path.rename(away)
        return real(*arguments)

    monkeypatch.setattr(anchored_file, "lock_open_file", move)
    with pytest.raises(FilesReplacedError):
        add(file, "second")
    monkeypatch.undo()
    away.rename(path)
    assert words(file) == ["first"]


def test_a_file_that_is_replaced_while_it_is_opened_is_not_taken_for_the_other(path, monkeypatch):
    """Changes would go into a file without a name, and be reported as done."""
    with opened(path) as file:
        add(file, "first")
    real = anchored_file._read_marks

    def replace(connection):
        copy(path, "copy").replace(path)
        return real(connection)

    monkeypatch.setattr(anchored_file, "_read_marks", replace)
    with pytest.raises(FilesReplacedError):
        AnchoredFile(path, FORMAT)


def test_a_file_that_may_not_be_written_any_more_is_told_and_still_read(file, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    with pytest.raises(PermissionError):
        add(file, "second")
    monkeypatch.undo()
    assert words(file) == ["first"]


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


@pytest.mark.parametrize("changes", [1, 2, 3, 20])
def test_a_copy_that_went_its_own_way_is_noticed_by_whoever_runs_however_far_it_went(file, path, changes):
    """By its number alone it would pass for a later one: commands that start after it was put back write into it."""
    older = [copy(path, "older"), copy(anchor_of(path), "older.anchor")]
    add(file, "second")
    add(file, "third")
    newest = [copy(path, "newest"), copy(anchor_of(path), "newest.anchor")]
    older[0].replace(path)
    older[1].replace(anchor_of(path))
    with opened(path) as other:
        for number in range(changes):
            add(other, f"own {number}")
            with pytest.raises(FilesReplacedError):
                words(file)
            with pytest.raises(FilesReplacedError):
                add(file, "fourth")
    newest[0].replace(path)
    newest[1].replace(anchor_of(path))
    assert words(file) == ["first", "second", "third"]


def test_what_one_connection_of_a_process_saw_the_others_know(file, path):
    memory, older = Memory(), [copy(path, "older"), copy(anchor_of(path), "older.anchor")]
    with (
        closing(AnchoredFile(path, FORMAT, memory=memory)) as reader,
        closing(AnchoredFile(path, FORMAT, memory=memory)) as writer,
    ):
        add(file, "second")
        assert words(reader) == ["first", "second"]
        older[0].replace(path)
        older[1].replace(anchor_of(path))
        with pytest.raises(FilesReplacedError):
            add(writer, "third")


def test_the_newest_changes_are_kept_and_earlier_ones_not_asked_for(file, path, monkeypatch):
    monkeypatch.setattr(anchored_file, "_KEPT", 3)
    with opened(path) as other:
        for number in range(5):
            add(other, f"{number}")
        assert other.read(lambda connection: connection.execute("SELECT COUNT(*) FROM marks").fetchall()) == [(3,)]
    assert len(words(file)) == 6


def test_a_symbolic_link_is_refused_because_sqlite_looks_for_its_files_elsewhere(file, path):
    """A log beside the file that it leads to would be taken for newer than the file, and nobody here would see it."""
    away = path.rename(path.with_name("away"))
    path.symlink_to(away)
    for _ in range(2):
        with pytest.raises(Unavailable, match="symbolic link"):
            words(file)
        with pytest.raises(Unavailable, match="symbolic link"):
            AnchoredFile(path, FORMAT)
    path.unlink()
    away.rename(path)
    assert words(file) == ["first"]


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


def test_an_older_anchor_alone_is_refused(file, path):
    """It would let an older copy of the file pass later."""
    older = anchor_of(path).read_bytes()
    add(file, "second")
    add(file, "third")
    anchor_of(path).write_bytes(older)
    with pytest.raises(FilesReplacedError):
        words(file)
    with pytest.raises(FilesReplacedError):
        add(file, "fourth")
    with pytest.raises(FilesReplacedError):
        AnchoredFile(path, FORMAT)


def test_a_change_that_only_a_lost_anchor_heard_of_is_told_as_failed(file, path, monkeypatch):
    older, real = anchor_of(path).read_bytes(), os.pwrite

    def replace(*arguments):
        anchor_of(path).unlink()
        anchor_of(path).write_bytes(older)
        return real(*arguments)

    monkeypatch.setattr(os, "pwrite", replace)
    with pytest.raises(FilesReplacedError):
        add(file, "second")


def test_an_anchor_that_cannot_be_read_is_refused(file, path):
    anchor_of(path).write_text("nonsense")
    with pytest.raises(FilesReplacedError):
        words(file)
    with pytest.raises(FilesReplacedError):
        AnchoredFile(path, FORMAT)


@pytest.mark.parametrize("moment", ["read", "locked"])
def test_an_anchor_that_vanishes_in_between_is_told_and_made_again(file, path, monkeypatch, moment):
    before, vanishing = anchor_of(path).read_bytes(), {"read": "_read_marks", "locked": "lock_open_file"}[moment]
    real = getattr(anchored_file, vanishing)

    def vanish(*arguments):
        anchor_of(path).unlink()
        monkeypatch.undo()
        return real(*arguments)

    monkeypatch.setattr(anchored_file, vanishing, vanish)
    with pytest.raises(FilesReplacedError):
        words(file) if moment == "read" else add(file, "second")
    assert words(file) == ["first"]
    assert anchor_of(path).read_bytes() == before


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
