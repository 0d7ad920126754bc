from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock, patch

import duckdb
import pytest

from adomnia.catalog.model import CsvFormat, SourceColumn, Table
from adomnia.engines.duckdb import DuckDB
from adomnia.engines.sources.snapshots import Snapshots
from adomnia.engines.sources.state import State, find_index, fresh_key
from adomnia.errors import Failure, Refusal, Unavailable
from adomnia.privacy.queries import Query
from adomnia.privacy.scans import Rows
from engines.databases import answer, catalog, category, contents, number, people, relation
from kit.filled_postgres import filled, run

FARE = number("fare", 0, 100)
TABLE = people(FARE, source="people.csv")
COUNT = Query(relation(TABLE), (), Rows())


def write(folder, *fares):
    (folder / "people.csv").write_text(
        "person_id,fare\n" + "".join(f"{who},{fare}\n" for who, fare in enumerate(fares))
    )


def opened(folder, version=1, table=TABLE, **options):
    engine = DuckDB.open(catalog(table, folder=folder, version=version), folder / "state", **options)
    found = answer(engine, COUNT)[0]
    engine.close()
    return found


def indexes(folder):
    return sorted(path.name for path in (folder / "state").glob("index-*.duckdb"))


def steps(folder, **options):
    """What was done to open."""
    told = []
    opened(folder, progress=lambda step, share: told.append((step, share)), **options)
    return told


def test_the_index_is_built_once_and_then_only_opened(tmp_path):
    write(tmp_path, 1, 2, 3)
    told = steps(tmp_path)
    assert [step for step, _ in told] == [
        "people: reading",
        "people: finding people",
        "people: ranking",
        "people: writing",
        "done",
    ]
    assert [share for _, share in told] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert steps(tmp_path) == []


def test_changed_data_under_an_old_version_is_refused_and_a_new_version_is_built(tmp_path):
    write(tmp_path, 1, 2, 3)
    assert opened(tmp_path) == 3
    before = indexes(tmp_path)
    write(tmp_path, 1, 2, 3, 4)
    with pytest.raises(
        Refusal, match="The data of table people changed, and version 1 stands for what it was"
    ) as refused:
        opened(tmp_path)
    assert "raise `version` in catalog.toml" in refused.value.fix
    assert indexes(tmp_path) == before
    assert opened(tmp_path, version=2) == 4
    assert len(indexes(tmp_path)) == 1
    assert indexes(tmp_path) != before


def test_an_old_version_still_stands_for_the_old_data_alone(tmp_path):
    write(tmp_path, 1)
    opened(tmp_path)
    write(tmp_path, 1, 2)
    opened(tmp_path, version=2)
    with pytest.raises(Refusal, match="version 1 stands for what it was"):
        opened(tmp_path, version=1)
    write(tmp_path, 1)
    assert opened(tmp_path, version=1) == 1


def test_a_file_that_was_only_touched_or_copied_is_the_same(tmp_path):
    write(tmp_path, 1, 2)
    opened(tmp_path)
    os.utime(tmp_path / "people.csv", (1, 1))
    assert steps(tmp_path) == []


def test_an_untouched_file_is_not_read_again(tmp_path, monkeypatch):
    write(tmp_path, 1, 2)
    os.utime(tmp_path / "people.csv", (1, 1))
    opened(tmp_path)
    read = []
    digest = hashlib.file_digest
    monkeypatch.setattr(
        "hashlib.file_digest", lambda file, how: read.append(Path(file.name).suffix) or digest(file, how)
    )
    assert opened(tmp_path) == 2
    assert read == [".duckdb"]  # once more, because it is so new that it could change unnoticed
    (index,) = (tmp_path / "state").glob("index-*.duckdb")
    os.utime(index, (1, 1))
    for _ in range(2):
        assert opened(tmp_path) == 2
    assert read == [".duckdb"] * 2


