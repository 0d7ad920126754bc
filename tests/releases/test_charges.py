"""What releases cost is told by name, from a ledger that is open and from one that nobody has open."""

from __future__ import annotations

from adomnia.ledger import Ledger
from adomnia.ledger.ledger_places import FilePlace
from adomnia.privacy.events import Pure
from adomnia.privacy.filters import Budget
from adomnia.releases.charges import list_charges, read_charges


def test_every_debit_for_a_release_counts_and_no_other(tmp_path):
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(path, Budget(epsilon=10), {"alice": Budget(epsilon=5)}) as ledger:
        ledger.reserve(None, "dataset:release:ages", b"a", Pure(1)).commit(b"[]")
        ledger.reserve(None, "dataset:release:failed", b"b", Pure(2))
        ledger.reserve(None, "dataset:profile:x", b"c", Pure(1)).commit(b"[]")
        ledger.reserve("alice", "release:mine", b"d", Pure(1)).commit(b"[]")
        assert list_charges(ledger) == {"ages": Pure(1), "failed": Pure(2)}
    with FilePlace(path).snapshot() as records:
        assert read_charges(records) == {"ages": Pure(1), "failed": Pure(2)}
