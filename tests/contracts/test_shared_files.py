"""Every SQLite file that processes share, while its files go away: nothing that was reported as done is ever undone."""

from __future__ import annotations

import random
import re
import shutil
import time
from pathlib import Path

import pytest

import adomnia
from adomnia.errors import AdomniaError
from kit.children import Child
from kit.shared_files import KINDS, held
from kit.waiting import HANG_SECONDS

ROOT = Path(adomnia.__file__).parent
# Who opens a SQLite file, and which: everything that is not kept or not shared needs no guard.
OPENERS = {
    "ledger/sqlite.py": "every kept file, and the ledger in memory",
    "ledger/audit.py": "drafts of copies, which get a name when they are whole",
    "ledger/postgres_records.py": "the same",
    "ledger/restore.py": "the same",
    "inspection/files.py": "owners' own databases, read only",
    "engines/sources/databases.py": "the same",
    "api/ledger_index.py": "a file without a name, of one process",
}


def remove(*suffixes):
    def apply(path, _older):
        for suffix in suffixes:
            Path(f"{path}{suffix}").unlink(missing_ok=True)

    return apply


def move_away(path, _older):
    path.rename(path.with_name("away"))


def replace_by(choose):
    """Another file gets the name, as an editor or `mv` does it."""

    def apply(path, older):
        shutil.copy(choose(path, older), path.with_name("draft"))
        path.with_name("draft").replace(path)

    return apply


def write_into(path, older):
    """The same file gets the bytes of an older copy, as `cp` does it."""
    path.write_bytes(older.read_bytes())


def put_beside(path, _older):
    """A log that does not belong to it."""
    Path(f"{path}-wal").write_bytes(b"old" * 1000)


FAULTS = {
    "no shared memory": remove("-shm"),
    "no log": remove("-wal"),
    "neither": remove("-shm", "-wal"),
    "no journal": remove("-journal"),
    "no anchor": remove(".anchor"),
    "no database": remove(""),
    "nothing left": remove("", "-wal", "-shm", "-journal", ".anchor"),
    "moved away": move_away,
    "a copy of itself": replace_by(lambda path, _older: path),
    "an older copy": replace_by(lambda _path, older: older),
    "an older copy in place": write_into,
    "a log of another": put_beside,
}
HARMLESS = ("no shared memory", "no log", "neither", "no journal", "no anchor", "a copy of itself")
RULED_OUT = {  # of the ledger, whose log and shared memory are part of it and have tests of their own
    ("ledger.db", "an older copy in place"),
    ("ledger.db", "a log of another"),
}
CASES = [(kind, name) for kind in KINDS for name in FAULTS if (kind.name, name) not in RULED_OUT]


def try_to_write(kind, path, name) -> bool:
    """As a command does it: open, write, close. Whether it was reported as done."""
    try:
        with kind.open(path) as file:
            kind.write(file, name)
    except AdomniaError:
        return False
    return True


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]} with {case[1]}")
def case(request):
    return request.param


def test_what_was_reported_as_done_is_known_to_all_or_nobody_is_told_anything(case, tmp_path):
    kind, name = case
    path, older = tmp_path / kind.name, tmp_path / "older"
    with kind.open(path) as file:
        kind.write(file, "before")
    shutil.copy(path, older)
    with held(path) as server:
        done = ["before"]
        assert server.write("first") not in {"", "False"}
        done.append("first")
        FAULTS[name](path, older)
        done += ["later"] * try_to_write(kind, path, "later")
        for each in done * 2:
            assert server.knows(each) != "False", each
    away = tmp_path / "away"
    if away.exists():
        away.replace(path)
    try:
        with kind.open(path) as file:
            lost = [each for each in done if not kind.knows(file, each)]
    except AdomniaError:
        lost = []  # refused, and not forgotten
    assert lost == [] or name == "nothing left"


@pytest.mark.parametrize("kind", KINDS[1:], ids=str)
@pytest.mark.parametrize(
    "name", ["no shared memory", "no log", "neither", "no journal", "no anchor", "a copy of itself"]
)
def test_where_nothing_is_lost_service_goes_on_by_itself(kind, name, tmp_path):
    path = tmp_path / kind.name
    with held(path) as server:
        server.write("first")
        FAULTS[name](path, path)
        assert try_to_write(kind, path, "later")
        assert server.knows("later") == "True"


@pytest.mark.parametrize("kind", KINDS[1:], ids=str)
def test_a_file_that_comes_back_is_used_again(kind, tmp_path):
    path, away = tmp_path / kind.name, tmp_path / "away"
    with held(path) as server:
        server.write("first")
        for _ in range(3):
            path.rename(away)
            assert "was moved, removed or replaced" in server.knows("first")
            assert not try_to_write(kind, path, "later")
            assert not path.exists()
            away.rename(path)
            assert server.knows("first") == "True"


@pytest.mark.parametrize("kind", KINDS[1:], ids=str)
@pytest.mark.parametrize("rounds", [2, pytest.param(40, marks=pytest.mark.soak)])
def test_who_is_killed_or_robbed_of_files_loses_nothing_that_was_reported(kind, rounds, tmp_path):
    path, moments, done = tmp_path / kind.name, random.Random(rounds), []
    with held(path) as server:
        for number in range(rounds):
            writers = [Child("kit.shared_files", "write_on", str(path), f"{number}{name}") for name in "ab"]
            said = [writer.stdout.readline().strip() for writer in writers]  # both have begun
            for _ in range(4):
                time.sleep(moments.uniform(0.0, 0.05))
                FAULTS[moments.choice(HARMLESS[:3])](path, path)
            for writer in writers:
                writer.kill()
                said += writer.communicate(timeout=HANG_SECONDS)[0].split()
            assert [each for each in said if server.knows(each) != "True"] == []
            done += said
    with kind.open(path) as file:
        assert [each for each in done if not kind.knows(file, each)] == []


def list_sources(pattern) -> set[str]:
    sources = {str(path.relative_to(ROOT)): path.read_text() for path in ROOT.rglob("*.py")}
    return {name for name, text in sources.items() if re.search(pattern, text)}


def test_every_kept_file_is_tried():
    tried = {str(Path(kind.where[0].__file__).relative_to(ROOT)) for kind in KINDS}
    assert list_sources(r"= FileFormat\(") == tried


def test_nobody_else_opens_one():
    assert list_sources(r"sqlite3\.connect\(") == set(OPENERS)
