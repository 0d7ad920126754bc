"""The seconds that DuckDB takes for the grouped question of comparison.py, without any privacy."""

import sys

import duckdb
from measuring import Row, tell

SQL = "SELECT city, COUNT(*) AS n, SUM(fare) AS s, AVG(fare) AS m FROM trips GROUP BY city"
connection = duckdb.connect()
connection.execute("CREATE TABLE trips AS FROM read_parquet($1)", [sys.argv[1]])


def ask() -> list[Row]:
    return connection.execute(SQL).fetchall()


tell(f"DuckDB {duckdb.__version__}, no privacy", ask)
