"""docs/sql-reference.md is the language: its examples are answered, and it names every aggregate and refusal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adomnia.plans.plan import Plan
from adomnia.plans.public_columns import PublicRows
from adomnia.privacy import keys
from adomnia.sql.lower import plan_question
from adomnia.sql.reading import parse as parsing
from adomnia.sql.reading.parse import parse
from adomnia.sql.values import scalars
from adomnia.statistics.registry import STATISTICS
from sql.hospital import HOSPITAL
from sql.test_fixtures import cases

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "sql-reference.md").read_text()
SOURCES = "\n".join(
    path.read_text()
    for part in ("sql/**", "pricing/**", "plans/**", "curator/**", "asking/**", "session/**", "work.py", "errors.py")
    for path in (ROOT / "src" / "adomnia").glob(part if part.endswith(".py") else f"{part}/*.py")
)
BLOCKS = re.findall(r"^```sql\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
EXAMPLES = [example for block in BLOCKS for example in block.split(";\n") if example.strip()]
CODES = set(re.findall(r"`(\w+)`", PAGE.split("## Refusals")[1]))


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_answered(example):
    assert isinstance(plan_question(parse(example), HOSPITAL), Plan | PublicRows)


def test_there_are_examples():
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("name", STATISTICS)
def test_every_aggregate_is_on_the_page(name):
    assert f"| `{name}(" in PAGE


def test_every_refusal_of_the_fixtures_is_on_the_page_and_every_code_of_the_page_is_in_the_source():
    refused = {case.values[1].split()[1] for case in cases() if case.values[1].startswith("refused ")}
    assert refused <= CODES
    assert {code for code in CODES if f'"{code}"' not in SOURCES} == set()


def test_the_limits_are_those_of_the_code():
    limits = PAGE.split("## Limits")[1].split("## Refusals")[0]
    for limit in (
        parsing.MOST_CHARACTERS,
        parsing.MOST_PIECES,
        parsing.MOST_BRACKETS,
        parsing.MOST_LEVELS,
        scalars.MOST_NODES,
    ):
        assert f"{limit:,}" in limits
    assert f"at most {keys.MOST_CELLS:,} groups" in PAGE