def test_a_change_of_the_same_size_at_the_same_moment_is_still_noticed(tmp_path):
    write(tmp_path, 1, 2)
    status = (tmp_path / "people.csv").stat()
    opened(tmp_path)
    write(tmp_path, 1, 3)
    os.utime(tmp_path / "people.csv", ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(Refusal, match="The data of table people changed"):
        opened(tmp_path)


@pytest.mark.parametrize("column", [number("fare", 0, 50), number("fare", 0, 100, 1)])
def test_other_bounds_or_steps_need_another_index_but_no_other_version(tmp_path, column):
    write(tmp_path, 1, 2)
    opened(tmp_path)
    assert steps(tmp_path, table=people(column, source="people.csv"))[-1] == ("done", 1.0)
    assert steps(tmp_path, table=people(column, source="people.csv", rows_per_person=1)) == []


CITIES = Table("cities", "cities.csv", (category("city", "Oslo"),), public=True, repeats=(2,))


def with_cities(folder, text, version=1, cities=CITIES):
    (folder / "cities.csv").write_text(text)
    engine = DuckDB.open(catalog(TABLE, cities, folder=folder, version=version), folder / "state")
    engine.close()
    return indexes(folder)


@pytest.mark.parametrize("cities", [CITIES, replace(CITIES, columns=(), repeats=())], ids=["columns", "none"])
@pytest.mark.no_cover
def test_a_table_that_is_declared_later_joins_the_version_even_if_it_is_public(tmp_path, cities):
    write(tmp_path, 1, 2)
    opened(tmp_path)
    (first,) = with_cities(tmp_path, "city\nOslo\n", cities=cities)
    with pytest.raises(Refusal, match="The data of table cities changed, and version 1 stands for what it was"):
        with_cities(tmp_path, "city\nOslo\nOslo\n", cities=cities)
    assert indexes(tmp_path) == [first]
    (second,) = with_cities(tmp_path, "city\nOslo\nOslo\n", version=2, cities=cities)
    assert second != first


def test_other_facts_of_a_public_table_need_another_index(tmp_path):
    write(tmp_path, 1)
    (first,) = with_cities(tmp_path, "city\nOslo\n")
    (second,) = with_cities(tmp_path, "city\nOslo\n", cities=replace(CITIES, repeats=(1,)))
    assert second != first


def test_a_public_file_that_is_not_there_is_refused(tmp_path):
    write(tmp_path, 1)
    with pytest.raises(Refusal, match=r"Source cities\.csv is not a file that can be read"):
        DuckDB.open(catalog(TABLE, CITIES, folder=tmp_path), tmp_path / "state")


def test_the_key_is_drawn_once_and_read_by_its_owner_alone(tmp_path):
    write(tmp_path, 1)
    opened(tmp_path)
    path = tmp_path / "state" / "index.key"
    key = path.read_bytes()
    assert len(key) == 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "state" / indexes(tmp_path)[0]).stat().st_mode & 0o777 == 0o600
    opened(tmp_path, version=2)
    assert path.read_bytes() == key
    assert fresh_key() != fresh_key()


def test_another_key_builds_the_index_anew(tmp_path):
    write(tmp_path, 1)
    opened(tmp_path)
    (path,) = (tmp_path / "state").glob("index-*.duckdb")
    before = path.stat().st_ino
    (tmp_path / "state" / "index.key").write_bytes(fresh_key())
    assert "people: ranking" in [step for step, _ in steps(tmp_path)]
    assert path.stat().st_ino != before
    assert steps(tmp_path) == []


def test_an_index_from_before_keys_were_noted_is_taken_as_it_is(tmp_path):
    write(tmp_path, 1)
    opened(tmp_path)
    path = tmp_path / "state" / "index.json"
    record = json.loads(path.read_text())
    del record["key"]
    path.write_text(json.dumps(record))
    assert steps(tmp_path) == []
    assert "key" in json.loads(path.read_text())


def test_a_key_of_the_wrong_length_is_not_used(tmp_path):
    (tmp_path / "index.key").write_bytes(b"short")
    with pytest.raises(Failure):
        State(tmp_path).key()


