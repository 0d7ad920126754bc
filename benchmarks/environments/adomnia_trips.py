"""The seconds that Ad Omnia takes for the grouped question of comparison.py, with the index if it is not there yet."""

import sys
from pathlib import Path

from measuring import Row, tell

import adomnia

SQL = "SELECT city, COUNT(*) AS n, SUM(fare) AS s, AVG(fare) AS m FROM trips GROUP BY city"


def ask() -> list[Row]:
    answer = session.sql(SQL, epsilon=1, replay=False)
    return list(zip(answer["city"], answer["n"], answer["s"], answer["m"], strict=True))


with adomnia.open(Path(sys.argv[1]).parent) as curator:
    session = curator.session("somebody")
    tell(f"Ad Omnia {adomnia.__version__}", ask)
