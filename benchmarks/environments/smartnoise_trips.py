"""The seconds that SmartNoise takes for the grouped question of performance.py on DuckDB: run by its own Python."""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import version

import duckdb
from measuring import Row, tell
from snsql import Privacy, from_connection

PATH = sys.argv[1]
SQL = "SELECT city, COUNT(*) AS n, SUM(fare) AS s, AVG(fare) AS m FROM main.trips GROUP BY city"
TABLE = {
    "row_privacy": False,
    "max_ids": 10,
    "sample_max_ids": True,
    "censor_dims": False,  # the keys are public
    "person_id": {"type": "int", "private_id": True},
    "city": {"type": "string"},
    "fare": {"type": "float", "lower": 0.0, "upper": 100.0},
}


class Cursor:
    """DuckDB's cursor as SmartNoise expects one. DuckDB takes no RANDOM() as the order of a window."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._cursor = connection.cursor()

    def execute(self, sql: str) -> None:
        self._cursor.execute(re.sub(r"ORDER BY RANDOM ?\( ?\)", "ORDER BY fare", sql, flags=re.IGNORECASE))

    def __iter__(self) -> Iterator[tuple[object, ...]]:
        return iter(self._cursor.fetchall())

    def __getattr__(self, name: str) -> object:
        return getattr(self._cursor, name)


class Connection:
    """The same for a connection."""

    def __init__(self) -> None:
        self._connection = duckdb.connect()
        self._connection.execute("CREATE TABLE trips AS FROM read_parquet($1)", [PATH])

    def cursor(self) -> Cursor:
        return Cursor(self._connection)

    def commit(self) -> None:
        """Nothing is written."""

    rollback = commit


def open_reader(epsilon: float) -> object:
    """SmartNoise spends this much on each noisy column."""
    metadata = {"": {"main": {"trips": TABLE}}}
    return from_connection(
        CONNECTION, privacy=Privacy(epsilon=epsilon, delta=1e-9), metadata=metadata, engine="postgres"
    )


CONNECTION = Connection()
SPENT, _ = open_reader(1.0).get_privacy_cost(SQL)
READER = open_reader(1.0 / SPENT)  # so that the whole question costs 1


def ask() -> list[Row]:
    _, *rows = READER.execute(SQL)
    return [tuple(row) for row in rows]


tell(f"SmartNoise {version('smartnoise-sql')} on DuckDB {duckdb.__version__}", ask)
