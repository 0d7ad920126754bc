"""SELECTs around SELECTs: how much work they are to read."""

from __future__ import annotations

from adomnia.sql import around
from adomnia.sql.lower import lower
from sql.hospital import HOSPITAL


def test_of_selects_around_selects_each_is_read_once(monkeypatch):
    read = []
    find = around._find_source
    monkeypatch.setattr(around, "_find_source", lambda select: read.append(select) or find(select))
    named = "a0 AS (SELECT sex, COUNT(*) AS n FROM people GROUP BY sex)"
    named += "".join(f", a{place} AS (SELECT * FROM a{place - 1} WHERE n > {place})" for place in range(1, 20))
    plan = lower(f"WITH {named} SELECT n FROM a19", HOSPITAL)
    assert len(plan.choices) == 19
    assert len(read) == 21