@pytest.mark.parametrize(
    "step", ["people: reading", "people: finding people", "people: ranking", "people: writing", "done"]
)
def test_a_build_that_is_interrupted_leaves_nothing_that_opens(tmp_path, step):
    write(tmp_path, 1, 2)

    def interrupt(now, share):
        if now == step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        opened(tmp_path, progress=interrupt)
    assert indexes(tmp_path) == []
    assert not (tmp_path / "state" / "building").exists()
    assert steps(tmp_path)[-1] == ("done", 1.0)


@pytest.mark.no_cover
def test_a_build_that_is_killed_leaves_nothing_that_opens(tmp_path):
    write(tmp_path, *range(1000))
    script = f"""
        import sys, time
        sys.path[:0] = {sys.path!r}
        from pathlib import Path
        from adomnia.engines.duckdb import DuckDB
        from engines.databases import catalog
        from engines.sources.test_state import TABLE

        def hang(step, share):
            print(step, flush=True)
            if step.endswith("writing"):
                time.sleep(600)

        folder = Path({str(tmp_path)!r})
        DuckDB.open(catalog(TABLE, folder=folder), folder / "state", hang)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True) as child:
        while "writing" not in (line := child.stdout.readline()):
            assert line
        child.send_signal(signal.SIGKILL)
    assert (tmp_path / "state" / "building").exists()
    assert indexes(tmp_path) == []
    assert opened(tmp_path) == 1000
    assert not (tmp_path / "state" / "building").exists()


def test_a_folder_whose_removal_is_interrupted_is_not_left_under_its_name(tmp_path, monkeypatch):
    """Half of its files would be taken for all rows when its version is asked for again."""
    old, new = tmp_path / "index-1.spark", tmp_path / "index-2.spark"
    old.mkdir()
    (old / "rows").write_text("")
    with monkeypatch.context() as patched:
        patched.setattr("adomnia.engines.sources.state.shutil.rmtree", lambda *_given, **_named: None)
        State(tmp_path)._build(new, lambda room: room.mkdir())
    assert list(tmp_path.glob("index-*")) == [new]
    State(tmp_path)._build(new, lambda room: room.mkdir())
    assert list(tmp_path.glob("*")) == [new]


def test_no_two_builds_write_to_one_place(tmp_path):
    """Where a process was killed, a server may still write what it asked for: among the rows of the next build."""
    rooms = []

    def build(room):
        rooms.append(room)
        room.mkdir()

    for _ in range(2):
        State(tmp_path)._build(tmp_path / "index-1.spark", build)
    assert len(set(rooms)) == 2


def test_an_index_that_is_found_cannot_be_removed_before_it_is_held(tmp_path):
    write(tmp_path, 1, 2)
    state = State(tmp_path / "state")

    def build(room, _looking):
        room.mkdir()

    def version(number):
        return catalog(TABLE, folder=tmp_path, version=number)

    alone = State._alone

    @contextmanager
    def others_come_next(self):
        """As soon as the lock is free, another process opens a newer version."""
        with alone(self):
            yield
        monkeypatch.undo()
        newer.append(state.hold_index(version(2), build, ".spark", Snapshots))

    newer, monkeypatch = [], pytest.MonkeyPatch()
    monkeypatch.setattr(State, "_alone", others_come_next)
    held, let_go = state.hold_index(version(1), build, ".spark", Snapshots)
    assert held.is_dir()
    assert newer[0][0].is_dir()
    let_go()
    _, let_third_go = state.hold_index(version(3), build, ".spark", Snapshots)
    assert not held.exists()
    for leave in (newer[0][1], let_third_go):
        leave()


@pytest.mark.parametrize("changed", ["people.csv", "other"])
def test_files_that_change_while_the_index_is_built_are_noticed(tmp_path, changed):
    write(tmp_path, 1, 2)

    def change(step, _share):
        if step == "done":
            (tmp_path / changed).write_text("person_id,fare\n1,3\n2,4\n")

    if changed == "people.csv":
        with pytest.raises(Unavailable, match="The data of table people changed while the index was built"):
            opened(tmp_path, progress=change)
        assert indexes(tmp_path) == []
    else:
        assert opened(tmp_path, progress=change) == 2


def test_an_index_of_another_layout_is_not_read(tmp_path, monkeypatch):
    write(tmp_path, 1)
    opened(tmp_path)
    (known,) = indexes(tmp_path)
    monkeypatch.setattr("adomnia.engines.sources.state._FORMATS", {".duckdb": 5, ".spark": 99})
    opened(tmp_path)
    assert indexes(tmp_path) == [known]
    monkeypatch.setattr("adomnia.engines.sources.state._FORMATS", {".duckdb": 99})
    opened(tmp_path)
    assert indexes(tmp_path) != [known]


@pytest.mark.no_cover
def test_two_processes_that_open_at_once_build_once(tmp_path):
    write(tmp_path, *range(2000))
    script = f"""
        import sys
        sys.path[:0] = {sys.path!r}
        from pathlib import Path
        from adomnia.engines.duckdb import DuckDB
        from engines.databases import catalog
        from engines.sources.test_state import TABLE
        told = []
        folder = Path({str(tmp_path)!r})
        DuckDB.open(catalog(TABLE, folder=folder), folder / "state", lambda *step: told.append(step))
        print(len(told))
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert sorted(int(child.communicate()[0]) for child in children) == [0, 0, 5]


