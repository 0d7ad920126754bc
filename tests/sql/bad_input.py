"""Questions that nobody should ask: deep, long, doubling, or no questions at all. All are refused from their text."""

from __future__ import annotations

ASK = "SELECT COUNT(*) FROM people WHERE "
OWN = "{0} AS (SELECT person_id, SUM(x) AS x FROM {1} GROUP BY person_id)"


def nested(before: str, inside: str, after: str, times: int) -> str:
    return before * times + inside + after * times


def chained(text: str, times: int, first: str = "SELECT person_id, age AS x FROM people") -> str:
    """WITH a0, a1, ..., each made of the one before it: {0} is its name, {1} that of the one before."""
    named = [f"a0 AS ({first})", *(text.format(f"a{place}", f"a{place - 1}") for place in range(1, times))]
    return f"WITH {', '.join(named)} SELECT COUNT(*) FROM a{times - 1}"


def lookups(text: str, times: int) -> str:
    return ASK + " AND ".join(text.format(place) for place in range(times))


DEEP = {
    "2,000 brackets": ASK + nested("(", "age > 1", ")", 2000),
    "10,000 brackets": ASK + nested("(", "age > 1", ")", 10_000),
    "subqueries in FROM": "SELECT COUNT(*) FROM " + nested("(SELECT * FROM ", "people", ")", 65),
    "subqueries in brackets": "SELECT COUNT(*) FROM " + nested("((SELECT * FROM ", "people", "))", 33),
    "tables in brackets": "SELECT COUNT(*) FROM " + nested("(", "people", ")", 65),
    "joins in brackets": "SELECT COUNT(*) FROM " + nested("(", "people", " JOIN visits USING (person_id))", 8),
    "EXISTS": ASK + nested("EXISTS (SELECT 1 FROM people WHERE ", "TRUE", ")", 64),
    "IN": ASK + nested("person_id IN (SELECT person_id FROM people WHERE ", "TRUE", ")", 64),
    "subqueries as values": ASK + nested("(SELECT COUNT(*) FROM people WHERE ", "TRUE", ") > 1", 64),
    "WITH in WITH": nested("WITH a AS (", "SELECT * FROM people", ") SELECT * FROM a", 64),
    "CASE": ASK + nested("CASE WHEN ", "active", " THEN TRUE ELSE FALSE END", 500),
    "CASE in brackets": ASK + nested("(CASE WHEN ", "active", " THEN TRUE END)", 65),
    "calls": ASK + nested("ABS(", "age", ")", 65) + " > 1",
    "casts": ASK + nested("CAST(", "age", " AS INT)", 65) + " > 1",
    "casts by colons": ASK + "age" + "::INT" * 1500 + " > 1",
    "negations": ASK + "NOT " * 2000 + "active",
    "types": ASK + nested("DATE(", "1", ")", 60) + " > 1",
    "groups within groups": "SELECT "
    + nested("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY ", "age", ")", 40)
    + " FROM people",
    "LIMIT in calls": ASK + nested("foo(a LIMIT ", "1", ")", 60),
    "LIMIT before calls": ASK + nested("a LIMIT foo(", "1", ")", 60),
    "windows": "SELECT " + nested("SUM(", "age", ") OVER (PARTITION BY sex)", 60) + " FROM people",
    "filters": "SELECT " + nested("SUM(", "age", ") FILTER (WHERE active)", 60) + " FROM people",
    "lambdas": ASK + nested("foo(x -> ", "x", ")", 60),
    "UNION ALL in brackets": "SELECT COUNT(*) FROM ("
    + nested("SELECT age FROM people UNION ALL (", "SELECT age FROM people", ")", 60)
    + ")",
    "LIMIT in LIMIT": "SELECT COUNT(*) FROM " + nested("(SELECT 1 LIMIT ", "1", ")", 60),
}
LONG = {
    "a megabyte": "SELECT '" + "x" * 2**20 + "'",
    "a megabyte of words": "SELECT " + "x " * 2**19,
    "IN of 30,000 numbers": ASK + "age IN (" + "1," * 30_000 + "1)",
    "10,000 aggregates": "SELECT " + "COUNT(*), " * 10_000 + "COUNT(*) FROM people",
    "200 names of WITH": chained("{0} AS (SELECT * FROM {1})", 200),
    "200 steps of a person's rows": chained(OWN, 200),
    "UNION ALL of 200": "SELECT COUNT(*) FROM (SELECT age FROM people"
    + " UNION ALL SELECT age FROM people" * 200
    + ")",
    "UNION ALL of 2,000": "SELECT COUNT(*) FROM (SELECT 1" + " UNION ALL SELECT 1" * 2000 + ")",
    "200 joins": "SELECT COUNT(*) FROM people p" + "".join(f" JOIN visits v{n} USING (person_id)" for n in range(200)),
    "300 joins by commas": "SELECT COUNT(*) FROM people p0"
    + "".join(f", people p{n}" for n in range(1, 300))
    + " WHERE "
    + " AND ".join(f"p0.person_id = p{n}.person_id" for n in range(1, 300)),
    "joins that multiply": "SELECT COUNT(*) FROM visits v0"
    + "".join(f", visits v{n}" for n in range(1, 12))
    + " WHERE "
    + " AND ".join(f"v0.person_id = v{n}.person_id" for n in range(1, 12)),
    "public rows that multiply": "SELECT a.city FROM zones a"
    + "".join(f" JOIN zones z{n} ON a.zone = z{n}.zone" for n in range(8)),
    "100 lookups by EXISTS": lookups(
        "EXISTS (SELECT 1 FROM visits v WHERE v.person_id = people.person_id AND cost > {})", 100
    ),
    "100 lookups by IN": lookups("person_id IN (SELECT person_id FROM visits WHERE cost > {})", 100),
    "500 aggregates of a person": "SELECT COUNT(*) FROM (SELECT person_id, "
    + ", ".join(f"SUM(cost + {n}) AS a{n}" for n in range(500))
    + " FROM visits GROUP BY person_id)",
    "1,000 columns": "SELECT COUNT(*) FROM (SELECT " + ", ".join(f"age AS a{n}" for n in range(1000)) + " FROM people)",
}
DOUBLING = {
    "joins": chained("{0} AS (SELECT a.person_id FROM {1} a JOIN {1} b ON a.person_id = b.person_id)", 30),
    "UNION ALL": chained("{0} AS (SELECT * FROM {1} UNION ALL SELECT * FROM {1})", 30),
    "EXISTS": chained(
        "{0} AS (SELECT a.person_id FROM {1} a WHERE EXISTS (SELECT 1 FROM {1} b WHERE b.person_id = a.person_id))", 30
    ),
    "sums": chained("{0} AS (SELECT person_id, x + x AS x FROM {1})", 30),
    "products": chained("{0} AS (SELECT person_id, x * x AS x FROM {1})", 30),
    "products of constants": chained(
        "{0} AS (SELECT person_id, x * x AS x FROM {1})", 30, "SELECT person_id, 10 AS x FROM people"
    ),
    "conditions": chained(
        "{0} AS (SELECT person_id, x AND NOT x AS x FROM {1})", 30, "SELECT person_id, active AS x FROM people"
    ),
    "cases": chained("{0} AS (SELECT person_id, CASE WHEN x > 1 THEN x ELSE -x END AS x FROM {1})", 30),
}
NO_QUESTIONS = {
    "two statements": "SELECT COUNT(*) FROM people; SELECT COUNT(*) FROM people",
    "DDL": "CREATE TABLE x AS SELECT * FROM people",
    "DML": "DELETE FROM people",
    "DML in WITH": "WITH x AS (SELECT * FROM people) DELETE FROM people",
    "a setting": "SET memory_limit = '1GB'",
    "a pragma": "PRAGMA database_list",
    "a file": "SELECT COUNT(*) FROM '/etc/passwd'",
    "a file in a join": "SELECT COUNT(*) FROM people p JOIN 'x.parquet' x ON p.city = x.city",
    "a file in a subquery": "SELECT COUNT(*) FROM (SELECT * FROM read_csv('x.csv')) t",
    "a file in a lookup": ASK + "person_id IN (SELECT person_id FROM read_parquet('x'))",
    "a table function": "SELECT COUNT(*) FROM range(1000000000)",
    "a catalog table": "SELECT COUNT(*) FROM duckdb_tables()",
    "an information schema": "SELECT * FROM information_schema.tables",
    "a catalog table in WITH": "WITH x AS (SELECT * FROM sqlite_master) SELECT COUNT(*) FROM x",
    "a window": "SELECT COUNT(*) FROM (SELECT *, ROW_NUMBER() OVER () AS r FROM people) t",
    "recursion": "WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM x) SELECT COUNT(*) FROM x",
    "a volatile function": "SELECT COUNT(*) FROM (SELECT random() AS r FROM people) t WHERE r < 0.5",
    "a clock": "SELECT COUNT(*) FROM (SELECT * FROM visits WHERE day > CURRENT_DATE) t",
    "a macro": "CREATE MACRO f(x) AS x",
    "LATERAL": "SELECT COUNT(*) FROM people p, LATERAL (SELECT p.salary AS s) t",
    "nothing": "",
}
BAD = {
    f"{sort}: {name}": text
    for sort, texts in (("deep", DEEP), ("long", LONG), ("doubling", DOUBLING), ("no question", NO_QUESTIONS))
    for name, text in texts.items()
}
