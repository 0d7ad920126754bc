"""Pairs of a question and what it means: the line of its plan, or the code and the place of its refusal.

A new case is two lines in a file of tests/fixtures/sql: the question, and below it `table ...: outputs` or
`refused code line:column`. Blank lines part the cases; a question may take several lines.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from adomnia.errors import Refusal
from adomnia.sql.explain import line
from adomnia.sql.lower import lower
from sql.hospital import HOSPITAL

FILES = sorted((Path(__file__).parents[1] / "fixtures" / "sql").glob("*.sql"))


def cases():
    for path in FILES:
        for block in path.read_text().strip().split("\n\n"):
            question, _, expected = block.rpartition("\n")
            yield pytest.param(question, expected, id=f"{path.stem}: {question}")


def meaning(question):
    try:
        return line(lower(question, HOSPITAL))
    except Refusal as refusal:
        return "refused {} {}:{}".format(refusal.code, *refusal.position)


@pytest.mark.parametrize(("question", "expected"), list(cases()))
def test_a_question_means_what_the_fixture_says(question, expected):
    assert meaning(question) == expected


def test_there_are_fixtures_of_both_sorts():
    expected = [case.values[1] for case in cases()]
    assert sum(line.startswith("refused ") for line in expected) > 150
    assert sum(not line.startswith("refused ") for line in expected) > 80