DAMAGES = {
    "empty": lambda content: b"",
    "cut short": lambda content: content[:100],
    "half of it": lambda content: content[: len(content) // 2],
    "another file": lambda content: b"something else" * 1000,
    "another magic word": lambda content: content[:8] + b"XXXX" + content[12:],
    "a bit of its head": lambda content: flip(content, 4100),
    "a bit of its rows": lambda content: flip(content, len(content) - 300_000),
    "longer": lambda content: content + b"x",
}


def flip(content, place):
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def damage(folder, how):
    (path,) = (folder / "state").glob("index-*.duckdb")
    path.write_bytes(DAMAGES[how](path.read_bytes()))
    os.utime(path, ns=(1, 1))


@pytest.mark.parametrize("how", DAMAGES)
def test_an_index_that_was_damaged_is_built_again_like_one_that_was_removed(tmp_path, how, caplog):
    write(tmp_path, *range(2000))
    opened(tmp_path)
    damage(tmp_path, how)
    assert opened(tmp_path) == 2000
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "is damaged and is built again" in caplog.text
    assert not steps(tmp_path)
    assert len(indexes(tmp_path)) == 1


@pytest.mark.parametrize("how", ["empty", "another file", "a bit of its head"])
def test_an_index_of_an_earlier_version_that_cannot_be_opened_is_built_again(tmp_path, how, caplog):
    write(tmp_path, 1, 2)
    opened(tmp_path)
    record = tmp_path / "state" / "index.json"
    known = json.loads(record.read_text())
    del known["index"]
    record.write_text(json.dumps(known))
    damage(tmp_path, how)
    assert opened(tmp_path) == 2
    assert "cannot be opened and is built again" in caplog.text
    assert not steps(tmp_path)


def test_an_index_that_cannot_be_opened_although_it_is_new_is_refused(tmp_path, monkeypatch):
    write(tmp_path, 1, 2)
    monkeypatch.setattr(DuckDB, "_open_index", lambda *_: None)
    with pytest.raises(Refusal, match="cannot be opened, though it was built anew") as refused:
        opened(tmp_path)
    assert refused.value.__context__ is None


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (OSError(28, "No space left on device"), "cannot be written to the disk"),
        (duckdb.OutOfMemoryException("CANARY"), "fits neither into memory"),
        (duckdb.IOException("Too many open files"), "cannot be opened, though it was built anew"),
    ],
)
def test_an_index_stays_where_it_could_not_be_opened_for_a_while(tmp_path, monkeypatch, raised, told):
    with filled(*ROWS) as url:
        opened(tmp_path, table=in_postgres(url))
        with monkeypatch.context() as patched:
            patched.setattr(DuckDB, "__init__", Mock(side_effect=raised))
            with pytest.raises((Refusal, Unavailable), match=told) as refused:
                opened(tmp_path, table=in_postgres(url))
            assert refused.value.__context__ is None
        run(url, MORE)
        with monkeypatch.context() as patched:
            patched.setattr(DuckDB, "__init__", Mock(side_effect=raised))
            with pytest.raises((Refusal, Unavailable)):
                opened(tmp_path, table=in_postgres(url))
        assert opened(tmp_path, table=in_postgres(url)) == 2


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"versions": {}, "files": 3}', '{"versions": [], "files": {}}'])
def test_a_record_that_was_damaged_is_not_made_up_anew(tmp_path, text):
    """It says which data a version stands for: an owner may remove it, and nobody else."""
    write(tmp_path, 1, 2)
    opened(tmp_path)
    (tmp_path / "state" / "index.json").write_text(text)
    with pytest.raises(Refusal, match=r"index\.json in the folder state is damaged"):
        opened(tmp_path)
    (tmp_path / "state" / "index.json").unlink()
    assert opened(tmp_path) == 2


