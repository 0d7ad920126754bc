"""SQL over results beside a database that runs it as it is written: without noise both give the same rows."""

from __future__ import annotations

from fractions import Fraction
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from adomnia.plans.columns import KeyColumn, build_columns, finish
from adomnia.sql.lower import lower
from adomnia.statistics.contract import Estimate, Measured
from adomnia.statistics.summed import add_up
from curator.test_plain_questions import plain
from kit.gate import aggregated, proved
from kit.hospital import LINKED, PUBLIC, curated, declare, person

if TYPE_CHECKING:
    from adomnia.session.curator import Curator

SIZES = {("F", True): 7, ("F", False): 2, ("M", True): 4, ("M", False): 4, ("X", True): 1, ("X", False): 5}
PEOPLE = [
    person(place, age=float(20 + place % 30), sex=sex, member=member)
    for place, (sex, member) in enumerate(pair for pair, size in SIZES.items() for _ in range(size))
]
FILES = {"people": PEOPLE, "visits": [], "items": []}
COUNTED = "SELECT sex, member, COUNT(*) AS n, SUM(age) AS s FROM people GROUP BY sex, member"
ROLLED = "SELECT sex, member, COUNT(*) AS n FROM people GROUP BY ROLLUP (sex, member)"

QUESTIONS = """
SELECT sex, COALESCE(COUNT(*), 0), GREATEST(COUNT(*), 8), LEAST(COUNT(*), 8, 5), ABS(COUNT(*) - 7) FROM people
GROUP BY sex ORDER BY sex;
SELECT sex, SQRT(COUNT(*)), LN(COUNT(*)), LOG10(COUNT(*)), EXP(COUNT(*) / 10), POWER(COUNT(*), 2),
POWER(COUNT(*), -0.5), FLOOR(COUNT(*) / 4), CEIL(COUNT(*) / 4), ROUND(SUM(age) / 7, 2) FROM people GROUP BY
sex ORDER BY 2;
SELECT sex, CASE WHEN COUNT(*) > 8 THEN SUM(age) WHEN sex = 'X' THEN -1 END AS x, NULLIF(COUNT(*), 8) AS y,
SUM(age) / NULLIF(COUNT(*) - 8, 0) AS z FROM people GROUP BY sex ORDER BY y NULLS FIRST, sex;
SELECT sex, CAST(SUM(age) / 10 AS INTEGER), CASE sex WHEN 'F' THEN 1 ELSE COUNT(*) END FROM people GROUP BY
sex HAVING NOT (NULLIF(COUNT(*), 9) > 6 AND sex = 'M') ORDER BY sex DESC;
SELECT sex, member, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS a, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY
sex) AS b, AVG(COUNT(*)) OVER (PARTITION BY member) AS c, MAX(SUM(age)) OVER () AS d, COUNT(*) OVER (PARTITION
BY sex) AS e FROM people GROUP BY sex, member HAVING COUNT(*) > 1 ORDER BY sex, member;
SELECT sex, member, RANK() OVER (ORDER BY COUNT(*) DESC) AS r, DENSE_RANK() OVER (ORDER BY COUNT(*) DESC) AS
d, ROW_NUMBER() OVER (PARTITION BY sex ORDER BY COUNT(*), member) AS w FROM people GROUP BY sex, member ORDER
BY r, sex, member;
SELECT sex, n * 2 AS m FROM ({counted}) WHERE n > 3 AND member ORDER BY m DESC, sex LIMIT 2;
SELECT SUM(n), AVG(s), MIN(n), MAX(s), COUNT(*), COUNT(NULLIF(n, 4)) FROM ({counted}) WHERE n > 2;
SELECT SUM(n), COUNT(*), MAX(n) FROM ({counted}) WHERE n > 200;
SELECT member, SUM(n) AS t, MAX(s) - MIN(s) AS d FROM ({counted}) GROUP BY member HAVING SUM(n) > 3 ORDER BY
member;
WITH a AS ({counted} ORDER BY n DESC, s LIMIT 4), b AS (SELECT sex, n, s FROM a WHERE s > 50) SELECT sex,
SUM(n) AS t FROM b GROUP BY sex ORDER BY t DESC, sex;
SELECT sex, r FROM (SELECT sex, RANK() OVER (ORDER BY SUM(age)) AS r FROM people GROUP BY sex) WHERE r <= 2
ORDER BY r;
SELECT sex, member, COUNT(*), SUM(age), GROUPING(sex) AS g, GROUPING(sex, member) AS h FROM people GROUP BY
ROLLUP (sex, member) ORDER BY sex, member;
SELECT sex, member, COUNT(*) FROM people GROUP BY CUBE (sex, member) HAVING COUNT(*) > 4 OR sex IS NULL ORDER
BY sex, member;
SELECT sex, member, SUM(age) / COUNT(*) FROM people GROUP BY GROUPING SETS ((sex), (member), ()) ORDER BY sex,
member;
SELECT sex, n FROM (SELECT sex, member, COUNT(*) AS n FROM people GROUP BY ROLLUP (sex, member)) WHERE n > 6
ORDER BY n, sex;
SELECT sex, member, COUNT(*) FROM people GROUP BY ROLLUP (sex, member) ORDER BY sex DESC, member NULLS FIRST;
SELECT sex, COUNT(*) FROM people GROUP BY ROLLUP (sex) ORDER BY sex DESC NULLS FIRST LIMIT 2;
SELECT sex, n FROM ({rolled}) WHERE member IS NULL AND sex IS NOT NULL ORDER BY n;
SELECT sex, CASE WHEN sex IS NULL THEN n ELSE -n END AS x FROM ({rolled}) WHERE NOT (sex = 'F') OR member IS NULL
ORDER BY x, sex;
SELECT sex, member, -n AS n FROM ({counted}) ORDER BY n + 0, sex, member LIMIT 3;
SELECT sex, member, -n AS n FROM ({counted}) ORDER BY n, sex, member LIMIT 3;
SELECT sex AS k, COUNT(*) AS sex FROM people GROUP BY sex HAVING sex = 'F' OR COUNT(*) < 7 ORDER BY sex;
SELECT sex AS k, SUM(n) AS sex FROM ({counted}) GROUP BY sex HAVING sex <> 'F' ORDER BY sex;
SELECT sex, -SUM(n) AS n FROM ({counted}) GROUP BY sex HAVING n < -7 ORDER BY SUM(n)
"""


