"""The durable ledger: budgets are debited before data is read, and nothing is ever paid back; docs/proofs/ledger.md.

`chain` links the entries and anchors the newest; `schema` is their table; `accounts` are what they add up to;
`journal` writes them, a transaction at a time; `requests` decides what a question costs, `owner` what may be spent;
`writer` groups the questions of many threads; `audit` redoes every sum; `store` is the face of it all.
"""

from adomnia.ledger.requests import Receipt, Replay
from adomnia.ledger.store import Hold, Ledger

__all__ = ["Hold", "Ledger", "Receipt", "Replay"]
