# ruff: noqa: S608 - SQL is what this module writes, from names that are quoted
"""Tables that only Spark reads: those of its catalog, and folders in storage that the cluster sees."""

from contextlib import suppress
from typing import TYPE_CHECKING

from adomnia.catalog.model import SPARK_CATALOG
from adomnia.engines.spark.dialect import READABLE, SPARK
from adomnia.errors import Refusal, Unavailable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from adomnia.engines.spark.pinning import Session


_MOST_PARTS = 3  # of a name: catalog, schema and table
_NOT_FOUND = frozenset({"PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA"})
_TYPES = {"int": "INTEGER", "void": "VOID"}
_LOOKED_AT = SPARK.quote(" looked at")  # a view; no name of a table that is read begins with a space


def read_elsewhere(session: "Session", place: str, source_table: str | None) -> "DataFrame":
    """The rows of a table; a Refusal where there is none, in words of ours."""
    name = source_table or place
    parts = name.split(".")
    well_formed = len(parts) <= _MOST_PARTS and all(part and part == part.strip() for part in parts)
    if place == SPARK_CATALOG and not well_formed:
        raise Refusal(f"Table {name}", "is no name of a table in Spark", 'write table = "schema.table"')
    try:
        frame = (
            session.table(".".join(map(SPARK.quote, parts))) if place == SPARK_CATALOG else _read_folder(session, place)
        )
        _ = frame.schema  # here a session of Connect asks its server
    except Refusal:
        raise
    except Exception as error:  # noqa: BLE001 - Spark's and Java's, whose words may quote a row
        missing = _condition(error) in _NOT_FOUND
    else:
        return frame
    if missing:
        fix = "correct the catalog, or let the role of the cluster read it"
        raise Refusal(f"Source {name}", "is not there for Spark", fix)
    raise Unavailable(
        f"Source {name}", "cannot be read by Spark now", "see that the cluster may read it, and try again"
    )


def describe(frame: "DataFrame") -> dict[str, str]:
    """What Spark calls the types of the columns, as the dialect does."""
    types = ((field.name, field.dataType.simpleString()) for field in frame.schema.fields)
    return {name: _TYPES.get(kind, kind.upper()) for name, kind in types}


def fingerprint(session: "Session", place: str, source_table: str | None) -> str:
    """What tells the rows of a table from others, whatever their order: how many they are, and sums of their hashes."""
    frame = read_elsewhere(session, place, source_table)
    names = [name for name, kind in describe(frame).items() if kind.split("(")[0] in READABLE]
    # A hash passes over NULL: that a value is missing has to be said, or it could be in the next column as well.
    columns = ", ".join(f"{name}, {name} IS NULL" for name in map(SPARK.quote, names)) or "1"
    frame.createOrReplaceTempView(_LOOKED_AT)
    wide = SPARK.types.wide.name
    sums = ", ".join(f"SUM(CAST(XXHASH64({seed}, {columns}) AS {wide}))" for seed in (1, 2))
    with suppress(Exception):
        (row,) = session.sql(f"SELECT COUNT(*), {sums} FROM {_LOOKED_AT}").collect()
        return " ".join(map(str, row))
    raise Unavailable(
        f"Source {source_table or place}", "cannot be read by Spark now", "see that its files are whole, and try again"
    )


def _read_folder(session: "Session", place: str) -> "DataFrame":
    """A folder in storage: by the log of Delta if it has one, else all Parquet files in it."""
    if not _is_delta(session, place):
        return session.read.parquet(place)
    with suppress(Exception):
        frame = session.read.format("delta").load(place)
        _ = frame.schema
        return frame
    why = "is a Delta table, which this Spark cannot read; its files alone may hold rows that were deleted"
    raise Refusal(f"Source {place}", why, "install Delta in the cluster, or name it as a table of its catalog")


def _is_delta(session: "Session", place: str) -> bool:
    """Whether there is a log; what else goes wrong is not taken for a no."""
    try:
        _ = session.read.text(f"{place.rstrip('/')}/_delta_log").schema
    except Exception as error:
        if _condition(error) == "PATH_NOT_FOUND":
            return False
        raise
    return True


def _condition(error: Exception) -> str:
    """What Spark calls an error; nothing else of it is looked at."""
    found = getattr(error, "getCondition", lambda: None)() or ""
    return str(found).split(".", maxsplit=1)[0]
