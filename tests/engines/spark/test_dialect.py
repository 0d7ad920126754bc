"""Aggregates of one person's rows give what DuckDB gives, for every person, and are read as DuckDB's are."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import parse_one

from adomnia.engines.check.nodes import read_phrases
from adomnia.engines.spark.dialect import AGGREGATE_READINGS, AGGREGATES, SPARK, render_local_time
from adomnia.privacy.wall_time import FIRST_SECOND
from kit.own_rows import CASES, from_duckdb, own_rows, wide_integers
from kit.scalars import same
from kit.spark import classic


@pytest.fixture(scope="module")
def session():
    found = classic().newSession()
    found.conf.set("spark.sql.ansi.enabled", "true")
    found.createDataFrame(own_rows()).createOrReplaceTempView("own")
    return found


WRONG = {"MEDIAN(x)": "MEDIAN(x)", "MIN_BY(t, x)": CASES[4][1].format("x", "t")}


@pytest.fixture(scope="module")
def by_person(session):
    """What Spark gives for every person, an aggregate at a time: all of them from one statement."""
    aggregates = [AGGREGATES[name](*parts) for name, _, *parts in CASES] + list(WRONG)
    listed = ", ".join(f"{aggregate} AS r{place}" for place, aggregate in enumerate(aggregates))
    found = session.sql(f"SELECT {listed}, g FROM own GROUP BY g ORDER BY g").toArrow()
    return {aggregate: found.column(place).to_pylist() for place, aggregate in enumerate(aggregates)}


def test_aggregates_give_what_duckdb_gives_for_every_person(by_person):
    for name, meant, *parts in CASES:
        wanted, values = from_duckdb(meant.format(*parts)), by_person[AGGREGATES[name](*parts)]
        assert all(map(same, wanted, values)), (name, parts)
        assert len(wanted) == len(values)
        assert len(set(map(repr, values))) > 1


def test_wrong_aggregates_are_noticed(by_person):
    for wrong, meant in WRONG.items():
        assert not all(map(same, from_duckdb(meant), by_person[wrong]))


def test_different_values_are_counted_alike(session):
    rows = session.sql("SELECT COUNT(DISTINCT x) AS r FROM own GROUP BY g ORDER BY g").toArrow()
    assert rows.column("r").to_pylist() == from_duckdb("COUNT(DISTINCT x)")


def test_a_wide_integer_is_the_double_that_duckdb_makes_of_it(session):
    numbers, wanted = wide_integers()
    table = pa.table({"place": range(len(numbers)), "n": list(map(str, numbers))})
    session.createDataFrame(table).createOrReplaceTempView("wide")
    spelled = f"{AGGREGATES['wide as double']('n')} AS r, CAST(n AS DOUBLE) AS nearest"
    text = f"SELECT {spelled} FROM (SELECT place, CAST(n AS DECIMAL(38, 0)) AS n FROM wide) ORDER BY place"
    found = session.sql(text).toArrow()
    assert found.column("r").to_pylist() == wanted
    assert found.column("nearest").to_pylist() != wanted


@pytest.mark.parametrize(("written", "meant"), AGGREGATE_READINGS.items())
def test_an_aggregate_is_read_as_what_it_means(written, meant):
    one, other = (text.format("x", "y") for text in (written, meant))
    assert read_phrases(parse_one(one, dialect="databricks"), SPARK) == parse_one(other, dialect="duckdb")


def test_an_aggregate_of_other_rows_is_not_read_so():
    for text in (
        "MIN_BY(y, x)",
        AGGREGATES["value of least"]("x", "y").replace("'by', x", "'by', z"),
        AGGREGATES["median"]("x").replace("0.5e0", "0.25e0"),
    ):
        tree = parse_one(text, dialect="databricks")
        assert read_phrases(tree.copy(), SPARK) == tree


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_every_timestamp_that_a_file_can_hold_is_read(tmp_path, zone):
    session = classic().newSession()
    for name, value in {"ansi.enabled": "true", "session.timeZone": "UTC"}.items():
        session.conf.set(f"spark.sql.{name}", value)
    held = pa.array([-(2**63), 0, 2**63 - 1, None], pa.timestamp("us", zone))
    pq.write_table(pa.table({"v": held}), tmp_path / "times.parquet")
    session.read.parquet(f"file:{tmp_path}/times.parquet").createOrReplaceTempView("times")
    read = render_local_time("v", "'UTC'")
    first, epoch, last, missing = (
        row.r for row in session.sql(f"SELECT UNIX_SECONDS({read}) AS r FROM times").collect()
    )
    assert (first, epoch, missing) == (FIRST_SECOND, 0, None)
    assert last > 0
