"""The seconds that Qrlew's rewritten statement takes for the grouped question of performance.py on DuckDB."""

import json
import sys
from importlib.metadata import version

import duckdb
import sqlalchemy as sa
from measuring import Row, tell
from pyqrlew import Dataset, Dialect

PATH, CITIES = sys.argv[1], json.loads(sys.argv[2])
SQL = "SELECT city, COUNT(*) AS n, SUM(fare) AS s, AVG(fare) AS m FROM trips GROUP BY city"
UNIT = [("trips", [], "person_id")]


def declare(rows: int) -> Dataset:
    """Qrlew reads the names, types and sizes of tables from a database: one of as many rows, all alike."""
    engine = sa.create_engine("sqlite://")
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :rows)"
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE trips (person_id INTEGER, city TEXT, fare FLOAT)"))
        connection.execute(sa.text(f"INSERT INTO trips {numbers} SELECT 1, 'city', 1.0 FROM n"), {"rows": rows})  # noqa: S608
    dataset = Dataset.from_database("data", engine).with_range(None, "trips", "fare", 0.0, 100.0)
    return dataset.with_possible_values(None, "trips", "city", CITIES)


connection = duckdb.connect()
connection.execute("CREATE TABLE trips AS FROM read_parquet($1)", [PATH])
((count,),) = connection.execute("SELECT COUNT(*) FROM trips").fetchall()
dataset = declare(count)


def ask() -> list[Row]:
    private = dataset.relation(SQL).rewrite_with_differential_privacy(
        dataset=dataset,
        privacy_unit=UNIT,
        epsilon_delta={"epsilon": 1.0, "delta": 1e-6},
        max_multiplicity=10.0,
    )
    told = connection.execute(f"SELECT city, n, s, m FROM ({private.relation().to_query(Dialect.PostgreSql)})")  # noqa: S608
    return told.fetchall()


tell(f"Qrlew {version('pyqrlew')} on DuckDB {duckdb.__version__}", ask)
