"""Files that vanish under running processes: it is noticed before the next payment, and closing loses nothing."""

from __future__ import annotations

import random
import shutil
import sqlite3
import time
from contextlib import closing, nullcontext, suppress
from pathlib import Path

import pytest

from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.ledger import Ledger, StoredAnswer, file_store, schema, sqlite
from adomnia.ledger.chain import GENESIS, Anchor
from adomnia.ledger.file_store import DurableFile
from adomnia.ledger.files import FilesReplacedError, close_leaving_log, identify, identify_open, is_in_use
from adomnia.ledger.sqlite import connect_read_only
from kit.waiting import HANG_SECONDS
from ledger.references import (
    COST,
    PLENTY,
    answered,
    child,
    entries,
    opened,
    plan,
    units_of,
    wait_until_closed,
    wait_until_recovered,
)

LOG, SHARED_MEMORY = "-wal", "-shm"
VANISHING = [(SHARED_MEMORY,), (LOG,), (SHARED_MEMORY, LOG)]
NOTICED = "had its files removed or replaced while it was open"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


def remove(path, *suffixes) -> None:
    for suffix in suffixes:
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def count_or_damage(path) -> int | str:
    """How many entries there are, or what SQLite says of a file that was overwritten."""
    try:
        return len(entries(path))
    except sqlite3.DatabaseError as error:
        return str(error)


def ask(ledger, name) -> str:
    """How a question ends that is new: granted or refused."""
    try:
        answered(ledger, name=name)
    except (Refusal, Failure, Unavailable) as error:
        return str(error)
    return "granted"


@pytest.fixture
def blind(monkeypatch):
    """Nobody looks at the files: the anchor has to notice by itself."""
    monkeypatch.setattr(file_store, "identify", lambda _: ())
    monkeypatch.setattr(file_store, "identify_open", lambda _: ())


def test_files_are_the_same_until_one_is_replaced(path):
    assert identify(path) == (None, None, None)
    assert identify(path / "below a file") == (None, None, None)
    with opened(path) as ledger:
        before = identify(path)
        answered(ledger)
        assert identify(path) == before
        assert None not in before
        shutil.copy(path, path.with_name("copy"))
        path.with_name("copy").rename(path)
        assert identify(path) != before
        assert identify(path)[1:] == before[1:]
        assert NOTICED in ask(ledger, "next")


@pytest.mark.parametrize("suffixes", VANISHING)
def test_a_process_grants_nothing_on_files_that_have_vanished_and_opens_those_that_are_there(path, suffixes):
    with opened(path) as ledger:
        answered(ledger)
        before = entries(path)
        remove(path, *suffixes)
        assert NOTICED in ask(ledger, "noticed")
        wait_until_recovered(ledger)
        assert entries(path) == before  # it is alone, and has put everything into the database
        assert ask(ledger, "next") == "granted"
        assert ledger.reserve("alice", "id of q", plan("q"), COST).payload == b"noisy"
        assert ledger.spent().epsilon_units == units_of(2)
        assert len(entries(path)) == ledger.verify().sequence == 5  # as everybody else sees it
    with opened(path) as ledger:
        assert ledger.reserve("alice", "id of q", plan("q"), COST).payload == b"noisy"
        assert ledger.verify().sequence == 5


@pytest.mark.parametrize("suffixes", VANISHING)
def test_a_process_that_closes_after_its_files_have_vanished_loses_nothing(path, suffixes):
    with opened(path) as ledger:
        answered(ledger)
        remove(path, *suffixes)
    with opened(path) as ledger:
        assert ledger.reserve("alice", "id of q", plan("q"), COST).payload == b"noisy"
        assert ledger.verify().sequence == 3


def test_an_answer_that_was_paid_for_waits_for_the_files_to_be_opened_again(path):
    with opened(path) as ledger:
        hold = ledger.reserve("alice", "1", plan(1), COST)
        remove(path, SHARED_MEMORY)
        hold.commit(b"noisy")
        assert ledger.trouble is None
        assert ledger.reserve("alice", "1", plan(1), COST).payload == b"noisy"


def test_a_log_without_a_name_is_saved_by_a_process_that_had_not_read_all_of_it(path):
    """The other one was granted the newest entries, and is gone; so is the name of the log that has them."""
    with opened(path) as ledger:
        other = child("endure", path, "other")
        said = [other.stdout.readline() for _ in range(3)]
        other.kill()
        said += other.communicate(timeout=HANG_SECONDS)[0].splitlines()
        remove(path, LOG, SHARED_MEMORY)
        assert NOTICED in ask(ledger, "noticed")
        wait_until_recovered(ledger)
        assert ledger.spent().epsilon_units >= units_of(len(said))
        assert ask(ledger, "next") == "granted"
        assert len(entries(path)) == ledger.verify().sequence


