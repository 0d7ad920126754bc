"""The engine over files: its index is built once, read by many, and stands for one version of the data."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest

from adomnia.catalog.model import EngineChoice
from adomnia.engines.check import check_public
from adomnia.engines.contract import Statement
from adomnia.engines.limits import Limits
from adomnia.engines.spark import engine as engines
from adomnia.engines.spark import session as sessions
from adomnia.engines.spark.building import ParquetBuilder
from adomnia.engines.spark.engine import Spark, check_shared_folder
from adomnia.engines.spark.session import PinnedSession, open_session
from adomnia.errors import AdomniaError, Failure, Refusal
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Text
from adomnia.privacy.queries import Query
from adomnia.privacy.relations import Public, Select, Selected
from adomnia.privacy.scans import Rows, Total
from engines.databases import catalog, category, people, relation, whole
from kit import spark
from kit.waiting import HANG_SECONDS

AGE, CITY, NAME = whole("age", 0, 120), category("city", "a", "b"), Column("name", Text())
MANY = category("many", *(f"it's \\ {place}" for place in range(60)))  # more than a CASE compares
TABLE = people(AGE, CITY, MANY, rows_per_person=3)
TOWNS = replace(people(NAME, public=True), name="towns", source="towns.csv", columns=(NAME,), repeats=(2,))
LONG = Statement("SELECT COUNT(*) AS m0 FROM RANGE(1000000000000) AS r WHERE (id % 7) * 3 = 22", ())


def write(folder, ages):
    folder.mkdir(exist_ok=True)
    numbers = range(len(ages))
    rows = {"person_id": [at // 4 for at in numbers], "Age": ages, "city": ["a" if at % 3 else "b" for at in numbers]}
    rows["many"] = [f"it's \\ {at % 61}" for at in numbers]
    pq.write_table(pa.table(rows), folder / "people.parquet")
    (folder / "towns.csv").write_text("name\nOslo\nOslo\n\nBergen\n")


def declare(folder, url=None, version=1):
    return replace(catalog(TABLE, TOWNS, folder=folder, version=version), engine=EngineChoice("spark", url))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("files") / "my study [1] ü {a}"
    write(made, [10, 20, 30, 130, None, 60, 7, 8])
    return made


@pytest.fixture(scope="module")
def opened(folder):
    spark.classic()
    told = []
    limits = Limits(seconds=99)
    state = Path(os.path.relpath(folder / "state"))  # as on the command line
    made = Spark.open(declare(folder), state, lambda step, share: told.append((step, share)), limits)
    assert told[-1] == ("done", 1.0)
    yield made
    made.close()


def ask(engine, *keys, aggregate=None):
    query = Query(relation(TABLE), keys, aggregate or Rows())
    return engine.run(engine.render((query,)), (query,))[0].tolist()


def test_questions_are_answered_over_files(opened):
    assert sum(ask(opened, CITY)) == 6  # three of four rows of each person
    assert sum(ask(opened, MANY)) == 6
    assert opened.is_open()


def test_an_index_that_is_there_is_opened_and_read_by_connect_too(opened, folder, monkeypatch):
    monkeypatch.delattr(ParquetBuilder, "build")
    other = Spark.open(declare(folder, spark.connect()), folder / "state")
    try:
        for keys in ((), (CITY,), (MANY,)):
            assert ask(other, *keys) == ask(opened, *keys)
        assert ask(other, CITY, aggregate=Total(AGE, AGE.domain)) == ask(opened, CITY, aggregate=Total(AGE, AGE.domain))
    finally:
        other.close()
    assert not other.is_open()
    assert opened.is_open()


def test_a_folder_may_be_named_from_where_the_process_is(folder, opened, monkeypatch):
    monkeypatch.delattr(ParquetBuilder, "build")  # the index is there
    monkeypatch.chdir(folder)
    other = Spark.open(declare(Path()), Path("state"))
    monkeypatch.chdir(folder.parent)
    try:
        assert sum(ask(other, CITY)) == 6
    finally:
        other.close()


def test_changed_data_is_another_version_and_an_index_in_use_is_not_removed(folder, opened, tmp_path, monkeypatch):
    """What an index is built from is not at stake here, and another would take long."""

    def pretend(self, _frames):
        for name in ("people", "towns"):
            self.session.sql("SELECT 1 AS rank, 1 AS person").write.parquet(f"{self.place}/{name}")

    monkeypatch.setattr(ParquetBuilder, "build", pretend)
    state, (index,) = folder / "state", (folder / "state").glob("index-*.spark")
    before = pq.read_table(folder / "people.parquet")
    write(folder, [1, 2, 3, 4])
    with pytest.raises(Refusal, match="changed, and version 1 stands for what it was"):
        Spark.open(declare(folder), state)
    second = Spark.open(declare(folder, version=2), state)
    assert len(list(state.glob("index-*.spark"))) == 2
    assert sum(ask(opened, CITY)) == 6
    second.close()
    Spark.open(declare(folder, version=3), state).close()
    left = set(state.glob("index-*.spark"))
    assert index in left
    assert len(left) == 2  # the one of version 2 is gone
    pq.write_table(before, folder / "people.parquet")


def test_what_cannot_be_built_or_opened_says_nothing_of_rows_and_lets_go(folder, tmp_path, monkeypatch):
    spark.classic()
    opened = []
    real = PinnedSession.__init__

    def note(self, *given, **named):
        opened.append(self)
        real(self, *given, **named)

    monkeypatch.setattr(PinnedSession, "__init__", note)
    monkeypatch.setattr(ParquetBuilder, "_build", lambda *_: 1 / 0)
    with pytest.raises(Failure) as failed:
        Spark.open(declare(folder), tmp_path / "state")
    assert failed.value.__cause__ is None
    with pytest.raises(Failure):
        Spark.load(declare(folder), {})
    monkeypatch.setattr(ParquetBuilder, "_build", lambda *_: None)  # and nothing is there
    with pytest.raises(Failure) as failed:
        Spark.load(declare(folder), {})
    assert failed.value.__cause__ is None
    monkeypatch.setattr(engines, "list_indexed", lambda _: raise_refusal())
    with pytest.raises(Refusal, match="another reason"):
        Spark.load(declare(folder), {})
    assert len(opened) == 6
    assert all(own._closed for own in opened)


def raise_refusal():
    raise Refusal("It", "has another reason", "none")


@pytest.mark.parametrize("where", ["classic", "connect"])
def test_statements_that_take_too_long_end(opened, where):
    url = spark.connect() if where == "connect" else None
    hurried = Spark(lambda: open_session(url, Limits()), 0.5)
    with pytest.raises(Failure) as failed:
        hurried.run(LONG, (Query(relation(TABLE), (), Rows()),))
    assert failed.value.__cause__ is None
    assert hurried.is_reachable()
    hurried.close()
    assert not hurried.is_open()


def test_public_rows_are_read_for_nothing_and_for_little(opened, folder, monkeypatch):
    towns = Select(Public("towns", (NAME,), (2,)), (Selected("name", NAME),))
    statement = opened.render_rows(towns)
    check_public(statement, declare(folder), opened.dialect)
    assert sorted(map(str, opened.read(statement, 10))) == sorted(["('Bergen',)", "('Oslo',)", "('Oslo',)", "(None,)"])
    assert len(opened.read(statement, 2)) == 2
    monkeypatch.setattr(engines, "PUBLIC_BYTES", 1)
    with pytest.raises(Failure):
        opened.read(statement, 10)
    monkeypatch.setattr(engines, "PUBLIC_SECONDS", 0.5)
    with pytest.raises(Failure):
        opened.read(LONG, 10)


def test_closing_ends_what_runs_and_nothing_runs_afterwards(opened):
    made, found = Spark(lambda: open_session(None, Limits()), None), []

    def run():
        try:
            made.run(LONG, (Query(relation(TABLE), (), Rows()),))
        except Failure as failure:
            found.append(failure)

    thread = threading.Thread(target=run)
    thread.start()
    while not made._running._asked:
        time.sleep(0.01)
    made.close()
    thread.join(HANG_SECONDS)
    assert len(found) == 1
    with pytest.raises(Failure):
        made.run(Statement("SELECT 1 AS m0", ()), ())
    assert not made.is_open()
    assert opened.is_open()


def test_other_machines_do_not_see_a_folder_of_this_one(folder, tmp_path):
    remote = replace(declare(folder), engine=EngineChoice("spark", "sc://spark.example.org"))
    for make in (lambda: Spark.open(remote, tmp_path), lambda: Spark.load(remote, {})):
        with pytest.raises(Refusal, match="do not see the folder of the index"):
            make()


TABLE_OF_SEEING = people(whole("age", 0, 120))
FRAME = pa.table({"person_id": [1, 2], "age": [3, 4]})


@pytest.mark.parametrize("where", ["classic", "connect"])
def test_a_spark_of_this_machine_sees_a_folder_and_nothing_of_the_trial_is_left(where, tmp_path):
    spark.classic()
    own = open_session(spark.connect() if where == "connect" else None, Limits())
    folder = tmp_path / "a [1] {b} it's %20"
    folder.mkdir()
    check_shared_folder(own.session, folder)
    own.close()
    assert list(folder.iterdir()) == []


class Elsewhere:
    """A server whose folders are other ones: of a container, or below its own folder."""

    def __init__(self, root, *, reads):
        self.root, self.reads, self.read, self.write, self.asked = root, reads, self, self, []

    def sql(self, text):
        self.asked.append(text)
        return self

    def parquet(self, address):
        place = address.removeprefix("file:")
        if self.asked:  # it writes
            (self.root / place.strip("/")).mkdir(parents=True)
        rows = pq.read_table(place if self.reads else f"{self.root}{place}")
        return SimpleNamespace(toArrow=lambda: rows)


@pytest.mark.parametrize(("reads", "asked"), [(False, 0), (True, 1)])
def test_a_server_with_other_folders_is_refused_before_a_row_is_written(tmp_path, reads, asked):
    (tmp_path / "index").mkdir()
    server = Elsewhere(tmp_path / "container", reads=reads)
    with pytest.raises(Refusal, match="does not read and write the folder of the index") as refused:
        check_shared_folder(server, tmp_path / "index")
    assert refused.value.__context__ is None
    assert len(server.asked) == asked  # what is asked to be written is the row of nobody
    assert list((tmp_path / "index").iterdir()) == []


def test_what_another_wrote_there_is_not_taken_for_ours(tmp_path):
    (tmp_path / "index").mkdir()

    def forge(_address):
        return SimpleNamespace(toArrow=lambda: pa.table({"token": ["another"]}))

    with pytest.raises(Refusal):
        check_shared_folder(SimpleNamespace(read=SimpleNamespace(parquet=forge)), tmp_path / "index")


def test_what_is_found_where_spark_should_have_written_is_looked_at(tmp_path):
    def read(address):
        rows = pq.read_table(address.removeprefix("file:"))
        return SimpleNamespace(toArrow=lambda: rows)

    def write(address):
        pq.write_table(pa.table({"token": ["another"]}), address.removeprefix("file:"))

    asked = SimpleNamespace(write=SimpleNamespace(parquet=write))
    server = SimpleNamespace(read=SimpleNamespace(parquet=read), sql=lambda _text: asked)
    with pytest.raises(Refusal, match="does not read and write the folder of the index"):
        check_shared_folder(server, tmp_path)


def test_sail_would_write_below_its_own_folder_and_is_refused_before_it_does(tmp_path, monkeypatch):
    """It takes file:/tmp/x for a path below the folder in which it was started: here that is this process's own."""
    monkeypatch.setattr(pyspark, "__version__", "4.1.1")  # Sail looks at it, for functions in Python
    monkeypatch.setattr(sessions, "try_out", lambda _session: None)  # which refuses it for other reasons
    written = []
    monkeypatch.setattr(ParquetBuilder, "build", lambda *_: written.append("rows"))
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    declared = replace(catalog(TABLE_OF_SEEING), engine=EngineChoice("spark", spark.sail()))
    with pytest.raises(AdomniaError) as refused:
        Spark.load(declared, {"people": FRAME})
    assert written == list((tmp_path / "cwd").iterdir()) == []
    assert "does not read and write the folder of the index" in str(refused.value)


