from __future__ import annotations

from fractions import Fraction

import pytest

from adomnia.catalog.model import Policy
from adomnia.console.owner.accounts import list_rows, say_policy
from kit import hospital
from kit.visits import visit_as_owner


def test_analysts_come_first_and_all_together_last(tmp_path):
    with hospital.curated(hospital.declare(tmp_path), [hospital.person(1)], []) as curator:
        curator.session("carol").sql("SELECT COUNT(*) AS n FROM people", epsilon=0.25)
        rows = list_rows(visit_as_owner(curator))
    assert [row.name for row in rows] == ["alice", "bob", "carol", "all together"]
    assert [row.is_dataset for row in rows] == [False, False, False, True]
    assert [row.answers for row in rows] == [0, 0, 1, 1]
    carol = rows[2]
    assert (carol.key, carol.budget, carol.spent, carol.left) == (
        "analyst:carol",
        "epsilon 1",
        "epsilon 0.25 of 1",
        "epsilon 0.75",
    )
    assert (carol.remaining.left, carol.remaining.spent_share) == ("0.75", 0.25)


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (Policy(), "named by the analyst"),
        (Policy(ceiling=Fraction(1, 2)), "named by the analyst, at most ε 0.5"),
        (Policy("equal_split", questions=20), "20 questions of equal price"),
        (Policy("geometric", spend=Fraction(1, 10)), "10% of what is left each time"),
    ],
)
def test_policies_are_told_in_a_few_words(policy, says):
    assert say_policy(policy) == says
