"""Of a Delta folder the files of its newest version are read, and none that was removed; what is unknown is refused."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.engines.duckdb import DuckDB
from adomnia.engines.sources.files import list_files, list_live_files
from adomnia.errors import Refusal
from engines.databases import catalog, contents, people, whole

TABLE = whole("age", 0, 120)


def write(folder, *names, first=0):
    for place, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"person_id": [first + place], "age": [30 + place]}), folder / name)


def ages(folder, source, version=1):
    known = catalog(people(TABLE, source=source), folder=folder, version=version)
    engine = DuckDB.open(known, folder / "state")
    found = sorted(row["age"] for row in contents(engine, "people"))
    engine.close()
    return found


@pytest.mark.parametrize("source", ["parts", "parts/", "parts/*.parquet", "parts/p[12].parquet"])
def test_a_folder_and_a_pattern_are_all_of_their_files(tmp_path, source):
    write(tmp_path, "parts/p1.parquet", "parts/p2.parquet")
    (tmp_path / "parts" / "_SUCCESS").touch()
    assert ages(tmp_path, source) == [30, 31]


def test_a_folder_has_the_files_of_the_folders_in_it(tmp_path):
    write(tmp_path, "parts/year=2020/a.parquet", "parts/year=2021/a.parquet")
    assert ages(tmp_path, "parts") == [30, 31]


@pytest.mark.no_cover
@pytest.mark.parametrize("source", ["parts", "parts/*.parquet"])
def test_one_file_more_or_less_is_another_version_of_the_data(tmp_path, source):
    write(tmp_path, "parts/p1.parquet", "parts/p2.parquet")
    assert ages(tmp_path, source) == ages(tmp_path, source) == [30, 31]
    write(tmp_path, "parts/p3.parquet", first=7)
    with pytest.raises(Refusal, match="The data of table people changed, and version 1 stands for what it was"):
        ages(tmp_path, source)
    assert ages(tmp_path, source, version=2) == [30, 30, 31]
    (tmp_path / "parts/p1.parquet").unlink()
    with pytest.raises(Refusal, match="The data of table people changed, and version 2 stands for what it was"):
        ages(tmp_path, source, version=2)


def test_a_file_that_changed_its_name_is_another_version_of_the_data(tmp_path):
    write(tmp_path, "parts/p1.parquet", "parts/p2.parquet")
    ages(tmp_path, "parts")
    (tmp_path / "parts/p1.parquet").rename(tmp_path / "parts/p3.parquet")
    with pytest.raises(Refusal, match="changed, and version 1"):
        ages(tmp_path, "parts")


def test_files_of_one_source_must_be_alike(tmp_path):
    write(tmp_path, "parts/p1.parquet")
    pq.write_table(pa.table({"person_id": [1], "age": ["CANARY"]}), tmp_path / "parts/p2.parquet")
    with pytest.raises(Refusal, match=r"Source p2\.parquet has other columns, .* than p1\.parquet") as refused:
        ages(tmp_path, "parts")
    assert "CANARY" not in str(refused.value)


@pytest.mark.parametrize("source", ["parts", "parts/*.parquet", "*.csv", "missing.parquet"])
def test_a_source_without_files_is_refused(tmp_path, source):
    (tmp_path / "parts").mkdir()
    (tmp_path / "a.csv").touch()
    with pytest.raises(Refusal, match="is not a file that can be read"):
        list_files(tmp_path / source)


PROTOCOL = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
ABOUT = {"metaData": {"id": "x", "format": {"provider": "parquet"}, "configuration": {}}}


def add(path, **more):
    return {"add": {"path": path, "size": 1, **more}}


def remove(path):
    return {"remove": {"path": path}}


def commit(table, version, *actions):
    log = table / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    (log / f"{version:020}.json").write_text("\n".join(map(json.dumps, actions)) + "\n")


def checkpoint(table, name, *actions):
    """As Delta writes it: a row for each action, in one of these columns."""
    rows = {kind: [each.get(kind) for each in actions] for kind in ("protocol", "add", "txn")}
    settings = pa.struct({"id": pa.string(), "configuration": pa.map_(pa.string(), pa.string())})
    about = pa.array([each.get("metaData") for each in actions], settings)
    pq.write_table(pa.table({**rows, "metaData": about}), table / "_delta_log" / name)


@pytest.fixture
def table(tmp_path):
    made = tmp_path / "visits"
    for name in ("a", "b", "c", "d e"):
        (made / "day=1").mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"x": [1]}), made / "day=1" / f"{name}.parquet")
    commit(made, 0, PROTOCOL, ABOUT, add("day=1/a.parquet"), add("day=1/b.parquet"))
    commit(made, 1, remove("day=1/a.parquet"), add("day=1/d%20e.parquet"))
    return made


def names(table):
    return [file.name for file in list_files(table)]


def test_removed_files_and_those_that_no_commit_names_are_not_read(table):
    assert names(table) == ["b.parquet", "d e.parquet"]
    commit(table, 2, add("day=1/c.parquet"), remove("day=1/b.parquet"))
    assert names(table) == ["c.parquet", "d e.parquet"]
    assert list_live_files(table) == list_files(table)


def test_a_checkpoint_stands_for_what_was_before_it(table):
    before = (PROTOCOL, ABOUT, add("day=1/b.parquet"), add("day=1/d%20e.parquet"))
    checkpoint(table, f"{1:020}.checkpoint.parquet", *before)
    commit(table, 2, remove("day=1/b.parquet"))
    for version in (0, 1):
        (table / "_delta_log" / f"{version:020}.json").unlink()
    assert names(table) == ["d e.parquet"]


def test_a_checkpoint_in_parts_counts_where_all_of_them_are_there(table):
    first, second = (f"{1:020}.checkpoint.{part:010}.{2:010}.parquet" for part in (1, 2))
    checkpoint(table, first, PROTOCOL, add("day=1/c.parquet"))
    assert names(table) == ["b.parquet", "d e.parquet"]  # of the commits
    checkpoint(table, second, ABOUT, add("day=1/a.parquet"))
    assert names(table) == ["a.parquet", "c.parquet"]
    checkpoint(table, f"{1:020}.checkpoint.parquet", PROTOCOL, add("day=1/b.parquet"))
    assert names(table) == ["b.parquet"]


@pytest.mark.parametrize(
    ("action", "why"),
    [
        (add("day=1/c.parquet", deletionVector={"storageType": "u"}), "deletionVectors"),
        ({"metaData": {"configuration": {"delta.columnMapping.mode": "name"}}}, "columnMapping"),
        ({"protocol": {"minReaderVersion": 3, "readerFeatures": ["timestampNtz", "typeWidening"]}}, "typeWidening"),
        ({"protocol": {"minReaderVersion": 4}}, "readers of version 4"),
        (add("/elsewhere/c.parquet"), "files elsewhere"),
        (add("file:///elsewhere/c.parquet"), "files elsewhere"),
        (add("day=1/../../c.parquet"), "files elsewhere"),
        (add("day=1/z.parquet"), "lacks files"),
        ({"add": {"size": 1}}, "cannot be read"),
        ([], "cannot be read"),
    ],
)
def test_what_is_not_understood_is_refused(table, action, why):
    commit(table, 2, action)
    with pytest.raises(Refusal, match=why):
        list_files(table)


def test_known_features_are_read(table):
    commit(table, 2, {"protocol": {"minReaderVersion": 3, "readerFeatures": ["timestampNtz"]}})
    assert names(table) == ["b.parquet", "d e.parquet"]


def test_a_log_with_a_gap_or_of_another_form_or_without_anything_is_refused(table):
    commit(table, 3, add("day=1/c.parquet"))
    with pytest.raises(Refusal, match="a commit is missing"):
        list_files(table)
    (table / "_delta_log" / f"{2:020}.checkpoint.80a083e8-7026.parquet").write_bytes(b"")
    with pytest.raises(Refusal, match="in a form of checkpoints"):
        list_files(table)
    for file in (table / "_delta_log").iterdir():
        file.unlink()
    with pytest.raises(Refusal, match="cannot be read"):
        list_files(table)


@pytest.mark.parametrize("stage", ["_commits", "_staged_commits"])
def test_commits_that_wait_for_their_place_are_refused(table, stage):
    (table / "_delta_log" / stage).mkdir()
    for version in (1, 2):
        assert names(table) == ["b.parquet", "d e.parquet"]
        waiting = table / "_delta_log" / stage / f"{version:020}.3a0d65cd-4056.json"
        waiting.write_text(json.dumps(remove("day=1/b.parquet")))
    with pytest.raises(Refusal, match="has commits that are not in their places yet"):
        list_files(table)


@pytest.mark.parametrize("source", ["", "visits/day=1", "visits/day=1/*.parquet", "visits/day=1/a.parquet"])
def test_files_of_a_table_are_not_read_past_its_log(table, source):
    """The file a was removed."""
    with pytest.raises(Refusal, match=r"is in a Delta table, .* name the folder visits as the source"):
        list_files(table.parent / source)


def test_a_broken_log_is_refused_without_its_words(table):
    (table / "_delta_log" / f"{2:020}.json").write_text('\n{"add": secret')
    with pytest.raises(Refusal, match="cannot be read") as refused:
        list_files(table)
    assert refused.value.__cause__ is None
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(("beside", "kind"), [(".hoodie/x", "Hudi"), ("metadata/v1.metadata.json", "Iceberg")])
def test_tables_of_other_forms_are_refused(tmp_path, beside, kind):
    pq.write_table(pa.table({"x": [1]}), tmp_path / "a.parquet")
    (tmp_path / beside).parent.mkdir()
    (tmp_path / beside).write_text("")
    for source in (tmp_path, tmp_path / "*.parquet", tmp_path / "a.parquet"):
        with pytest.raises(Refusal, match=f"is a table of {kind}"):
            list_files(source)


def test_what_spark_has_not_finished_is_not_read(tmp_path):
    for name in ("_temporary/0/a.parquet", ".hidden/b.parquet", "_x=1/c.parquet", "d.parquet"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"x": [1]}), tmp_path / name)
    assert names(tmp_path) == ["c.parquet", "d.parquet"]