def test_a_log_without_a_name_is_saved_although_somebody_was_refused_and_left_an_empty_one(path):
    with opened(path) as ledger:
        answered(ledger)
        remove(path, LOG, SHARED_MEMORY)
        assert child("persist", path, "late").communicate(timeout=HANG_SECONDS)[0] == ""
        assert Path(f"{path}{LOG}").stat().st_size == 0
        assert NOTICED in ask(ledger, "noticed")
        wait_until_recovered(ledger)
        assert ask(ledger, "next") == "granted"
        assert ledger.verify().sequence == 5


@pytest.mark.parametrize(("content", "saved"), [(None, True), (b"", True), (b"written", False)])
def test_a_log_without_a_name_is_not_copied_where_another_one_was_written(path, monkeypatch, content, saved):
    """Whoever wrote that one had everything, so nothing is lost; an old page over a newer one would be damage."""
    calls = []
    monkeypatch.setattr(DurableFile, "save_log", lambda _: calls.append("saved"))
    with opened(path) as ledger:
        answered(ledger)
        remove(path, LOG)
        if content is not None:
            Path(f"{path}{LOG}").write_bytes(content)
    assert len(calls) == saved
    if content:
        assert Path(f"{path}{LOG}").read_bytes() == content


def test_a_process_waits_for_its_own_readers_before_it_opens_other_files(path):
    """SQLite would give the new connection the shared memory of the reader, and others would have another one."""
    with opened(path) as ledger:
        answered(ledger)
        with closing(connect_read_only(path)) as reader:
            reader.execute("SELECT COUNT(*) FROM entries").fetchall()
            remove(path, SHARED_MEMORY)
            Path(f"{path}{SHARED_MEMORY}").touch()
            with pytest.raises(FilesReplacedError):
                identify_open(path)
            assert NOTICED in ask(ledger, "noticed")
            time.sleep(0.5)
            assert NOTICED in ask(ledger, "again")
        wait_until_recovered(ledger)
        assert ask(ledger, "next") == "granted"
        assert identify_open(path) == identify(path)
        said = child("persist", path, "other").communicate(timeout=HANG_SECONDS)[0].splitlines()
        assert len(said) == 98
        assert ledger.spent().epsilon_units == units_of(100)


def test_entries_that_are_gone_end_the_ledger_for_good(path):
    """A database of before, and no log: the anchor names what nobody has any more."""
    with opened(path) as ledger:
        answered(ledger)
    older = path.read_bytes()
    with opened(path) as ledger:
        answered(ledger, name="second")
        path.unlink()
        remove(path, LOG, SHARED_MEMORY)
        path.write_bytes(older)
        assert NOTICED in ask(ledger, "noticed")
        wait_until_closed(ledger)
        for number in range(2):
            assert "ends at entry 3, but its anchor remembers entry 5" in ask(ledger, number)
    with pytest.raises(Refusal, match="ends at entry 3, but its anchor remembers entry 5"):
        opened(path)
    assert path.read_bytes() == older


def test_a_database_that_is_gone_is_waited_for_and_none_is_made_in_its_place(path):
    with opened(path) as ledger:
        answered(ledger)
        path.rename(path.with_name("moved"))
        assert NOTICED in ask(ledger, "noticed")
        time.sleep(0.3)
        assert NOTICED in ask(ledger, "again")
        assert not path.exists()
        for suffix in ("", LOG):
            moved = path.with_name(f"moved{suffix}")
            if moved.exists():
                moved.rename(f"{path}{suffix}")
        wait_until_recovered(ledger)
        assert ask(ledger, "next") == "granted"
        assert ledger.verify().sequence == 5


def test_an_empty_database_in_the_place_of_one_with_entries_ends_the_ledger(path):
    with opened(path) as ledger:
        answered(ledger)
        path.unlink()
        path.touch()
        assert NOTICED in ask(ledger, "noticed")
        wait_until_closed(ledger)
        assert "is empty, but its anchor remembers entries" in ask(ledger, "next")


def test_two_processes_that_do_not_see_each_other_share_one_budget(path, blind):
    """38 answers on a budget of 30: the old process and a new one had different shared memory, and both paid."""
    with opened(path) as old:
        granted = [ask(old, f"first {number}") for number in range(5)]
        remove(path, SHARED_MEMORY)
        racer = child("persist", path, "new")
        said = racer.communicate(timeout=HANG_SECONDS)[0].splitlines()
        assert racer.returncode == 0
        granted += [ask(old, f"last {number}") for number in range(5)]
        assert len(said) + granted.count("granted") == 100
        assert granted[-1].startswith("The ledger")
    with opened(path) as again:
        assert again.spent().epsilon_units == units_of(100)
        again.verify()


