"""What may be read of the ledger, a page at a time."""

from __future__ import annotations

import csv
from io import StringIO

import pytest

from adomnia.api.ledger_view import (
    Amounts,
    LedgerEntry,
    find_answer,
    open_snapshot,
    read_chosen,
    read_entries,
    write_csv,
)
from adomnia.errors import Refusal, Unavailable
from adomnia.privacy.filters import Budget
from adomnia.session.ledgers import find_ledger
from ledger.references import ANALYSTS, BUDGET, COST, answered, opened, plan, tamper

COST_OF_LEDGER_CSV = Amounts("1/8", "1/128", "0")


@pytest.fixture
def path(tmp_path):
    """Alice pays, bob shares her answer, alice fails, and then bob is gone from the catalog."""
    place = tmp_path / "ledger.sqlite"
    with opened(place) as ledger:
        answered(ledger)
        ledger.reserve("bob", "shared", plan("q"), COST)
        ledger.reserve("alice", "failed", plan("other"), COST)
    opened(place, BUDGET, {"alice": Budget(epsilon=2)}).close()
    return place


def listed(path, **page):
    with open_snapshot(path) as connection:
        return list(read_entries(connection, **page))


def test_pages_put_together_are_the_whole(path):
    whole = listed(path)
    assert [entry.sequence for entry in whole] == list(range(1, len(whole) + 1))
    pages = [listed(path, after=start, limit=3) for start in range(0, len(whole), 3)]
    assert [entry for page in pages for entry in page] == whole
    assert [len(page) for page in pages[:-1]] == [3] * (len(pages) - 1)


def test_a_shared_answer_moves_one_total_and_a_failed_question_has_no_answer(path):
    debits = {entry.request_id: entry for entry in listed(path) if entry.kind == "reserve"}
    cent = Amounts("1/100", "1/20000", "0")
    assert debits["id of q"].totals == {"analyst:alice": cent, "dataset": cent}
    assert debits["shared"].totals == {"analyst:bob": cent}
    assert debits["failed"].cost == cent
    assert {entry.request_id for entry in listed(path) if entry.kind == "commit"} == {"id of q", "shared"}


def test_budgets_are_told_when_they_change(path):
    changes = [entry.budgets for entry in listed(path) if entry.kind == "open"]
    assert set(changes[0]) == {"dataset", *(f"analyst:{name}" for name in ANALYSTS)}
    assert changes[1] == {"analyst:alice": Amounts("2", None, "0"), "analyst:bob": None}


def test_a_record_is_plain_data(path):
    record = listed(path, limit=2)[1].record()
    assert record["cost"] == {"epsilon": "1/100", "rho": "1/20000", "delta": "0"}
    assert not {"salt", "payload", "plan", "previous"} & set(record)


def test_a_page_after_a_changed_entry_is_refused(path):
    tamper(path, "UPDATE entries SET body = body || ' ' WHERE sequence = 2")
    with pytest.raises(Refusal, match="entry 3 does not follow"):
        listed(path, after=2)
    tamper(path, "DELETE FROM entries WHERE sequence = 2")
    with pytest.raises(Refusal, match="entry 3 does not follow"):
        listed(path, after=2)


def test_a_folder_without_a_ledger_is_refused(tmp_path):
    with pytest.raises(Refusal, match="has no ledger"):
        find_ledger(tmp_path)
    with pytest.raises(Unavailable, match="cannot be opened"), open_snapshot(tmp_path / "nothing"):
        pass


def test_chosen_entries_are_the_same_as_in_the_whole(path):
    whole = {entry.sequence: entry for entry in listed(path)}
    numbers = sorted(whole, reverse=True)
    with open_snapshot(path) as connection:
        assert list(read_chosen(connection, numbers)) == [whole[number] for number in numbers]


@pytest.mark.parametrize(("number", "found"), [(1, True), (2, False), (3, False), (4, True)])
def test_a_chosen_entry_must_follow_from_its_neighbours_and_lead_to_the_next(path, number, found):
    tamper(path, "UPDATE entries SET body = body || ' ' WHERE sequence = 2")
    with open_snapshot(path) as connection:
        if found:
            assert next(read_chosen(connection, [number])).sequence == number
            return
        with pytest.raises(Refusal, match="entry 3 does not follow"):
            list(read_chosen(connection, [number]))


def test_an_entry_that_is_not_there_is_refused(path):
    with open_snapshot(path) as connection, pytest.raises(Refusal, match="cannot be read"):
        list(read_chosen(connection, [99]))


def test_the_answer_to_a_debit_is_found_if_there_is_one(path):
    debits = {entry.request_id: entry.sequence for entry in listed(path) if entry.kind == "reserve"}
    kept = {entry.request_id: entry.sequence for entry in listed(path) if entry.kind == "commit"}
    with open_snapshot(path) as connection:
        assert {name: find_answer(connection, debit) for name, debit in debits.items()} == {**kept, "failed": None}


def test_an_entry_is_a_line():
    totals = {"analyst:alice": COST_OF_LEDGER_CSV, "dataset": Amounts(None, "1/2", "0")}
    entry = LedgerEntry(7, "reserve", "ab", None, "alice", "id", COST_OF_LEDGER_CSV, totals, reason='1, "x"')
    (row,) = csv.DictReader(StringIO("".join(write_csv([entry]))))
    assert (row["sequence"], row["analyst"], row["request_id"], row["reason"]) == ("7", "alice", "id", '1, "x"')
    assert (row["cost_epsilon"], row["analyst_total_rho"], row["dataset_total_rho"]) == ("1/8", "1/128", "1/2")
    assert row["dataset_total_epsilon"] == ""


def test_no_entry_is_the_headings_alone():
    assert "".join(write_csv([])).startswith("sequence,kind,hash,at,")
