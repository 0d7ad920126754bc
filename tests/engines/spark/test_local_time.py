"""No timestamp of the owner's keeps an index from being built, however far it is from the calendar."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.engines.spark.local_time import render_local_time
from adomnia.privacy.wall_time import FIRST_SECOND
from kit.spark import classic


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