@pytest.fixture(scope="module")
def curator(tmp_path_factory):
    with curated(declare(tmp_path_factory.mktemp("results") / "hospital", LINKED), **FILES) as found:
        yield found


def ours(text: str, curator: Curator) -> list[tuple[Any, ...]]:
    """The rows of an answer whose measurements had no noise."""
    plan = lower(text, curator.catalog)
    queries = tuple(dict.fromkeys(each.query for each in plan.statistics))
    exact = aggregated(curator, proved(curator, queries))
    results = {each: estimate(np.array(exact[each.query])) for each in plan.statistics}
    columns = [
        column.values if isinstance(column, KeyColumn) else column.estimate.values.ravel().tolist()
        for column in build_columns(plan, results)
    ]
    return [tuple(column[row] for column in columns) for row in finish(plan, results).tolist()]


def estimate(values: np.ndarray) -> Estimate:
    def again(change):
        return estimate(change(Measured(values, _Silent())).values)

    found = values.astype(np.float64)
    return Estimate(found, lambda *_: (found, found), "", whole=True, again=again)


class _Silent:
    """No noise, added up."""

    scale = Fraction(1)

    def interval(self, *_: Any) -> None:
        raise AssertionError


def told(value: Any) -> Any:
    if value is None or (isinstance(value, float) and isnan(value)):
        return None
    return value if isinstance(value, str) else round(float(value), 9)


@pytest.mark.parametrize(
    "text", QUESTIONS.replace("{counted}", COUNTED).replace("{rolled}", ROLLED).strip().split(";\n")
)
@pytest.mark.no_cover
def test_without_noise_the_rows_are_those_of_plain_sql(curator, text, monkeypatch):
    monkeypatch.setattr(
        "adomnia.plans.cells.sum_over", lambda measured, axes: Measured(add_up(measured.values, axes), None)
    )
    with plain(curator.catalog, FILES | PUBLIC) as connection:
        expected = connection.execute(text).fetchall()
    assert expected
    assert [tuple(map(told, row)) for row in ours(text, curator)] == [tuple(map(told, row)) for row in expected]