def test_a_folder_is_tried_before_the_index_is_built_from_files(tmp_path, monkeypatch):
    spark.classic()
    pq.write_table(FRAME, tmp_path / "people.parquet")
    tried, written = [], []

    def refuse(_session, folder):
        tried.append(folder)
        raise Refusal("It", "does not see it", "none")

    monkeypatch.setattr("adomnia.engines.spark.engine.check_shared_folder", refuse)
    monkeypatch.setattr(ParquetBuilder, "build", lambda *_: written.append("rows"))
    declared = replace(catalog(TABLE_OF_SEEING, folder=tmp_path), engine=EngineChoice("spark"))
    with pytest.raises(AdomniaError) as refused:
        Spark.open(declared, tmp_path / "state")
    assert written == []
    assert "does not see it" in str(refused.value)
    assert [folder.parent for folder in tried] == [tmp_path / "state" / "building"]
    assert not tried[0].exists()


def test_an_index_in_storage_gets_a_name_of_its_own_there_and_no_folder_of_this_machine(tmp_path, monkeypatch):
    spark.classic()
    pq.write_table(FRAME, tmp_path / "people.parquet")
    places = []

    def build(self, _frames):
        places.append(self.place)
        raise Refusal("It", "ends here", "none")

    monkeypatch.setattr(ParquetBuilder, "build", build)
    declared = replace(
        catalog(TABLE_OF_SEEING, folder=tmp_path), engine=EngineChoice("spark", index="s3a://bucket/adomnia")
    )
    for _ in range(2):
        with pytest.raises(Refusal, match="ends here"):
            Spark.open(declared, tmp_path / "state")
    assert len(set(places)) == 2
    assert all(place.startswith("s3a://bucket/adomnia/test-") for place in places)
    assert not (tmp_path / "s3a:").exists()
