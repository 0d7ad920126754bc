from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from adomnia.engines.duckdb_dialect import DUCKDB
from adomnia.engines.render import render
from adomnia.privacy.aggregates import Histogram, Rows
from adomnia.privacy.queries import Query
from engines.databases import answer, applied, catalog, category, constant, loaded, number, people, relation, whole

FARE = number("fare", -10, 90, Fraction(1, 64))
AGE = whole("age", 0, 120)
CITY = category("city", "Oslo", "Bergen")
TRIPS = people(FARE, AGE, CITY)
SHARES = ((Fraction(1, 2),), Fraction(19, 20))


def query(value, domain, *keys, buckets=None):
    return Query(relation(TRIPS, cap=10), keys, Histogram(value, domain, *SHARES, buckets))


def test_a_value_or_its_bucket_is_one_more_key():
    assert render((query(FARE, FARE.domain, CITY),), DUCKDB).text == (
        'SELECT "city" AS k0, (CAST("fare grid" AS BIGINT) - (-640)) >> 3 AS k1, COUNT(*) AS m0 '
        'FROM "people" WHERE "rank" <= 10 GROUP BY 1, 2'
    )
    assert render((query(AGE, AGE.domain),), DUCKDB).text == (
        'SELECT (CAST("age" AS BIGINT) - 0) >> 0 AS k0, COUNT(*) AS m0 FROM "people" WHERE "rank" <= 10 GROUP BY 1'
    )
    assert render((query(FARE, FARE.domain, buckets=(3, 4)),), DUCKDB).text == (
        'SELECT CAST("fare grid" AS BIGINT) - (-640) AS k0, COUNT(*) AS m0 FROM "people" WHERE "rank" <= 10 '
        'AND (((CAST("fare grid" AS BIGINT) - (-640)) >> 3) IN (3, 4)) GROUP BY 1'
    )


def test_a_histogram_stands_alone():
    counted = replace(query(FARE, FARE.domain), aggregate=Rows())
    with pytest.raises(ValueError, match="share"):
        render((counted, query(FARE, FARE.domain)), DUCKDB)


def test_the_counts_are_those_of_the_rows():
    fares = [-10.0, -9.9, None, 0.0, 0.0, 0.01, 89.99, 500.0, float("nan")]
    rows = [
        {"person_id": who, "fare": fare, "age": who, "city": ("Oslo", "Bergen", None)[who % 3]}
        for who, fare in enumerate(fares)
    ]
    double = applied("*", FARE, constant(2))
    wide = number("fare", -20, 180, Fraction(1, 64)).domain
    with loaded(catalog(TRIPS), people=rows) as engine:
        for value, domain, factor in ((FARE, FARE.domain, 1), (double, wide, 2)):
            for buckets in (None, (0, 80, 799, 100)):
                asked = query(value, domain, CITY, buckets=buckets)
                shift = asked.aggregate.shift
                expected = {}
                for row in rows:
                    place = None if row["fare"] is None else domain.grid(factor * min(max(row["fare"], -10), 90))
                    if place is None or row["city"] is None or row["fare"] != row["fare"]:
                        continue
                    at = place - domain.grid_lower
                    if buckets is None or at >> shift in buckets:
                        cell = (("Oslo", "Bergen").index(row["city"]), at >> shift if buckets is None else at)
                        expected[cell] = expected.get(cell, 0) + 1
                (found,) = answer(engine, asked)
                found = np.asarray(found)
                assert {(cell, at): count for cell, at, count in found.T.tolist()} == expected
