"""How much of the ledger each analyst fills: counted with every debit, from public facts, and never given back.

The count stands beside the entries and not in them: nothing of it bears on what was spent. What was written before
there was a count is not in it.
"""

from dataclasses import dataclass

from adomnia.errors import Refusal
from adomnia.ledger.records import Records

__all__ = ["Storage", "charge"]


@dataclass(frozen=True)
class Storage:
    """The bytes that a question counts for, and the most that all questions of its analyst may."""

    needed: int
    most: int


def charge(records: Records, analyst: str, storage: Storage) -> None:
    """Count what a question needs; a Refusal, and nothing is counted, where that is more than is left."""
    left = storage.most - records.find_storage(analyst)
    if storage.needed > left:
        needs = f"needs {storage.needed:,} bytes of the ledger, and {analyst} has {max(0, left):,} left"
        fix = f"ask for fewer groups or aggregates, or have the owner raise storage under [analysts.{analyst}]"
        raise Refusal("The question", f"{needs} of {storage.most:,}", fix, code="storage")
    records.add_storage(analyst, storage.needed)
