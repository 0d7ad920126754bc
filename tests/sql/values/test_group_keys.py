"""Keys are declared, so that every one comes back."""

from __future__ import annotations

from datetime import date

import pytest

from adomnia.errors import Refusal
from adomnia.privacy.keys import MOST_CELLS, key_values
from adomnia.sql.lower import lower
from adomnia.sql.reading.parse import parse
from adomnia.sql.rows.blocks import BlockReader
from adomnia.sql.values.group_keys import MOST_LISTED, read_keys
from sql.hospital import HOSPITAL


def keys(text):
    return [key.name for key in found(text)]


def found(text):
    select = parse(text)
    block = BlockReader(HOSPITAL).read_block(select)
    return read_keys(select, block.scope, block.relation, lambda: "pay for them").keys


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT COUNT(*) FROM people GROUP BY active, SEX, active", ["active", "sex"]),
        ("SELECT sex, city AS town, COUNT(*) FROM people GROUP BY town, 1", ["city", "sex"]),
        ("SELECT age AS sex, COUNT(*) FROM people GROUP BY sex", ["sex"]),
        ("SELECT COUNT(*) FROM people p GROUP BY p.sex", ["sex"]),
        ("SELECT COUNT(*) FROM people GROUP BY (sex), ((active))", ["sex", "active"]),
        ("SELECT COUNT(*) FROM people JOIN visits USING (person_id) GROUP BY hospital, sex", ["hospital", "sex"]),
        ("SELECT COUNT(*) FROM (SELECT sex AS s FROM people) GROUP BY s", ["sex"]),
    ],
)
def test_keys_are_columns_outputs_by_number_or_outputs_by_name(text, expected):
    assert keys(text) == expected


def test_keys_of_one_name_on_two_sides_are_two_keys():
    text = "SELECT COUNT(*) FROM people p JOIN cities c ON p.city = c.city GROUP BY p.city, c.city"
    assert [(key.source, key.name) for key in found(text)] == [("people", "city"), ("cities", "city")]


def test_the_number_of_cells_is_bounded_by_public_arithmetic():
    assert keys("SELECT COUNT(*) FROM wide GROUP BY c0, c1, c2") == ["c0", "c1", "c2"]
    with pytest.raises(Refusal, match=f"{40**4:,} groups, more than {MOST_CELLS:,}") as refusal:
        keys("SELECT COUNT(*) FROM wide GROUP BY c0, c1, c2, c3")
    assert refusal.value.code == "too_many_cells"


def labels(key, where=""):
    plan = lower(f"SELECT {key} AS k, COUNT(*) FROM people {where} GROUP BY k", HOSPITAL)
    return key_values(plan.keys[0])


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("age", tuple(range(121))),
        ("FLOOR(age / 10)", tuple(range(13))),
        ("FLOOR(age / 10) * 10", tuple(range(0, 130, 10))),
        ("10 * FLOOR(age / 10) - 30", tuple(range(-30, 100, 10))),
        ("-age", tuple(range(-120, 1))),
        ("FLOOR(age / 60) * 0", (0,)),
        ("age % 3", (0, 1, 2)),
        ("age >= 18", (False, True)),
        ("CASE WHEN age < 18 THEN 'young' WHEN age < 65 THEN 'adult' ELSE 'old' END", ("adult", "old", "young")),
        ("CASE WHEN age < 18 THEN 'young' END", ("young",)),
        ("MONTH(born)", tuple(range(1, 13))),
        ("YEAR(born)", tuple(range(1900, 2031))),
        ("DATE_TRUNC('year', born)", tuple(date(year, 1, 1) for year in range(1900, 2031))),
    ],
)
def test_values_follow_from_declared_bounds_and_from_the_text(key, expected):
    assert labels(key) == expected


@pytest.mark.parametrize(
    ("unit", "first", "last", "number"),
    [
        ("month", date(1900, 1, 1), date(2030, 12, 1), 131 * 12),
        ("quarter", date(1900, 1, 1), date(2030, 10, 1), 131 * 4),
        ("week", date(1900, 1, 1), date(2030, 12, 30), 6836),
    ],
)
def test_first_days_are_shown_as_days(unit, first, last, number):
    found = labels(f"DATE_TRUNC('{unit}', born)")
    assert (found[0], found[-1], len(found)) == (first, last, number)
    assert list(found) == sorted(set(found))


def test_a_condition_names_the_groups_of_a_text():
    assert labels("name", "WHERE age > 3 AND (name = 'Bob' OR name = 'Ann')") == ("Ann", "Bob")
    assert labels("name", "WHERE name = 'Bob'") == ("Bob",)
    assert labels("LEFT(name, 1)", "WHERE LEFT(name, 1) IN ('B', 'A', 'B')") == ("A", "B")


@pytest.mark.parametrize(
    "where",
    [
        "",
        "WHERE name <> 'Bob'",
        "WHERE name = 'Bob' OR age > 3",
        "WHERE UPPER(name) = 'BOB'",
        f"WHERE name IN ({', '.join(repr(f'p{place}') for place in range(MOST_LISTED + 1))})",
    ],
)
def test_a_text_whose_values_are_not_listed_makes_no_groups(where):
    with pytest.raises(Refusal, match="not declared"):
        labels("name", where)