def test_an_index_in_a_folder_is_built_again_where_a_file_of_it_is_gone_or_cut(tmp_path, caplog):
    write(tmp_path, 1)
    built = []

    def build(path, _snapshots):
        (path / "people" / "part").mkdir(parents=True)
        for name in ("a.parquet", "part/b.parquet"):
            (path / "people" / name).write_text("rows")
        built.append(path)

    def hold():
        path, release = State(tmp_path / "state").hold_index(
            catalog(TABLE, folder=tmp_path), build, ".spark", Snapshots
        )
        release()
        return path

    index = hold()
    assert hold() == index
    assert len(built) == 1
    (index / "people" / "a.parquet").unlink()
    assert hold() == index
    (index / "people" / "part" / "b.parquet").write_text("row")
    assert hold() == index
    assert len(built) == 3
    assert caplog.text.count("is damaged and is built again") == 2


def test_the_record_holds_hashes_and_sizes_and_nothing_of_the_data(tmp_path):
    write(tmp_path, 77.125)
    opened(tmp_path)
    record = json.loads((tmp_path / "state" / "index.json").read_text())
    assert set(record) == {"versions", "files", "key", "index"}
    assert set(record["index"]) == {"name", "size", "modified", "read", "sha256"}
    assert (tmp_path / "state" / "index.key").read_bytes().hex() not in json.dumps(record)
    assert set(record["files"]["people"]) == {"size", "modified", "read", "sha256"}
    assert record["versions"] == {"1": {"people": record["files"]["people"]["sha256"]}}
    assert record["files"]["people"]["read"] <= time.time_ns()


def test_an_index_can_be_opened_again_while_it_is_open(tmp_path):
    write(tmp_path, 1, 2, 3)
    first, second = (DuckDB.open(catalog(TABLE, folder=tmp_path), tmp_path / "state") for _ in range(2))
    assert answer(first, COUNT)[0] == answer(second, COUNT)[0] == 3
    first.close()
    assert answer(second, COUNT)[0] == 3
    second.close()
    assert list((tmp_path / "state").glob("open-*")) == []


def test_names_that_a_dead_process_left_are_taken_away(tmp_path):
    write(tmp_path, 1)
    opened(tmp_path)
    (tmp_path / "state" / "open-1.duckdb").hardlink_to(tmp_path / "state" / indexes(tmp_path)[0])
    assert opened(tmp_path) == 1
    assert list((tmp_path / "state").glob("open-*")) == []


@pytest.mark.parametrize(
    "read",
    [
        {"csv": CsvFormat(null=("2",))},
        {"source_columns": (("person_id", SourceColumn("other")),)},
        {"source_columns": (("person_id", SourceColumn("person_id", "%Y-%m-%d")),)},
    ],
)
@pytest.mark.no_cover
def test_data_that_is_read_in_another_way_is_another_version(tmp_path, read):
    (tmp_path / "people.csv").write_text("person_id,other\n1,5\n2,5\n")

    def count_rows(version, **read):
        known = catalog(people(source="people.csv", **read), folder=tmp_path, version=version)
        engine = DuckDB.open(known, tmp_path / "state")
        found = len(contents(engine, "people"))
        engine.close()
        return found

    assert count_rows(1) == 2
    with pytest.raises(Refusal, match="The data of table people changed, and version 1 stands for what it was"):
        count_rows(1, **read)
    assert count_rows(2, **read) == (1 if "csv" in read else 2)
    assert count_rows(1) == 2


