"""The first page of owners: what it says of the ledger, the workers, the catalog and the questions."""

from __future__ import annotations

import pytest

from adomnia.api.ledger_stamps import VERIFIED, read_stamp
from adomnia.console.owner.overview import report_collusion, report_refusals
from adomnia.explaining.refusal_reasons import REASONS
from console.owner.visitors import Visitor
from kit import hospital, house
from kit.ledgers import find_ledger
from kit.visits import visit_as_owner
from ledger.references import tamper


def folder_of(opened):
    return opened.services.settings.folder


@pytest.mark.parametrize("name", ["olga", "audrey"])
def test_owners_and_auditors_see_it(shared_house, name):
    page = Visitor.of(shared_house, name).read("/owner")
    assert "1 of 1 up" in page
    assert "Version 1, no problem" in page
    assert "named by the analyst" in page
    assert "What analysts may spend together" in page


def test_an_analyst_does_not(shared_house):
    assert Visitor.of(shared_house, "alice").see("/owner").status_code == 403


def test_refusals_are_counted_by_reason_and_the_most_frequent_has_advice(own_house):
    olga = Visitor.of(own_house)
    assert "No question was refused since the server started." in olga.read("/owner")
    for sql in ("SELECT name FROM people", "SELECT nosuch FROM people", "SELECT COUNT(*) FROM nosuch"):
        assert own_house.query("alice", sql=sql).status_code == 400
    page = olga.read("/owner")
    assert "3 since the server started" in page
    assert "Most often: table or column not known." in page
    assert "0 answered" in page
    assert "3 refused, 0 failed" in page


def test_a_catalog_that_is_not_served_is_told_to_the_owner_and_its_problem_to_nobody_else(own_house):
    own_house.services.dataset.problem = f"Column {house.CANARY} is <b>wrong</b>."
    page = Visitor.of(own_house).see("/owner").text
    assert f"Column {house.CANARY} is &lt;b&gt;wrong&lt;/b&gt;." in page
    other = Visitor.of(own_house, "audrey").see("/owner").text
    assert "not the one on disk" in other
    assert house.CANARY not in other


def test_a_sound_ledger_is_told_sound_with_what_came_since(own_house):
    own_house.query("alice")
    olga = Visitor.of(own_house)
    assert "Never verified on this machine" in olga.read("/owner")
    assert olga.send("/owner/ledger/verify").headers["location"] == "/owner"
    assert "Sound, 3 entries" in olga.read("/owner")
    own_house.query("bob", sql="SELECT COUNT(*) AS n FROM visits")
    page = olga.read("/owner")
    assert "Sound, 5 entries" in page
    assert "2 newer since" in page


@pytest.mark.parametrize("name", ["olga", "audrey"])
def test_a_ledger_whose_entry_was_changed_on_disk_is_told_so(own_house, name):
    for sql in (house.COUNT, "SELECT COUNT(*) AS n FROM visits"):
        own_house.query("alice", sql=sql)
    visitor = Visitor.of(own_house, name)
    visitor.send("/owner/ledger/verify")
    path = find_ledger(folder_of(own_house))
    tamper(path, """UPDATE entries SET body = replace(body, '"1/8"', '"1/9"') WHERE sequence = 2""")
    assert visitor.send("/owner/ledger/verify", back="/owner/ledger").headers["location"] == "/owner/ledger"
    page = visitor.read("/owner")
    assert "Not sound" in page
    assert "Sound," not in page
    assert "has an entry 2 that does not add up" in page


def test_a_ledger_that_is_not_the_one_that_was_verified_is_told_at_once(own_house):
    own_house.query("alice")
    olga = Visitor.of(own_house)
    olga.send("/owner/ledger/verify")
    tamper(find_ledger(folder_of(own_house)), "UPDATE entries SET body = body || ' ' WHERE sequence = 3")
    page = olga.read("/owner")
    assert "Sound," not in page
    assert "Nothing can be paid for" in page
    assert "Budgets cannot be read" in page


def test_verifying_needs_the_token_of_the_page_and_leads_to_pages_of_ours_alone(own_house):
    olga = Visitor.of(own_house)
    assert olga.send("/owner/ledger/verify", csrf="wrong").status_code == 403
    assert read_stamp(folder_of(own_house), VERIFIED) is None
    assert olga.send("/owner/ledger/verify", back="https://elsewhere.example").headers["location"] == "/owner"


def test_codes_of_one_reason_are_put_together_and_the_most_frequent_is_first():
    report = report_refusals({"budget": 4, "unknown_table": 3, "unknown_column": 2})
    assert [(bar.says, bar.count, bar.share) for bar in report.bars] == [
        ("table or column not known", 5, 1.0),
        ("more than is left", 4, 0.8),
    ]
    assert report.bars[0].codes == "unknown_table, unknown_column"
    assert (report.total, report.beyond, report.advice) == (9, 0, REASONS["unknown_table"])


def test_rare_reasons_are_counted_together():
    report = report_refusals(dict.fromkeys(REASONS, 1))
    assert report.total == len(REASONS) == report.beyond + sum(bar.count for bar in report.bars)
    assert len(report.bars) == 8


def test_no_refusal_needs_no_advice():
    assert report_refusals({}).advice is None


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
