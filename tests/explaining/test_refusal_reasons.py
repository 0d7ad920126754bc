from __future__ import annotations

import re
from pathlib import Path

from adomnia.explaining.refusal_reasons import OTHER, REASONS, known_code

PAGE = Path(__file__).parents[2] / "docs" / "sql-reference.md"


def test_every_documented_code_has_a_reason_and_advice():
    rows = PAGE.read_text().split("## Refusals")[1].split("\n## ")[0].splitlines()
    codes = {code for row in rows if row.startswith("| `") for code in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert len(codes) > 50
    assert codes - REASONS.keys() == set()
    assert all(reason.says and reason.advice.endswith(".") for reason in REASONS.values())


def test_a_code_of_nobody_is_counted_with_the_others():
    assert known_code("<script>") == OTHER
    assert {known_code(code) for code in REASONS} == REASONS.keys()
