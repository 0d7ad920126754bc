"""Keys are declared, so that every one comes back."""

from __future__ import annotations

import pytest

from adomnia.errors import Refusal
from adomnia.privacy.keys import MOST_CELLS
from adomnia.sql.reading.parse import parse
from adomnia.sql.rows.blocks import BlockReader
from adomnia.sql.values.group_keys import read_keys
from sql.hospital import HOSPITAL


def keys(text):
    return [key.name for key in found(text)]


def found(text):
    select = parse(text)
    block = BlockReader(HOSPITAL).read_block(select)
    return read_keys(select, block.scope, block.relation, "pay for them").keys


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT COUNT(*) FROM people", []),
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
