"""Whether Spark finds a folder of this machine under the name that we give it, tried before it writes a row there.

A server in a container has other folders than we have, and one that only speaks Spark's protocol may take an address
for a path below its own folder: rows of people would lie where nobody named a place for them.
"""

import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from adomnia.engines.spark.sources import escape
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from adomnia.engines.spark.session import Session

_OURS, _THEIRS = "trial-of-reading", "trial-of-writing"  # no name of a table has a hyphen


def check_seen(session: "Session", folder: Path) -> None:
    """Refuse a server that does not read in a folder what we write there, or writes elsewhere what we then read."""
    token = uuid4().hex
    ours, theirs = folder / _OURS, folder / _THEIRS
    ours.mkdir(mode=0o700)
    pq.write_table(pa.table({"token": [token]}), ours / "token.parquet")
    try:
        with suppress(Exception):  # Spark's and Java's
            read = session.read.parquet(escape(f"file:{ours}")).toArrow()
            if read.column(0).to_pylist() == [token]:  # else nothing is written at all
                session.sql(f"SELECT '{token}' AS token").write.parquet(f"file:{theirs}")
                if pq.read_table(theirs).column(0).to_pylist() == [token]:
                    return
    finally:
        for tried in (ours, theirs):
            shutil.rmtree(tried, ignore_errors=True)
    why = "does not read and write the folder of the index under its name on this machine"
    raise Refusal("The Spark of [engine]", why, 'name a folder that it sees: index = "s3a://bucket/adomnia"')
