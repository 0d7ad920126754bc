"""Timestamps are read as local time of the declared zone, by whatever a file holds, and no row makes reading fail."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo, available_timezones

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adomnia.catalog.document_keys import is_time_zone
from adomnia.engines.duckdb import DuckDB
from adomnia.engines.duckdb_dialect import render_local_time
from adomnia.errors import Failure
from adomnia.privacy.expressions import Column
from adomnia.privacy.kinds import Moment
from adomnia.privacy.wall_time import FIRST_SECOND, LAST_SECOND, count_seconds
from engines.databases import catalog, contents, people, whole

VIENNA = Column("c", Moment(zone="Europe/Vienna"))
NOON = count_seconds(datetime.fromisoformat("2024-01-31T12:30:00"))


def kept(array, column=VIENNA):
    """What the index holds of an Arrow array."""
    places = list(range(len(array)))
    frame = pa.table({"person_id": places, "place": places, "c": array})
    engine = DuckDB.load(catalog(people(whole("place", 0, 9), column)), {"people": frame})
    found = {row["place"]: row["c"] for row in contents(engine, "people")}
    engine.close()
    return [found[place] for place in places]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2024-01-31 12:30:00", NOON),
        (" 2024-01-31T12:30 ", NOON),
        ("2024-01-31 12:30:00.999999", NOON),
        ("2024-01-31", NOON - 12 * 3600 - 1800),
        ("2024-01-31T11:30:00Z", NOON),
        ("2024-01-31T11:30:00z", NOON),
        ("2024-01-31 11:30:00.5+00", NOON),
        ("2024-01-31 13:30:00+02:00", NOON),
        ("2024-01-31T06:30-0500", NOON),
        ("0001-01-01 00:00:00", FIRST_SECOND),
        ("9999-12-31 23:59:59.9", LAST_SECOND),
        ("0001-01-01 00:00:00+14", FIRST_SECOND),
        ("9999-12-31 23:59:59-14", LAST_SECOND),
        ("2024-02-30 12:00:00", None),
        ("2024-01-31 25:00:00", None),
        ("2024-01-31 12:30:00+99:99", None),
        ("2024-01-31 12:30:00 Europe/Oslo", None),
        ("31.01.2024 12:30", None),
        ("infinity", None),
        ("epoch", None),
        ("now", None),
        ("", None),
        (None, None),
    ],
)
@pytest.mark.no_cover
def test_a_text_is_local_time_unless_it_says_its_offset(text, seconds):
    assert kept(pa.array([text, "2024-01-31"])) == [seconds, NOON - 12 * 3600 - 1800]


@pytest.mark.no_cover
def test_every_type_of_dates_and_timestamps_is_read():
    noon = datetime.fromisoformat("2024-01-31T12:30:00.75")
    for unit in ("s", "ms", "us", "ns"):
        assert kept(pa.array([noon.replace(microsecond=0), None], pa.timestamp(unit))) == [NOON, None]
        zoned = pa.array([noon.replace(microsecond=0, hour=11, tzinfo=UTC), None], pa.timestamp(unit, "UTC"))
        assert kept(zoned) == [NOON, None]
    assert kept(pa.array([noon, None])) == [NOON, None]
    assert kept(pa.array([date(1970, 1, 2), None])) == [86400, None]
    assert kept(pa.array(["2024-01-31 12:30:00", None]).dictionary_encode()) == [NOON, None]


def test_times_outside_of_the_bounds_are_moved_to_them():
    lower, upper = map(datetime.fromisoformat, ("2024-01-01T00:00:00", "2024-12-31T23:59:59"))
    bounded = Column("c", Moment(lower, upper, "Europe/Vienna"))
    far = pa.array([-9223372022400000000, 2**63 - 2, None], pa.int64())  # the first and the last that there are
    for zone in (None, "UTC"):
        found = None
        with suppress(Failure):
            found = kept(far.cast(pa.timestamp("us", zone)), bounded)
        assert found == [count_seconds(lower), count_seconds(upper), None]


@pytest.mark.parametrize("unit", ["s", "ms"])
def test_no_moment_is_too_far_for_its_table_to_be_read(unit):
    ends = pa.array([-(2**63), 2**63 - 1, 0, None], pa.int64()).cast(pa.timestamp(unit, "UTC"))
    found = None
    with suppress(Failure):
        found = kept(ends)
    assert found == [FIRST_SECOND, LAST_SECOND, 3600, None]


@settings(max_examples=60, deadline=None)
@given(
    zone=st.sampled_from(["Europe/Vienna", "America/St_Johns", "Pacific/Kiritimati", "Australia/Lord_Howe", "UTC"]),
    moment=st.datetimes(datetime.fromisoformat("1950-01-01"), datetime.fromisoformat("2037-12-31"))
    | st.datetimes(datetime.fromisoformat("2024-10-26T22:00:00"), datetime.fromisoformat("2024-10-27T04:00:00")),
)
def test_a_time_with_an_offset_is_what_the_clock_of_the_zone_shows(zone, moment):
    shown = moment.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    text, sql = f"'{moment.isoformat()}+00'", render_local_time("t", f"'{zone}'")
    for value in (f"{text}", f"TIMESTAMPTZ {text}"):
        ((read,),) = duckdb.sql(f"SELECT {sql} FROM (SELECT {value} AS t)").fetchall()
        assert read == shown.replace(microsecond=0)


def test_the_engine_knows_every_zone_that_a_catalog_may_name():
    known = {name for (name,) in duckdb.sql("SELECT name FROM pg_timezone_names()").fetchall()}
    assert {name for name in available_timezones() if is_time_zone(name)} <= known
    assert not is_time_zone("localtime")
    assert not is_time_zone("Europe/Nowhere")
    assert not is_time_zone(1)