def test_the_second_to_write_finds_the_head_of_the_first_and_leaves_it(path, blind):
    with opened(path) as ledger:
        answered(ledger)
        shutil.copytree(path.parent, path.parent / "copy")
    copy = path.parent / "copy" / "ledger.db"
    with opened(path) as one, opened(copy) as other:
        Anchor(copy).path.unlink()
        Anchor(copy).path.hardlink_to(Anchor(path).path)  # two databases under one anchor: a fork as it can be
        assert ask(one, "one") == "granted"
        newest = Anchor(path).read()
        assert "ends at entry 3, but its anchor remembers entry 5" in ask(other, "other")
        assert ask(one, "two") == "granted"
        assert Anchor(path).read().sequence == newest.sequence + 2
        assert len(entries(copy)) == 3


def test_opening_leaves_a_log_alone_that_others_wrote_meanwhile(path, monkeypatch):
    """The new process was alone when it emptied the log, but had read it before the old one paid for the last time."""
    opened(path).close()
    old = child("overlook", path)
    assert old.stdout.readline() == "opened\n"
    remove(path, SHARED_MEMORY)

    def connect_early(*arguments):
        connection = sqlite.connect(*arguments)
        old.stdin.write("pay\n")
        old.stdin.flush()
        assert old.stdout.readline() == "granted\n"
        old.kill()
        old.communicate(timeout=HANG_SECONDS)
        return connection

    with monkeypatch.context() as split:
        split.setattr(file_store, "connect", connect_early)
        with pytest.raises(Refusal, match="ends at entry 1, but its anchor remembers entry 2"):
            opened(path)
    log = Path(f"{path}{LOG}")
    assert log.exists()
    assert log.stat().st_size
    with opened(path) as again:
        assert again.spent().epsilon_units == units_of(1)
        again.verify()


@pytest.mark.parametrize("left", [None, b""])
def test_a_database_that_is_gone_leaves_its_log_to_the_one_that_comes_back(path, left):
    """SQLite makes an empty database, and deletes the log that is not its own."""
    endless = child("endless", path)
    for line in endless.stdout:
        if line.startswith("answered"):
            break
    endless.kill()
    endless.communicate(timeout=HANG_SECONDS)
    away = path.rename(path.with_name("away"))
    if left is not None:
        path.write_bytes(left)
    with pytest.raises(Refusal, match="is empty, but its anchor remembers entries"):
        opened(path)
    away.rename(path)
    with opened(path, *PLENTY) as ledger:
        assert ledger.spent().epsilon_units > 0
        ledger.verify()


def test_an_empty_database_is_refused_where_the_anchor_remembers_entries(path):
    opened(path).close()
    path.unlink()
    with closing(sqlite3.connect(path)) as empty:
        empty.execute("PRAGMA journal_mode = WAL")
    with pytest.raises(Refusal, match="is empty, but its anchor remembers entries"):
        opened(path)
    with (
        closing(sqlite3.connect(":memory:")) as unseen,  # as whoever joins others that pay might find it
        pytest.raises(Refusal, match="is empty, but its anchor remembers entries"),
    ):
        schema.create_tables(unseen, Anchor(path))


def test_an_anchor_that_remembers_nothing_yet_keeps_nobody_from_making_the_database(path):
    Anchor(path).create(GENESIS)
    with opened(path) as ledger:
        assert ledger.verify().sequence == 1


def test_a_log_that_vanishes_while_the_ledger_is_opened_is_noticed(path, monkeypatch):
    def create_and_lose(*arguments):
        schema.create_tables(*arguments)
        remove(path, LOG)

    with monkeypatch.context() as clumsy:
        clumsy.setattr(file_store, "create_tables", create_and_lose)
        with pytest.raises(Unavailable, match=NOTICED):
            opened(path)


def test_closing_leaves_a_log_alone_that_others_wrote(path):
    """The old process was the last to close, copied what it knew, and deleted the log with all that was paid since."""
    old = opened(path)
    answered(old)
    remove(path, SHARED_MEMORY)
    racer = child("persist", path, "new")
    assert len(racer.communicate(timeout=HANG_SECONDS)[0].splitlines()) == 99
    old.close()
    assert count_or_damage(path) == 201
    with opened(path) as again:
        assert again.spent().epsilon_units == units_of(100)
        again.verify()


