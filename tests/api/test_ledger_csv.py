from __future__ import annotations

import csv
from io import StringIO

from adomnia.api.ledger_csv import write_csv
from adomnia.api.ledger_view import Amounts, LedgerEntry

COST = Amounts("1/8", "1/128", "0")


def test_an_entry_is_a_line():
    totals = {"analyst:alice": COST, "dataset": Amounts(None, "1/2", "0")}
    entry = LedgerEntry(7, "reserve", "ab", None, "alice", "id", COST, totals, reason='1, "x"')
    (row,) = csv.DictReader(StringIO("".join(write_csv([entry]))))
    assert (row["sequence"], row["analyst"], row["request_id"], row["reason"]) == ("7", "alice", "id", '1, "x"')
    assert (row["cost_epsilon"], row["analyst_total_rho"], row["dataset_total_rho"]) == ("1/8", "1/128", "1/2")
    assert row["dataset_total_epsilon"] == ""


def test_no_entry_is_the_headings_alone():
    assert "".join(write_csv([])).startswith("sequence,kind,hash,at,")
