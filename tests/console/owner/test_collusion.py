from __future__ import annotations

import pytest

from adomnia.console.owner.collusion import report_collusion
from kit import hospital
from kit.visits import visit_as_owner


@pytest.fixture
def visit(tmp_path):
    text = hospital.CATALOG.replace("epsilon = 1_000_000", "epsilon = 5").replace("epsilon = 100_000", "epsilon = 1")
    with hospital.curated(hospital.declare(tmp_path, text), [hospital.person(1)], []) as opened:
        yield visit_as_owner(opened)


def test_coalitions_are_listed_with_their_share_and_what_they_can_learn(visit):
    report = report_collusion(visit)
    assert [(row.who, row.epsilon, row.share, row.chance) for row in report.rows] == [
        ("any one analyst", "1", 0.2, "2.67 in 100"),
        ("any 2 analysts", "2", 0.4, "6.95 in 100"),
        ("all 3 analysts", "3", 0.6, "16.9 in 100"),
    ]
    assert report.meaning.says == "16.9 in 100"
    assert not report.warning


def test_what_was_added_to_budgets_counts_and_the_dataset_bounds_it(visit):
    visit.curator.ledger.top_up("alice", "more", epsilon=9)
    report = report_collusion(visit)
    assert report.rows[0].epsilon == report.rows[-1].epsilon == "5"
    assert report.warning
    assert "more than the dataset has" in report.verdict
