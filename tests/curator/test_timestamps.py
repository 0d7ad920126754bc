"""Whole questions about a column of timestamps: nobody moves them too far, and plain SQL gives the same numbers."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from adomnia.errors import Refusal
from adomnia.session.curator import read_catalog
from adomnia.sql.lower import lower
from curator.test_neighbours import gate
from curator.test_plain_questions import agrees, plain
from kit.hospital import CATALOG, LINKED, PLAIN_CITIES, curated, declare, person, visit

LINE = 'day = { type = "date" }'
TIMES = 'day = { type = "timestamp", timezone = "Europe/Oslo"{bounds} }'
BOUNDS = ", lower = 2024-03-30T22:00:00, upper = 2024-04-02T00:00:00"

MOMENTS = [
    *("2024-03-30T22:00:00", "2024-03-31T01:59:59.999999", "2024-03-31T02:30:00", "2024-03-31T03:00:00"),
    *("2024-03-31T23:59:59", "2024-04-01T00:00:00", "2024-04-01T12:34:56", "2024-04-01T23:00:00"),
]
FAR = ["0001-01-01T00:00:00", "9999-12-31T23:59:59", "1969-12-31T23:59:59"]
PEOPLE = [person(place, age=20.0 + place, member=place % 2 == 0) for place in range(1, 7)]


def visits(texts):
    rows = [visit(1 + place % 6, day=datetime.fromisoformat(text), cost=10.0) for place, text in enumerate(texts)]
    return [*rows, visit(1, cost=5.0), visit(None, day=datetime.fromisoformat(texts[0]))]


@pytest.fixture(scope="module", params=[BOUNDS, ""], ids=["bounded", "unbounded"])
def catalog(request, tmp_path_factory):
    text = CATALOG.replace(LINE, TIMES.replace("{bounds}", request.param))
    return declare(tmp_path_factory.mktemp("times") / "hospital", text)


QUESTIONS = [
    "SELECT HOUR(day) AS h, COUNT(*) FROM visits GROUP BY h",
    "SELECT CAST(day AS DATE) AS d, COUNT(*) FROM visits GROUP BY d",
    "SELECT DATE_TRUNC('hour', day) AS h, COUNT(*), COUNT(DISTINCT person_id) FROM visits GROUP BY h",
    "SELECT DATE_TRUNC('minute', day) AS m, COUNT(*) FROM visits WHERE day < '2024-03-31 04:00' GROUP BY m",
    "SELECT SUM(MINUTE(day)), SUM(SECOND(day)), SUM(DAYOFWEEK(day)), COUNT(DISTINCT day) FROM visits",
    "SELECT SUM(DATE_DIFF('hour', TIMESTAMP '2024-03-31 00:00:00', day)) FROM visits",
    "SELECT SUM(DATE_DIFF('second', day, '2024-04-01')) FROM visits WHERE day > DATE '2024-03-31'",
    "SELECT COUNT(*) FROM visits WHERE day + INTERVAL '90 minutes' BETWEEN '2024-03-31' AND '2024-04-01 12:00'",
    "SELECT COUNT(*) FROM visits WHERE CAST(day AS DATE) IN ('2024-03-31', DATE '2024-04-01') OR day IS NULL",
    "SELECT COUNT(*) FROM visits WHERE COALESCE(NULLIF(day, '2024-04-01'), '2024-04-01 23:00') > '2024-04-01 22:00'",
    "SELECT COUNT(*) FROM visits WHERE MONTH(day) = 4 AND CAST(CAST(day AS DATE) AS TIMESTAMP) <= day",
    (
        "SELECT COUNT(*) FROM (SELECT person_id, MAX(day) AS last, MIN(day) AS first FROM visits GROUP BY person_id) "
        "AS v WHERE DATE_DIFF('hour', first, last) > 10"
    ),
    (
        "SELECT COUNT(*) FROM visits AS a WHERE EXISTS "
        "(SELECT 1 FROM visits AS b WHERE b.person_id = a.person_id AND b.day > a.day)"
    ),
]


def asked(catalog):
    """The questions that are answered: some need bounds."""
    return [text for text in QUESTIONS if refusal_of(text, catalog) not in {"needs_key_domain", "unbounded_expression"}]


def refusal_of(text, catalog):
    try:
        lower(text, catalog)
    except Refusal as refusal:
        return refusal.code
    return None


@pytest.mark.parametrize("who", [1, 2])
@pytest.mark.no_cover
def test_one_person_moves_questions_about_times_by_at_most_their_sensitivity(catalog, who):
    prices = [(text, {"epsilon": 1}) for text in asked(catalog)]
    assert len(prices) >= 8
    gate(catalog, (PEOPLE, visits([*MOMENTS, *FAR])), who, prices)


@pytest.mark.no_cover
def test_questions_about_times_are_answered_as_plain_sql_answers_them(catalog):
    whole = [text for text in MOMENTS if "." not in text]
    files = {"people": PEOPLE, "visits": visits(whole)[:-1]}
    with curated(catalog, **files) as curator, plain(catalog, files | {"cities": PLAIN_CITIES}) as connection:
        assert all(agrees(text, curator, connection) for text in asked(catalog))


def test_the_seconds_between_two_times_are_those_of_the_clock(catalog):
    files = {"people": PEOPLE, "visits": [visit(1, day=datetime.fromisoformat("2024-03-31T03:00:00"))]}
    text = "SELECT COUNT(*) FROM visits WHERE day - '2024-03-31 01:59:59' = 3601"
    with curated(catalog, **files, seed=1) as curator:
        (count,) = curator.session("bob").sql(text, epsilon=8)["count"]
    assert count == 1


def test_groups_by_hour_are_labelled_with_local_times(tmp_path):
    text = CATALOG.replace(LINE, TIMES.replace("{bounds}", BOUNDS))
    with curated(declare(tmp_path / "hospital", text), PEOPLE, visits(MOMENTS)) as curator:
        session = curator.session("bob")
        answer = session.sql("SELECT DATE_TRUNC('hour', day) AS h, COUNT(*) FROM visits GROUP BY h", epsilon=1)
        days = session.sql("SELECT DATE(day) AS d, COUNT(*) FROM visits GROUP BY d", epsilon=1)
    assert answer["h"][:2] == [
        datetime.fromisoformat("2024-03-30T22:00:00"),
        datetime.fromisoformat("2024-03-30T23:00:00"),
    ]
    assert len(answer["h"]) == 51
    assert days["d"] == [date(2024, 3, 30), date(2024, 3, 31), date(2024, 4, 1), date(2024, 4, 2)]
    assert str(answer.to_arrow().schema.field("h").type) == "timestamp[s]"


def test_timestamps_of_public_tables_are_read_and_joined(tmp_path):
    text = LINKED.replace('since = { type = "date" }', 'since = { type = "timestamp", timezone = "Europe/Oslo" }')
    text = text.replace(LINE, TIMES.replace("{bounds}", ""))
    declare(tmp_path / "hospital", LINKED)
    (tmp_path / "hospital" / "catalog.toml").write_text(text)
    catalog = read_catalog(tmp_path / "hospital")
    joined = "SELECT COUNT(*) FROM visits AS v JOIN zones AS z ON v.day = z.since"
    files = {"people": PEOPLE, "visits": [visit(2, day=datetime.fromisoformat("2020-01-01T00:00:00"))]}
    with curated(catalog, **files) as curator:
        answer = curator.session("bob").sql("SELECT since FROM zones WHERE HOUR(since) = 0 ORDER BY since LIMIT 2")
        (count,) = curator.session("bob").sql(joined, epsilon=8)["count"]
    assert answer["since"] == [datetime.fromisoformat("1950-01-01"), datetime.fromisoformat("2019-12-31")]
    assert count == 1