def test_closing_of_a_ledger_that_could_not_be_opened_leaves_the_log_alone(path):
    with opened(path) as ledger:
        answered(ledger)
        anchor = Anchor(path).path.read_bytes()
    opened(path).close()
    Anchor(path).path.write_text(f"{9:020d} {'ab' * 32}\n")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA application_id")  # a log of its own
        with pytest.raises(Refusal, match="ends at entry 3"):
            opened(path)
    Anchor(path).path.write_bytes(anchor)
    with opened(path) as ledger:
        assert ledger.spent().epsilon_units == units_of(1)


def test_an_anchor_that_is_gone_does_not_keep_a_ledger_from_closing(path):
    ledger = opened(path)
    answered(ledger)
    anchor = Anchor(path).path.read_bytes()
    Anchor(path).path.unlink()
    ledger.close()
    assert Path(f"{path}-wal").exists()
    Anchor(path).path.write_bytes(anchor)
    with opened(path) as ledger:
        assert ledger.spent().epsilon_units == units_of(1)
    assert not Path(f"{path}-wal").exists()


def test_a_connection_can_be_closed_without_touching_its_log(tmp_path):
    path = tmp_path / "any.db"
    for close in (lambda connection: close_leaving_log(connection, path), sqlite3.Connection.close):
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE IF NOT EXISTS numbers (number)")
        connection.execute("INSERT INTO numbers VALUES (1)")
        close(connection)
        assert Path(f"{path}-wal").exists() == (close is not sqlite3.Connection.close)
    path.unlink()
    connection = sqlite3.connect(tmp_path / "another.db")
    close_leaving_log(connection, path)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


def test_a_database_is_in_use_while_somebody_has_it_open(path):
    assert not is_in_use(path)
    with opened(path) as ledger:
        assert is_in_use(path)
        answered(ledger)
        assert is_in_use(path)
    assert not is_in_use(path)
    process = child("endless", path)
    process.stdout.readline()
    assert is_in_use(path)
    process.kill()
    process.communicate(timeout=HANG_SECONDS)
    assert not is_in_use(path)


def test_a_file_that_may_not_be_opened_is_nobodys(path, monkeypatch):
    opened(path).close()

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("adomnia.ledger.files.os.open", refuse)
    assert not is_in_use(path)


def test_a_copy_of_the_folder_is_another_ledger_that_a_witness_tells_apart(path, tmp_path):
    with opened(path) as ledger:
        answered(ledger)
    shutil.copytree(tmp_path, tmp_path / "copy")
    with opened(tmp_path / "copy" / "ledger.db") as copy, opened(path) as ledger:
        assert ask(copy, "in the copy") == ask(ledger, "in the first") == "granted"
        assert copy.verify() != ledger.verify()


def forked_in_races(folder, rounds, seed) -> None:
    """Remove files under two processes that pay as fast as they can; together they are never granted too much."""
    moments = random.Random(seed)
    for number in range(rounds):
        path, suffixes = folder / f"{number}.db", VANISHING[number % 3]
        opened(path).close()
        racers = [child("persist", path, "one"), child("endure", path, "other")]
        said = racers[0].stdout.readline().splitlines()  # it has begun
        for _ in range(6):
            time.sleep(moments.uniform(0.0, 0.05))
            remove(path, *suffixes)
        said += [line for racer in racers for line in racer.communicate(timeout=HANG_SECONDS)[0].splitlines()]
        assert [racer.returncode for racer in racers] == [0, 0]
        assert 0 < len(said) == len(set(said)) <= 100
        # What was in a log that is gone cannot be had back: then nothing is granted any more.
        with suppress(Refusal) if LOG in suffixes else nullcontext(), opened(path) as ledger:
            assert ledger.spent().epsilon_units >= units_of(len(said))
            for line in said:
                check_granted(ledger, *line.split()[1:])
            ledger.verify()


def check_granted(ledger: Ledger, racer: str, number: str) -> None:
    """A request that was granted is known: it has its answer, or it has failed for ever."""
    spent = ledger.spent()
    with suppress(Failure):
        assert isinstance(ledger.reserve("alice", f"{racer} {number}", plan((racer, int(number))), COST), StoredAnswer)
    assert ledger.spent() == spent


def test_forks_in_races(tmp_path):
    forked_in_races(tmp_path, rounds=3, seed=1)


@pytest.mark.soak
def test_forks_in_twenty_races(tmp_path):
    forked_in_races(tmp_path, rounds=20, seed=time.time())
