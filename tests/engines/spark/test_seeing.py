"""Rows of people are written to the folder that was named, or not at all."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest

from adomnia.catalog.model import EngineChoice
from adomnia.engines.limits import Limits
from adomnia.engines.spark import session as sessions
from adomnia.engines.spark.building import ParquetBuilder
from adomnia.engines.spark.engine import Spark
from adomnia.engines.spark.seeing import check_seen
from adomnia.engines.spark.session import open_session
from adomnia.errors import AdomniaError, Refusal
from engines.databases import catalog, people, whole
from kit import spark

TABLE = people(whole("age", 0, 120))
FRAME = pa.table({"person_id": [1, 2], "age": [3, 4]})


@pytest.mark.parametrize("where", ["classic", "connect"])
def test_a_spark_of_this_machine_sees_a_folder_and_nothing_of_the_trial_is_left(where, tmp_path):
    spark.classic()
    own = open_session(spark.connect() if where == "connect" else None, Limits())
    folder = tmp_path / "a [1] {b} it's %20"
    folder.mkdir()
    check_seen(own.session, folder)
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
        check_seen(server, tmp_path / "index")
    assert refused.value.__context__ is None
    assert len(server.asked) == asked  # what is asked to be written is the row of nobody
    assert list((tmp_path / "index").iterdir()) == []


def test_what_another_wrote_there_is_not_taken_for_ours(tmp_path):
    (tmp_path / "index").mkdir()

    def forge(_address):
        return SimpleNamespace(toArrow=lambda: pa.table({"token": ["another"]}))

    with pytest.raises(Refusal):
        check_seen(SimpleNamespace(read=SimpleNamespace(parquet=forge)), tmp_path / "index")


def test_what_is_found_where_spark_should_have_written_is_looked_at(tmp_path):
    def read(address):
        rows = pq.read_table(address.removeprefix("file:"))
        return SimpleNamespace(toArrow=lambda: rows)

    def write(address):
        pq.write_table(pa.table({"token": ["another"]}), address.removeprefix("file:"))

    asked = SimpleNamespace(write=SimpleNamespace(parquet=write))
    server = SimpleNamespace(read=SimpleNamespace(parquet=read), sql=lambda _text: asked)
    with pytest.raises(Refusal, match="does not read and write the folder of the index"):
        check_seen(server, tmp_path)


def test_sail_would_write_below_its_own_folder_and_is_refused_before_it_does(tmp_path, monkeypatch):
    """It takes file:/tmp/x for a path below the folder in which it was started: here that is this process's own."""
    monkeypatch.setattr(pyspark, "__version__", "4.1.1")  # Sail looks at it, for functions in Python
    monkeypatch.setattr(sessions, "try_out", lambda _session: None)  # which refuses it for other reasons
    written = []
    monkeypatch.setattr(ParquetBuilder, "build", lambda *_: written.append("rows"))
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    declared = replace(catalog(TABLE), engine=EngineChoice("spark", spark.sail()))
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

    monkeypatch.setattr("adomnia.engines.spark.engine.check_seen", refuse)
    monkeypatch.setattr(ParquetBuilder, "build", lambda *_: written.append("rows"))
    declared = replace(catalog(TABLE, folder=tmp_path), engine=EngineChoice("spark"))
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
    declared = replace(catalog(TABLE, folder=tmp_path), engine=EngineChoice("spark", index="s3a://bucket/adomnia"))
    for _ in range(2):
        with pytest.raises(Refusal, match="ends here"):
            Spark.open(declared, tmp_path / "state")
    assert len(set(places)) == 2
    assert all(place.startswith("s3a://bucket/adomnia/test-") for place in places)
    assert not (tmp_path / "s3a:").exists()
