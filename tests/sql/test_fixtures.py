"""Pairs of a question and what it means: the line of its plan, or the code and the place of its refusal.

A new case is two lines in a file of tests/fixtures/sql: the question, and below it one of
`table ...: outputs`, `10 x tables ...: outputs` where more than one table is read and so many rows of a person count,
`public outputs: rows`, or `refused code line:column`. Blank lines part the cases; a question may take several lines.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from adomnia.errors import Refusal
from adomnia.plans.public_columns import PublicRows
from adomnia.privacy.relations import Private, Where
from adomnia.sql.lower import plan_question
from adomnia.sql.reading.parse import parse
from kit.plan_lines import describe_plan, describe_relation
from sql.hospital import HOSPITAL

FILES = sorted((Path(__file__).parents[1] / "fixtures" / "sql").glob("*.sql"))
PUBLIC = "public_rows"  # the file of questions that are answered by rows, not by a plan


def cases(public=False):
    for path in FILES:
        if (path.stem == PUBLIC) is not public:
            continue
        for block in path.read_text().strip().split("\n\n"):
            question, _, expected = block.rpartition("\n")
            yield pytest.param(question, expected, id=f"{path.stem}: {question}")


def meaning(question):
    try:
        found = plan_question(parse(question), HOSPITAL)
    except Refusal as refusal:
        return "refused {} {}:{}".format(refusal.code, *refusal.position)
    if isinstance(found, PublicRows):
        return public(found)
    rows = found.relation.source if isinstance(found.relation, Where) else found.relation
    return (
        describe_plan(found)
        if isinstance(rows, Private)
        else f"{found.relation.rows_per_person} x {describe_plan(found)}"
    )


def public(found):
    names = [*found.names, *(output.name for output in found.rows.outputs[len(found.names) :])]
    order = "".join(
        f" ORDER BY {names[place]}{' DESC' * descending}{' NULLS FIRST' * first}"
        for place, descending, first in found.order
    )
    limit = "" if found.limit is None else f" LIMIT {found.limit}"
    limit += f" OFFSET {found.offset}" if found.offset else ""
    return f"public {', '.join(found.names)}: {describe_relation(found.rows)}{order}{limit}"


@pytest.mark.parametrize(("question", "expected"), [*cases(), *cases(public=True)])
def test_a_question_means_what_the_fixture_says(question, expected):
    assert meaning(question) == expected


def test_there_are_fixtures_of_every_sort():
    expected = [case.values[1] for case in cases()]
    assert sum(line.startswith("refused ") for line in expected) > 250
    assert sum(line.split()[1] == "x" for line in expected) > 120
    assert sum(case.values[1].startswith("public ") for case in cases(public=True)) > 8


def test_no_question_is_asked_twice():
    questions = [case.values[0] for case in cases()]
    assert len(set(questions)) == len(questions)