def test_a_file_that_vanishes_while_it_is_hashed_is_refused(tmp_path):
    write(tmp_path, 1)
    unread = pytest.raises(Refusal, match=r"Source people\.csv is not a file that can be read")
    with patch("adomnia.engines.sources.state.hashlib.file_digest", side_effect=OSError("CANARY")), unread as refused:
        opened(tmp_path)
    assert "CANARY" not in str(refused.value)


ROWS = ("CREATE TABLE people (person_id int, fare numeric)", "INSERT INTO people VALUES (1, 2.5), (2, 7)")
MORE = "INSERT INTO people VALUES (3, 9)"


def in_postgres(url):
    return people(FARE, source=url, source_table="people")


def test_rows_of_a_database_are_read_again_only_under_a_new_version(tmp_path):
    with filled(*ROWS) as url:
        assert opened(tmp_path, table=in_postgres(url)) == 2
        run(url, MORE)
        assert opened(tmp_path, table=in_postgres(url)) == 2
        assert opened(tmp_path, version=2, table=in_postgres(url)) == 3
        with pytest.raises(Refusal, match="The data of table people changed, and version 1 stands for what it was"):
            opened(tmp_path, version=1, table=in_postgres(url))


def test_an_index_that_is_lost_is_made_again_from_the_same_rows_only(tmp_path):
    with filled(*ROWS) as url:
        opened(tmp_path, table=in_postgres(url))
        for index in (tmp_path / "state").glob("index-*"):
            index.unlink()
        assert opened(tmp_path, table=in_postgres(url)) == 2
        for index in (tmp_path / "state").glob("index-*"):
            index.unlink()
        run(url, MORE)
        with pytest.raises(Refusal, match="changed, and version 1 stands for"):
            opened(tmp_path, table=in_postgres(url))


def test_another_url_must_lead_to_the_same_rows(tmp_path):
    with filled(*ROWS) as url, filled(*ROWS) as copy, filled(*ROWS, MORE) as other:
        assert opened(tmp_path, table=in_postgres(url)) == 2
        assert opened(tmp_path, table=in_postgres(copy)) == 2
        with pytest.raises(Refusal, match="changed"):
            opened(tmp_path, table=in_postgres(other))


def test_the_index_is_found_without_reading_anything(tmp_path):
    with filled(*ROWS) as url:
        first = catalog(in_postgres(url), folder=tmp_path)
        assert find_index(tmp_path / "state", first) is None
        opened(tmp_path, table=in_postgres(url))
    (index,) = (tmp_path / "state").glob("index-*.duckdb")
    assert find_index(tmp_path / "state", first) == index
    assert find_index(tmp_path / "state", replace(first, version=2)) is None
    index.unlink()
    assert find_index(tmp_path / "state", first) is None


def test_the_index_of_files_is_found_too(tmp_path):
    write(tmp_path, 1.0)
    opened(tmp_path)
    assert find_index(tmp_path / "state", catalog(TABLE, folder=tmp_path)) is not None


@pytest.mark.parametrize("how", ["cut short", "a bit of its rows"])
def test_a_damaged_index_is_not_built_again_from_rows_of_a_database_that_have_changed(tmp_path, how):
    with filled(*ROWS) as url:
        assert opened(tmp_path, table=in_postgres(url)) == 2
        run(url, MORE)
        damage(tmp_path, how)
        with pytest.raises(Refusal, match="changed, and version 1 stands for what it was"):
            opened(tmp_path, table=in_postgres(url))
        assert opened(tmp_path, version=2, table=in_postgres(url)) == 3
